"""The warm process: has imported what notebooks import, and forks kernels and judges from itself.

It talks over inherited sockets alone: a path could be reached by what it starts. A request is one
message, JSON, with the files that the child gets. The first of these is the child's connection:
its supervisor tells there how it ended, takes signals, and ends it when the other side is gone.

A kernel has a supervisor between itself and the warm process, which holds the way out.
"""

import contextlib
import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from nbmark.sandbox import View, enter, found_gaps, leave

JUPYTER = (
    *("numpy", "ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.zmqshell"),
    *("ipykernel.debugger", "IPython.core.completer", "IPython.core.completerlib"),
    *("IPython.core.debugger", "IPython.core.oinspect", "IPython.core.logger", "faulthandler"),
    *("IPython.extensions.storemagic", "IPython.utils.wildcard", "matplotlib_inline"),
    *("pygments.formatters.terminal256", "pygments.lexers.python", "encodings.idna", "sqlite3"),
    *("tornado.platform.asyncio", "tornado.queues", "psutil"),
)
JUDGE = ("numpy", "torch", "matplotlib.pyplot", "IPython.core.interactiveshell", "nbmark.judge")
ALL = (
    *JUPYTER,
    *("torch", "torch.utils.data", "torch._dynamo"),  # torch.optim imports the last, for a second
    *("matplotlib", "matplotlib.pyplot", "matplotlib_inline.backend_inline"),
)
LARGEST_REQUEST, MOST_FILES = 1 << 20, 8
FAILED = 70  # the exit status of a kernel that could not be set up

Files = Sequence[int]  # the connection, standard input, output and errors, then others


def serve(control: socket.socket, modules: Sequence[str]) -> None:
    """Import modules, say so, and fork what is asked for until nobody asks any more."""
    for name in (*modules, "nbmark.serving", "nbmark.linux"):  # files that walls may hide
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    _try_out()
    threads = len(os.listdir("/proc/self/task"))
    if threads > 1:  # those are lost in a fork, with the locks that they hold
        raise SystemExit(f"{threads} threads after the imports: nothing can be forked from here")
    gc.collect()
    gc.disable()
    gc.freeze()
    signal.signal(signal.SIGCHLD, _reap)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who asks
    control.send(b"warm")
    while True:
        data, files, _, _ = socket.recv_fds(control, LARGEST_REQUEST, MOST_FILES)
        if not data:
            return
        if os.fork() == 0:
            control.close()
            _child(json.loads(data), files)
        for number in files:
            os.close(number)


def _try_out() -> None:
    """Do once what is slow the first time: draw letters, multiply matrices."""
    if "matplotlib_inline.backend_inline" in sys.modules:  # kernels draw, judges do not
        from matplotlib.figure import Figure

        figure = Figure()
        figure.subplots().set(title="title", xlabel="$x$", ylabel="y")
        for kind in ("svg", "png"):
            figure.savefig(io.BytesIO(), format=kind)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
        x = torch.ones(1, 2, 2)
        torch.nn.functional.scaled_dot_product_attention(x, x, torch.nn.Linear(2, 2)(x))


def _reap(*_: object) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _child(request: dict[str, Any], files: Files) -> None:
    """Do in the fork what was asked for, and end."""
    for number in (signal.SIGCHLD, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    connection = socket.socket(fileno=files[0])
    status = FAILED
    try:
        _arrange(files[1:4])
        os.environ.clear()
        os.environ.update(request["environment"])
        start = START[request["what"]]
        if request["what"] == "judge":
            _reseed()
            start(request, files, connection)
            status = 0
        else:
            status = _supervised(request, files, connection, start)
    except BaseException:
        with contextlib.suppress(OSError):
            connection.send(json.dumps({"failed": traceback.format_exc()[-2000:]}).encode())
    finally:
        os._exit(status)


def _arrange(standard: Files) -> None:
    """Put files in the place of standard input, output and errors."""
    for place, number in enumerate(standard):
        os.dup2(number, place)
    os.setsid()
    os.umask(0o022)


def _supervised(
    request: dict[str, Any], files: Files, connection: socket.socket, start: Callable[..., None]
) -> int:
    """Run a kernel in a child, behind walls if there are to be some; see that it ends."""
    from nbmark import linux

    linux.die_with_parent(signal.SIGKILL)
    walls = request.get("walls")
    if walls:
        leave()
    ready, said = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ready)
        connection.close()
        status = FAILED
        try:
            _inside(request, files)
            start(request, files, said)
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        except BaseException:
            with contextlib.suppress(OSError):
                os.write(said, traceback.format_exc()[-2000:].encode())
        finally:
            os._exit(status)  # an orderly end can hang in a fork
    os.close(said)
    for number in files[1:]:
        os.close(number)
    message = os.read(ready, 4096)
    is_up = message.startswith(b"up")
    word = {"up": child, "gaps": message[2:].decode().split("\n")} if is_up else {}
    word = word or {"failed": message.decode(errors="replace")}
    connection.send(json.dumps(word).encode())
    return _watch(child, connection)


