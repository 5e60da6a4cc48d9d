"""`Interleavings`: the orders in which two programs of a launch may take their steps, each run as it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.launch.access import Access
from triton_lab.launch.argument import Argument
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.interleaving.program_pair import ProgramPair, pair_of, shared_cells
from triton_lab.launch.interleaving.stepped_program import MemoryAccess, Standing
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.progress_callback import within
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _

Array = NDArray[Any]
MOST_STATES = 4_000  # that are looked for
MOST_STEPS = 200  # of one order
_SECONDS = 20.0  # for all orders


@dataclass(frozen=True, eq=False)
class InterleavingStep:
    """What follows when a program goes on: the number of the state, and the accesses up to the program's next step."""

    to: int
    accesses: tuple[MemoryAccess, ...]


@dataclass(eq=False)
class InterleavingState:
    """Where two programs stand after the steps of ``order``: ``"011"`` is the first, then the second twice.

    ``values`` are those of the shared elements. ``next`` has the operation of each program's next step, ``errors`` what
    stopped it. ``steps`` has what follows if program 0 or 1 of the pair goes on; None: it cannot, or that was not run.
    """

    order: str
    values: list[Array]
    standings: tuple[Standing, Standing]
    next: tuple[int | None, int | None]
    errors: tuple[str, str]
    is_end: bool
    steps: list[InterleavingStep | None] = field(default_factory=lambda: [None, None])


@dataclass(frozen=True, eq=False)
class InterleavingOutcome:
    """A result of the orders: the shared ``values`` at the end, one ``order`` for it, and ``problem`` if it failed."""

    values: tuple[Array, ...]
    order: str
    problem: str


class Interleavings:
    """The orders of the steps of two ``programs`` of ``launch``.

    A step is a load, store or atomic of elements that both touch and one writes; a whole block counts as one step. The
    orders are run one by one, on a copy of memory from before the launch, without the other programs. Up to 4,000
    states are looked for; with ``start``, those that follow it. Raises ValueError for programs that do not exist or an
    order that is not possible, and CannotReplay.
    """

    def __init__(self, launch: Recorded, programs: Sequence[int], start: str = "") -> None:
        self.launch = launch
        self.programs = _checked(launch, programs)
        self.cells = shared_cells(launch, self.programs)
        self.start = start
        self.before: tuple[MemoryAccess, ...] = ()  # what both did before their first steps
        self.states: list[InterleavingState] = []
        self.ends: list[InterleavingState] = []
        self.is_complete = True
        self._numbers: dict[Any, int] = {}
        try:
            with within(_SECONDS):
                self._explore()
        except CannotReplay:
            if not self.ends:
                raise
            self.is_complete = False

    @cached_property
    def orders(self) -> int | None:
        """The number of orders from the first state; None if not all states were found."""
        if not self.is_complete:
            return None
        found: dict[int, int] = {}

        def count(number: int) -> int:
            if number not in found:
                steps = [step for step in self.states[number].steps if step is not None]
                found[number] = sum(count(step.to) for step in steps) if steps else 1
            return found[number]

        return count(0)

    @cached_property
    def outcomes(self) -> list[InterleavingOutcome]:
        """The distinct results, each with the first order that was found for it."""
        found: dict[Any, InterleavingOutcome] = {}
        for state in sorted(self.ends, key=lambda one: (len(one.order), one.order)):
            problem = next(filter(None, state.errors), "") or self._stuck(state)
            key = tuple(value.tobytes() for value in state.values), problem
            found.setdefault(key, InterleavingOutcome(tuple(state.values), state.order, problem))
        return list(found.values())

    def at(self, order: str) -> InterleavingState:
        """The state after ``order``. Raises ValueError if a program cannot take its turn."""
        number = 0
        for position, letter in enumerate(order.removeprefix(self.start)):
            step = self.states[number].steps[int(letter)] if letter in ("0", "1") else None
            if step is None:
                raise ValueError(self._not_possible(order, position + len(self.start)))
            number = step.to
        return self.states[number]

    def _stuck(self, state: InterleavingState) -> str:
        if "waiting" in state.standings:
            return _("deadlock: no program can go on")
        if len(state.order) < MOST_STEPS:
            return ""
        return _("stopped after {steps}").format(steps=messages.count(MOST_STEPS, "step"))

    def _not_possible(self, order: str, position: int) -> str:
        letter = order[position]
        if letter not in ("0", "1"):
            return _("an order has a 0 or a 1 for each step, not {letter}").format(letter=repr(letter))
        return _("the order {order} is not possible: {program} cannot take turn {turn}").format(
            order=repr(order),
            program=messages.who(self.programs[int(letter)], self.launch.grid),
            turn=position + 1,
        )

    # --- Running the orders --------------------------------------------------------------------------

    def _explore(self) -> None:
        todo: deque[tuple[int, int]] = deque()
        with self._at_start() as pair:
            self._known(pair, self.start, todo)
            self._follow(pair, 0, None, todo)
        while todo:
            number, which = todo.popleft()
            if self.states[number].steps[which] is not None:
                continue
            if len(self.states) >= MOST_STATES:
                self.is_complete = False
                return
            with pair_of(self.launch, self.programs, self.cells) as pair:
                pair.start()
                for letter in self.states[number].order:
                    pair.step(int(letter))
                self._follow(pair, number, which, todo)

    @contextmanager
    def _at_start(self) -> Iterator[ProgramPair]:
        """The pair after the order ``start``."""
        with pair_of(self.launch, self.programs, self.cells) as pair:
            self.before = tuple(pair.start())
            for position, letter in enumerate(self.start):
                if letter not in ("0", "1") or not pair.can_go(int(letter)):
                    raise ValueError(self._not_possible(self.start, position))
                pair.step(int(letter))
            yield pair

    def _known(self, pair: ProgramPair, order: str, todo: deque[tuple[int, int]]) -> tuple[int, bool]:
        """The number of the pair's state, and whether it is new."""
        key = pair.state()
        if key in self._numbers:
            return self._numbers[key], False
        number = self._numbers[key] = len(self.states)
        one, two = pair.programs
        is_end = pair.has_ended or len(order) >= MOST_STEPS
        state = InterleavingState(
            order, pair.values(), (one.standing, two.standing), (one.next, two.next), (one.error, two.error), is_end
        )
        self.states.append(state)
        if is_end:
            self.ends.append(state)
        else:
            todo.extend((number, which) for which in (0, 1) if pair.can_go(which))
        return number, True

    def _follow(self, pair: ProgramPair, number: int, which: int | None, todo: deque[tuple[int, int]]) -> None:
        """Go on with ``which`` from a state, and then with the first program that can, until the states are known."""
        is_new = True
        while is_new and not self.states[number].is_end:
            state = self.states[number]
            chosen = which if which is not None else (0 if pair.can_go(0) else 1)
            which = None
            accesses = tuple(pair.step(chosen))
            to, is_new = self._known(pair, state.order + str(chosen), todo)
            state.steps[chosen] = InterleavingStep(to, accesses)
            number = to


