"""What every run of a notebook by nbclient needs: a quiet kernel, and Ctrl-C that means Ctrl-C."""

import asyncio
import signal

from nbformat import NotebookNode
from traitlets.config import Config

# A kernel that talks over an open connection complains of it on the terminal.
QUIET_KERNEL = Config({"KernelManager": {"transport_encryption": "auto"}})


class Interrupt:
    """Ctrl-C while a notebook runs; nbclient's own handler would call it a dead kernel."""

    def __init__(self):
        self.pressed = False

    def listen(self, notebook: NotebookNode) -> None:
        """Replace nbclient's handler, once the notebook has started."""
        task = asyncio.current_task()

        def press() -> None:
            self.pressed = True
            task.cancel()

        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, press)
