"""Draws a student's weights beside the shape that the mask gives to right ones."""

import numpy as np

from attnlab import plotting


def show_weights(weights: np.ndarray, allowed: np.ndarray) -> None:
    """Show the student's weights, and beside them where the mask lets a weight be more than 0.

    Parameters
    ----------
    weights : array, shape (S_q, S_k)
        The student's. NaN is left blank.
    allowed : bool array, shape (S_q, S_k)
    """
    yours, left = plotting.panel(2.6, 2.2)
    plotting.heatmap(left, np.ma.masked_invalid(weights))
    left.set_title("your weights")
    shape, right = plotting.panel(2.6, 2.2)
    plotting.heatmap(right, 0.5 * allowed, blocked=~allowed)
    right.set_title("hatched: must be 0")
    outside = np.nan_to_num(np.abs(weights[~allowed])).sum()
    said = f"Your weights hold {outside:.3f} in all where the mask blocks."
    plotting.show(yours, shape, alt=f"Your weights beside the mask. {said}", caption=said)