def _watch(child: int, connection: socket.socket) -> int:
    """Pass signals on to a child until it ends, end it when nobody listens; tell how it ended."""
    handle = os.pidfd_open(child)
    while True:
        happened, _, _ = select.select([handle, connection], [], [])
        if handle in happened:
            break
        message = connection.recv(1024)
        with contextlib.suppress(ProcessLookupError):
            if message:
                os.kill(child, int(message))
            else:
                os.killpg(child, signal.SIGKILL)
                os.kill(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it left behind, where it was no first process
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    with contextlib.suppress(OSError):
        seconds = used.ru_utime + used.ru_stime
        told = {"ended": code, "seconds": seconds, "peak": used.ru_maxrss << 10}
        connection.send(json.dumps(told).encode())
    return 0


def _inside(request: dict[str, Any], files: Files) -> None:
    """Make this process the kernel's: walls or at least limits, a folder, a random state."""
    os.setsid()
    if walls := request.get("walls"):
        enter(View.from_dict(walls), request["scratch"])
    else:
        from nbmark import linux

        linux.die_with_parent(signal.SIGKILL)
        os.chdir(request["folder"] or "/")
    _reseed()


def _reseed() -> None:
    """Let no two forks draw the same random numbers."""
    import random

    random.seed()
    sys.modules["numpy"].random.seed()
    if "torch" in sys.modules:
        sys.modules["torch"].default_generator.seed()
    gc.enable()


def _kernel(request: dict[str, Any], files: Files, said: int) -> None:
    """Be a Jupyter kernel."""
    from ipykernel.kernelapp import IPKernelApp

    path = request["connection_file"]
    if request.get("walls"):
        path = os.path.join(os.environ["HOME"], ".connection.json")
        with open(path, "w") as file:
            json.dump(request["connection"], file)
    if len(files) > 4:
        from nbmark import serving

        serving.connect(files[4], request.get("served", {}))
    for number in files[1:4]:
        os.close(number)
    arguments = ["-f", path, *request.get("arguments", ())]
    sys.argv = ["ipykernel_launcher.py", *arguments]
    app = IPKernelApp.instance(parent_handle=1)  # 1: it does not look for its parent, and is silent
    app.initialize(arguments)
    if request.get("walls"):
        os.unlink(path)
    _show_figures()
    os.write(said, b"up")
    os.close(said)
    app.start()


def _show_figures() -> None:
    """Do what a new kernel does when it imports matplotlib, which is imported already."""
    if "matplotlib.pyplot" not in sys.modules:
        return
    import matplotlib
    from matplotlib_inline import backend_inline

    matplotlib.use("module://matplotlib_inline.backend_inline")
    backend_inline._enable_matplotlib_integration()


def _judge(request: dict[str, Any], files: Files, connection: socket.socket) -> None:
    """Judge one submission."""
    from nbmark import judge

    connection.send(json.dumps({"up": os.getpid()}).encode())
    judge.sit(connection, request)


def _look(request: dict[str, Any], files: Files, said: int) -> None:
    """Tell what a kernel behind walls could do that it should not; see `nbmark.doctor`."""
    os.write(said, "\n".join(["up", *found_gaps()]).encode())


START = {"kernel": _kernel, "judge": _judge, "look": _look}


def main() -> None:
    """Serve over the socket that the command names, with modules imported."""
    control = socket.socket(fileno=int(sys.argv[1]))
    serve(control, sys.argv[2:])


if __name__ == "__main__":
    from nbmark.warm import main as imported

    imported()
