"""The changes of each pass of the compiler, pass by pass.

The browser lists all passes, and the whole diff of the picked one as code to scroll: no drawing does that.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypedDict

from triton_lab.compiled.compiled_list import labels
from triton_lab.compiled.explanations import explanation
from triton_lab.compiled.module_values import beside
from triton_lab.compiled.pass_run import NOT_RUN
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, NEAR, UNKNOWN
from triton_lab.localization import _
from triton_lab.messages import count, no_program
from triton_lab.views.compiled.compilation_tab import CompiledPanel
from triton_lab.views.drawing.scene_bounds import Code, GridShape, Many, Most, Sentence, Whole, Within
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.compiled.compiled import Compiled
    from triton_lab.compiled.pass_run import PassRun
    from triton_lab.compiled.pass_runs import PassRuns
    from triton_lab.compiled.passes import Pass
    from triton_lab.views.drawing.drawing import Drawing

MOST_CHARACTERS = 900_000  # of all diffs together
GROWN = 4  # operations named beside a pass
_HUNK = re.compile(r"@@ -(\d+),\d+ \+(\d+),\d+ @@")
# What a pass makes of the result.
MARKS = {EQUAL: "=", NEAR: "≈", UNKNOWN: "?", NOT_RUN: "?", DIFFERENT: "≠"}
SECONDS, VALUE_SECONDS = 8.0, 4.0  # for the runs of all modules, and for the values beside their lines
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


class _Passes(TypedDict):
    kind: Literal["passes"]
    title: Sentence
    headline: Sentence
    passes: Annotated[list[PassScene], Most(1 << 10)]
    introduced: Many[tuple[Sentence, Sentence, Many[Whole]]]
    note: Sentence


class PassesScene(_Passes, total=False):
    """All passes. ``introduced``: for each operation its explanation, and the passes that make more of it.

    ``program`` of ``grid`` is the one whose values stand in the diffs; the same for program 7 is the part ``name/7``.
    """

    # Older saved notebooks lack these.
    name: Sentence
    grid: GridShape
    program: Whole


class PassesView(View):
    """The passes of ``compiled``, which is compiled again for this when it is first drawn.

    ``program`` is a linear number: that of the program whose values stand beside the lines. By default it is the one
    that stores the first element that a pass changes, else 0. ``name`` is the view's name among others. Raises
    ValueError for a program that does not exist.
    """

    def __init__(self, compiled: Compiled, program: int | None = None, name: str = "passes/0") -> None:
        self.compiled, self.name = compiled, name
        self.why_not_run = ""
        launch = compiled.launch
        if program is not None and launch is not None and not 0 <= program < launch.programs:
            raise ValueError(no_program(program, launch.grid))
        self._program = program

    @property
    def program(self) -> int:
        """The linear number of the program whose values are shown."""
        if self._program is not None:
            return self._program
        return 0 if self.runs is None else self.runs.program

    def title(self) -> str:
        return _("{kernel} for {labels}: what each pass changed").format(
            kernel=self.compiled.kernel, labels=labels([self.compiled])[0]
        )

    def scene(self) -> PassesScene:
        passes, runs = self.compiled.passes, self.runs
        values = self.values
        room, made = MOST_CHARACTERS, []
        introduced: dict[str, list[int]] = {}
        for number, one in enumerate(passes):
            diff = with_values(one.diff, values.get(self._before(number), {}), values.get(number, {}))
            diff = diff if len(diff) <= room else _("… there was no space for it")
            made.append(_scene_of(one, diff, None if runs is None else runs.of(number)))
            room -= len(made[-1]["diff"])
            for name, (before, after) in one.ops.items():
                if after > before:
                    introduced.setdefault(name, []).append(number)
        return {
            "kind": "passes",
            "name": self.name,
            "title": self.title(),
            "grid": list(self.compiled.launch.grid) if runs is not None and self.compiled.launch else [1, 1, 1],
            "program": self.program,
            "headline": runs.headline() if runs is not None else self.why_not_run,
            "passes": made,
            "introduced": [(name, explanation("ttgir", name), introduced[name]) for name in sorted(introduced)],
            "note": " ".join(self.notes),
        }

    @property
    def has_parts(self) -> bool:
        """Whether there is another program to choose."""
        return self.compiled.launch is not None and self.compiled.launch.programs > 1

    def part(self, name: str) -> PassesScene:
        """The picture of a part ``name/17``: that with the values of program 17."""
        program = name.removeprefix(f"{self.name}/")
        launch = self.compiled.launch
        if launch is None or not program.isdecimal() or int(program) >= launch.programs:
            raise LookupError(_("{title} has no part {name}").format(title=self.title(), name=repr(name)))
        return PassesView(self.compiled, int(program), self.name).scene()

    @cached_property
    def runs(self) -> PassRuns | None:
        """The module after each pass, run on the launch's inputs; None without a launch that can be run again."""
        from triton_lab.launch.recording.replay_error import CannotReplay

        try:
            return self.compiled.run(SECONDS)
        except LookupError:  # there is no launch
            return None
        except CannotReplay as reason:
            self.why_not_run = _("The modules were not run: {reason}.").format(reason=reason)
            return None

    @cached_property
    def values(self) -> dict[int, Mapping[int, str]]:
        """What the program computes on each line of the module after a pass, by the pass's number, while time lasts."""
        from triton_lab.launch.recording.replay_error import CannotReplay

        found: dict[int, Mapping[int, str]] = {}
        end = time.monotonic() + VALUE_SECONDS
        for one in self.runs or ():
            if time.monotonic() > end:
                break
            try:
                found[one.number] = self.runs.values(one.number, self.program).values  # type: ignore[union-attr]
            except (LookupError, CannotReplay):
                continue
        return found

    def _before(self, number: int) -> int:
        """The last pass before another one that changed the module."""
        changing = [k for k, one in enumerate(self.compiled.passes[:number]) if one.module]
        return changing[-1] if changing else -1

    @property
    def notes(self) -> list[str]:
        """What a reader must know of what is not there."""
        found = [_("The rest was too long to read.")] if self.compiled.passes.cut else []
        if self.values:
            told = _("Behind // stand the first elements that program {program} computes there.")
            found.append(told.format(program=self.program))
            left = sum(one.number not in self.values for one in self.runs or ())
            if left:
                found.append(_("Of {modules} these are not known.").format(modules=count(left, "module")))
        return found

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
        known = list(filter(None, [self.why_not_run if runs is None else runs.headline()]))
        return [title(self.title()), *paragraphs([self.summary(), *known]), spaced(table)]


def with_values(diff: str, before: Mapping[int, str], after: Mapping[int, str]) -> str:
    """A diff with the values beside its lines, which ``before`` and ``after`` have by the lines' numbers from 0."""
    one = other = 0
    told = []
    for line in diff.split("\n"):
        hunk = _HUNK.match(line)
        if hunk:
            one, other = int(hunk[1]) - 1, int(hunk[2]) - 1
        elif line.startswith("-"):
            line, one = beside(line, before.get(one, "")), one + 1
        elif line.startswith("+"):
            line, other = beside(line, after.get(other, "")), other + 1
        elif line.startswith(" "):
            line, one, other = beside(line, after.get(other, "")), one + 1, other + 1
        told.append(line)
    return "\n".join(told)


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
        return PassesView(compiled, name=name)

    def pieces(self) -> list[Drawing]:
        """No pieces: a card's PNG does not wait for a compiler."""
        return []
