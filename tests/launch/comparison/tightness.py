"""How wide bounds on rounding are beside the exact ones: random programs of a few lanes, evaluated in fractions.

The exact interval of a value holds what all roundings of its operations give, each to either neighbour of the exact
result, and of a sum all orders. It is computed from the ends of the operands' intervals in fractions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import torch

from tests.interpreter.support import kernel_from
from tests.launch.comparison.kernels import recorded
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.launch_results import of_launch
from triton_lab.launch.launch import Launch

LANES = 4


@dataclass(frozen=True)
class Interval:
    """The least and the greatest number that an evaluation gives."""

    low: Fraction
    high: Fraction

    def joined(self, other: Interval) -> Interval:
        return Interval(min(self.low, other.low), max(self.high, other.high))


def exactly(number: float) -> Interval:
    return Interval(Fraction(number), Fraction(number))


def nearest(number: Fraction) -> np.float32:
    return np.float32(float(number))


def down(number: Fraction) -> Fraction:
    """The greatest float32 that is not above the number."""
    found = nearest(number)
    if Fraction(float(found)) > number:
        found = np.nextafter(found, np.float32(-np.inf))
    return Fraction(float(found))


def up(number: Fraction) -> Fraction:
    return -down(-number)


def rounded(exact: Interval) -> Interval:
    return Interval(down(exact.low), up(exact.high))


def added(a: Interval, b: Interval) -> Interval:
    return rounded(Interval(a.low + b.low, a.high + b.high))


def negated(a: Interval) -> Interval:
    return Interval(-a.high, -a.low)


def of_ends(function: Callable[[Fraction, Fraction], Fraction], a: Interval, b: Interval) -> Interval:
    found = [function(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return rounded(Interval(min(found), max(found)))


def times(a: Interval, b: Interval) -> Interval:
    return of_ends(lambda x, y: x * y, a, b)


def divided(a: Interval, b: Interval) -> Interval:
    return of_ends(lambda x, y: x / y, a, b)


def of_size(a: Interval) -> Interval:
    ends = abs(a.low), abs(a.high)
    return Interval(Fraction(0) if a.low <= 0 <= a.high else min(ends), max(ends))


def greater(a: Interval, b: Interval) -> Interval:
    return Interval(max(a.low, b.low), max(a.high, b.high))


def summed(lanes: Sequence[Interval]) -> Interval:
    """A sum in all orders: each part of the lanes is the sum of two smaller ones."""
    known = {frozenset((k,)): one for k, one in enumerate(lanes)}
    for size in range(2, len(lanes) + 1):
        for part in map(frozenset, combinations(range(len(lanes)), size)):
            first = min(part)
            for count in range(size - 1):
                for others in combinations(sorted(part - {first}), count):
                    left = frozenset((first, *others))
                    whole = added(known[left], known[part - left])
                    known[part] = whole.joined(known[part]) if part in known else whole
    return known[frozenset(range(len(lanes)))]


def each(function: Callable[..., Interval]) -> Callable[..., list[Interval]]:
    return lambda *blocks: [function(*lanes) for lanes in zip(*blocks, strict=True)]


HALF = exactly(0.5)
# The text of a statement of blocks, and what its lanes are.
FORMS: dict[str, Callable[..., list[Interval]]] = {
    "{} + {}": each(added),
    "{} - {}": each(lambda a, b: added(a, negated(b))),
    "{} * {}": each(times),
    "{} / (tl.abs({}) + 0.5)": each(lambda a, b: divided(a, added(of_size(b), HALF))),
    "0.5 - {}": each(lambda a: added(HALF, negated(a))),
    "tl.abs({})": each(of_size),
    "tl.maximum({}, {})": each(greater),
    "{} * 0.3125": each(lambda a: times(a, exactly(0.3125))),
    "{} + tl.sum({}, 0)": lambda a, b: [added(one, summed(b)) for one in a],
    "{} * {} + {}": each(lambda a, b, c: added(times(a, b), c)),
}


@dataclass
class Ratios:
    """How many times as wide as the exact interval a bound is, by the form of the statement."""

    by_form: dict[str, list[float]] = field(default_factory=dict)
    inexact: int = 0  # lanes that are exact in every evaluation and have a bound
    outside: int = 0  # lanes whose exact interval is not within the bound

    def worst(self) -> float:
        return max((max(each) for each in self.by_form.values() if each), default=0.0)


def program(seed: int, statements: int) -> tuple[Launch, list[tuple[str, list[Interval]]]]:
    """A recorded launch, and the form and the exact intervals of each statement."""
    rng = random.Random(seed)
    generator = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(LANES, generator=generator) * rng.choice((0.25, 1.0, 8.0)) for _ in range(2))
    values: dict[str, list[Interval]] = {"x": [exactly(v) for v in x.tolist()], "y": [exactly(v) for v in y.tolist()]}
    lines, made = [], []
    for number in range(statements):
        form, function = rng.choice(list(FORMS.items()))
        names = _distinct(rng, list(values), min(form.count("{}"), len(values)))
        names += names[: form.count("{}") - len(names)]
        values[f"v{number}"] = function(*(values[name] for name in names))
        made.append((form, values[f"v{number}"]))
        lines += [f"v{number} = {form.format(*names)}", f"tl.store(out_ptr + {number * LANES} + k, v{number})"]
    text = "@triton.jit\ndef kernel(x_ptr, y_ptr, out_ptr):\n" + "".join(
        f"    {line}\n"
        for line in (f"k = tl.arange(0, {LANES})", "x = tl.load(x_ptr + k)", "y = tl.load(y_ptr + k)", *lines)
    )
    kernel = kernel_from(text)
    return recorded(lambda: kernel[(1,)](x, y, torch.zeros(LANES * statements))), made


def _distinct(rng: random.Random, values: list[str], count: int) -> list[str]:
    """Different values, mostly the newest: of equal ones, a difference is exact whatever their intervals are."""
    found: list[str] = []
    while len(found) < count:
        name = values[-1 - min(len(values) - 1, int(rng.expovariate(0.7)))]
        if name not in found:
            found.append(name)
    return found


def measure(seed: int, ratios: Ratios, statements: int = 10) -> None:
    """Add the bounds of one random program to ``ratios``."""
    launch, made = program(seed, statements)
    found: Any = of_launch(launch).arrays["out_ptr"].astype(np.float64)
    bound = bounds(launch, False)["out_ptr"]
    below, above = (np.broadcast_to(part, found.shape) for part in (bound.below, bound.above))
    for number, (form, lanes) in enumerate(made):
        for k, exact in enumerate(lanes):
            at = number * LANES + k
            value = Fraction(float(found[at]))
            far = float(max(value - exact.low, exact.high - value))
            allowed = float(max(below[at], above[at]))
            if not far:
                ratios.inexact += allowed > 0
                continue
            ratios.outside += allowed < far
            ratios.by_form.setdefault(form, []).append(allowed / far)
