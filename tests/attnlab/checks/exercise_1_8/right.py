"""Right answers to exercise 1.8, as different students write them."""

import math

import numpy as np
import torch
from answers import EVERY_SEED, Call, stub

# Predictions: any is right

EXPECTED = {"longer": "falls", "wider": "rises", "every step": "stays", "second seed": "stays"}
PREDICTIONS = {
    "as it comes out": EXPECTED,
    "otherwise": dict.fromkeys(EXPECTED, "rises"),
    "in capitals": {name: word.upper() for name, word in EXPECTED.items()},
    "in another order": dict(sorted(EXPECTED.items())),
}

# Shares


def mean_of_truth(written, target):
    return (written == target).float().mean(0)


def in_numpy(written, target):
    return np.mean(written.numpy() == target.numpy(), axis=0)


def with_loops(written, target):
    n, T = target.shape
    return [sum(int(written[i, t] == target[i, t]) for i in range(n)) / n for t in range(T)]


def counted(written, target):
    return written.eq(target).sum(dim=0) / len(written)


def column_by_column(written, target):
    return [(w == t).double().mean() for w, t in zip(written.T, target.T, strict=True)]


def less_wrong(written, target):
    return 1 - (written != target).to(torch.float64).mean(dim=0)


SHARES = [mean_of_truth, in_numpy, with_loops, counted, column_by_column, less_wrong]

# Bits


def sent_less_paid(nats, length, n_symbols):
    return length * (math.log2(n_symbols) - nats / math.log(2))


def all_in_nats_first(nats, length, n_symbols):
    return length * (math.log(n_symbols) - nats) / math.log(2)


def by_perplexity(nats, length, n_symbols):
    return length * np.log2(n_symbols / np.exp(nats))


def by_log2_of_e(nats, length, n_symbols):
    sent = length * math.log(n_symbols, 2)
    return sent - length * nats * math.log2(math.e)


def in_torch(nats, length, n_symbols):
    paid = torch.tensor(nats, dtype=torch.float64) / math.log(2)
    return length * (torch.log2(torch.tensor(n_symbols, dtype=torch.float64)) - paid)


BITS = [sent_less_paid, all_in_nats_first, by_perplexity, by_log2_of_e, in_torch]

# Effects


def by_difference(before, after, noise):
    if abs(after - before) <= noise:
        return "stays"
    return "rises" if after > before else "falls"


def in_three_cases(before, after, noise):
    if after > before + noise:
        return "rises"
    elif after < before - noise:
        return "falls"
    else:
        return "stays"


def from_a_list(before, after, noise):
    words = ["falls", "stays", "rises"]
    return words[1 + int(np.sign(after - before)) * (abs(after - before) >= noise)]


def in_capitals(before, after, noise):
    return by_difference(before, after, noise).title()


EFFECTS = [in_capitals, by_difference, in_three_cases, from_a_list]

# Runs and findings

RESULTS = {
    "base": ([0.90, 0.52, 0.37, 0.31], [10.1, 15.4, 17.6, 17.0]),
    "second seed": ([0.88, 0.49, 0.36, 0.29], [10.0, 15.0, 16.6, 15.7]),
    "wider": ([0.99, 0.73, 0.50, 0.41], [11.3, 19.1, 22.9, 24.1]),
    "narrower": ([0.37, 0.23, 0.20, 0.18], [5.3, 6.7, 6.8, 6.0]),
    "every step": ([0.86, 0.48, 0.34, 0.30], [9.5, 13.5, 14.0, 12.3]),
}
LUCKY = RESULTS | {"every step": ([0.86, 0.48, 0.34, 0.36], [9.5, 13.5, 14.0, 12.3])}
RUNS = {
    "lists": RESULTS,
    "arrays": {name: tuple(map(np.array, pair)) for name, pair in RESULTS.items()},
    "tensors": {name: [torch.tensor(x) for x in pair] for name, pair in RESULTS.items()},
    "one array each": {name: np.array(pair) for name, pair in RESULTS.items()},
    "looking back, too": RESULTS | {"looking back": ([1, 1, 1, 1], [12, 24, 36, 48])},
}
FINDINGS = {
    "as printed": Call(lambda: (EXPECTED, RESULTS)),
    "as arrays": Call(lambda: (EXPECTED, RUNS["arrays"])),
    "of another machine": Call(lambda: (EXPECTED | {"every step": "rises"}, LUCKY)),
}


def by_name(functions):
    return {function.__name__: function for function in functions}


RIGHT = {
    "records_a_prediction": PREDICTIONS,
    "counts_what_is_right": by_name(SHARES),
    "counts_bits": by_name(BITS),
    "names_effects": by_name(EFFECTS),
    "runs_the_experiment": RUNS,
    "findings_follow": FINDINGS,
}
UNTOUCHED = {check: [stub, None] for check in list(RIGHT)[1:4]} | {
    "records_a_prediction": [None, dict.fromkeys(EXPECTED)],
    "runs_the_experiment": [None, dict.fromkeys(RESULTS)],
    "findings_follow": [Call(lambda: (None, RESULTS)), Call(lambda: (EXPECTED, None))],
}
SEEDS = EVERY_SEED
FIXED = {"records_a_prediction", "runs_the_experiment", "findings_follow"}
SEEDED = {"counts_what_is_right", "counts_bits"}
