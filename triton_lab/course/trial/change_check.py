"""Whether a change that makes one case right makes others right, too: a change of the kernel, run on other cases.

`CheckedCase` is a case on which that can be asked, `SideOfAll` a side of a comparison that asks it of each change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from triton_lab.course.launch_work import arguments_of
from triton_lab.course.trial.expected_result import ExpectedResult
from triton_lab.ir import Plan, traits
from triton_lab.ir.plan_edits import edited
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.compare import compare
from triton_lab.launch.comparison.comparison_result import Comparison
from triton_lab.launch.comparison.launch_results import read
from triton_lab.launch.comparison.mutations.grid_sizes import grids
from triton_lab.launch.comparison.number_formats import as_array, wide
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.rerun import Side, may_be_rounding
from triton_lab.launch.comparison.sources.written_kernel import as_written
from triton_lab.launch.comparison.stored_elements import StoreCoverage
from triton_lab.launch.recording.progress_callback import is_late
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.reference.condition_search import LaneSample, is_close
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _

if TYPE_CHECKING:
    import torch

    from triton_lab.course.trial.case_run import CaseRun
    from triton_lab.interpreter.memory_regions import Memory
    from triton_lab.launch.launch import Launch

Structure = tuple[tuple[int, str], ...]
"""The numbers and the names of a kernel's operations."""

_ARITHMETIC = ("+", "-", "*", "/", "//")
_GRIDS = 8  # other grids that are tried on a case: the first ones are the likeliest


@dataclass(frozen=True, eq=False)
class CheckedCase:
    """A case in which one launch makes all results: ``results`` are the expected ones, by the argument's name.

    ``is_wrong``: its results are not as expected.
    """

    on: str
    launch: Launch
    results: tuple[tuple[str, ExpectedResult], ...]
    tolerance: tuple[float, float]
    is_wrong: bool

    @classmethod
    def of(cls, run: CaseRun) -> CheckedCase | None:
        """The case of a run; None if it made several launches or none, or results that are no arguments as they are."""
        if len(run.launches) != 1 or run.launches[0].error is not None or not run.results:
            return None
        (launch,) = run.launches
        found = []
        for placed, values in zip(run.results, run.expected, strict=True):
            names = arguments_of(launch, {placed.start})
            if not names or launch.argument(names[0]).shape != tuple(values.tensor.shape):
                return None
            if launch.argument(names[0]).dtype != str(values.tensor.dtype).removeprefix("torch."):
                return None
            found.append((names[0], values))
        return cls(run.on, launch, tuple(found), run.asked.tolerance, run.unlike is not None)

    @cached_property
    def written(self) -> Launch:
        """The launch with the kernel as it was written."""
        return as_written(self.launch)

    @cached_property
    def plain(self) -> list[Compared]:
        """The results beside the expected ones, by argument. Raises CannotReplay."""
        against = {name: as_array(values.tensor) for name, values in self.results}
        return Side("", self.launch, against).held(replay(self.launch))

    def comparison(self) -> Comparison:
        """The launch compared with the expected results. Raises CannotReplay."""
        return compare(self.launch, {name: values.tensor for name, values in self.results}, seconds=1.0)

    def is_right_with(self, switch: Switch, told: Launch) -> bool | None:
        """Whether all results are right with a change of the launch ``told`` of another case.

        None if that cannot be asked here: of another kernel, or of a grid where the launch's own is right.
        """
        if switch.grid is not None:
            return self._with_another_grid(_ways(switch.grid, told)) if self.is_wrong else None
        structure = structure_of(told)
        alike = next((one for one in (self.written, self.launch) if structure_of(one) == structure), None)
        return None if alike is None else self.is_right(alike, switch)

    def _with_another_grid(self, ways: tuple[int, ...]) -> bool:
        """Whether a grid that fits this case, larger and smaller along the same axes, makes it right.

        The numbers themselves are those of another case.
        """
        coverage = StoreCoverage.of(self.launch)
        found = grids(self.launch, coverage, coverage.needed(self.plain))
        alike = (one for one in found if one.grid is not None and _ways(one.grid, self.launch) == ways)
        return any(self.is_right(self.launch, one) for one in islice(alike, _GRIDS))

    def is_right(self, launch: Launch, switch: Switch) -> bool:
        """Whether all results are right with the change of ``launch``, which is this case's or the one as written."""
        try:
            executable = switch.executable(launch)
            memory = replay(switch.launch(launch), executable=executable, strict=True)
        except Exception:  # an edit may make of a kernel what Triton would refuse
            return False
        return self.holds(memory)

    def holds(self, memory: Memory) -> bool:
        """Whether all results in ``memory`` are within the tolerance."""
        return all(bool(self.near(memory, name).all()) for name, _unused in self.results)

    def near(self, memory: Memory, name: str) -> torch.Tensor:
        """Which elements of a result in ``memory`` are within the tolerance."""
        values = self._expected(name)
        return values.near(self._found(memory, name), self.tolerance)

    def sample(self, name: str) -> LaneSample:
        """The lanes of a result: wrong beyond the tolerance, right where they are close. Raises CannotReplay."""
        memory = replay(self.launch)
        found, wanted = (as_array(one) for one in (self._found(memory, name), self._expected(name).tensor))
        wrong = ~self.near(memory, name).reshape(-1).numpy()
        right = is_close(wide(found), wide(wanted)).reshape(-1) & ~wrong
        return LaneSample(self.launch, name, wrong, lambda elements, _: (wrong[elements], right[elements]))

    def _expected(self, name: str) -> ExpectedResult:
        return next(values for other, values in self.results if other == name)

    def _found(self, memory: Memory, name: str) -> torch.Tensor:
        import torch

        wanted, found = self._expected(name).tensor, read(memory, self.launch.argument(name))
        tensor = torch.frombuffer(bytearray(found.tobytes() or b"\0" * wanted.itemsize), dtype=wanted.dtype)
        return tensor[: wanted.numel()].reshape(wanted.shape)


