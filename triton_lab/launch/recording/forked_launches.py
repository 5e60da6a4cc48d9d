"""Launches in processes that were forked while a record ran. The record cannot hold them, but must report them."""

from __future__ import annotations

import mmap
import os

from triton_lab import messages
from triton_lab.localization import _

_ROOM = 4096  # bytes, of which the last stays 0
_NAME = 200  # bytes of a kernel's name


class Forked:
    """Kernel names in memory that forks share: each fork adds a name for each launch, as long as there is room."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._shared = mmap.mmap(-1, _ROOM)

    @property
    def is_here(self) -> bool:
        """Whether this process is a fork."""
        return os.getpid() != self._process

    def launched(self, kernel: str) -> None:
        """Note that this fork launched ``kernel``. If two forks do so at the same moment, one name may be lost."""
        name = kernel.encode()[:_NAME] + b"\n"
        end = self._shared.find(b"\0")
        if end + len(name) < _ROOM:
            self._shared[end : end + len(name)] = name

    def told(self) -> list[str]:
        """The launches in forks since the last call, in words."""
        names = bytes(self._shared).partition(b"\0")[0].decode(errors="replace").split()
        self._shared[:] = bytes(_ROOM)
        counts = {kernel: messages.count(names.count(kernel), "launch", "launches") for kernel in names}
        return [
            _("{told} of {kernel} in forked processes, which are not recorded").format(told=told, kernel=kernel)
            for kernel, told in counts.items()
        ]
