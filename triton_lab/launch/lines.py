"""Where the user wrote each operation of a launch, found when asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from triton_lab.backend.source import excerpt, user_location
from triton_lab.interpreter.machine import Executable


@dataclass(frozen=True)
class Line:
    """A place in the kernel's source, as the editor counts; columns from 0."""

    line: int
    column: int
    excerpt: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Source:
    """What `user_location` wants to know of a call: not its arguments, which may be large."""

    source: Any
    executable: Executable


class Lines(Mapping[int, "Line | None"]):
    """By operation index; None for operations that no line of the user's stands for."""

    def __init__(self, source: Any, executable: Executable) -> None:
        self._source = _Source(source, executable)
        self._ops = {op.index: op for op in executable.plan.walk()}
        self._found: dict[int, Line | None] = {}

    def __getitem__(self, index: int) -> Line | None:
        if index not in self._found:
            place = user_location(self._ops[index].location, self._source)
            self._found[index] = (
                None if place is None else Line(place.line, place.column, tuple(excerpt(place, self._source)))
            )
        return self._found[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self._ops)

    def __len__(self) -> int:
        return len(self._ops)
