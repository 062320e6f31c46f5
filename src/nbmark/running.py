"""Running a notebook: the kernel is this project's own, and Ctrl-C means Ctrl-C."""

import asyncio
import atexit
import signal
from pathlib import Path
from typing import IO

from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from traitlets.config import Config

from nbmark.own_kernel import use_own_kernel

# A kernel that talks over an open connection complains of it on the terminal.
QUIET_KERNEL = Config({"KernelManager": {"transport_encryption": "auto"}})
# How a run can end early. Ctrl-C looks like one of these, too.
RunEnded = (CellExecutionError, CellTimeoutError, DeadKernelError, NoSuchKernel)


def run_notebook(
    notebook: NotebookNode, folder: Path, kernel_log: IO | int, **options: object
) -> None:
    """Execute a notebook in place, as if it lay in `folder`; `options` go to NotebookClient.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, which nbclient would call a dead kernel.
    CellExecutionError, CellTimeoutError, DeadKernelError, NoSuchKernel
        From nbclient, which are `RunEnded` together.
    """
    use_own_kernel()
    interrupt = Interrupt()
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        config=QUIET_KERNEL,
        record_timing=False,  # times would stand in the metadata, which a cache's key holds
        resources={"metadata": {"path": str(folder)}},
        on_notebook_start=interrupt.listen,
        **options,
    )
    try:
        asyncio.run(client.async_execute(stderr=kernel_log))
    except RunEnded:
        if interrupt.pressed:
            raise KeyboardInterrupt from None
        raise
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        atexit.unregister(client._cleanup_kernel)  # it would complain of what is cleaned up by now


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
