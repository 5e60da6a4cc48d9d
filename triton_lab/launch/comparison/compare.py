"""`compare`: compares a launch with another one, or with an expected result."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.bounds.bound import Bound
from triton_lab.launch.comparison.bounds.error_bounds import bounds_so_far
from triton_lab.launch.comparison.comparison_result import Comparison
from triton_lab.launch.comparison.launch_difference import differences
from triton_lab.launch.comparison.launch_results import Results, expected, of_launch
from triton_lab.launch.comparison.number_formats import unit_roundoff, wide
from triton_lab.launch.recording.launch_list import Launches
from triton_lab.launch.recording.launch_record import Recorded
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch


def compare(
    a: Launch | Launches,
    b: Launch | Launches | Callable[..., Any] | Mapping[str, Any] | Any = None,
    *,
    seconds: float | None = None,
) -> Comparison:
    """Compare the results of launch ``a`` with those of ``b``. A record with one launch may be given for a launch.

    ``b`` is another launch (of another kernel, configuration, dtype or target), a function that uses torch, or the
    expected result: a tensor, or a tuple of them, for the written arguments in order, or a dict by name. A function is
    called with the arguments that it has parameters for, by name, with tensors as they were before the launch. It
    returns an expected result, or changes its tensors and returns None. Without ``b``, the GPU's results of a launch on
    the GPU are compared with the CPU's. Arguments of two launches are matched by name, and the rest by order.

    The verdict is ``bit-equal``; ``equal up to rounding``, if other roundings of the operations that computed
    an element may give the other result; ``different``, if none can; or ``not known``, if that depends on a choice, or
    was not looked at, and nothing is certainly different. Any NaN equals any other, and zeros of two signs differ.
    ``seconds`` limits the time: how far rounding may take what was not looked at by then is not known, and the result
    says so. Raises
    ValueError if nothing can be compared, CannotReplay if the record lacks the launch's results.

    What is not the same in two launches, such as a scalar, is said first; `Launch.diff` gives it as data.

    >>> comparison = lab.compare(launch, lambda x_ptr, y_ptr, **_: x_ptr * 2 + y_ptr)
    >>> comparison.verdict, comparison["out_ptr"].count
    ('different', 999)
    >>> comparison.first.line, comparison.first.program, comparison.first.index
    (23, 0, (1,))
    """
    end = math.inf if seconds is None else time.monotonic() + seconds
    a, b = _only(a), _only(b)
    if not isinstance(a, Recorded):
        raise TypeError(
            _("the first argument of compare must be a launch from record(), not {name}").format(name=type(a).__name__)
        )
    if b is None:
        if a.target != "gpu":
            raise ValueError(
                _(
                    "the launch of {kernel} ran only on the CPU. Pass a second argument: a launch, a tensor or a "
                    "function"
                ).format(kernel=a.kernel)
            )
        return _compared(a, a, of_launch(a), of_launch(a, "cpu"), {}, (), True, end)
    if isinstance(b, Recorded):
        return _of_launches(a, b, end)
    mine = of_launch(a)
    theirs = expected(a, b, mine.written)
    found = _compared(a, None, mine, theirs, {name: name for name in theirs.arrays}, (), False, end)
    return replace(found, reference=b if callable(b) and not hasattr(b, "detach") else None)


def _only(given: Any) -> Any:
    """The launch of a record that has exactly one; other values unchanged."""
    if not isinstance(given, Launches):
        return given
    if not given:
        raise ValueError(_("the record has no launch to compare: was the kernel launched inside `with lab.record()`?"))
    if len(given) > 1:
        raise ValueError(_("the record has several launches: choose one, as in compare(launches[0], ...)"))
    return given[0]


def _of_launches(a: Launch, b: Any, end: float) -> Comparison:
    mine, theirs = of_launch(a), of_launch(b)
    pairs, remarks = _pairs(mine, theirs)
    if not pairs:
        raise ValueError(
            _("{kernel} and {other} have no tensors of the same shape to compare: ").format(
                kernel=a.kernel, other=b.kernel
            )
            + "; ".join(remarks)
        )
    same = a.executable.plan.text == b.executable.plan.text
    found = _compared(a, b, mine, theirs, pairs, tuple(remarks), same, end)
    return replace(found, differences=differences(a, b, contents=a.kernel == b.kernel))


def _pairs(mine: Results, theirs: Results) -> tuple[dict[str, str], list[str]]:
    """The matching arguments by name, and remarks about those without a match."""
    pairs, remarks = {}, []
    for name in mine.arrays:
        if name in theirs.arrays:
            pairs[name] = name
    left = [name for name in mine.written if name not in pairs]
    right = [name for name in theirs.written if name not in pairs.values()]
    if len(left) == len(right):
        pairs.update(zip(left, right, strict=True))
    else:
        remarks += [_("{name} has no counterpart on the other side").format(name=name) for name in (*left, *right)]
    for name, other in list(pairs.items()):
        shapes = mine.arrays[name].shape, theirs.arrays[other].shape
        if shapes[0] != shapes[1]:
            del pairs[name]
            remarks.append(
                _("{name} has two shapes: {shapes} and {shapes_2}").format(
                    name=name, shapes=shapes[0], shapes_2=shapes[1]
                )
            )
    return pairs, remarks


def _compared(
    a: Launch,
    b: Any,
    mine: Results,
    theirs: Results,
    pairs: Mapping[str, str],
    remarks: tuple[str, ...],
    same: bool,
    end: float,
) -> Comparison:
    pairs = pairs or {name: name for name in mine.arrays if name in theirs.arrays}
    written = {*mine.written, *(name for name, other in pairs.items() if other in theirs.written)}
    ordered = sorted(pairs, key=lambda name: (name not in written, list(mine.arrays).index(name)))
    found = [Compared(name, mine.arrays[name], theirs.arrays[pairs[name]], name in written) for name in ordered]
    if any(one.count and one.written for one in found):
        found = _bounded(a, b, found, pairs, same, end)
    titles = (mine.title, theirs.title)
    if titles[0] == titles[1]:
        titles = (f"{titles[0][:-1]}, a)", f"{titles[1][:-1]}, b)")
    stopped = [
        _("{title} stopped with an error; the values that it had written before are compared").format(title=title)
        for title, launch in zip(titles, (a, b), strict=True)
        if launch is not None and launch.error is not None
    ]
    remarks = (*remarks, *dict.fromkeys(stopped))
    names = tuple(pairs[one.name] for one in found)
    return Comparison(a, b, titles, tuple(found), remarks, same, names)


def _bounded(
    a: Launch, b: Launch | None, found: list[Compared], pairs: Mapping[str, str], same: bool, end: float
) -> list[Compared]:
    """The comparisons with their rounding bounds, or with the reason why these are not known."""
    reasons = []
    try:
        both, reason = bounds_so_far(a, same, seconds=_left(end))
        reasons.append(reason)
        if b is not None and not same:
            theirs, reason = bounds_so_far(b, same, seconds=_left(end))
            both = {name: both[name].joined(theirs[other]) for name, other in pairs.items()}
            reasons.append(reason)
    except CannotReplay as error:
        told = _("the bound on rounding is not known: {error}").format(error=error)
        return [Compared(one.name, one.a, one.b, one.written, None, told) for one in found]
    late = "".join(
        _("the bound on rounding is not known for some: {error}").format(error=one) for one in set(reasons) if one
    )
    return [
        Compared(one.name, one.a, one.b, one.written, _stored(one, both[one.name]) if one.written else None, late)
        for one in found
    ]


def _left(end: float) -> float:
    """The seconds that are left until ``end`` of `time.monotonic`."""
    return max(0.0, end - time.monotonic())


def _stored(one: Compared, bound: Bound) -> Bound:
    """The bound, with the error that rounding to the coarser of two dtypes may add."""
    if one.a.dtype == one.b.dtype:
        return bound
    with np.errstate(invalid="ignore"):
        size = np.abs(np.nan_to_num(wide(one.numbers[1]), posinf=0, neginf=0))
        return bound.joined(Bound.around(unit_roundoff(one.dtype) * size))