def _ways(grid: Sequence[int], launch: Launch) -> tuple[int, ...]:
    """For each axis whether ``grid`` is larger there than that of ``launch`` (1), smaller (-1), or the same."""
    return tuple((new > old) - (new < old) for new, old in zip(grid, launch.grid, strict=True))


def structure_of(launch: Launch) -> Structure:
    """The operations of a launch's kernel: a change of one place means the same in another with equal ones."""
    return tuple((op.index, op.name) for op in launch.executable.plan.walk())


@dataclass(frozen=True)
class Confirmation:
    """How many cases a change makes or keeps right, and the first one that it leaves or makes wrong, None if none.

    ``whole``: there was time for all cases.
    """

    right: int
    mended: int
    refuted: CheckedCase | None = None
    whole: bool = True


def confirmation(switch: Switch, case: CheckedCase, others: Sequence[CheckedCase]) -> Confirmation | None:
    """What becomes of ``others`` with a change of ``case``; None if it does not make that case right itself.

    Cases in which it cannot be asked do not count.
    """
    own = next((one for one in (case.written, case.launch) if case.is_right(one, switch)), None)
    if own is None or _is_by_chance(switch, own):
        return None
    right = mended = 1
    for one in others:
        if is_late():
            return Confirmation(right, mended, whole=False)
        found = one.is_right_with(switch, own)
        if found is False:
            return Confirmation(right, mended, one)
        right, mended = right + (found is True), mended + (found is True and one.is_wrong)
    return Confirmation(right, mended)


def _is_by_chance(switch: Switch, launch: Launch) -> bool:
    """Whether the change can hardly be what was meant, though it works.

    That is the number of a program along an axis on which there is only one, if no other id moves to another axis, and
    a minimum or maximum for a sum, a difference, a product or a quotient, except in a reduction.
    """
    if not switch.edits:
        return False
    plan = launch.executable.plan
    made, before = edited(plan, switch.edits), {op.index: op for op in plan.walk()}
    moved = [
        op.attributes["axis"]
        for op in made.walk()
        if op.name == "tt.get_program_id" and op.index in before and op.attributes != before[op.index].attributes
    ]
    (extremes, steps), (extremes_before, steps_before) = map(_extremes_and_steps, (made, plan))
    for_arithmetic = extremes > extremes_before and steps < steps_before
    return for_arithmetic or (bool(moved) and all(launch.grid[axis] == 1 for axis in moved))


def _extremes_and_steps(plan: Plan) -> tuple[int, int]:
    """How many minima and maxima a plan has outside of reductions, and how many sums, products and so on."""
    folding = [block for op in plan.walk() if op.name in traits.FOLDS for one in op.regions for block in one.blocks]
    folded = {op.index for block in folding for op in block.ops}
    every = [traits.of(op.name) for op in plan.walk() if op.index not in folded]
    return sum(bool(one.extreme) for one in every), sum(one.symbol in _ARITHMETIC for one in every)


@dataclass(frozen=True)
class SideOfAll(Side):
    """The side of a comparison whose changes must make ``others`` right, too: else they count as failed."""

    case: CheckedCase = field(kw_only=True)
    others: tuple[CheckedCase, ...] = field(kw_only=True)
    known: dict[Switch, Confirmation | None] = field(default_factory=dict, kw_only=True)

    def run(self, switch: Switch) -> list[Compared]:
        """The results of the launch with ``switch`` on. Raises KernelError, and CannotReplay if others are wrong."""
        found = super().run(switch)
        if all(map(may_be_rounding, found)):
            if switch not in self.known:
                self.known[switch] = confirmation(switch, self.case, self.others)
            outcome = self.known[switch]
            if outcome is None or outcome.refuted is not None:
                on = self.case.on if outcome is None or outcome.refuted is None else outcome.refuted.on
                raise CannotReplay(_("it is wrong with {case}").format(case=on))
        return found
