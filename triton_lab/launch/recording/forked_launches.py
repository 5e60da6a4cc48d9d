"""Launches in processes that were forked while a record ran: it does not get them, and has to say so."""

from __future__ import annotations

import mmap
import os

from triton_lab import messages

_ROOM = 4096  # bytes, of which the last stays 0
_NAME = 200  # bytes of a kernel's name


class Forked:
    """Names of kernels in memory that forks share: each fork adds one for each launch, as far as there is room."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._shared = mmap.mmap(-1, _ROOM)

    @property
    def is_here(self) -> bool:
        """Whether this is such a fork."""
        return os.getpid() != self._process

    def launched(self, kernel: str) -> None:
        """A fork has launched this. Of two that do at the same moment one may be lost; never all."""
        name = kernel.encode()[:_NAME] + b"\n"
        end = self._shared.find(b"\0")
        if end + len(name) < _ROOM:
            self._shared[end : end + len(name)] = name

    def told(self) -> list[str]:
        """What was launched there since the last time, in words."""
        names = bytes(self._shared).partition(b"\0")[0].decode(errors="replace").split()
        self._shared[:] = bytes(_ROOM)
        counts = {kernel: messages.count(names.count(kernel), "launch", "launches") for kernel in names}
        return [f"{told} of {kernel} in forked processes, which are not recorded" for kernel, told in counts.items()]
