"""The checks behind the graded cells of the exercises, one package each.

A graded cell is one call, such as ``check_1_3.matches_reference(scaled_dot_product_attention)``.
Its check fails with a cause and a remedy, or says what it showed. Public is a package's
``exercise`` and its checks, nothing else.

How to write one
----------------
The checks of exercise 1.N are a package ``check_1_N``:

``__init__.py``
    ``exercise = Exercise("1.N")``, from `_settings`, so that a check finds the same number type,
    device, threads and random state whatever the notebook has set. Then the checks, each decorated
    with ``@exercise.check(points=2)``: it draws its cases from ``case_rng``, the smallest first,
    records what it got, and returns what it showed. Last, ``__all__``.
``mistakes.py``
    ``MISTAKES = Mistakes(...)``, the table. A row is a cause, its sentence, and what the mistake
    makes of a case, for each quantity that it spoils::

        softmax_axis=Mistake("The columns of your weights sum to 1. ...").makes(
            weights=lambda case: [np.exp(s) / np.exp(s).sum(0) for s in case.both]),
        wrong_number="Your function returns {number} things. Return two: output, weights.",

    A list holds several things that it may make. A cause that no value tells is a sentence alone.
    Rows are compared in their order. The sentence says what is wrong and what to do.
``cases.py``
    what the student's function is called with, where that takes more than a line.

A check asks for values, reads them, compares, and explains them by the table::

    weights = read_array("head_weights(x)", ask(head_weights, x, case="no mask"))
    if differs(weights, right):
        cause = MISTAKES.explain("weights", weights, case) or "value"
        raise MISTAKES.failure(cause, show_wrong_row(weights, right), seen="In the first case:")

What it needs is in `_diagnose`:

``ask``, ``ask_with_any``
    call the student's function; the second with a tensor or, where it takes none, an array.
``read_array``, ``read_number``, ``require_unchanged``
    read what it gave, in whatever form, and see that it left its input alone.
``differs``, ``MISTAKES.explain``, ``first_cause``
    the loop: which mistake makes of this case, or of all these, what was given. ``same`` replaces
    `agrees` where the values are no arrays or the tolerance is another.
``MISTAKES.failure``, ``fail_if``, ``instead_of``
    the failure to raise, with facts for the sentence's slots; raised under a condition; and a
    general failure, such as ``raised``, told as one of the table.
``show``, ``show_wrong_row``
    the example of a message.

A failure says the table's sentence first, what is wrong and what to do, then ``Found:`` and what
was `seen`: each has to stand alone. `last_case` gives a student the call at which it failed; where
that is not the last call, ``raise MISTAKES.failure(...).at(case)`` with what `last_call` gave.

`_figures` reads figures: ``read_figures``, ``heat_maps``, ``curves``, ``has_axis_labels``.

Right and wrong answers stand in ``tests/attnlab/checks/exercise_1_N/``, as ``answers.py`` beside it
says; each row of the table needs a wrong answer that it is told to.
"""

from nbmark.failing import last_case

__all__ = ["last_case"]
