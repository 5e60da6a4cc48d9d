"""Which sizes of a launch belong together, and the smaller cases that change some of them.

A launch repeats its sizes: ``n`` is the extent of ``x``, the grid is ``cdiv(n, BLOCK)``, a stride is a row's length. So
equal sizes change together, and what is a product, a quotient or a power of two of others follows them. After that each
size is tried alone, as one may be equal to another by chance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations_with_replacement
from typing import Any

from triton_lab.launch.shrinking.launch_case import LaunchCase, is_number
from triton_lab.launch.shrinking.tensor_case import row_major

# Sizes from here on that lie side by side are taken for one and its neighbour.
_APART = 8


@dataclass(frozen=True)
class SizeRule:
    """How a size follows from the sizes that it ``needs``: ``result`` of their new values, in the same order."""

    needs: tuple[int, ...]
    result: Callable[[Sequence[int]], int]


@dataclass(frozen=True, eq=False)
class LinkedSizes:
    """The sizes of ``case``: those that are ``free``, the largest first, and a rule for each that follows others."""

    case: LaunchCase
    free: tuple[int, ...]
    rules: Mapping[int, SizeRule]
    powers: frozenset[int]

    @classmethod
    def of(cls, case: LaunchCase, ruled: bool = True) -> LinkedSizes:
        """The links, learned from the numbers alone. 0 and 1 are linked with nothing.

        Without ``ruled``, only equal sizes are linked. Extents that the kernel's text names stay as they are.
        """
        fixed = {value for name, value in case.values.items() if name in case.constexprs and _is_size(value)}
        extents = {extent for one in case.tensors.values() for extent in one.shape}
        counts = {value for name, value in case.values.items() if _is_size(value) and not is_stride(case, name)}
        sizes = sorted({value for value in (*fixed, *extents, *counts, *case.grid) if value > 1})
        rules: dict[int, SizeRule] = {}
        for value in sizes if ruled else ():
            for rule in _rules(value, sizes, fixed, extents):
                if not any(_follows(one, value, rules) for one in rule.needs):
                    rules[value] = rule
                    break
        pinned = (extents & case.literals) - {*case.grid, *fixed, *counts}
        free = tuple(value for value in reversed(sizes) if value not in rules and value not in pinned)
        powers = frozenset(value for value in fixed if value & (value - 1) == 0)
        return cls(case, free, rules, powers)

    def changed(
        self, chosen: Mapping[int, int], moved: bool = False, sizes_in: bool = False, packed: bool = False
    ) -> LaunchCase:
        """The case with other free sizes. ``moved``: see `TensorContents.cut`; ``sizes_in``: see `with_sizes` there.
        ``packed``: tensors are row-major, without gaps.
        """
        known: dict[int, int] = {value: chosen.get(value, value) for value in self.free} | {0: 0, 1: 1}

        def now(value: int) -> int:
            if value not in known and value in self.rules:
                rule = self.rules[value]
                known[value] = max(rule.result([now(one) for one in rule.needs]), 1)
            return known.get(value, value)

        for value in self.rules:
            now(value)
        tensors = {}
        strides: dict[int, int] = {}
        for name, one in self.case.tensors.items():
            made = one.reshaped(tuple(min(now(extent), extent) for extent in one.shape), moved)
            made = replace(made, offset=now(one.offset) if one.offset in known else one.offset)
            if packed:
                made = replace(made, strides=row_major(made.shape), offset=0)
            if sizes_in:
                made = replace(made, contents=made.contents.with_sizes(known))
            tensors[name] = made
            strides.update(zip(one.strides, made.strides, strict=True))
        values = {}
        for name, value in self.case.values.items():
            if _is_size(value) and value > 1:
                values[name] = strides[value] if is_stride(self.case, name) else now(value)
            else:
                values[name] = value
        return replace(self.case, grid=tuple(map(now, self.case.grid)), tensors=tensors, values=values)

    def is_named(self, value: int) -> bool:
        """Whether a size is also a number that the kernel is given, or the grid's."""
        return value in self.case.grid or value in self.case.values.values()

    def targets(self, value: int) -> list[int]:
        """The smaller numbers to try for a free size, ascending."""
        if value in self.powers:
            return [1 << k for k in range(value.bit_length() - 1)]
        near = {block + by for block in self.powers for by in (-1, 0, 1)}
        some = {1, 2, 3, 4, 5, 8, 16, value // 16, value // 8, value // 4, value // 2, value * 3 // 4, value - 1, *near}
        return sorted(one for one in some if 0 < one < value)

    def scaled(self) -> Iterator[dict[int, int]]:
        """Choices that divide all free sizes, or all from one of the blocks on, by a power of two."""
        for block in sorted({1, *self.powers}):
            mine = [value for value in self.free if value >= block]
            for divisor in (64, 16, 8, 4, 2):
                chosen = {value: max(value // divisor, 1) for value in mine}
                if mine and any(value >= divisor for value in mine) and (block == 1 or block >= divisor):
                    yield chosen


def is_stride(case: LaunchCase, name: str) -> bool:
    """Whether a number that is no constexpr is a stride of a tensor, and no extent."""
    value = case.values[name]
    extents = {extent for one in case.tensors.values() for extent in one.shape}
    strides = {stride for one in case.tensors.values() for stride in one.strides}
    return name not in case.constexprs and _is_size(value) and value in strides - extents - {0, 1}


def single_changes(case: LaunchCase, argument: str | None, stops: bool) -> Iterator[Iterator[LaunchCase]]:
    """For each size of the case by itself: smaller cases, the smallest first.

    The ``argument`` where the launch fails keeps its tensor: cut alone, it would fail in any kernel that reaches it. If
    the launch ``stops`` where it fails, all do: what a tensor cut alone would break after that is not seen. A number
    that is a tensor's extent changes with it alone.
    """
    for axis, extent in enumerate(case.grid):
        yield _each(partial(_with_grid, case, axis), _fewer(extent, 1))
    extents = {extent for one in case.tensors.values() for extent in one.shape}
    for name, value in case.values.items():
        if _is_size(value) and value not in extents and not is_stride(case, name):
            yield _each(partial(_with_value, case, name), _fewer(value, -1))
        elif isinstance(value, float) and is_number(value):
            yield _each(partial(_with_value, case, name), [at for at in (0.0, 1.0) if at < abs(value)])
    for name, one in case.tensors.items() if not stops else ():
        if name != argument:
            for axis, extent in enumerate(one.shape):
                yield _each(partial(_with_extent, case, name, axis), _fewer(extent, 1))
            yield _each(partial(_with_offset, case, name), _fewer(one.offset, 0))
    kept = case.tensors[argument].storage if argument is not None and argument in case.tensors else None
    for number, tail in enumerate(case.tails) if not stops else ():
        if number != kept:
            yield _each(partial(_with_tail, case, number), _fewer(tail, 0))
    for name in case.options:
        rest = {other: value for other, value in case.options.items() if other != name}
        yield iter([replace(case, options=rest)])


def _each(make: Callable[[Any], LaunchCase], numbers: Sequence[float]) -> Iterator[LaunchCase]:
    yield from map(make, numbers)


def _with_grid(case: LaunchCase, axis: int, extent: int) -> LaunchCase:
    return replace(case, grid=_put(case.grid, axis, extent))


def _with_value(case: LaunchCase, name: str, value: float) -> LaunchCase:
    return replace(case, values={**case.values, name: value})


def _with_extent(case: LaunchCase, name: str, axis: int, extent: int) -> LaunchCase:
    one = case.tensors[name]
    return replace(case, tensors={**case.tensors, name: one.reshaped(_put(one.shape, axis, extent), True)})


def _with_offset(case: LaunchCase, name: str, offset: int) -> LaunchCase:
    return replace(case, tensors={**case.tensors, name: replace(case.tensors[name], offset=offset)})


def _with_tail(case: LaunchCase, number: int, tail: int) -> LaunchCase:
    return replace(case, tails=_put(case.tails, number, tail))


def _fewer(value: int, least: int) -> list[int]:
    """Smaller numbers to try for one size: powers of two and what is near, ascending by size."""
    if value < 0:
        return [0] if value < -1 else []
    some = {least, 0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 32, 64, value // 8, value // 4, value // 2, value - 1}
    return sorted(one for one in some if max(least, 0) <= one < value)


def _rules(value: int, sizes: list[int], fixed: set[int], extents: set[int]) -> Iterator[SizeRule]:
    """The ways in which a size may follow from others, the likeliest first."""
    less = [one for one in sizes if one < value][:12]
    for several in (2, 3):
        for factors in combinations_with_replacement(less, several):
            if math.prod(factors) == value:
                yield SizeRule(factors, math.prod)
    if value not in fixed:
        for whole in (one for one in sizes if one > value):
            for block in sorted(fixed - {0, 1, value}):
                if -(-whole // block) == value:
                    yield SizeRule((whole, block), lambda now: -(-now[0] // now[1]))
                elif whole // block == value:
                    yield SizeRule((whole, block), lambda now: now[0] // now[1])
    elif value & (value - 1) == 0:
        for extent in sorted(extents):
            if value // 2 < extent < value:
                yield SizeRule((extent,), lambda now: 1 << (now[0] - 1).bit_length())
    if value > _APART and value not in fixed:
        for by in (1, -1, 2, -2):
            if value - by in sizes and value - by not in fixed:
                yield SizeRule((value - by,), lambda now, by=by: now[0] + by)  # type: ignore[misc]


def _follows(value: int, other: int, rules: Mapping[int, SizeRule]) -> bool:
    """Whether a size follows from the ``other``, or is it."""
    return value == other or (value in rules and any(_follows(one, other, rules) for one in rules[value].needs))


def _put(items: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    return (*items[:place], value, *items[place + 1 :])


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
