"""Launches made by hand: the same attributes as the real ones, from plain index arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from triton_lab.launch.recording.access_event import AccessEvent

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class FakeArgument:
    """A tensor argument; its storage starts at ``storage_address``."""

    name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0
    dtype: str = "float32"
    itemsize: int = 4
    storage_address: int = 0x1000
    storage_bytes: int = 1 << 20
    kind: str = "tensor"
    value: object = None
    address: int = -1

    def __post_init__(self) -> None:
        if self.address < 0:
            object.__setattr__(self, "address", self.storage_address + self.offset * self.itemsize)


@dataclass(frozen=True)
class FakeAccess:
    """An access whose lanes are given as one (offsets, mask) pair per iteration.

    Offsets are in elements from element 0; a program whose ``ran`` is False did not execute.
    """

    to: FakeArgument
    kind: str
    line: int
    lanes: Sequence[tuple[Ints, npt.NDArray[np.bool_]]]
    ran: Sequence[npt.NDArray[np.bool_]] | None = None
    itemsize: int = 4

    stopped: None = None

    @property
    def argument(self) -> str:
        return self.to.name

    def strayed(self, iteration: int) -> npt.NDArray[np.bool_]:
        return np.zeros(self.lanes[iteration][0].shape, np.bool_)

    @property
    def iterations(self) -> int:
        return len(self.lanes)

    def address(self, iteration: int) -> Ints:
        return self.to.address + self.lanes[iteration][0] * self.to.itemsize

    def order(self, iteration: int) -> int:
        return iteration

    def mask(self, iteration: int) -> npt.NDArray[np.bool_]:
        return self.lanes[iteration][1] & self._ran(iteration)

    @property
    def events(self) -> list[AccessEvent]:
        """One for each iteration, of all programs."""
        found = []
        for iteration, (offsets, _) in enumerate(self.lanes):
            programs, shape = np.arange(len(offsets)), offsets.shape[1:]
            found.append(
                AccessEvent(self.order(iteration), programs, self.address(iteration), self.mask(iteration), shape)
            )
        return found

    def executed(self, iteration: int) -> npt.NDArray[np.bool_]:
        return self._ran(iteration)

    def _ran(self, iteration: int) -> npt.NDArray[np.bool_]:
        offsets = self.lanes[iteration][0]
        ran = np.ones(len(offsets), dtype=bool) if self.ran is None else self.ran[iteration]
        return ran.reshape((-1,) + (1,) * (offsets.ndim - 1))


@dataclass(frozen=True)
class FakeLaunch:
    """A launch of ``grid`` programs."""

    grid: tuple[int, int, int]
    arguments: tuple[FakeArgument, ...]
    accesses: list[FakeAccess]
    kernel: str = "kernel"
    target: str = "cpu"
    seconds: float = 0.00123
    error: str | None = None
    source: str = ""
    first_line: int = 1
    file: str = "kernel.py"
    findings: list[object] = field(default_factory=list)
    dropped: str = ""

    @property
    def done(self) -> list[FakeAccess]:
        return self.accesses

    @property
    def programs(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]


def tile(
    argument: FakeArgument,
    kind: str,
    line: int,
    grid: tuple[int, int, int],
    block: tuple[int, ...],
    corner: Callable[[int, int, int, int], Sequence[int]],
    iterations: int = 1,
    masked: bool = True,
) -> FakeAccess:
    """Every program touches a block of indices from ``corner(x, y, z, iteration)`` on; a step along a
    block axis is one along the dimension. Lanes outside the shape are masked (unless told not to be)."""
    lanes = []
    programs = [(x, y, z) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0])]
    inner = np.indices(block)  # (dimensions, *block)
    for iteration in range(iterations):
        corners = np.array([corner(*program, iteration) for program in programs])
        index = corners.reshape(*corners.shape, *(1,) * len(block)) + inner  # (programs, dimensions, *block)
        shape = np.array(argument.shape).reshape(1, -1, *(1,) * len(block))
        strides = np.array(argument.strides).reshape(1, -1, *(1,) * len(block))
        inside = ((index >= 0) & (index < shape)).all(axis=1)
        lanes.append(((index * strides).sum(axis=1), inside if masked else np.ones_like(inside)))
    return FakeAccess(argument, kind, line, lanes)
