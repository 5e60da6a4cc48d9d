"""Runs a launch with a switch on, and measures the remaining difference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.experiment import Experiment
from triton_lab.launch.comparison.launch_results import read
from triton_lab.launch.comparison.number_formats import is_float, unit_roundoff, wide
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

# An error beyond this fraction of the greatest expected number is no rounding, so bounds are not computed.
FAR = 1 / 16
_FEW = 16  # roundings that are explained even if it is not known how far rounding may take a number


@dataclass(frozen=True)
class Side:
    """A side that can be run again: its ``launch``, and the arrays to compare it ``against``, by its own names."""

    title: str
    launch: Launch
    against: Mapping[str, Array]

    def held(self, memory: Any) -> list[Compared]:
        """The results of a run in ``memory``, compared with the other side."""
        return [Compared(name, read(memory, self.launch.argument(name)), other) for name, other in self.against.items()]

    def run(self, switch: Switch) -> list[Compared]:
        """The results of the launch with ``switch`` on. Raises KernelError, CannotReplay."""
        executable = switch.executable(self.launch)
        return self.held(replay(switch.launch(self.launch), executable=executable, strict=True))

    def bounded(self, switch: Switch) -> list[Compared]:
        """The results with ``switch`` on and their rounding bounds. Raises KernelError, CannotReplay."""
        allowed = bounds(switch.launch(self.launch), False, executable=switch.executable(self.launch))
        return [replace(each, bound=allowed[each.name]) for each in self.run(switch)]


def tried(side: Side, switch: Switch, plain: Sequence[Compared]) -> tuple[Experiment, list[Compared]]:
    """The experiment with ``switch`` and its results; no results if the run was stopped."""
    try:
        found = side.run(switch)
    except (KernelError, CannotReplay) as error:
        done = measured(switch.name, switch.cause, side.title, plain, None, _refused(side.launch, error))
        return replace(done, place=switch.place, switch=switch), []
    done = measured(switch.name, switch.cause, side.title, plain, found)
    return replace(done, place=switch.place, switch=switch), found


def as_near(side: Side, switch: Switch, done: Experiment, found: Sequence[Compared]) -> Experiment:
    """The experiment with ``within`` set, if rounding explains all remaining differences."""
    if done.failed or done.removes or not all(map(may_be_rounding, found)):
        return done
    try:
        near = side.bounded(switch)
    except (KernelError, CannotReplay):
        return done
    within = sum(int(np.count_nonzero(each.explained | (each.unknown & _is_tiny(each)))) for each in near)
    return replace(done, within=within) if within == done.total else done


def _is_tiny(one: Compared) -> Array:
    """Where an error is of a few roundings of the greatest number, whatever a choice depends on."""
    if not is_float(one.dtype):
        return np.zeros(one.a.shape, np.bool_)
    expected = np.abs(wide(one.b))
    most = float(np.max(expected, initial=0.0, where=np.isfinite(expected)))
    return np.asarray(one.absolute <= _FEW * unit_roundoff(one.dtype) * most)


def may_be_rounding(one: Compared) -> bool:
    """Whether rounding may explain all errors: a quick test, as computing bounds takes a hundred times as long."""
    if not one.count:
        return True
    if one.nan.any() or (one.infinite.any() and not np.isinf(wide(one.b)).any()):
        return False
    expected = np.abs(wide(one.b))
    most = float(np.max(expected, initial=0.0, where=np.isfinite(expected)))
    return bool((one.absolute[one.finite] <= most * FAR).all())


def _refused(launch: Launch, error: KernelError | CannotReplay) -> str:
    """Why a run was stopped, in a clause; accesses out of bounds get a text of their own."""
    if not isinstance(error, KernelError) or error.fault is None:
        return str(error).split("\n", 1)[0] or type(error).__name__
    line = None if error.op is None else launch.lines.get(error.op.index)
    where = "" if line is None else _(" on line {line}").format(line=line.line)
    return _("{a}{where} would be out of bounds").format(a=messages.a(error.fault.access), where=where)


def measured(
    name: str, cause: str, side: str, plain: Sequence[Compared], found: Sequence[Compared] | None, failed: str = ""
) -> Experiment:
    """The experiment for the results ``found`` with a change, compared with the ``plain`` results."""
    total = sum(one.a.size for one in plain)
    before = total - sum(one.count for one in plain)
    if found is None:
        return Experiment(name, cause, side, before, before, total, None, math.nan, math.nan, failed)
    equal = total - sum(one.count for one in found)
    return Experiment(name, cause, side, before, equal, total, _rows(found), _ulps(found), _ulps(plain))


def _ulps(found: Sequence[Compared]) -> float:
    worst = [one.largest_ulps for one in found]
    strange = any(one.nan.any() or one.infinite.any() for one in found)
    return math.inf if strange else max((one.value for one in worst if one is not None), default=0.0)


def _rows(found: Sequence[Compared]) -> tuple[int, int] | None:
    """How many rows are bit-equal, and the number of rows, if there is one argument and it has rows; else None."""
    if len(found) != 1 or found[0].a.ndim < 2 or not found[0].a.size:
        return None
    same = np.asarray(found[0].same.reshape(-1, found[0].a.shape[-1]).all(axis=1))
    return int(same.sum()), same.size


def promise(plain: Sequence[Compared], found: Sequence[Compared]) -> float:
    """A score of how much of the difference a change removes.

    It counts elements that become right or nearer, less those that become wrong, and the gain in correlation with
    the expected result, which is high if a result is wrong by a factor.
    """
    total = 0.0
    for one, was in zip(found, plain, strict=True):
        now = replace(one, bound=was.bound)
        wrong, still = ~was.explained, ~now.explained
        if not wrong.any():
            total -= float(np.count_nonzero(still)) / max(1, still.size)
            continue
        gained = np.count_nonzero(wrong & ~still) / max(1, int(np.count_nonzero(wrong)))
        lost = np.count_nonzero(~wrong & still) / max(1, int(np.count_nonzero(~wrong)))
        before, after = (np.nan_to_num(each.absolute, nan=np.inf)[wrong] for each in (was, now))
        nearer = np.mean(after < before / 4) - np.mean(after > before * 4)
        total += 2 * gained - lost + nearer / 2 + _alike(now) - _alike(was)
    return total


def _alike(one: Compared) -> float:
    """The correlation of the two results, from -1 to 1."""
    a, b = (np.asarray(wide(each))[one.finite] for each in (one.a, one.b))
    with np.errstate(all="ignore"):
        a, b = a - a.mean() if a.size else a, b - b.mean() if b.size else b
        found = float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))
    return found * a.size / one.a.size if np.isfinite(found) else 0.0
