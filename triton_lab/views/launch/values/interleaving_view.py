"""Two programs step by step, in an order that the reader chooses: what each loads and stores, and memory in between.

Each step that can be chosen was run before it is shown. A page keeps the states nearest to the start; the live picture
asks for those that follow another state: a part called ``interleaving@0110``, by the order that leads there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.launch.interleaving.interleavings import Interleavings, InterleavingState
from triton_lab.launch.interleaving.stepped_program import MemoryAccess
from triton_lab.localization import _, ngettext
from triton_lab.views.drawing.scene_bounds import Few, GridShape, Many, Name, Sentence, Whole
from triton_lab.views.launch.values.interleaving_drawing import InterleavingRow, interleaving_drawing
from triton_lab.views.launch.values.interleaving_words import InterleavingWords, value_text
from triton_lab.views.launch.values.steps_view import SourceLines
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.views.drawing.drawing import Drawing

Array = NDArray[np.generic]
PACKED = 400  # states in a scene
CELLS = 6  # shared elements whose values are shown
OUTCOMES = 20  # results that are listed
# A program that cannot go on, and a step that this scene does not have.
CANNOT, ELSEWHERE = -1, -2


class InterleavedAccess(TypedDict):
    """An access in words; ``own``: the other program does not touch that memory."""

    line: Whole | None
    words: Sentence
    own: bool


class InterleavedStep(TypedDict):
    """A step: the number of the state it leads to (below 0: none), and its accesses."""

    to: Whole
    accesses: Few[InterleavedAccess]


class InterleavedState(TypedDict):
    """A state: the shared values, where each program stands, the lines that come next, and the step of each."""

    values: Few[Name]
    told: Few[Sentence]
    lines: Few[Whole]
    steps: Few[InterleavedStep]


class InterleavedOutcome(TypedDict):
    """A result with one order for it: 0 and 1 for the programs."""

    values: Few[Name]
    order: Few[Whole]
    problem: Sentence


class InterleavingScene(TypedDict):
    """Two programs, from state 0 on. ``begin`` are their own accesses before the first step of all."""

    kind: Literal["interleaving"]
    title: Sentence
    grid: GridShape
    numbers: Few[Whole]
    programs: Few[Name]
    cells: Few[Name]
    more: Sentence
    source: SourceLines
    begin: Few[InterleavedAccess]
    states: Many[InterleavedState]
    summary: Sentence
    outcomes: Few[InterleavedOutcome]
    note: Sentence


class InterleavingView(View):
    """The interleavings of two programs of ``launch``; see `Interleavings`.

    The static picture shows the steps of ``order``, by default one that leads to the last result that was found.
    """

    def __init__(self, launch: Launch, programs: Sequence[int] | None = None, order: str = "") -> None:
        self.launch = launch
        self.found = launch.interleavings(programs)
        self.found.at(order)
        self.order = order
        self.words = InterleavingWords(launch)

    def title(self) -> str:
        one, two = self.programs
        return _("{kernel}: who goes next, {one} or {two}?").format(kernel=self.launch.kernel, one=one, two=two)

    @property
    def programs(self) -> list[str]:
        """The names of both programs."""
        return [messages.program(number, self.launch.grid) for number in self.found.programs]

    @cached_property
    def cells(self) -> list[str]:
        """The names of the shared elements that are shown."""
        return [self.words.element(address) for address in self.found.cells.addresses[:CELLS].tolist()]

    @property
    def summary(self) -> str:
        """How many orders and results there are."""
        results = len(self.found.outcomes)
        if not len(self.found.cells.addresses):
            return _("No element is touched by both programs and written by one: their order makes no difference.")
        if self.found.orders is None:
            return ngettext(
                "Not all orders were run: {count} result was found so far.",
                "Not all orders were run: {count} results were found so far.",
                results,
            ).format(count=results)
        orders = messages.count(self.found.orders, "order")
        return ngettext(
            "All {orders} were run: they end in {count} result.",
            "All {orders} were run: they end in {count} results.",
            results,
        ).format(orders=orders, count=results)

    @property
    def note(self) -> str:
        """What a reader must know: what a step is, and what a GPU may do beyond it."""
        return _(
            "Only these two programs run, each step for real, on a copy of memory from before the launch. A step is "
            "one load, store or atomic of memory that both touch. On a GPU the lanes of a block may also be "
            "interrupted, and stores may become visible later."
        )

    # --- The scene -----------------------------------------------------------------------------------

    def scene(self) -> InterleavingScene:
        return self._scene(self.found)

    def part(self, name: str) -> InterleavingScene:
        """The states that follow an order: ``interleaving@0110``."""
        tab, _unused, order = name.partition("@")
        if tab != "interleaving" or len(order) > 256:
            raise LookupError(_("{title} has no part {name}").format(title=self.title(), name=repr(name)))
        return self._scene(self.launch.interleavings(self.found.programs, order))

    def _scene(self, found: Interleavings) -> InterleavingScene:
        numbers = self._packed(found)
        place = {number: k for k, number in enumerate(numbers)}
        more = len(found.cells.addresses) - CELLS
        lines = self.launch.source.rstrip("\n").split("\n") if self.launch.source else []
        return {
            "kind": "interleaving",
            "title": self.title(),
            "grid": list(self.launch.grid),
            "numbers": list(found.programs),
            "programs": self.programs,
            "cells": self.cells,
            "more": _("and {elements} more").format(elements=messages.count(more, "element")) if more > 0 else "",
            "source": {"first": self.launch.first_line, "lines": lines},
            "begin": [self._access_scene(one) for one in self.found.before],
            "states": [self._state_scene(found, number, place) for number in numbers],
            "summary": self.summary,
            "outcomes": [
                {
                    "values": [value_text(value) for value in one.values[:CELLS]],
                    "order": [int(letter) for letter in one.order],
                    "problem": one.problem,
                }
                for one in self.found.outcomes[:OUTCOMES]
            ],
            "note": self.note,
        }

    def _packed(self, found: Interleavings) -> list[int]:
        """The states of a scene: those on the way to each result, and then those nearest to the start."""
        wanted = {0: None}
        for outcome in found.outcomes[:OUTCOMES]:
            number = 0
            for letter in outcome.order[len(found.start) :]:
                step = found.states[number].steps[int(letter)]
                if step is None:
                    break
                number = step.to
                wanted[number] = None
        todo = deque([0])
        seen = {0}
        while todo and len(wanted) < PACKED:
            number = todo.popleft()
            wanted[number] = None
            for step in found.states[number].steps:
                if step is not None and step.to not in seen:
                    seen.add(step.to)
                    todo.append(step.to)
        return list(wanted)

    def _state_scene(self, found: Interleavings, number: int, place: dict[int, int]) -> InterleavedState:
        state = found.states[number]
        steps: list[InterleavedStep] = []
        for which in (0, 1):
            step = state.steps[which]
            can = step is not None or (not state.is_end and self._can_go(state, which))
            to = CANNOT if not can else ELSEWHERE if step is None else place.get(step.to, ELSEWHERE)
            shown = () if step is None or to < 0 else step.accesses
            steps.append({"to": to, "accesses": [self._access_scene(one) for one in shown[:32]]})
        return {
            "values": [value_text(value) for value in state.values[:CELLS]],
            "told": [self.words.standing(state, which) for which in (0, 1)],
            "lines": [self.words.line(state.next[which]) or 0 for which in (0, 1)],
            "steps": steps,
        }

    def _can_go(self, state: InterleavingState, which: int) -> bool:
        return not self.found.is_complete and state.standings[which] == "ready"

    def _access_scene(self, access: MemoryAccess) -> InterleavedAccess:
        return {"line": self.words.line(access.op), "words": self.words.told(access), "own": not access.is_step}

    # --- The static picture --------------------------------------------------------------------------

    @property
    def shown_order(self) -> str:
        """The order of the static picture."""
        return self.order or (self.found.outcomes[-1].order if self.found.outcomes else "")

    def rows(self) -> Iterator[InterleavingRow]:
        """The steps of the shown order."""
        number = 0
        for letter in self.shown_order:
            step = self.found.states[number].steps[int(letter)]
            if step is None:
                return
            number = step.to
            yield InterleavingRow(int(letter), step.accesses, self.found.states[number].values)

    def text(self) -> str:
        one, two = self.programs
        lines = [self.title(), self.summary]
        for outcome in self.found.outcomes[:OUTCOMES]:
            lines.append("  " + self._outcome(outcome.values, outcome.problem) + f"  ({self._order(outcome.order)})")
        lines.append(_("In the order {order}:").format(order=self._order(self.shown_order)))
        for row in self.rows():
            told = "; ".join(self.words.told(access) for access in row.accesses)
            lines.append(f"  {(one, two)[row.which]}: {told}")
        return "\n".join([*lines, self.note])

    def _order(self, order: str) -> str:
        """An order by the numbers of the programs: ``0 1 1 0``."""
        return " ".join(str(self.found.programs[int(letter)]) for letter in order)

    def _outcome(self, values: Sequence[Array], problem: str) -> str:
        shown = ", ".join(f"{name} = {value_text(value)}" for name, value in zip(self.cells, values, strict=False))
        return f"{shown}: {problem}" if problem else shown

    def pieces(self) -> list[Drawing]:
        from triton_lab.views.drawing.drawing_pieces import paragraphs, spaced, table, title

        rows = [
            (self._outcome(one.values, one.problem), self._order(one.order)) for one in self.found.outcomes[:OUTCOMES]
        ]
        results = [table([(_("Result"), _("One order that leads to it")), *rows])] if rows else []
        steps = interleaving_drawing(self.found, self.programs, self.cells, self.words, list(self.rows()))
        told = [title(self.title()), *paragraphs([self.summary], "ink")]
        return [*told, *results, spaced(steps), *paragraphs([self.note])]
