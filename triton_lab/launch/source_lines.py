"""The user's source line of each operation of a launch, found on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from triton_lab.backend.source.kernel_source import KernelSource
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.ir import Op


@dataclass(frozen=True)
class UserLine:
    """A place in the source: ``line`` as the editor counts, ``column`` from 0, ``file`` the kernel's or a helper's."""

    line: int
    column: int
    excerpt: tuple[str, ...] = ()
    file: str = ""


class SourceLines(Mapping[int, "UserLine | None"]):
    """`UserLine` by operation index; None for operations that come from no line of the user."""

    def __init__(self, source: Any, executable: Executable) -> None:
        self._kernel, self._plan = source.fn, executable.plan
        self._ops = {op.index: op for op in executable.plan.walk()}
        self._found: dict[int, UserLine | None] = {}

    def __getitem__(self, index: int) -> UserLine | None:
        if index not in self._found:
            self._found[index] = self._line(self._ops[index])
        return self._found[index]

    @cached_property
    def _written(self) -> KernelSource:
        return KernelSource(self._kernel, self._plan)

    def _line(self, op: Op) -> UserLine | None:
        place = self._written.place(op.location)
        if place is None:
            return None
        return UserLine(place.line, place.column, tuple(self._written.excerpt(place)), place.file)

    def __iter__(self) -> Iterator[int]:
        return iter(self._ops)

    def __len__(self) -> int:
        return len(self._ops)
