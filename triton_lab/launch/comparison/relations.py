"""How a wrong result relates to the expected one: which part of it is wrong, and what it is instead.

A common factor, a transposed or shifted result, or memory that did not change says more than the largest error. Each
relation is a sentence, which holds for every element that it covers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.launch.access import elements_at
from triton_lab.launch.comparison.argument_difference import EQUAL, NEAR, Compared
from triton_lab.launch.comparison.number_formats import is_float, unit_roundoff, wide
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

_LEAST = 4  # differing elements: fewer would fit any relation
_SHIFTS = 1 << 12  # the largest shift of a result, in elements
_ROUNDINGS = 256  # how many roundings a result may differ from the relation


def relations(one: Compared, launch: Launch, before: Array | None) -> list[str]:
    """The relations of ``one`` argument that differs; ``before`` is its value before the launch, if known."""
    if one.verdict in (EQUAL, NEAR) or one.count < _LEAST:
        return []
    part = _part(one)
    if before is not None and _untouched(one, before) and not _stored(one, launch):
        return [
            *part,
            _("the elements of {name} that differ are unchanged since before the launch").format(name=one.name),
        ]
    return [*part, *instead(one, launch)]


def instead(one: Compared, launch: Launch) -> list[str]:
    """A sentence on what the elements that differ are instead of the expected ones; none if it is not known.

    None either if all are as near to the expected ones as a relation must be: then it would hold for no reason.
    """
    if _near(one, *_sides(one)):
        return []
    kinds = (_factor(one, launch), _shift_by(one), _moved(one), _across(one), _by_line(one))
    found = next((told for told in kinds if told), None)
    return [] if found is None else [found]


# --- Which part ---------------------------------------------------------------------------------------


def _part(one: Compared) -> list[str]:
    """The part of the tensor that differs, if slices describe it and it is not all."""
    found = part_of(one.name, ~np.asarray(one.explained))
    return [] if found is None else [_("the difference is in {found}").format(found=found)]


def part_of(name: str, where: Array) -> str | None:
    """The elements ``where`` as slices, ``out[:, 96:]``; None if they are all, or slices do not describe them."""
    if not where.ndim or where.all():
        return None
    sets = [np.flatnonzero(where.any(axis=tuple(set(range(where.ndim)) - {axis}))) for axis in range(where.ndim)]
    slices = [_slice(found, extent) for found, extent in zip(sets, where.shape, strict=True)]
    if any(each is None for each in slices) or int(np.count_nonzero(where)) != math.prod(map(len, sets)):
        return None
    return f"{name}[{', '.join(map(str, slices))}]"


def _slice(found: Array, extent: int) -> str | None:
    """``8``, ``8:16``, ``96:`` or ``::4``: the numbers ``found`` among the first ``extent``; None if it is no slice."""
    if len(found) == 1 and extent > 1:
        return str(int(found[0]))
    steps = np.unique(np.diff(found))
    if len(steps) > 1:
        return None
    step = int(steps[0]) if len(steps) else 1
    low, high = int(found[0]), int(found[-1]) + step
    text = f"{low or ''}:{'' if high >= extent else int(found[-1]) + 1}"
    return text if step == 1 else f"{text}:{step}"


def _untouched(one: Compared, before: Array) -> bool:
    """Whether each differing element is bit-equal to its value before, NaN and poison included."""
    wrong = ~np.asarray(one.explained)
    return before.shape == one.a.shape and before[wrong].tobytes() == one.a[wrong].tobytes()


def _stored(one: Compared, launch: Launch) -> bool:
    """Whether the launch stored to a differing element: then it may only by chance equal its value before."""
    argument, wrong = launch.argument(one.name), ~np.asarray(one.explained).reshape(-1)
    for access in launch.done:
        if access.kind != "load" and access.argument == one.name:
            for event in access.events:
                found = elements_at(event.addresses()[event.active()] - argument.address, argument)
                if wrong[found[found >= 0]].any():
                    return True
    return False


# --- What it is instead -------------------------------------------------------------------------------


def _near(one: Compared, a: Array, b: Array) -> bool:
    """Whether two float64 arrays are equal up to some roundings, and not all one value, which would prove nothing."""
    if not a.size or not (np.isfinite(a).all() and np.isfinite(b).all()) or np.ptp(b) == 0:
        return False
    size = np.maximum(np.abs(a), np.abs(b))
    known = 0.0
    if one.bound is not None:
        allowed = one.bound.size
        known = float(np.max(allowed, initial=0.0, where=np.isfinite(allowed)))
    roundings = _ROUNDINGS * unit_roundoff(one.dtype) if is_float(one.dtype) else 0.0
    return bool((np.abs(a - b) <= roundings * size + 2 * known).all())


def _sides(one: Compared) -> tuple[Array, Array]:
    return wide(one.a), wide(one.b)


def _factor(one: Compared, launch: Launch) -> str | None:
    """The text if all elements are a multiple of what was expected; else None."""
    a, b = _sides(one)
    if not np.isfinite(a).all() or not np.isfinite(b).all():
        return None
    square = float(np.sum(b * b))
    factor = float(np.sum(a * b)) / square if square and math.isfinite(square) else 0.0
    if factor in (0.0, 1.0) or not _near(one, a, factor * b):
        return None
    if is_float(one.dtype) and abs(factor - 1) < 1e-3:
        return None  # a common rounding error is no factor
    named = named_factor(factor, launch, 2 * _ROUNDINGS * unit_roundoff(one.dtype) if is_float(one.dtype) else 1e-12)
    if factor == -1 or abs(factor + 1) < 1e-6:
        return _("{name} is the expected result with the other sign").format(name=one.name)
    return _("{name} is the expected result times {factor}{named}").format(
        name=one.name, factor=messages.significant(factor), named=named
    )


def named_factor(factor: float, launch: Launch, error: float, ratios: bool = True) -> str:
    """`` (1 / n, where n is 300)``: the factor in terms of the launch's arguments; "" if there is no such form.

    ``ratios``: also as a ratio of two of them.
    """
    known = _numbers(launch)
    for name, value in known.items():
        if value > 0 and value != 1:
            forms = {
                name: value,
                f"1 / {name}": 1 / value,
                f"sqrt({name})": value**0.5,
                f"1 / sqrt({name})": value**-0.5,
                **({f"1 - {name}": 1 - value, f"1 / (1 - {name})": 1 / (1 - value)} if value < 1 else {}),
            }
            for told, number in forms.items():
                if abs(abs(factor) - number) <= error * number:
                    return _(" ({more}{told}, where {name} is {value})").format(
                        more="-" if factor < 0 else "", told=told, name=name, value=messages.significant(value)
                    )
    for (name, value), (other, divisor) in permutations(known.items(), 2) if ratios else ():
        if value > 0 and divisor > 0 and abs(factor - value / divisor) <= error * factor:
            where = _("where {name} is {value} and {other} is {divisor}").format(
                name=name, value=messages.significant(value), other=other, divisor=messages.significant(divisor)
            )
            return f" ({name} / {other}, {where})"
    for told, number in (("ln 2", math.log(2)), (_("log2 of e"), 1 / math.log(2))):
        if abs(factor - number) <= error * number:
            return _(" ({told}: a power or logarithm of the other base)").format(told=told)
    return ""


def _numbers(launch: Launch) -> Mapping[str, float]:
    return {**numbers(launch), _("the number of programs"): float(math.prod(launch.grid))}


def numbers(launch: Launch) -> Mapping[str, float]:
    """The scalars and constexprs of a launch that are numbers, by name."""
    return {
        argument.name: float(argument.value)
        for argument in launch.arguments
        if argument.kind in ("scalar", "constexpr") and is_number(argument.value)
    }


def is_number(value: object) -> bool:
    """Whether it is an int or a float, and no bool."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _shift_by(one: Compared) -> str | None:
    """The text if all elements differ by the same amount; else None."""
    a, b = _sides(one)
    if not np.isfinite(a).all() or not np.isfinite(b).all():
        return None
    by = float(np.median(a - b))
    if by == 0 or not _near(one, a, b + by) or float(np.ptp(b)) < abs(by) * 1e-3:
        return None
    everywhere = (
        _("{name} is the expected result plus {abs} everywhere")
        if by > 0
        else _("{name} is the expected result minus {abs} everywhere")
    )
    return everywhere.format(name=one.name, abs=messages.significant(abs(by)))


