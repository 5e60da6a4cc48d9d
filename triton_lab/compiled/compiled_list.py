"""`CompiledList`: a kernel compiled for several targets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, SupportsIndex, cast, overload

from triton_lab.compiled.compilation_text import aligned, side_by_side
from triton_lab.compiled.compiled import Compiled, told_apart
from triton_lab.providers import provided
from triton_lab.rich_display import RichDisplay

if TYPE_CHECKING:
    from triton_lab.views.compiled.compiled_card import CompilationCard


class CompiledList(list[Compiled], RichDisplay):
    """A kernel compiled for several targets. As the last value of a cell it is a table with a column for each.

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
                *aligned(table(self)),
            ]
        )

    def _picture(self) -> CompilationCard | None:
        """One card for all of them."""
        return cast("CompilationCard", provided("CompiledList.card")(self)) if self else None

    def _words(self) -> str:
        return "compiled for nothing"


def labels(compiled: Sequence[Compiled]) -> list[str]:
    """A label for each compilation: its target, and the properties in which those for one target differ."""
    told = [told_apart(one) for one in compiled]
    found = []
    for one in told:
        alike = [other for other in told if other["target"] == one["target"]]
        names = [name for name in one if name != "target" and len({other.get(name) for other in alike}) > 1]
        found.append(", ".join([one["target"], *(one[name] for name in names)]))
    return found


def table(compiled: Sequence[Compiled]) -> list[tuple[str, ...]]:
    """Rows of a name and each compilation's value, under their labels."""
    return side_by_side([list(one.metadata.rows()) for one in compiled], labels(compiled))
