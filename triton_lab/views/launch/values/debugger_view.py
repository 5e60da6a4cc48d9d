"""The steps of a program with breakpoints, watched expressions, and the values of another program beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from triton_lab import messages as words
from triton_lab.launch.debugging.block_expression import ConditionError, read_expression
from triton_lab.launch.debugging.debugger import Debugger
from triton_lab.localization import _
from triton_lab.views.drawing.scene_bounds import Many, Sentence, Whole
from triton_lab.views.drawing.value_picture import summary
from triton_lab.views.launch.values.steps_view import FollowScene, Steps, StepsScene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.replay.program_trace import Trace
    from triton_lab.views.drawing.drawing import Drawing

WIDTH = 100  # characters of a value


class WatchScene(TypedDict):
    """A watched expression: ``values[k]`` is its value from step ``steps[k]`` on."""

    text: Sentence
    steps: Many[Whole]
    values: Many[Sentence]


class BesideScene(TypedDict):
    """Another program: its value at the same visit of each step, in words; "" where it does not come there."""

    program: Sentence
    values: Many[Sentence]


class DebuggerScene(TypedDict):
    """A program's steps: after step ``stops[k]`` it stops before line ``lines[k]``."""

    kind: Literal["debugger"]
    steps: StepsScene
    stops: Many[Whole]
    lines: Many[Whole]
    note: Sentence
    watches: Many[WatchScene]
    beside: BesideScene | None


