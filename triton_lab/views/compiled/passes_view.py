"""The changes of each pass of the compiler, pass by pass.

The browser lists all passes, and the whole diff of the picked one as code to scroll: no drawing does that.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypedDict

from triton_lab.compiled.compiled_list import labels
from triton_lab.compiled.explanations import explanation
from triton_lab.compiled.pass_runs import NOT_RUN
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, NEAR, UNKNOWN
from triton_lab.localization import _
from triton_lab.messages import count
from triton_lab.views.compiled.compilation_tab import CompiledPanel
from triton_lab.views.drawing.scene_bounds import Code, Many, Most, Sentence, Whole, Within
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.compiled.compiled import Compiled
    from triton_lab.compiled.pass_runs import PassRun, PassRuns
    from triton_lab.compiled.passes import Pass
    from triton_lab.views.drawing.drawing import Drawing

MOST_CHARACTERS = 900_000  # of all diffs together
GROWN = 4  # operations named beside a pass
# What a pass makes of the result.
MARKS = {EQUAL: "=", NEAR: "≈", UNKNOWN: "?", NOT_RUN: "?", DIFFERENT: "≠"}
BAR = 120.0  # CSS pixels of the longest bar


class PassScene(TypedDict):
    """A pass. ``seconds`` is None if the compiler reports no time; ``ops`` have name and counts before and after.

    ``mark`` and ``result`` say what the module after the pass computes, in a sign and in words; "" if it was not run.
    """

    name: Sentence
    argument: Sentence
    seconds: Annotated[float, Within(0, 1e9)] | None
    changed: bool
    ops: Many[tuple[Sentence, Whole, Whole]]
    mark: Sentence
    result: Sentence
    diff: Code


class PassesScene(TypedDict):
    """All passes. ``introduced``: for each operation its explanation, and the passes that make more of it."""

    kind: Literal["passes"]
    title: Sentence
    headline: Sentence
    passes: Annotated[list[PassScene], Most(1 << 10)]
    introduced: Many[tuple[Sentence, Sentence, Many[Whole]]]
    note: Sentence


class PassesView(View):
    """The passes of ``compiled``, which is compiled again for this when it is first drawn."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled

    def title(self) -> str:
        return _("{kernel} for {labels}: what each pass changed").format(
            kernel=self.compiled.kernel, labels=labels([self.compiled])[0]
        )

    def scene(self) -> PassesScene:
        passes, runs = self.compiled.passes, self.runs
        room, made = MOST_CHARACTERS, []
        introduced: dict[str, list[int]] = {}
        for number, one in enumerate(passes):
            diff = one.diff if len(one.diff) <= room else _("… there was no space for it")
            made.append(_scene_of(one, diff, None if runs is None else runs.of(number)))
            room -= len(made[-1]["diff"])
            for name, (before, after) in one.ops.items():
                if after > before:
                    introduced.setdefault(name, []).append(number)
        return {
            "kind": "passes",
            "title": self.title(),
            "headline": runs.headline() if runs is not None else "",
            "passes": made,
            "introduced": [(name, explanation("ttgir", name), introduced[name]) for name in sorted(introduced)],
            "note": _("The rest was too long to read.") if passes.cut else "",
        }

    @cached_property
    def runs(self) -> PassRuns | None:
        """The module after each pass, run on the launch's inputs; None without a launch that can be run again."""
        from triton_lab.launch.recording.replay_error import CannotReplay

        try:
            return self.compiled.run()
        except (LookupError, CannotReplay):
            return None

    def summary(self) -> str:
        """How many passes there are, and how many of them changed anything."""
        passes = self.compiled.passes
        changing = len(passes.changing) - 1  # the first entry is no pass
        seconds = sum(one.seconds or 0.0 for one in passes)
        return _("{passes} took {seconds} ms; {changing} changed something").format(
            passes=count(len(passes) - 1, "pass", "passes"), seconds=f"{seconds * 1000:.0f}", changing=changing
        )

    def text(self) -> str:
        """The passes that changed anything, as a table, and those that changed the result."""
        told = [self.title(), self.summary(), str(self.compiled.passes.changing)]
        return "\n".join([*told, *([str(self.runs)] if self.runs is not None else [])])

    def pieces(self) -> list[Drawing]:
        """For each pass that changed anything: name, time as a bar, and the operations that became more or fewer."""
        from triton_lab.views.drawing.drawing import Drawing, DrawnText, Rectangle
        from triton_lab.views.drawing.drawing_pieces import LINE, paragraphs, spaced, title
        from triton_lab.views.drawing.fonts import width_of
        from triton_lab.views.drawing.style import SMALL

        shown = [one for one in self.compiled.passes.changing if one.argument]
        longest = max((one.seconds or 0.0 for one in shown), default=0.0) or 1.0
        wide = max((width_of(one.name) for one in shown), default=0.0) + 12
        runs = self.runs
        marks = {} if runs is None else {id(one.changed): MARKS[one.verdict] for one in runs}
        words = max((width_of(told(one), SMALL, mono=True) for one in shown), default=0.0)
        table = Drawing(wide + BAR + 92 + words, LINE * len(shown))
        for number, one in enumerate(shown):
            y = LINE * (number + 0.5)
            length = max(1.0, BAR * (one.seconds or 0.0) / longest)
            time = "" if one.seconds is None else f"{one.seconds * 1000:.1f} ms"
            table.add(
                DrawnText(0, y, one.name),
                Rectangle(wide, y - 5, length, 10, "accent", "none", line=0, radius=0),
                DrawnText(wide + BAR + 60, y, time, colour="faint", align="right"),
                DrawnText(wide + BAR + 76, y, marks.get(id(one), "")),
                DrawnText(wide + BAR + 92, y, told(one), SMALL, mono=True),
            )
        known = [] if runs is None else [runs.headline()]
        return [title(self.title()), *paragraphs([self.summary(), *known]), spaced(table)]


def told(one: Pass) -> str:
    """The operations of which there are more or fewer after a pass, in short."""
    grown = [f"{name} {before} → {after}" for name, (before, after) in one.ops.items()][:GROWN]
    return ", ".join(grown) or _("order, attributes or operands")


def _scene_of(one: Pass, diff: str, run: PassRun | None) -> PassScene:
    return {
        "name": one.name,
        "argument": one.argument,
        "seconds": one.seconds,
        "changed": one.changed,
        "ops": [(name, before, after) for name, (before, after) in one.ops.items()],
        "mark": MARKS[run.verdict] if run else "",
        "result": run.told() if run else "",
        "diff": diff,
    }


class PassesPanel(CompiledPanel):
    """The passes of each compilation; they are computed once the tab is opened."""

    word = "passes"
    waits: ClassVar[bool] = True

    @property
    def there(self) -> bool:
        """Whether any compilation can be repeated: one that comes from a file cannot."""
        return any(map(self.draws, self.card.compiled))

    def draws(self, compiled: Compiled) -> bool:
        return compiled.request is not None

    def picture(self, compiled: Compiled, name: str) -> PassesView:
        return PassesView(compiled)

    def pieces(self) -> list[Drawing]:
        """No pieces: a card's PNG does not wait for a compiler."""
        return []
