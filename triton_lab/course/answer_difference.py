"""The first difference between an answer's result and the expected one: in kind, or in an element; who stored it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from triton_lab import messages
from triton_lab.course.answer_fault import AnswerFault, returned
from triton_lab.course.attempt import Other, Placed
from triton_lab.course.launch_work import arguments_of
from triton_lab.course.trial.expected_result import ExpectedResult, first_of
from triton_lab.course.trial.wrong_elements import which_are
from triton_lab.ir import effects
from triton_lab.launch.recording.poison import pattern
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.replay_run import replay
from triton_lab.localization import _

if TYPE_CHECKING:
    import torch

    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch


@dataclass(frozen=True, eq=False)
class Unlike:
    """A result whose numbers are wrong: its fault in words, and the launch and the program that stored the first one.

    ``argument`` is its name in the launch, ``wanted`` are the expected values. Without a launch, nothing of the kernel
    was stored in it.
    """

    fault: AnswerFault
    placed: Placed
    wanted: torch.Tensor
    launch: Launch | None
    argument: str | None
    program: int | None


def unlike_in_kind(
    results: Sequence[Placed | Other], expected: Sequence[ExpectedResult], on: str
) -> AnswerFault | None:
    if len(results) != len(expected):
        want = messages.count(len(expected), "tensor")
        return AnswerFault(
            _("It returns {values}, but must return {want}.").format(
                values=messages.count(len(results), "value"), want=want
            ),
            on,
        )
    for one, values in zip(results, expected, strict=True):
        if isinstance(one, Other):
            return AnswerFault(returned(one.kind, _("a tensor")), on)
        result, wanted = one.tensor, values.tensor
        if result.shape != wanted.shape:
            return AnswerFault(
                _("The result has shape {shape}, but must have {shape2}.").format(
                    shape=tuple(result.shape), shape2=tuple(wanted.shape)
                ),
                on,
            )
        if result.dtype != wanted.dtype:
            return AnswerFault(
                _("The result is {name}, but must be {name2}.").format(
                    name=_name(result.dtype), name2=_name(wanted.dtype)
                ),
                on,
            )
    return None


def not_contiguous(results: Sequence[Placed], on: str) -> AnswerFault | None:
    for placed in results:
        result = placed.tensor
        if not result.is_contiguous():
            return AnswerFault(
                _("The result has strides {strides}, but must be contiguous, with strides {wanted}.").format(
                    strides=result.stride(), wanted=result.contiguous().stride()
                ),
                on,
            )
    return None


def unlike(
    results: Sequence[Placed],
    expected: Sequence[ExpectedResult],
    launches: Sequence[Launch],
    on: str,
    tolerance: tuple[float, float],
    given: Mapping[str, torch.Tensor],
    names: Sequence[str] = (),
) -> Unlike | None:
    """The first result that is not as expected; of the one with the fewest such elements if all have some
    that are right, since others may follow from it.

    ``given`` are the tensors that the answer got; ``names`` are those of the results, if they are arguments.
    """
    near = [values.near(placed.tensor, tolerance) for placed, values in zip(results, expected, strict=True)]
    wrong = [number for number, one in enumerate(near) if not bool(one.all())]
    if not wrong:
        return None
    in_part = all(bool(near[one].any()) for one in wrong)
    number = min(wrong, key=lambda one: int((~near[one]).sum())) if in_part else wrong[0]
    placed, wanted, first = results[number], expected[number].tensor, first_of(near[number])
    which = _("The result") if len(results) == 1 else _("Result {number}").format(number=number + 1)
    launch, argument, program, by = storing(launches, placed, first)
    told = {
        "which": names[number] if names else which,
        "result": value_text(placed.tensor[first]),
        "at": list(first) if first else _("its only element"),
        "wanted": value_text(wanted[first]),
        "by": by,
    }
    if launch is None or program is not None:
        message = _("{which} is {result} at {at}, but must be {wanted}: {by}.").format(**told)
    elif _is_poisoned(placed, first):
        message = _("{which} has no value at {at}, but it must be {wanted}: {by}.").format(**told)
    else:
        message = _("{which} is {result} at {at} from the start, but must be {wanted}: {by}.").format(**told)
    message += which_are(~near[number].numpy(), given)
    return Unlike(AnswerFault(message, on, launch), placed, wanted, launch, argument, program)


def _is_poisoned(placed: Placed, index: tuple[int, ...]) -> bool:
    """Whether an element holds what new memory is filled with: then nothing was stored there."""
    import torch

    data = placed.tensor[index].reshape(1).contiguous().view(torch.uint8).numpy()
    return bool((data == pattern(_address(placed, index), len(data))).all())


def _address(placed: Placed, index: tuple[int, ...]) -> int:
    """The address of an element."""
    steps = zip(index, placed.tensor.stride(), strict=True)
    return placed.address + sum(k * step for k, step in steps) * placed.tensor.itemsize


def converted(launches: Sequence[Launch], placed: Placed) -> tuple[str, ...]:
    """A line about a result that a launch stored in another dtype, and that was converted outside of it; or none."""
    import torch

    result = placed.tensor
    wanted = _name(result.dtype)
    for launch in reversed(launches):
        stored = {access.argument for access in launch.done if access.kind != "load"}
        for argument in launch.arguments:
            if argument.name not in stored or argument.kind != "tensor" or argument.dtype == wanted:
                continue
            if math.prod(argument.shape) == result.numel() and argument.is_contiguous:
                found = torch.frombuffer(_after(launch, argument), dtype=getattr(torch, argument.dtype))
                if bool((found.to(result.dtype) == result.flatten()).all()):
                    return (
                        _(
                            "Why: {argument} is {stored}, and was converted to {wanted} outside of the kernel. Let the "
                            "kernel store {wanted}."
                        ).format(argument=argument.name, stored=argument.dtype, wanted=wanted),
                    )
    return ()


def _after(launch: Launch, argument: Argument) -> bytearray:
    """The bytes of a contiguous argument after the launch; none if it cannot be run again."""
    size = math.prod(argument.shape) * argument.itemsize
    try:
        regions = replay(launch).regions
    except CannotReplay:
        return bytearray(size)
    held = next(one for one in regions if one.start <= argument.address < one.start + len(one.data))
    first = argument.address - held.start
    return bytearray(held.data[first : first + size].tobytes())


def storing(
    launches: Sequence[Launch], placed: Placed, index: tuple[int, ...]
) -> tuple[Launch | None, str | None, int | None, str]:
    """The launch whose result it is, the argument's name, the program that stored the element last, and words."""
    address = _address(placed, index)
    for launch in reversed(launches):
        named = arguments_of(launch, {placed.start})
        if not named:
            continue
        for access in reversed([one for one in launch.done if one.kind != "load"]):
            for event in reversed(access.events):
                programs = (
                    (event.active() & (event.addresses() == address)).reshape(len(event.programs), -1).any(axis=1)
                )
                if programs.any():
                    program = int(event.programs[programs.nonzero()[0][-1]])
                    by = _("{program} stored it, in line {line}").format(
                        program=messages.program(program, launch.grid), line=access.line
                    )
                    return launch, named[0], program, by
        return launch, named[0], None, _("no program stored it")
    return None, None, None, _("no launch wrote to this tensor")


