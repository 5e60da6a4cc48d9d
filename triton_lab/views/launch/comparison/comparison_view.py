"""Comparison: two results side by side with their error, over elements and programs, the verdict and the causes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict

from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, VERDICTS
from triton_lab.launch.comparison.experiment_results import HEADINGS as TRIED
from triton_lab.localization import N_, _, all_translated, translated
from triton_lab.views.drawing.scene_bounds import Few, Many, Most, Sentence, Whole, Within
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, unknown
from triton_lab.views.launch.comparison.causes_view import CausesView, briefly
from triton_lab.views.launch.comparison.difference_heatmaps import HEADINGS, ComparedPicture, ComparedScene, row
from triton_lab.views.missing_picture import attempt
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.comparison.comparison_result import Comparison
    from triton_lab.launch.comparison.experiment_results import Pairs
    from triton_lab.views.drawing.drawing import Drawing
    from triton_lab.views.scenes import Scene

MOST = 6  # arguments that have heatmaps
_SOON = 0.05  # seconds: if the CPU runs a launch faster, its causes are searched for at once
PATIENCE = 2.0  # seconds that a card waits for a bound on rounding in a launch's results
NOT_TRIED = N_("No experiments were run to find the cause.")


class _ComparisonScene(TypedDict):
    kind: Literal["comparison"]
    title: Sentence
    titles: Many[Sentence]
    headings: Few[Sentence]
    table: Many[Few[Sentence]]
    lines: Many[Sentence]
    tried: Few[Sentence]
    causes: Many[Few[Sentence]]
    arguments: Few[ComparedScene]
    grid: Annotated[list[Annotated[int, Within(0, 1 << 31)]], Most(3)]
    open: Whole


class ComparisonScene(_ComparisonScene, total=False):
    """A comparison. ``open``: the argument that is shown first.

    ``later``: the part with the causes, if they are not yet known; ``cause``: the cause of the difference, if it was
    found.
    """

    # Older saved notebooks lack both.
    later: Sentence
    cause: Sentence  # the cause, if it was found


class ComparisonView(View):
    """A `Comparison`; ``argument`` is shown first, by default the worst. Raises KeyError if there is no such argument.

    ``causes`` is the name of the part that searches for causes, if that takes long, or if it must be requested
    (``tries`` is False).
    """

    def __init__(
        self, comparison: Comparison, argument: str | None = None, causes: str = "causes", tries: bool = True
    ) -> None:
        self.comparison, self._later, self._tries = comparison, causes, tries
        asked = None if argument is None else comparison[argument]
        told = [one for one in comparison if one.written or one.count or one is asked]
        ranked = sorted(told, key=lambda one: (one is not asked, not one.written, -VERDICTS.index(one.verdict)))
        chosen = ranked[:MOST]
        self.pictures = [
            ComparedPicture(one, comparison.titles, comparison.launch) for one in told if one in chosen
        ]  # fmt: skip
        self.open = next((k for k, picture in enumerate(self.pictures) if picture.one is ranked[0]), 0)

    def title(self) -> str:
        return self.comparison.sentence

    def text(self) -> str:
        told = [self.comparison.text()]
        if self.comparison.verdict != EQUAL:
            told += [
                f"  {line}" for line in (self.comparison.causes().text() if self.tried else self._not_yet).split("\n")
            ]
        return "\n".join(told)

    def table(self) -> list[tuple[str, ...]]:
        """One row for each argument, below `HEADINGS`."""
        return [row(one) for one in self.comparison if one.written or one.count] or [
            row(one) for one in self.comparison
        ]

    def cause(self) -> str:
        """The cause of the difference, if it is known: ``cause: ...``."""
        if not self.tried or self.comparison.verdict == EQUAL or not self.comparison.causes().known:
            return ""
        if self._pair is not None:
            return _("cause: {cause}").format(cause=self._pair.lines()[0])
        return CausesView(self.comparison).title()

    @property
    def _pair(self) -> Pairs | None:
        """The two slips that are the cause, if they explain everything."""
        causes = self.comparison.causes()
        return None if causes.named or any(one.names_it for one in causes.experiments) else causes.pair

    def lines(self) -> list[str]:
        """The lines of words: slips, the first thing that went wrong, a missing cause, what was not compared."""
        comparison = self.comparison
        first = list(comparison.relations)
        if self.cause() and self._pair is not None:
            first = [*self._pair.lines()[1:], *first]
        if comparison.first is not None:
            first.append(comparison.first.told(comparison.titles))
        if self.tried and comparison.verdict == DIFFERENT:
            first += attempt(self._parting, lambda why: [])
            first += attempt(self._inputs, lambda why: [])
        if self.tried and comparison.verdict != EQUAL and not self.cause():
            first.append(CausesView(comparison).title())
        reasons = sorted({one.reason for one in comparison if one.count and one.reason})
        return [*first, *reasons, *comparison.remarks]

    def _parting(self) -> list[str]:
        """Where the kernel and the function that was compared with part, on one line."""
        parting = self.comparison.parting
        return [] if parting is None else [_("{title}: see comparison.parting").format(title=parting.title())]

    def _inputs(self) -> list[str]:
        """Where a result is wrong, and on which inputs a wrong element depends and must not, if no cause is found."""
        if self.cause():
            return []
        found = (self.comparison.wrong_where, self.comparison.dependence)
        return [str(one) for one in found if one is not None]

    @property
    def tried(self) -> bool:
        """Whether the causes were requested, or are found quickly."""
        comparison = self.comparison
        sides = [one for one in (comparison.launch, comparison.other) if one is not None]
        return "_causes" in vars(comparison) or (
            self._tries and all(one.interpreted < _SOON for one in sides) and not _compiles_again(sides)
        )

    @property
    def _not_yet(self) -> str:
        return translated(NOT_TRIED) + _(
            " Call lab.compare(...).causes() to run experiments, each of which runs the launch once more."
        )

    def causes(self) -> list[tuple[str, ...]]:
        """The experiments, a row each; none before they are requested."""
        return self.comparison.causes().table() if self.tried else []

    def scene(self) -> ComparisonScene:
        found: ComparisonScene = {
            "kind": "comparison",
            "title": self.title(),
            "titles": list(self.comparison.titles),
            "headings": list(all_translated(HEADINGS)),
            "table": [list(one) for one in self.table()],
            "lines": self.lines(),
            "tried": list(all_translated(TRIED)),
            "causes": [list(one) for one in self.causes()],
            "arguments": [picture.scene() for picture in self.pictures],
            "grid": list(self.comparison.launch.grid),
            "open": self.open,
        }
        if not self.tried and self.comparison.verdict != EQUAL:
            found["later"] = self._later
        if self.cause():
            found["cause"] = self.cause()
        return found

    def part(self, name: str) -> Scene:
        return CausesView(self.comparison).scene() if name == "causes" else super().part(name)

    def pieces(self) -> list[Drawing]:
        """The table, the lines of words, the heatmaps of the open argument, and the experiments."""
        from triton_lab.views.drawing.drawing_pieces import one_row, paragraphs, side_by_side, table, title

        pieces = [title(self.title()), table([all_translated(HEADINGS), *self.table()])]
        later = [] if self.tried or self.comparison.verdict == EQUAL else [self._not_yet]
        pieces += paragraphs([self.cause()] if self.cause() else [], "ink")
        pieces += paragraphs([*self.lines(), *later])
        if self.pictures:
            picture = self.pictures[self.open]
            pieces.append(one_row(picture.heatmaps, 8))
            if picture.by_program is not None:
                pieces += side_by_side([picture.by_program])
        if self.causes():
            pieces.append(table([all_translated(TRIED), *briefly(self.causes())]))
        return pieces


class Beside(View):
    """Two blocks of values, or any two arrays of one shape, and their error."""

    def __init__(self, picture: ComparedPicture) -> None:
        self.picture = picture

    def title(self) -> str:
        return self.picture.one.told()

    def text(self) -> str:
        one, titles = self.picture.one, self.picture.titles
        found = one.largest_absolute
        if found is None or not found.value:
            return self.title()
        told = (f"{title} {side[found.index]}" for title, side in zip(titles, (one.a, one.b), strict=True))
        return f"{self.title()}\n{', '.join(told)}"

    def scene(self) -> ComparisonScene:
        return {
            "kind": "comparison",
            "title": self.title(),
            "titles": list(self.picture.titles),
            "headings": list(all_translated(HEADINGS)),
            "table": [list(row(self.picture.one))],
            "lines": [],
            "tried": [],
            "causes": [],
            "arguments": [self.picture.scene()],
            "grid": [],
            "open": 0,
        }

    def pieces(self) -> list[Drawing]:
        """The three heatmaps under the table."""
        from triton_lab.views.drawing.drawing_pieces import one_row, table, title

        return [
            title(self.title()),
            table([all_translated(HEADINGS), row(self.picture.one)]),
            one_row(self.picture.heatmaps, 8),
        ]


class ComparisonPanel(Panel):
    """The results of one launch on the GPU and on the CPU."""

    @cached_property
    def comparison(self) -> Comparison:
        """The comparison, made once for the picture and for its causes."""
        from triton_lab.launch.comparison.compare import compare

        return compare(self.launch, seconds=PATIENCE)

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> ComparisonView | CausesView:
        match path:
            case ["comparison"] if self.card.both_ran:
                return ComparisonView(self.comparison, causes="comparison/causes")
            case ["comparison", "causes"] if self.card.both_ran:
                return CausesView(self.comparison)
        raise unknown(path)

    def drawn(self) -> Sequence[ComparisonView]:
        return [ComparisonView(self.comparison)] if self.card.both_ran else []


def _compiles_again(launches: Sequence[object]) -> bool:
    """Whether experiments compile the kernel for a GPU of this machine, which takes seconds."""
    import torch

    return any(getattr(one, "target", "") == "gpu" for one in launches) and torch.cuda.is_available()
