"""Experiments with other memory: as it was before an autotuner's trials, and with tensors that are contiguous."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.argument import Argument
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.experiment import Experiment
from triton_lab.launch.comparison.mutations.ir_query import on_lines
from triton_lab.launch.comparison.rerun import Side, may_be_rounding, measured
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.recording.snapshot import Snapshot
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


def memory_experiments(side: Side) -> Iterator[Experiment]:
    """The experiments that concern the launch of a side, up to the first that removes the difference."""
    launch = side.launch
    if launch.snapshot is None or launch.snapshot.missing:
        return
    plain: list[Compared] | None = None
    for name, cause, changed in (*_before_trials(launch), *_contiguous(launch)):
        try:
            plain = plain or side.held(replay(launch))
        except CannotReplay:
            return
        done = _measured(replace(side, launch=changed), name, cause, plain)
        yield done
        if done.names_it:
            return


def _measured(side: Side, name: str, cause: str, plain: Sequence[Compared]) -> Experiment:
    try:
        found = side.held(replay(side.launch, strict=True))
        done = measured(name, cause, side.title, plain, found)
        if done.removes or not all(map(may_be_rounding, found)):
            return done
        allowed = bounds(side.launch, False)
    except (KernelError, CannotReplay) as error:
        return measured(name, cause, side.title, plain, None, str(error).split("\n", 1)[0])
    within = sum(int(np.count_nonzero(replace(one, bound=allowed[one.name]).explained)) for one in found)
    return replace(done, within=within) if within == done.total else done


def _before_trials(launch: Launch) -> Iterator[tuple[str, str, Launch]]:
    """The launch on what tensors that it reads held before the trials of an autotuner, if that was something else."""
    tuning, before, after = launch.tuning, launch.before_trials, launch.snapshot
    if tuning is None or tuning.earlier or before is None or after is None:
        return
    read = {access.argument for access in launch.accesses if access.kind != "store"} - {*(tuning.protected or ())}
    changed = [one for one in launch.arguments if one.name in read and one.itemsize and not _same(before, after, one)]
    if not changed:
        return
    tried = messages.count(sum(not one.failed for one in tuning.tried), "configuration")
    memory = after
    for argument in changed:
        memory = memory.patched(*_extent(before, argument))
    names = [argument.name for argument in changed]
    zeros = not any(_extent(before, argument)[1].any() for argument in changed)
    yield (
        _("{names} as before the autotuner's trials").format(names=", ".join(names)),
        _(
            "the autotuner tried {tried} on {names} before this launch: write {option}=[{quoted}] in @triton.autotune"
        ).format(
            tried=tried,
            names=", ".join(names),
            option="reset_to_zero" if zeros else "restore_value",
            quoted=", ".join(f'"{name}"' for name in names),
        ),
        replace(launch, snapshot=memory),
    )


def _contiguous(launch: Launch) -> Iterator[tuple[str, str, Launch]]:
    """The launch with each tensor that is not contiguous, and has memory of its own, as a contiguous one."""
    assert launch.snapshot is not None
    for argument in launch.arguments:
        strided = argument.kind == "tensor" and not argument.is_contiguous and 0 not in argument.strides
        if not strided or not math.prod(argument.shape):
            continue
        sharing = [one for one in launch.arguments if one.storage_address == argument.storage_address]
        if len(sharing) > 1:
            continue
        strides = tuple(math.prod(argument.shape[axis + 1 :]) for axis in range(len(argument.shape)))
        start, data = _extent(launch.snapshot, argument)
        reach = tuple(stride * argument.itemsize for stride in argument.strides)
        elements = np.lib.stride_tricks.as_strided(
            data, (*argument.shape, argument.itemsize), (*reach, 1), writeable=False
        )
        changed = replace(
            launch,
            arguments=tuple(replace(one, strides=strides) if one is argument else one for one in launch.arguments),
            snapshot=launch.snapshot.patched(start, np.ascontiguousarray(elements).reshape(-1)),
        )
        lines = on_lines([one.line for one in launch.done if one.argument == argument.name and one.line is not None])
        yield (
            f"{argument.name}.contiguous()",
            _(
                "{name} is not contiguous: it has shape {shape} and strides {strides}, and is accessed with strides "
                "{assumed}{lines}"
            ).format(name=argument.name, shape=argument.shape, strides=argument.strides, assumed=strides, lines=lines),
            changed,
        )


def _extent(memory: Snapshot, argument: Argument) -> tuple[int, np.ndarray[tuple[int], np.dtype[np.uint8]]]:
    """The address of the first byte of an argument's elements, and all bytes from there to its last one."""
    reach = sum(stride * (extent - 1) for stride, extent in zip(argument.strides, argument.shape, strict=True))
    start = argument.address
    return start, memory.held(start, start + (reach + 1) * argument.itemsize)


def _same(one: Snapshot, other: Snapshot, argument: Argument) -> bool:
    """Whether both hold the same for an argument; True if one does not hold it."""
    try:
        return np.array_equal(_extent(one, argument)[1], _extent(other, argument)[1])
    except LookupError:
        return True
