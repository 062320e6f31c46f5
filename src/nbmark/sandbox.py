"""What a student's kernel may see and do, on Linux; and what this machine can enforce of it.

A kernel gets namespaces of its own for users, mounts, processes, network and messages. Its root is
a new one with the interpreter, the packages and the system's libraries, all read-only: solutions,
keys, results and other submissions are not hidden there, they do not exist. A home and folders for
temporary files lie in memory and go with the kernel, and so do all processes in it.
"""

import contextlib
import os
import resource
import shutil
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

NOBODY = 65534  # who runs a kernel where the marking process is root's
HOME, SOCKETS = "/home/student", "/sockets"
SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/sbin", "/etc/passwd", "/etc/group")
SYSTEM += ("/etc/nsswitch.conf", "/etc/localtime", "/etc/fonts", "/etc/ld.so.cache")
SYSTEM += ("/etc/alternatives", "/etc/mime.types", "/etc/ssl")
PYTHONS = (f"python{sys.version_info[0]}.{sys.version_info[1]}", "python3")
SITES, ENDS = ("site-packages", "dist-packages"), ("", ".libs", ".py")
DEVICES = ("null", "zero", "full", "random", "urandom")
MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What a kernel may use up."""

    memory: int = 8192 * MIB  # of each process, addresses included that it only reserves
    processes: int = 128  # threads count too
    file_size: int = 256 * MIB
    open_files: int = 512
    cpu: int = 900  # seconds of each process
    scratch: int = 256 * MIB  # of each folder that it may write to

    def apply(self) -> None:
        """Let them hold for this process, for good."""
        for name, limit in (
            ("AS", self.memory),
            ("NPROC", self.processes),
            ("FSIZE", self.file_size),
            ("NOFILE", self.open_files),
            ("CPU", self.cpu),
            ("CORE", 0),
        ):
            kind = getattr(resource, f"RLIMIT_{name}")
            most = resource.getrlimit(kind)[1]
            limit = limit if most == resource.RLIM_INFINITY else min(limit, most)
            resource.setrlimit(kind, (limit, limit))


@dataclass(frozen=True)
class View:
    """What there is for a kernel besides the system."""

    loaded_alone: bool = False  # of packages, only those that the warm process has imported
    hidden: Sequence[str] = ()  # folders of packages, such as attnlab/checks, that are empty for it
    sockets: str = ""  # the only folder that it shares with others, seen as `SOCKETS`
    files: str = ""  # the folder whose files lie in its home; none if empty
    limits: Limits = field(default_factory=Limits)

    def as_dict(self) -> dict[str, Any]:
        """Give it as what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "View":
        """Take it back."""
        return cls(**given | {"limits": Limits(**given["limits"])})

    def readable(self) -> list[str]:
        """Give the folders of this interpreter and of its packages."""
        roots = [path for path in sys.path if os.path.isdir(path)]
        if not self.loaded_alone:
            return [sys.base_prefix, sys.prefix, *roots]
        loaded = {name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names
        sites = [root for root in roots if not Path(root).is_relative_to(sys.base_prefix)]
        found = [f"{root}/{name}{end}" for root in sites for name in loaded for end in ENDS]
        return [sys.base_prefix, *filter(os.path.exists, found)]

    def unreadable(self) -> list[str]:
        """Give the folders in these that are empty."""
        found = [f"{root}/{name}" for root in sys.path for name in self.hidden]
        if self.loaded_alone:
            libraries = f"{sys.base_prefix}/lib", "/usr/lib"
            found += [f"{lib}/{p}/{site}" for lib in libraries for p in PYTHONS for site in SITES]
        return list(filter(os.path.isdir, found))


def leave() -> None:
    """Move this process and its next child out of the namespaces that others are in."""
    from nbmark import linux

    user, group = os.getuid(), os.getgid()
    spaces = linux.NEW_MOUNTS | linux.NEW_PIDS | linux.NEW_NETWORK | linux.NEW_IPC
    linux.unshare(spaces | linux.NEW_NAMES | (linux.NEW_USER if user else 0))
    if user:
        linux.map_user(user, group)
    linux.mount(None, "/", None, linux.RECURSIVE | linux.PRIVATE)


def enter(view: View, scratch: str) -> None:
    """Shut the walls around this process, which is the first after `leave`; OSError if it cannot.

    The folder `scratch` is where its root is put together; nothing is left in it.
    """
    from nbmark import linux

    _build(view, scratch)
    linux.pivot_root(scratch)
    os.chdir(HOME)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    view.limits.apply()
    if os.getuid() == 0:
        _become_nobody()
    with contextlib.suppress(
        OSError
    ):  # where there is no Landlock, the sockets' folder may be filled
        linux.only_make_files_in([HOME, "/tmp", "/dev/shm"])
    linux.drop_privileges()
    linux.die_with_parent(signal.SIGKILL)


def _build(view: View, root: str) -> None:
    """Mount what the kernel is to see."""
    from nbmark import linux

    quiet = linux.NO_SUID | linux.NO_DEVICES
    linux.mount("tmpfs", root, "tmpfs", quiet, "size=8m,mode=755")
    for path in (HOME, "/tmp", "/dev/shm"):
        os.makedirs(root + path, exist_ok=True)
        room = f"size={view.limits.scratch},nr_inodes=65536,mode=1777"
        linux.mount("tmpfs", root + path, "tmpfs", quiet, room)
    for path in (*SYSTEM, *view.readable()):
        _show(path, root)
    for path in view.unreadable():
        if os.path.isdir(root + path):
            linux.mount("tmpfs", root + path, "tmpfs", quiet, "size=4k,mode=555")
            linux.make_read_only(root + path)
    _show_devices(root)
    os.mkdir(f"{root}/proc")
    linux.mount("proc", f"{root}/proc", "proc", quiet | linux.NO_EXEC)
    if view.sockets:
        os.mkdir(root + SOCKETS)
        linux.mount(view.sockets, root + SOCKETS, None, linux.BIND)
    if view.files:
        _copy_files(view.files, root + HOME)
    linux.make_read_only(root, below=False)


def _show(path: str, root: str) -> None:
    """Let a folder or file of the machine be read in the new root, a link as a link."""
    from nbmark import linux

    target = root + path
    if not os.path.lexists(path) or os.path.lexists(target):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(path) and path in SYSTEM:
        os.symlink(os.readlink(path), target)
        return
    if os.path.isdir(path):
        os.mkdir(target)
    else:
        Path(target).touch()
    linux.mount(os.path.realpath(path), target, None, linux.BIND | linux.RECURSIVE)
    linux.make_read_only(target)


def _show_devices(root: str) -> None:
    """Give the new root the harmless devices, and terminals for commands of the shell."""
    from nbmark import linux

    for name in DEVICES:
        target = f"{root}/dev/{name}"
        Path(target).touch()
        linux.mount(f"/dev/{name}", target, None, linux.BIND)
    for name, there in {"fd": "/proc/self/fd", "stdout": "/proc/self/fd/1"}.items():
        os.symlink(there, f"{root}/dev/{name}")
    with contextlib.suppress(OSError):
        os.mkdir(f"{root}/dev/pts")
        options = "newinstance,ptmxmode=0666,mode=0620"
        linux.mount("devpts", f"{root}/dev/pts", "devpts", linux.NO_SUID | linux.NO_EXEC, options)
        os.symlink("pts/ptmx", f"{root}/dev/ptmx")


def _copy_files(source: str, target: str, most: int = 64 * MIB) -> None:
    """Copy the regular files of a folder, and follow no links; leave out what is too large."""
    with os.scandir(source) as entries:
        for entry in entries:
            size = entry.stat(follow_symlinks=False).st_size
            if entry.is_file(follow_symlinks=False) and size <= most:
                most -= size
                copied = shutil.copyfile(entry.path, f"{target}/{entry.name}")
                os.chmod(copied, 0o666)


def _become_nobody() -> None:
    """Give up the rights of root for those of nobody, in a user namespace of its own."""
    from nbmark import linux

    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    linux.own_what_belongs_to_it()
    linux.unshare(linux.NEW_USER)
    linux.map_user(NOBODY, NOBODY)


def found_gaps() -> list[str]:
    """Try from behind the walls what should not succeed; give what does, as `doctor` calls it."""
    status = Path("/proc/self/status").read_text()
    gaps = {
        "reaches a network": len(Path("/proc/net/dev").read_text().splitlines()) > 3,
        "sees other processes": len([p for p in os.listdir("/proc") if p.isdigit()]) > 1,
        "sees files of others": len(os.listdir("/home")) > 1,
        "writes outside of its home": any(map(_can_write, ("/", "/usr", sys.prefix))),
        "has rights of an administrator": "CapBnd:\t0000000000000000" not in status,
        "fills a folder that it shares": _can_write(SOCKETS),
    }
    return [name for name, is_open in gaps.items() if is_open]


def _can_write(folder: str) -> bool:
    try:
        path = Path(folder, "written")
        path.touch()
        path.unlink()
    except OSError:
        return False
    return True
