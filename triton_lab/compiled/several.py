"""`CompiledList`: a kernel, compiled for several targets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex, overload

from triton_lab.compiled.compiled import Compiled
from triton_lab.compiled.text import aligned, shown, side_by_side


class CompiledList(list[Compiled]):
    """A kernel, compiled for several targets: as the last value of a cell a table with a column for each.

    >>> both = launch.compile(["sm_90", "gfx942"])
    >>> [compiled.target for compiled in both]
    ['sm_90', 'gfx942']
    """

    def __init__(self, compiled: Iterable[Compiled] = ()) -> None:
        super().__init__(compiled)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Compiled: ...
    @overload
    def __getitem__(self, index: slice) -> CompiledList: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Compiled | CompiledList:
        found = super().__getitem__(index)
        return CompiledList(found) if isinstance(found, list) else found

    def __str__(self) -> str:
        problems = [f"! {problem}" for one in self for problem in one.problems]
        return "\n".join(
            [
                *problems,
                *aligned(side_by_side([list(one.metadata.rows()) for one in self], [one.target for one in self])),
            ]
        )

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        stages = {f"{one.target} {name}": text for one in self for name, text in one.stages.items()}
        return shown(str(self), stages), {}