def racing(arguments: Iterable[Argument], accesses: Iterable[Access], findings: Iterable[Finding]) -> tuple[int, int]:
    """Two programs that race for the first element of a race, else the first two."""
    for one in findings:
        if one.kind == "race" and len(one.programs):
            first = int(one.programs[0])
            other = min(_rivals(arguments, accesses, one, first), default=None)
            if other is not None:
                return min(first, other), max(first, other)
    return 0, 1


def _rivals(arguments: Iterable[Argument], accesses: Iterable[Access], found: Finding, program: int) -> set[int]:
    """The programs that a race is with: both touch its first element, and one writes it.

    If the race is in no argument's memory, they are the other programs that the finding lists.
    """
    argument = next((one for one in arguments if one.name == found.argument), None)
    if argument is None or not len(found.elements):
        return set(found.programs.tolist()) - {program}
    address = argument.address + int(found.elements[0]) * argument.itemsize
    touching, writing = set[int](), set[int]()
    for access in accesses:
        if access.argument == argument.name:
            for event in access.events:
                here = ((event.addresses() == address) & event.active()).reshape(len(event.programs), -1).any(axis=1)
                touching.update(event.programs[here].tolist())
                writing.update(event.programs[here].tolist() if access.kind != "load" else ())
    return (touching if program in writing else writing) - {program}


def _checked(launch: Recorded, programs: Sequence[int]) -> tuple[int, int]:
    if launch.programs < 2:
        raise ValueError(_("{kernel} ran one program: an order takes two").format(kernel=launch.kernel))
    wrong = next((one for one in programs if not 0 <= one < launch.programs), None)
    if wrong is not None:
        raise ValueError(messages.no_program(wrong, launch.grid))
    if len(set(programs)) != 2 or len(programs) != 2:
        raise ValueError(_("give two different programs, not {programs}").format(programs=tuple(programs)))
    return programs[0], programs[1]
