"""Which cases of an exercise are wrong: a condition on sizes, layouts, types or programs that parts them exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import comb, log2
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.course.trial.case_run import CaseRun

_BITS = 4.0  # how unlikely it must be by chance that a condition holds for all wrong cases
_EXCEPTIONS = 1  # right cases for which the condition may hold, too
_MOST = 2  # conditions that are told
_LIKE = 8.0  # times as great on average: such numbers are not why only larger sizes are wrong

Condition = tuple[str, list[bool]]
"""Words for a condition, and whether it holds for each run."""


def pattern_line(run: CaseRun, others: Sequence[CaseRun]) -> str:
    """A sentence on the cases that are wrong, or on one that is right; "" if nothing is known.

    ``run`` is wrong; ``others`` are the runs of the other cases.
    """
    runs = [run, *others]
    wrong = [one.fault is not None for one in runs]
    conditions = list(_conditions(runs))
    most = max((_bits(wrong, holds) for told, holds in conditions), default=0.0)
    if most >= _BITS:
        parting = [one for one in conditions if _bits(wrong, one[1]) == most][:_MOST]
        return _("Only cases in which {condition} are wrong: {wrong} of {cases}.").format(
            condition=_(" and ").join(told for told, holds in parting),
            wrong=messages.number(sum(wrong)),
            cases=messages.number(sum(map(all, zip(*(holds for told, holds in parting), strict=True)))),
        )
    smaller = _of_smaller_sizes(run, [one for one in others if one.fault is None])
    return "" if smaller is None else _("It is right for smaller sizes: {on}.").format(on=smaller.on)


def _bits(wrong: Sequence[bool], holds: Sequence[bool]) -> float:
    """How unlikely it is by chance that all ``wrong`` cases are among those for which a condition holds.

    0 if they are not, or if the condition holds for many right ones, too.
    """
    apart = sum(one and not other for one, other in zip(holds, wrong, strict=True))
    if apart > _EXCEPTIONS or any(one and not other for one, other in zip(wrong, holds, strict=True)):
        return 0.0
    return log2(comb(len(wrong), sum(wrong)) / comb(sum(holds), sum(wrong)))


def _conditions(runs: Sequence[CaseRun]) -> Iterator[Condition]:
    """The conditions that cases may be wrong for, the likeliest first."""
    several = [max((launch.programs for launch in one.launches), default=0) > 1 for one in runs]
    yield _("the kernel runs as more than one program"), several
    for name in runs[0].given:
        yield (
            _("{name} is not contiguous").format(name=name),
            [not one.given[name].is_contiguous() for one in runs],
        )
    numbers = dict(_numbers(runs))
    blocks = sorted(
        {
            one.value
            for run in runs[:1]
            for launch in run.launches
            for one in launch.arguments
            if one.kind == "constexpr" and type(one.value) is int and one.value > 1
        }
    )
    for block in blocks:
        for told, sizes in numbers.items():
            yield (
                _("{size} is no multiple of {block}").format(size=told, block=block),
                [size % block != 0 for size in sizes],
            )
    for one, other in ((one, other) for one in numbers for other in numbers if one < other):
        pairs = list(zip(numbers[one], numbers[other], strict=True))
        yield _("{size} and {other} differ").format(size=one, other=other), [a != b for a, b in pairs]
        yield _("{size} is greater than {bound}").format(size=one, bound=other), [a > b for a, b in pairs]
        yield _("{size} is greater than {bound}").format(size=other, bound=one), [b > a for a, b in pairs]
    for told, sizes in numbers.items():
        for bound in sorted(set(sizes))[:-1]:
            yield (
                _("{size} is greater than {bound}").format(size=told, bound=messages.number(bound)),
                [size > bound for size in sizes],
            )
    for name in runs[0].given:
        kinds = [str(one.given[name].dtype).removeprefix("torch.") for one in runs]
        for kind in dict.fromkeys(kinds):
            yield _("{name} is {name2}").format(name=name, name2=kind), [one == kind for one in kinds]
        yield (
            _("{name} has numbers below 0").format(name=name),
            [bool(one.given[name].numel() and (one.given[name].double() < 0).any()) for one in runs],
        )


def _numbers(runs: Sequence[CaseRun]) -> Iterator[tuple[str, list[int]]]:
    """The sizes of tensors and the whole numbers among the arguments, with words for each, in each of the runs."""
    for name, tensor in runs[0].given.items():
        if all(one.given[name].dim() == tensor.dim() for one in runs):
            for axis in range(tensor.dim()):
                yield f"{name}.shape[{axis}]", [int(one.given[name].shape[axis]) for one in runs]
    for name, value in runs[0].inputs.items():
        if type(value) is int:
            yield name, [int(one.inputs[name]) for one in runs]


def _of_smaller_sizes(run: CaseRun, right: Sequence[CaseRun]) -> CaseRun | None:
    """The largest of the ``right`` runs in a size that is larger in ``run`` than in all of them, for like numbers."""
    for name, tensor in run.given.items():
        for axis, size in enumerate(tensor.shape):
            smaller = [one for one in right if one.given[name].numel() and one.given[name].shape[axis] < size]
            largest = max(smaller, key=partial(_size, name, axis), default=None)
            if largest is not None and len(smaller) == len(right):
                return largest if _greatness(run) <= _LIKE * _greatness(largest) else None
    return None


def _size(name: str, axis: int, run: CaseRun) -> int:
    return int(run.given[name].shape[axis])


def _greatness(run: CaseRun) -> float:
    """The mean of the absolute numbers of the argument in which it is greatest."""
    return max((float(tensor.double().abs().mean()) for tensor in run.given.values() if tensor.numel()), default=0.0)
