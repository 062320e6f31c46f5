"""attnlab.figures: the chapter's ideas as things to move.

In the rendered book a figure runs without a kernel; in JupyterLab its traits are live from Python.
Where nothing moves (on paper, without JavaScript) a picture of its first state stands instead, with
the sentence that it shows. A chapter's cell is one call without arguments, its last expression::

    ScaleAndSoftmax()

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
    `_base.Array` for arrays (give it few ``digits``: the page carries them). Data that the script
    shall not draw at random, or cannot compute, are traits too;
``compute()``
    a dict of numbers, lists, booleans and strings, computed by attnlab's own functions;
``describe()``
    what the figure shows now, in a sentence or two that hold its numbers, written by
    `_base.fixed` and `_base.number`. No markup, no ``<`` or ``&``;
``still()``
    the panels of the picture, from ``plotting.panel``.

The script imports from ``./shared.js``, in one statement, and exports

``compute(state)``
    the same dict as in Python, in the same units, to within 1e-9. ``state`` has the traits;
``describe(state, result)``
    the same text, character by character;
``default { render: figure({ traits, compute, describe, build }) }``
    ``traits`` names all of the class's own; ``build(root, ui)`` appends elements to ``root`` once
    and returns ``draw(state, result)``, which is called at the start and then at most once a frame.

Its top level touches neither page nor window, since Node imports it, and takes no name that
shared.js uses. Controls come from ``ui``: ``range``, ``choice`` and ``toggle``, each bound to a
trait, ``button(text, press)``, and ``put(trait, value)`` for anything else. Views are
``bars(caption)`` and ``grid(caption, press)``, tables that a screen reader can read: append their
``node``, call their ``paint``. A cell of a grid with ``press`` is a button named ``row, column``,
and ``: text`` if it holds any. Pictures are made with ``svg``, with ``aria-hidden`` since
``describe`` says it all. Colours are ``var(--attn-0)`` to ``var(--attn-3)``, ``tint(share,
series)`` and ``currentColor``; nothing follows from the hue alone. ``div.attn-row`` holds what
stands side by side where there is room. Motion asks ``calm()`` first. The live region is made for
you.

All scripts and styles together stay below 60 kB: some 4.5 kB a figure beside the shared ones.
"""

from attnlab.figures.attention_by_hand import AttentionByHand
from attnlab.figures.mask_painter import MaskPainter
from attnlab.figures.scale_and_softmax import ScaleAndSoftmax
from attnlab.figures.self_or_cross import SelfOrCross

__all__ = ["AttentionByHand", "MaskPainter", "ScaleAndSoftmax", "SelfOrCross"]
