"""Linux's own calls for processes that work for others: whom a process ends with, what it may see and do.

Each raises OSError where the kernel refuses. The module needs nothing else of the package.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
NEW_MOUNTS, NEW_HOST_NAME, NEW_IPC = 0x00020000, 0x04000000, 0x08000000
NEW_USER, NEW_PIDS, NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000
BIND, PRIVATE, NO_SUID, NO_DEVICES, NO_PROGRAMS = 0x1000, 0x4000 | 0x40000, 0x2, 0x4, 0x8
_DEATH_SIGNAL, _DUMPABLE, _CAPABILITY_DROP, _SUBREAPER, _GET_SUBREAPER, _NO_NEW_PRIVILEGES = 1, 4, 24, 36, 37, 38
_CAPABILITIES_3 = 0x20080522
_LAST_CAPABILITY = 63
_MOUNT_SETATTR, _CURRENT_FOLDER, _RECURSIVE, _READ_ONLY = 442, -100, 0x8000, 1


def end_with_parent(parent: int | None = None) -> None:
    """Have the kernel kill this process when the thread that has forked it ends.

    ``parent`` is that process's id, where it is known: if it has ended already, this process ends now.
    """
    _control(_DEATH_SIGNAL, signal.SIGKILL)
    if parent is not None and os.getppid() != parent:
        os._exit(1)


def take_in_orphans(take: bool = True) -> None:
    """Become the parent of all descendants whose own parent ends, or no longer."""
    _control(_SUBREAPER, int(take))


def takes_in_orphans() -> bool:
    """Whether this process becomes the parent of descendants whose own parent ends."""
    found = ctypes.c_int(0)
    _checked(_libc.prctl(_GET_SUBREAPER, ctypes.byref(found), 0, 0, 0), "prctl")
    return bool(found.value)


def hide_memory() -> None:
    """Other processes of the same user may not look into this one from now on."""
    _control(_DUMPABLE, 0)


def unshare(namespaces: int) -> None:
    """Enter new ``namespaces`` (a sum of the constants above); a new user namespace knows the same user and group."""
    user, group = os.geteuid(), os.getegid()
    _checked(_libc.unshare(namespaces), "unshare")
    if namespaces & NEW_USER:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path("/proc/self", name).write_text(text)


def drop_capabilities() -> None:
    """Give up what a process in a user namespace of its own may do there, such as undoing mounts."""
    forbid_new_privileges()
    for capability in range(_LAST_CAPABILITY + 1):
        _libc.prctl(_CAPABILITY_DROP, capability, 0, 0, 0)
    header, none = struct.pack("Ii", _CAPABILITIES_3, 0), bytes(24)
    _checked(_libc.capset(ctypes.c_char_p(header), ctypes.c_char_p(none)), "capset")


def forbid_new_privileges() -> None:
    """Programs that this process starts get no rights that it has not (setuid has no effect)."""
    _control(_NO_NEW_PRIVILEGES, 1)


def mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """mount(2)."""
    given = [None if text is None else text.encode() for text in (source, target, kind)]
    _checked(_libc.mount(*given, ctypes.c_ulong(flags), None if options is None else options.encode()), "mount")


def mount_read_only() -> None:
    """Let nothing be written to any file system that is mounted in this namespace now."""
    attributes = struct.pack("<QQQQ", _READ_ONLY, 0, 0, 0)
    given = (_CURRENT_FOLDER, b"/", _RECURSIVE, attributes, len(attributes))
    _checked(_libc.syscall(_MOUNT_SETATTR, *given), "mount_setattr")


def _control(option: int, value: int) -> None:
    _checked(_libc.prctl(option, value, 0, 0, 0), "prctl")


def _checked(result: int, call: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
