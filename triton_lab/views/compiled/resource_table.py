"""The resources that machine code takes of a GPU, as a table with a column for each compilation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

from triton_lab.compiled.compiled_list import CompiledList, labels, table
from triton_lab.localization import _
from triton_lab.views.drawing.scene_bounds import Few, Many, Sentence
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, unknown
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.compiled.compiled import Compiled
    from triton_lab.views.drawing.drawing import Drawing


class CompiledScene(TypedDict):
    """A table under ``headings``. ``problems``: what would keep a GPU from running the kernel."""

    kind: Literal["compiled"]
    title: Sentence
    problems: Many[Sentence]
    headings: Few[Sentence]
    table: Many[Few[Sentence]]


class ResourceTable(View):
    """Registers, shared memory and instructions of each of ``compiled``."""

    def __init__(self, compiled: Sequence[Compiled]) -> None:
        self.compiled = list(compiled)

    def title(self) -> str:
        return _("{kernel} for {targets}").format(
            kernel=self.compiled[0].kernel, targets=", ".join(labels(self.compiled))
        )

    def problems(self) -> list[str]:
        """What would keep a GPU from running the kernel."""
        return list(dict.fromkeys(problem for one in self.compiled for problem in one.problems))

    def scene(self) -> CompiledScene:
        headings, *rows = table(self.compiled)
        return {
            "kind": "compiled",
            "title": self.title(),
            "problems": self.problems(),
            "headings": list(headings),
            "table": [list(row) for row in rows],
        }

    def text(self) -> str:
        return f"{self.title()}\n{CompiledList(self.compiled)}"

    def pieces(self) -> list[Drawing]:
        """The problems, then the table."""
        from triton_lab.views.drawing.drawing_pieces import paragraphs, title
        from triton_lab.views.drawing.drawing_pieces import table as table_piece

        return [title(self.title()), *paragraphs(self.problems(), "error"), table_piece(table(self.compiled))]


class SummaryPanel(Panel):
    """The table of all compilations."""

    @property
    def there(self) -> bool:
        return bool(self.card.compiled)

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> ResourceTable:
        if len(path) > 1:
            raise unknown(path)
        return ResourceTable(self.card.compiled)

    def drawn(self) -> list[ResourceTable]:
        return [ResourceTable(self.card.compiled)]