class DebuggerView(View):
    """The steps of ``program``, which stands at its first breakpoint, else at its first step.

    A breakpoint is a line, a condition, or both as ``(line, condition)``; each ``breakpoint()`` of the kernel counts,
    too. ``watch`` has expressions over blocks, and ``beside`` is a program whose values stand beside. Raises
    BreakpointError and ConditionError for what cannot be read, LookupError for a program that does not exist.
    """

    def __init__(
        self,
        launch: Launch,
        program: int | None = None,
        breakpoints: Sequence[int | str | tuple[int, str]] = (),
        watch: Sequence[str] = (),
        beside: int | None = None,
    ) -> None:
        self.asked = tuple(breakpoints), tuple(watch), beside
        debugger = Debugger(launch, program or 0)
        remarks = [debugger.break_at(*_place(one)).remark for one in breakpoints]
        if program is None:
            debugger.run()
        self.launch, self.program = launch, debugger.program
        found = debugger.breaks()
        self.line = debugger.copy.functions[0].first_line if not found else debugger.tape.stops[found[0]].statement.line
        # A statement that assigns and touches nothing has no step: of lines after one step, the first stands.
        before = {debugger.tape.trace_step(at): debugger.tape.stops[at].statement.line for at in reversed(found)}
        self.stops = sorted(before)
        self.before = [before[step] for step in self.stops]
        self.lines = sorted({debugger.tape.stops[position].statement.line for position in found})
        self.note = "; ".join(filter(None, remarks))
        self.steps = Steps(launch, self.program, 0)
        if self.stops:
            self.steps.step = self.stops[0]
        else:
            self.steps.in_body()
        self.watch = [(read_expression(text).text, self._watched(text)) for text in watch]
        self.beside = beside
        self.values = [] if beside is None else self._beside(launch.trace(beside))

    def title(self) -> str:
        title = self.steps.title()
        return title if not self.stops else _("stopped at line {line}: {title}").format(line=self.line, title=title)

    def text(self) -> str:
        at = self.steps.step
        lines = [self.title(), *self.steps.text().split("\n")[1:]]
        lines += [f"  {text}: {_at(found, at)}" for text, found in self.watch]
        if self.beside is not None and self.values:
            lines.append(_("in {program}:").format(program=words.program(self.beside, self.launch.grid)))
            alive = self.steps.trace.alive(at).items()
            lines += [f"  {name} = {self.values[step.number] or '-'}" for name, step in alive]
        return "\n".join([*lines, *filter(None, [self.note])])

    def pieces(self) -> list[Drawing]:
        from triton_lab.views.drawing.drawing_pieces import table

        rows = [(text, _at(found, self.steps.step)) for text, found in self.watch]
        return [*self.steps.pieces(), *([table([("", _("Value")), *rows])] if rows else []), *self._two()]

    def _two(self) -> list[Drawing]:
        """The variables of both programs."""
        from triton_lab.views.drawing.drawing_pieces import table

        if self.beside is None or not self.values:
            return []
        alive = self.steps.trace.alive(self.steps.step).values()
        rows = [(step.name or "", self.steps.shown(step)[1], self.values[step.number] or "-") for step in alive]
        who = (words.program(number, self.launch.grid) for number in (self.program, self.beside))
        return [table([("", *who), *rows])]

    def live(self) -> FollowScene:
        """The steps of this program; they are replaced once another program is picked."""
        name = f"debugger@{self.program}"
        return {
            "kind": "follow",
            "name": "debugger",
            "window": 1,
            "program": self.program,
            "parts": {name: self.scene()},
        }

    def part(self, name: str) -> DebuggerScene:
        tab, _unused, program = name.partition("@")
        if tab != "debugger" or not program.isdecimal():
            raise LookupError(_("{title} has no part {name}").format(title=self.title(), name=repr(name)))
        return DebuggerView(self.launch, int(program), *self.asked).scene()

    def scene(self) -> DebuggerScene:
        beside: BesideScene | None = None
        if self.beside is not None:
            beside = {"program": words.program(self.beside, self.launch.grid), "values": self.values}
        lines = ", ".join(map(str, self.lines))
        told = _("Breakpoints stop at line {lines}.").format(lines=lines) if lines else _("No breakpoint stops here.")
        return {
            "kind": "debugger",
            "steps": self.steps.scene(),
            "stops": self.stops,
            "lines": self.before,
            "note": " ".join(filter(None, [told, self.note])),
            "watches": [
                {"text": text, "steps": [step for step, _value in found], "values": [value for _step, value in found]}
                for text, found in self.watch
            ],
            "beside": beside,
        }

    def _watched(self, text: str) -> list[tuple[int, str]]:
        """The value of an expression: the step from which on it has each value, and the value in words."""
        expression = read_expression(text)
        known: dict[str, Any] = {"pid": self.program}
        found: list[tuple[int, str]] = []
        for step in self.steps.trace.steps:
            if step.kind == "assign" and step.name is not None:
                known[step.name] = step.values
                if found and step.name not in expression.names:
                    continue
            elif found:
                continue
            try:
                told = summary(expression.value(known))
            except ConditionError as error:
                told = str(error)[:WIDTH] if expression.names <= known.keys() else "-"
            if not found or found[-1][1] != told:
                found.append((step.number, told))
        return found

    def _beside(self, other: Trace) -> list[str]:
        """For each step of this program, the value in the other one at the same visit of the same place."""
        theirs: dict[tuple[Any, ...], str] = {}
        seen: Counter[tuple[Any, ...]] = Counter()
        for step in other.steps:
            place = (step.kind, step.line, step.name)
            theirs[(*place, seen[place])] = self.steps.shown(step)[1]
            seen[place] += 1
        seen.clear()
        found = []
        for step in self.steps.trace.steps:
            place = (step.kind, step.line, step.name)
            found.append(theirs.get((*place, seen[place]), ""))
            seen[place] += 1
        return found


def _place(one: int | str | tuple[int, str]) -> tuple[int | None, str]:
    """A breakpoint's line and condition."""
    return (one, "") if isinstance(one, int) else (None, one) if isinstance(one, str) else one


def _at(found: Sequence[tuple[int, str]], step: int) -> str:
    """The value at a step."""
    return next((value for first, value in reversed(found) if first <= step), "-")
