"""The system calls of Linux that Python 3.11 lacks: namespaces, mounts, capabilities."""

import ctypes
import errno
import os
import struct

NEW_USER, NEW_MOUNTS, NEW_PIDS = 0x10000000, 0x00020000, 0x20000000
NEW_NETWORK, NEW_IPC, NEW_NAMES = 0x40000000, 0x08000000, 0x04000000
NO_SUID, NO_DEVICES, NO_EXEC, BIND, RECURSIVE, PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
DETACH = 2  # an option of umount2

# Options of prctl
_DIE_WITH_PARENT, _DUMPABLE, _DROP_FROM_BOUNDS, _NO_NEW_PRIVILEGES = 1, 4, 24, 38
_LAST_CAPABILITY = 63
_CAPABILITY_VERSION = 0x20080522
# Numbers that are the same on every architecture since Linux 5.12.
_MOUNT_SETATTR, _LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 442, 444, 445, 446
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_CAPSET = {"x86_64": 126, "aarch64": 91}
_RECURSIVELY, _READ_ONLY = 0x8000, 0x1
_HERE = -100  # a path, not a folder's number

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Move this process into namespaces of its own, the next child for `NEW_PIDS`."""
    _call("unshare", flags)


def map_user(user: int, group: int) -> None:
    """Name the user and group that this process has outside of its new user namespace."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def mount(
    source: str | None, target: str, kind: str | None, flags: int = 0, data: str | None = None
) -> None:
    """Mount a file system, or change how one is mounted."""
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    _call("mount", *encoded[:3], ctypes.c_ulong(flags), encoded[3], what=f"mount {target}")


def unmount(target: str) -> None:
    """Take a file system away as soon as nobody uses it."""
    _call("umount2", os.fsencode(target), DETACH, what=f"unmount {target}")


def make_read_only(target: str, below: bool = True) -> None:
    """Let nothing be written into what is mounted here, and into what is mounted below it."""
    attributes = struct.pack("QQQQ", _READ_ONLY | NO_SUID, 0, 0, 0)
    arguments = os.fsencode(target), _RECURSIVELY if below else 0, attributes, len(attributes)
    _syscall(_MOUNT_SETATTR, _HERE, *arguments, what=f"make {target} read-only")


def pivot_root(root: str) -> None:
    """Make a mounted folder the root, and let go of what was there."""
    os.chdir(root)
    _syscall(_number(_PIVOT_ROOT), b".", b".", what="pivot_root")
    unmount(".")
    os.chdir("/")


def die_with_parent(signal: int) -> None:
    """Ask for a signal when the parent ends; a change of user takes that back."""
    _call("prctl", _DIE_WITH_PARENT, signal, 0, 0, 0, what="prctl")


def own_what_belongs_to_it() -> None:
    """Let this process write its own files in /proc again, after a change of user."""
    _call("prctl", _DUMPABLE, 1, 0, 0, 0, what="prctl")


def drop_privileges() -> None:
    """Give up all capabilities of this thread, for ever."""
    for number in range(_LAST_CAPABILITY + 1):
        if _libc.prctl(_DROP_FROM_BOUNDS, number, 0, 0, 0) < 0:
            break  # the kernel knows no more of them, or this process has none
    _call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0, what="prctl")
    header, nothing = struct.pack("Ii", _CAPABILITY_VERSION, 0), bytes(24)
    _syscall(_number(_CAPSET), header, nothing, what="capset")


def only_make_files_in(folders: list[str]) -> None:
    """Refuse to make files, folders and links anywhere else (sockets aside), by Landlock."""
    regular, folder, links, fifo, devices = 1 << 8, 1 << 7, 1 << 12, 1 << 10, 1 << 6 | 1 << 11
    rights = regular | folder | links | fifo | devices
    attributes = struct.pack("Q", rights)
    rules = _syscall(_LANDLOCK_CREATE, attributes, len(attributes), 0, what="landlock")
    try:
        for path in folders:
            number = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rule = struct.pack("=Qi", rights & ~devices, number)
            _syscall(_LANDLOCK_ADD, rules, 1, rule, 0, what="landlock")
            os.close(number)
        _call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0, what="prctl")
        _syscall(_LANDLOCK_RESTRICT, rules, 0, what="landlock")
    finally:
        os.close(rules)


def _number(numbers: dict[str, int]) -> int:
    machine = os.uname().machine
    if machine not in numbers:
        raise OSError(errno.ENOSYS, f"this system call's number on {machine} is not known")
    return numbers[machine]


def _call(name: str, *arguments: object, what: str = "") -> int:
    return _checked(getattr(_libc, name)(*arguments), what or name)


def _syscall(number: int, *arguments: object, what: str) -> int:
    sized = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(_libc.syscall(ctypes.c_long(number), *sized), what)


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