def _moved(one: Compared) -> str | None:
    """The text if the elements are shifted by some places in row-major order; else None."""
    a, b = (side.reshape(-1) for side in _sides(one))
    for by in _shifts(a, b):
        here, there = (a[by:], b[: len(b) - by]) if by > 0 else (a[:by], b[-by:])
        if len(here) >= max(_LEAST, len(a) // 2) and _near(one, here, there):
            further = messages.count(abs(by), "element")
            shifted = (
                _("{name} is the expected result {elements} further on")
                if by > 0
                else _("{name} is the expected result {elements} further back")
            )
            return shifted.format(name=one.name, elements=further)
    return None


def _shifts(a: Array, b: Array) -> Iterator[int]:
    """The shifts of the middle element of the expected result, the smallest first."""
    middle = b[len(b) // 2]
    with np.errstate(all="ignore"):
        places = np.flatnonzero(np.abs(a - middle) <= 1e-3 * np.abs(middle)) - len(b) // 2
    yield from (int(by) for by in sorted(places[np.abs(places) <= _SHIFTS], key=abs)[:64] if by)


def _across(one: Compared) -> str | None:
    """The text if the result is transposed or reversed; else None."""
    a, b = _sides(one)
    if b.ndim == 2 and min(b.shape) > 1 and _near(one, a.reshape(-1), b.T.reshape(-1)):
        return _("{name} is the expected result transposed: its rows are columns").format(name=one.name)
    for axis in range(b.ndim):
        if b.shape[axis] > 1 and _near(one, a, np.flip(b, axis)):
            if b.ndim == 1:
                return _("{name} is the expected result in reverse order").format(name=one.name)
            return _("{name} is the expected result in reverse order along axis {axis}").format(
                name=one.name, axis=axis
            )
    return None


def _by_line(one: Compared) -> str | None:
    """The text if each row, or each column, is the expected one times a factor or plus a term of its own; else None."""
    a, b = _sides(one)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    for axis, line in ((-1, _("row")), *(((0, _("column")),) if b.ndim == 2 else ())):
        if b.ndim < 2 or b.shape[axis] < _LEAST:
            continue
        squares = np.sum(b * b, axis=axis, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            factors = np.where(squares > 0, np.sum(a * b, axis=axis, keepdims=True) / squares, 1.0)
        if _near(one, a.reshape(-1), (factors * b).reshape(-1)):
            return _(
                "each {line} of {name} is the expected one times a factor of its own, from {low} to {high}"
            ).format(
                name=one.name,
                line=line,
                low=messages.significant(float(factors.min())),
                high=messages.significant(float(factors.max())),
            )
        terms = np.median(a - b, axis=axis, keepdims=True)
        if _near(one, a.reshape(-1), (b + terms).reshape(-1)):
            return _("each {line} of {name} is the expected one plus a term of its own, from {low} to {high}").format(
                name=one.name,
                line=line,
                low=messages.significant(float(terms.min())),
                high=messages.significant(float(terms.max())),
            )
    return None
