"""The user's source line of each operation of a launch, found on demand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from triton_lab.backend.source.kernel_source import KernelSource, is_tritons
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.ir import Location, Op


@dataclass(frozen=True)
class UserLine:
    """A place in the source: ``line`` as the editor counts, ``column`` from 0, ``file`` the kernel's or a helper's.

    ``call`` is the kernel's line that calls the helper, None in the kernel itself; ``alone``: no other line does.
    """

    line: int
    column: int
    excerpt: tuple[str, ...] = ()
    file: str = ""
    call: int | None = None
    alone: bool = True


class SourceLines(Mapping[int, "UserLine | None"]):
    """`UserLine` by operation index; None for operations that come from no line of the user."""

    def __init__(self, source: Any, executable: Executable) -> None:
        self._kernel, self._plan = source.fn, executable.plan
        self._found: dict[int, UserLine | None] = {}

    def __getitem__(self, index: int) -> UserLine | None:
        if index not in self._found:
            self._found[index] = self._line(self._ops[index])
        return self._found[index]

    @cached_property
    def _ops(self) -> Mapping[int, Op]:
        return {op.index: op for op in self._plan.walk()}

    @cached_property
    def _written(self) -> KernelSource:
        return KernelSource(self._kernel, self._plan)

    @cached_property
    def _calls(self) -> Mapping[tuple[str, int, int], set[tuple[str, int]]]:
        """The outermost lines that lead to each place of a helper: several, if it is called on several."""
        found: dict[tuple[str, int, int], set[tuple[str, int]]] = defaultdict(set)
        for op in self._ops.values():
            frames = _own_frames(op)
            if len(frames) > 1:
                found[_key(frames[0])].add((frames[-1].file, frames[-1].line))
        return found

    def _line(self, op: Op) -> UserLine | None:
        frames, places = _own_frames(op), list(self._written.places(op.location))
        if not places:
            return None
        place, call = places[0], places[-1].line if len(places) > 1 else None
        alone = call is None or len(self._calls[_key(frames[0])]) < 2
        return UserLine(place.line, place.column, tuple(self._written.excerpt(place)), place.file, call, alone)

    def __iter__(self) -> Iterator[int]:
        return iter(self._ops)

    def __len__(self) -> int:
        return len(self._ops)


def _own_frames(op: Op) -> list[Location]:
    """The frames of an operation outside of Triton's files, the innermost first."""
    return [] if op.location is None else [one for one in op.location.frames() if not is_tritons(one.file)]


def _key(frame: Location) -> tuple[str, int, int]:
    return frame.file, frame.line, frame.column