def unstored(launches: Sequence[Launch], placed: Placed) -> tuple[int, ...] | None:
    """The first element of a result that no launch stored; None if there is none, or if a launch updates atomically:
    that begins with what is there.
    """
    import torch

    done = [access for launch in launches for access in launch.done if access.kind != "load"]
    ops = (op for launch in launches for op in launch.executable.plan.walk())
    if any(effects.is_access(op) and effects.ACCESSES[op.name].kind == "atomic" for op in ops):
        return None
    stored = [
        np.broadcast_to(event.addresses(), shape)[np.broadcast_to(event.active(), shape)]
        for access in done
        for event in access.events
        for shape in [(len(event.programs), *event.shape)]
    ]
    result = placed.tensor
    addresses = np.full(tuple(result.shape), placed.address)
    for axis, (size, step) in enumerate(zip(result.shape, result.stride(), strict=True)):
        steps = np.arange(size) * step * result.itemsize
        addresses = addresses + steps.reshape(-1, *[1] * (result.dim() - axis - 1))
    there = torch.from_numpy(np.isin(addresses, np.concatenate([np.empty(0, np.int64), *stored])))
    return None if bool(there.all()) else first_of(there)


def value_text(element: torch.Tensor) -> str:
    value = element.item()
    return f"{value:.6g}" if isinstance(value, float) and math.isfinite(value) else str(value)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
