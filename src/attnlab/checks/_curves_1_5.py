"""Finding measured curves in a figure of exercise 1.5, however it was drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnlab.checks._figures import curves as curves_on
from attnlab.checks._figures import is_loglog, read_figures
from nbmark.graded import CheckFailed

Points = np.ndarray  # shape (points, 2)


def check_curves(fig: Any, curves: dict[str, Points]) -> None:
    """Fail unless a figure shows every curve on log-log axes, in whatever unit."""
    drawn = list(curves_on(read_figures(fig)))
    if not drawn:
        raise CheckFailed("no_curves", "`fig` shows no points. Draw each with ax.loglog(n, y).")
    for name, wanted in curves.items():
        places = [ax for ax, points in drawn if _shows(points, wanted)]
        if not places:
            if any(_shows(points[:, ::-1], wanted) for _, points in drawn):
                said = f"The axes of {name} are exchanged. Draw n to the right and what you "
                raise CheckFailed("axes_exchanged", said + "measured upwards.")
            said = f"`fig` does not show {name}. Draw seconds and peak_bytes of both functions, as \
                measured: four curves against n."
            raise CheckFailed("curve_missing", said)
        if not any(is_loglog(ax) for ax in places):
            scales = f"x is {places[0].get_xscale()}, y is {places[0].get_yscale()}"
            said = f"The axes of {name} are not both logarithmic ({scales}). Only on log-log axes \
                is a power law a straight line: use ax.loglog."
            raise CheckFailed("not_loglog", said)


def _shows(points: Points, wanted: Points) -> bool:
    """Tell whether points are those of a curve, apart from the unit of y and what is missing."""
    points = points[np.isfinite(points).all(1)]
    if len(points) != len(wanted):
        return False
    points, wanted = (values[np.argsort(values[:, 0])] for values in (points, wanted))
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = points[:, 1] / wanted[:, 1]
    return bool(
        np.allclose(points[:, 0], wanted[:, 0]) and np.allclose(unit, unit[0], rtol=1e-6, atol=0)
    )


def curves_of(measured: dict[str, Sequence]) -> dict[str, Points]:
    """Give the four curves of two profiles, without the sizes at which memory ran out."""
    curves = {}
    for name, rows in measured.items():
        for column, what in ((1, "seconds"), (2, "peak_bytes")):
            points = [(row[0], row[column]) for row in rows if row[column] is not None]
            curves[f"{what} of {name}"] = np.array(points, dtype=float).reshape(-1, 2)
    return curves
