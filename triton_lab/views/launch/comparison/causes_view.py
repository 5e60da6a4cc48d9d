"""The causes of a difference as a picture: each experiment, and what it says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypedDict

from triton_lab import messages
from triton_lab.launch.comparison.experiment import TELLING
from triton_lab.launch.comparison.experiment_results import HEADINGS as TRIED
from triton_lab.localization import _, all_translated, translated
from triton_lab.views.drawing.scene_bounds import Few, Many, Sentence
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.comparison.comparison_result import Comparison
    from triton_lab.views.drawing.drawing import Drawing

_ROWS = 8  # experiments in a picture


class CausesScene(TypedDict):
    """The experiments, a row each below ``headings``, and their conclusion."""

    kind: Literal["causes"]
    title: Sentence
    headings: Few[Sentence]
    table: Many[Few[Sentence]]


class CausesView(View):
    """The causes of the differences in a `Comparison`: its experiments run once it is opened."""

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    def title(self) -> str:
        cause = self.comparison.cause
        return _("cause: {cause}").format(cause=cause) if self.comparison.causes().known else cause

    def text(self) -> str:
        return str(self.comparison.causes())

    def table(self) -> list[tuple[str, ...]]:
        """The experiments, a row each."""
        return self.comparison.causes().table()

    def scene(self) -> CausesScene:
        return {
            "kind": "causes",
            "title": self.title(),
            "headings": list(all_translated(TRIED)),
            "table": [list(one) for one in self.table()],
        }

    def pieces(self) -> list[Drawing]:
        from triton_lab.views.drawing.drawing_pieces import paragraphs, table

        return [*paragraphs([self.title()]), *([table([all_translated(TRIED), *self.table()])] if self.table() else [])]


def briefly(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows of experiments: if there are many, those with a conclusion or near results, and a count of the rest."""
    if len(rows) <= _ROWS:
        return rows
    answers = set(map(translated, TELLING))
    telling = [row for row in rows if row[-1] in answers][-_ROWS:]
    nearest = sorted((row for row in rows if row[2] and row not in telling), key=_right, reverse=True)
    kept = [*telling, *nearest[: max(0, _ROWS // 2 - len(telling))]]
    others = messages.count(len(rows) - len(kept), "other")
    return [*(row for row in rows if row in kept), (others, "", "", "", _("no; causes() lists each"))]


def _right(row: tuple[str, ...]) -> int:
    """The number of bit-equal elements in a row, ``1,024 of 2,048``: in any language the smaller of the two."""
    return min(int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", row[2]))
