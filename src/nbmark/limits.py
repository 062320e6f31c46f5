"""How long a student's code may run."""

import time

CELL_SECONDS, NOTEBOOK_SECONDS = 300.0, 900.0  # one cell; all cells of a notebook together
LEAST_SECONDS = 5.0  # what each cell gets when the notebook's time is over


class Clock:
    """The time of one notebook's cells: seconds for each, and for all together."""

    def __init__(self, cell: float = CELL_SECONDS, notebook: float = NOTEBOOK_SECONDS) -> None:
        self.cell, self.end = cell, time.monotonic() + notebook

    def limit(self) -> float:
        """Give the seconds for the next cell: its own, or what is left for the notebook."""
        return min(self.cell, max(LEAST_SECONDS, self.end - time.monotonic()))
