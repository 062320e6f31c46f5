"""attnlab.figures: the chapter's ideas as things to move.

In the rendered book a figure runs without a kernel; in JupyterLab its traits are live from Python.
Where nothing moves (on paper, without JavaScript) a picture of its first state stands instead, with
the sentence that it shows. A chapter's cell is one call, its last expression::

    ScaleAndSoftmax()

What a page measured or trained it hands over as traits, so that the figure shows the page's own
numbers: ``Bottleneck(right=..., bits=...)``, or by a class method that works them out, such as
``AlignmentExplorer.of(model, pairs)``. Such a figure has a small default too, since the tests call
it without arguments; those in the browser read from the page which traits it was made with.

How to write one
----------------
A figure is one class in ``my_figure.py`` and one script in ``my_figure.js``, twins in two
languages, its name in ``__all__`` below, an entry in ``tests/support/figure_table.py``, and a cell
in the chapter.

The class extends `_base.Figure` and has

``_esm = bundle("my_figure")``
    the script, with the shared one put in front;
``title``
    its accessible name, different for each figure on a page;
traits
    all of them with ``.tag(sync=True)``: ``Enum``, ``Bool``, ``Int(min=, max=)``, ``Unicode``,
    `_base.Array` for arrays (give it few ``digits``: the page carries them; its ``start`` fixes the
    shape, and is read from ``my_figure.json`` by `_base.start_of` if it is long). Data that the
    script shall not draw at random, or cannot compute, are traits too;
``compute()``
    a dict of numbers, lists, booleans and strings, computed by attnlab's own functions;
``describe()``
    what the figure shows now, in a sentence or two that hold its numbers, written by
    `_base.fixed` and `_base.number`. No markup, no ``<`` or ``&``;
``still()``
    the panels of the picture, from ``plotting.panel``.

The script imports from ``./shared.js``, in one statement, and from the parts that `bundle` names
after it (``reading.js`` has arcs over a sentence and the reader's own one), and exports

``compute(state)``
    the same dict as in Python, in the same units, to within 1e-9. ``state`` has the traits;
``describe(state, result)``
    the same text, character by character;
``default { render: figure({ traits, compute, describe, build }) }``
    ``traits`` names all of the class's own; ``build(root, ui, state)`` appends elements to ``root``
    once and returns ``draw(state, result)``, which is called at the start and then at most once a
    frame. Its ``state`` is the first one, for what does not change, such as a list of sentences.

Its top level touches neither page nor window, since Node imports it, and takes no name that
shared.js uses. Controls come from ``ui``: ``range``, ``choice`` and ``toggle``, each bound to a
trait, ``button(text, press)``, and for anything else ``put(trait, value)`` and ``get(trait)``.
Views are ``bars(caption)`` and ``grid(caption, press)``, tables that a screen reader can read:
append their ``node``, call their ``paint``. A cell of a grid with ``press`` is a button named
``row, column``, and ``: text`` if it holds any. Pictures are made with ``svg``, with
``aria-hidden`` since ``describe`` says it all. Colours are ``var(--attn-0)`` to ``var(--attn-3)``,
``tint(share, series)`` and ``currentColor``; nothing follows from the hue alone.
``beside(...nodes)`` holds what stands side by side where there is room, ``div.attn-buttons`` a row
of buttons. Motion asks ``calm()`` first. The live region is made for you.

Comments left out, a script has 5 kB on average; what all figures share has 14 kB. What a figure
loads when asked, such as `attnlab.live`, is not part of it.
"""

from attnlab.figures.alignment_explorer import AlignmentExplorer
from attnlab.figures.attention_by_hand import AttentionByHand
from attnlab.figures.bottleneck import Bottleneck
from attnlab.figures.flash_stepper import FlashStepper
from attnlab.figures.heads_overview import HeadsOverview
from attnlab.figures.live_sentence import LiveSentence
from attnlab.figures.mask_painter import MaskPainter
from attnlab.figures.memory_calculator import MemoryCalculator
from attnlab.figures.scale_and_softmax import ScaleAndSoftmax
from attnlab.figures.self_or_cross import SelfOrCross
from attnlab.figures.split_and_merge import SplitAndMerge

__all__ = [
    "AlignmentExplorer",
    "AttentionByHand",
    "Bottleneck",
    "FlashStepper",
    "HeadsOverview",
    "LiveSentence",
    "MaskPainter",
    "MemoryCalculator",
    "ScaleAndSoftmax",
    "SelfOrCross",
    "SplitAndMerge",
]
