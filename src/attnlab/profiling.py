"""Measuring on real hardware, and saying so where the hardware is missing."""

import torch

from nbmark.skip import skip_cell


def require_cuda(what: str = "this cell", recorded: str | None = None) -> None:
    """Go on where there is a CUDA GPU; end the notebook cell here where there is none.

    The cell ends without an error, with one line that says what was skipped and where the
    recorded result stands.

    Parameters
    ----------
    what : str
        What the rest of the cell does, as the subject of the sentence: "the sweep to n = 32768".
    recorded : str, optional
        Where the reader finds the result of the same cell from a machine with a GPU.

    Raises
    ------
    nbmark.skip.CellSkipped
        If PyTorch sees no CUDA device. A notebook cell ends at it quietly; a script stops.
    """
    if torch.cuda.is_available():
        return
    reason = f"{what} needs a CUDA GPU and there is none here."
    skip_cell(reason if recorded is None else f"{reason} Recorded result: {recorded}.")
