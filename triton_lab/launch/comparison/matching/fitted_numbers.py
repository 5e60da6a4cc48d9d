"""Switches for float constants of a kernel that have another value: the one that fits what was expected."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.ir import traits
from triton_lab.ir.plan_edits import Edit, with_computed, with_constant
from triton_lab.launch.comparison.mutations.ir_query import constant
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope, switch_of
from triton_lab.launch.comparison.number_formats import is_float, wide
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.comparison.probe import Probe
from triton_lab.launch.comparison.relations import named_factor, numbers
from triton_lab.localization import _

_STEPS, _DIGITS = 8, 6  # of the search for a number, and of a number that is written in a kernel
_CLOSE = 1e-5
_UNMOVED = 0.05  # the share of the wrong elements that may stay as they are


def fitted_constants(scope: KernelScope, probe: Probe) -> Iterator[Switch]:
    """Float constants with the number that fits."""
    named = {value: name for name, value in numbers(scope.launch).items()}
    for op, k in scope.uses():
        number = op.operands[k]
        held = constant(scope.made, number)
        if held is not None and scope.type(number).is_float and np.isfinite(held):
            best = _number(probe, lambda value, op=op, k=k: switch_of("", "", op, with_constant(k, value)), held)
            if best is not None:
                title = _("{other} instead of {name}{lines_of}").format(
                    other=named.get(best, f"{best:g}"),
                    name=named.get(held, f"{held:g}"),
                    lines_of=scope.where_given(op, k),
                )
                digits = len(f"{abs(best):g}".replace(".", "").strip("0"))
                cost = scope.cost_of_value(op, k) if best in named else 1.4 + 0.4 * digits
                yield switch_of(title, _("a wrong number"), op, with_constant(k, best), cost=cost)


def fitted_factors(scope: KernelScope, probe: Probe, ratios: bool) -> Iterator[Switch]:
    """Factors of what is summed, stored or raised to a power: numbers that fit, and follow from the launch.

    ``ratios``: also those of two numbers of the launch, which stand for one instead of the other elsewhere.
    """
    for op, k in scope.uses():
        number, maker = op.operands[k], scope.made.get(op.operands[k])
        counts = op in scope.stores or op.name in traits.EXPONENTIALS
        counts |= maker is not None and maker.name in traits.DOTS | traits.FOLDS
        if counts and scope.type(number).is_float and constant(scope.made, number) is None:

            def scaled(value: float, k: int = k) -> Edit:
                return with_computed(k, "arith.mulf", other=value)

            best = _number(probe, lambda value, op=op: switch_of("", "", op, scaled(value)), 1.0, short=False)
            named = "" if best is None else named_factor(best, scope.launch, _CLOSE, ratios)
            if best is not None and named:
                title = _("{name} multiplied by {factor}{named}{lines_of}").format(
                    name=scope.called(number), factor=f"{best:g}", named=named, lines_of=scope.where_taken(op, k)
                )
                yield switch_of(title, _("a missing factor"), op, scaled(best), cost=3 if ratios else 2)


def _number(probe: Probe, switch: Any, held: float, short: bool = True) -> float | None:
    """The number that gives what was expected, by least squares; ``short``: one of few digits. None if none fits."""
    start = _apart(probe, switch(held))
    known = [] if start is None else [(held, start)]
    for other in (held + (abs(held) / 8 or 0.125), held / 10, held * 10) if held else (0.125,):
        there = None if start is None else _apart(probe, switch(other))
        if start is None or there is None or np.mean(start == there) > _UNMOVED:
            return None
        known.append((other, there))
    # What is divided by a number follows its reciprocal.
    into = _same if held == 0 or _bend(known, _same) <= _bend(known, _reciprocal) else _reciprocal
    # The two nearest ones are where the search begins.
    (before, at_before), (now, at_now) = sorted(known, key=lambda each: -float((each[1] ** 2).sum()))[-2:]
    for _step in range(_STEPS):
        slope = at_now - at_before
        if not slope.any():  # it is as near as it gets
            break
        with np.errstate(all="ignore"):
            moved = float((slope * at_now).sum() / (slope * slope).sum())
            after = into(into(now) - moved * (into(now) - into(before)))
        if not np.isfinite(after):
            return None
        before, at_before, now = now, at_now, after
        there = _apart(probe, switch(now))
        if there is None or abs(now - before) <= 1e-8 * abs(now):
            break
        at_now = there
    if not short:
        return now if probe.fits(switch(now)) else None
    for digits in range(1, _DIGITS + 1):
        rounded = float(f"{now:.{digits}g}")
        if rounded != held and abs(rounded - now) <= _CLOSE * abs(now) and probe.fits(switch(rounded)):
            return rounded
    return None


def _same(number: float) -> float:
    return number


def _reciprocal(number: float) -> float:
    return 1 / number if number else math.inf


def _bend(known: Sequence[tuple[float, NDArray[Any]]], into: Callable[[float], float]) -> float:
    """How far what is found at the first three numbers is from a line over ``into`` of them."""
    (a, at_a), (b, at_b), (c, at_c) = ((into(number), found) for number, found in known[:3])
    with np.errstate(all="ignore"):
        expected = at_a + (at_b - at_a) * ((c - a) / (b - a))
        return float(np.linalg.norm(at_c - expected) / max(float(np.linalg.norm(at_c - at_a)), 1e-300))


def _apart(probe: Probe, switch: Switch) -> NDArray[Any] | None:
    """What the wrong elements are above what was expected; None if they are no numbers, or the run was stopped."""
    found = probe.run(switch)
    parts = []
    for name, values in (found or {}).items():
        wrong = probe.wrong(name)
        if wrong.any() and is_float(values.dtype):
            parts.append((wide(values) - wide(probe.side.against[name].reshape(-1)[probe.elements[name]]))[wrong])
    return np.concatenate(parts) if parts and np.isfinite(np.concatenate(parts)).all() else None
