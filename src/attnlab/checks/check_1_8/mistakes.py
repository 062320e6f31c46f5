"""The mistakes of exercise 1.8, and what each makes of a case.

Quantities: ``shares`` (of written and target strings), ``bits`` (of a loss, a length and a number
of symbols) and ``effect`` (of two values and their noise).
"""

import math

import numpy as np

from attnlab.checks._diagnose import Mistake, Mistakes
from attnlab.checks.check_1_8 import cases

LN2 = math.log(2)
OPPOSITE = {"rises": "falls", "falls": "rises", "stays": "stays"}

MISTAKES = Mistakes(
    # What was expected, and what was found
    wrong_keys="Answer all four and no other: {name} needs the keys {right}. Here {what}.",
    wrong_word="""Answer with one of 'rises', 'falls' and 'stays': {name}[{key!r}] is {value!r}.""",
    # Shares
    over_strings=Mistake("""Average over the strings, axis 0, not over the places: one number for
        each place is asked for, (T,).
        """).makes(shares=lambda w, t: (w == t).double().mean(1).numpy()),
    one_share=Mistake("""Keep the places apart, with .mean(0): here one number comes for all. Its
        parts are what shows which symbols come through.
        """).makes(shares=lambda w, t: (w == t).double().mean().numpy()),
    shares_wrong=Mistake("""Count what is right, written == target: here what is wrong is counted.
        """).makes(shares=lambda w, t: (w != t).double().mean(0).numpy()),
    percent=Mistake("""Give shares between 0 and 1: these are percent.
        """).makes(shares=lambda w, t: 100 * cases.shares(w, t)),
    counts=Mistake("""Divide by the number of strings: these are counts, or counts over the length.
        """).makes(
        shares=lambda w, t: [(w == t).double().sum(0).numpy() / k for k in (1, t.shape[1])]
    ),
    flipped=Mistake("""Compare place by place as they come: `target` is in the order of writing
        already, and here one of the two is turned around.""").makes(
        shares=lambda w, t: [cases.shares(w, t.flip(1)), cases.shares(w.flip(1), t.flip(1))]
    ),
    prefix_right=Mistake("""Judge each place by itself: here a symbol counts only if all before it,
        or all of the string, are right.""").makes(
        shares=lambda w, t: [
            (w == t).cumprod(1).double().mean(0).numpy(),
            (w == t).all(1).double().mean().expand(w.shape[1]).numpy(),
        ]
    ),
    shares_cumulative=Mistake("""Give each place its own share: here each is that of all places up
        to it.""").makes(
        shares=lambda w, t: [
            np.cumsum(cases.shares(w, t)),
            np.cumsum(cases.shares(w, t)) / np.arange(1, 1 + w.shape[1]),
        ]
    ),
    shares_value="""At each place, give the share of the strings whose written symbol is the
        target's. Compare the case below with yours, place by place.""",
    # Bits
    nats=Mistake("""Turn the loss into bits: divide it by ln 2. Here nats are subtracted from bits.
        """).makes(bits=lambda x, T, N: T * (math.log2(N) - x)),
    times_ln2=Mistake("""Divide the loss by ln 2, which makes it larger: a bit is 0.69 nats, so a
        nat is 1.44 bits. Here it is multiplied.
        """).makes(bits=lambda x, T, N: T * (math.log2(N) - x * LN2)),
    all_nats=Mistake("""Count in bits: log2 of the number of symbols, and the loss divided by ln 2.
        Here both are nats.""").makes(bits=lambda x, T, N: T * (math.log(N) - x)),
    sent_in_nats=Mistake(
        """Take log2 of the number of symbols: what is sent counts in bits, too."""
    ).makes(bits=lambda x, T, N: [T * (math.log(N) - x / LN2), T * (math.log10(N) - x / LN2)]),
    a_symbol=Mistake("""Multiply by the length: this is what one symbol brings, and the whole
        string is asked for.""").makes(bits=lambda x, T, N: cases.bits(x, T, N) / T),
    length_once=Mistake("""Multiply both by the length, what is sent and what it cost: the loss is
        that of one symbol.""").makes(
        bits=lambda x, T, N: [T * math.log2(N) - x / LN2, math.log2(N) - T * x / LN2]
    ),
    turned_around=Mistake("""Subtract the cost from what is sent, not the other way round: who
        knows everything pays nothing.""").makes(bits=lambda x, T, N: -cases.bits(x, T, N)),
    cost_only=Mistake("""Subtract this from what the string carries, T log2 N: it is what the
        decoder still had to pay, not what it had read.""").makes(bits=lambda x, T, N: T * x / LN2),
    sent_only=Mistake("""Subtract what the string still costs: this is all that it carries,
        whatever the loss is.""").makes(bits=lambda x, T, N: T * math.log2(N)),
    rounded=Mistake("""Do not round.""").makes(
        bits=lambda x, T, N: [round(cases.bits(x, T, N), k) for k in (0, 1, 2)]
    ),
    not_subtracted=Mistake("""Subtract the cost in bits: here what is sent is multiplied by
        something that the loss makes, e to the minus loss or 1 less it.""").makes(
        bits=lambda x, T, N: [
            T * math.log2(N) * math.exp(-x),
            T * math.log2(N) * (1 - x),
            T * (1 - x / math.log(N)),
        ]
    ),
    bits_value="""The bits read are T log2 N less T times the loss in bits. Work the case below out
        by hand.""",
    # Effects
    noise_ignored=Mistake("""Call it 'stays' where the difference is no larger than the noise:
        another seed alone would bring as much.
        """).makes(effect=lambda a, b, noise: cases.effect(a, b, 0)),
    noise_scaled=Mistake("""Compare the difference with the noise as it is given, not with a part of
        it or several times it.""").makes(
        effect=lambda a, b, noise: [cases.effect(a, b, k * noise) for k in (0.5, 2, 3)]
    ),
    effect_exchanged=Mistake("""Look from before to after: where the second is larger it rises.
        Here the words are exchanged.
        """).makes(effect=lambda a, b, noise: OPPOSITE[cases.effect(a, b, noise)]),
    falls_unseen=Mistake("""Compare the absolute difference with the noise: here a fall, whose
        difference is negative, is never larger than it.""").makes(
        effect=lambda a, b, noise: "rises" if b - a > noise else "stays",
    ),
    relative=Mistake("""Compare the difference itself with the noise, not its share of what was
        before.""").makes(
        effect=lambda a, b, noise: cases.effect(1, b / a, noise),
    ),
    effect_value="""Where |after - before| is no larger than the noise, say 'stays', else 'rises'
        or 'falls'. Here {given!r} comes for before = {before}, after = {after}, noise = {noise}.
        """,
    # The runs
    wrong_runs="Fill `results` with the five runs {right}, each with what `tested` gives: {what}.",
    not_measured="""Put in what `tested` gives, as it comes; where the bits are odd, repair
        bits_read first and run the cell once more. Here results[{name!r}] holds {what}.""",
    same_model="""Train each model anew, with its own width, seed or kind: {names} have the same
        numbers at every length.""",
    runs_exchanged="""Look at which model stands under which name: the narrower one does better
        here than the wider.""",
    order="""Keep the lengths in their order, 4, 8, 12, 16: the longer a string, the smaller the
        share that is right, but at 'base' it grows.""",
    # What follows
    finding="""Read findings[{key!r}] from your own results: {what} goes from {before:.3f} to
        {after:.3f}, and two seeds differ by {noise:.3f}. That is {right!r}, not {given!r}.""",
)
