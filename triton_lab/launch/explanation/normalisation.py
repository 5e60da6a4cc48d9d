"""Relations of normalised values: a softmax sums to 1; values less their mean, over their deviation, have mean 0 and
variance 1; values over their root mean square have mean square 1.

They are found where a value is divided by a reduction of itself, and tested in the lanes that are stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.number_conversion import widen
from triton_lab.ir import Op, effects, traits
from triton_lab.ir.dataflow import Value
from triton_lab.launch.explanation.relation import Relation, at_lines, judged, skipped
from triton_lab.launch.propagation.lane_sets import lifted
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.explanation.observed_run import ObservedRun
    from triton_lab.launch.explanation.observed_values import ObservedOp
    from triton_lab.launch.explanation.stored_values import KernelValues, StoredValue

Array = NDArray[Any]

SOFTMAX, MOMENTS, SQUARES = "sums to 1", "mean 0, variance 1", "mean square 1"
_NEAR = 2e-3  # relative: what rounding to the narrower floats of the kernel may do to a sum


@dataclass(frozen=True, eq=False)
class Normalised:
    """``op`` divides (or multiplies by the inverse of) a value by a ``scale``, which is computed from the value.

    ``position`` is the operand of ``op`` with the scale. ``root`` is the operation whose operand is the variance plus
    a small number, ``eps`` the operand of ``radicand`` that is that number. ``store`` and ``mask`` say which lanes
    count: those that the store takes.
    """

    kind: str
    op: Op
    position: int
    store: Op | None
    root: Op | None = None
    radicand: Op | None = None
    eps: int | None = None
    axis: int | None = None

    @property
    def ops(self) -> set[int]:
        """The operations whose values the test needs."""
        return {one.index for one in (self.op, self.store, self.root, self.radicand) if one is not None}


def found_in(values: KernelValues) -> list[Normalised]:
    """The normalised values of a kernel."""
    made = []
    for op in values.plan.walk():
        if op.index in values.inside or len(op.operands) != 2:
            continue
        if op.name in traits.QUOTIENTS:
            made += [one for one in (_softmax(values, op), _moments(values, op, 1)) if one is not None]
        elif op.name == "arith.mulf":
            made += [one for k in (0, 1) for one in (_softmax(values, op, k), _moments(values, op, k)) if one]
    return made


def _softmax(values: KernelValues, op: Op, position: int = 1) -> Normalised | None:
    """A quotient of an exponential and a reduction of such exponentials."""
    over = values.maker(values.value(op, 1 - position))
    if over is None or over.name not in traits.EXPONENTIALS:
        return None
    scale = values.value(op, position)
    if op.name == "arith.mulf":
        inverse = values.maker(scale)
        if inverse is None or inverse.name not in traits.QUOTIENTS:
            return None
        scale = values.value(inverse, 1)
    ops, _unused = values.behind(scale)
    sums = [one for one in ops if values.is_sum(one) or values.extreme(one)]
    direct = values.maker(scale)
    plain = {"tt.reduce"} | traits.ADDITIONS | traits.SCALINGS
    if direct is not None and direct.name not in plain:
        return None
    if (over not in ops and not any(one.name == over.name for one in ops)) or not sums:
        return None
    axis = int(direct.attributes["axis"]) if direct is not None and direct.name == "tt.reduce" else None
    return Normalised(SOFTMAX, op, position, _stored(values, op), axis=axis)


def _moments(values: KernelValues, op: Op, position: int) -> Normalised | None:
    """A quotient of a value and the root of its mean square."""
    is_quotient = op.name in traits.QUOTIENTS
    root = values.maker(values.value(op, position))
    if root is not None and not is_quotient and root.name in traits.QUOTIENTS:
        root = values.maker(values.value(root, 1))
    elif root is not None and not is_quotient and root.name != "math.rsqrt":
        return None  # a product with a root is no quotient
    if root is None or root.name not in traits.ROOTS:
        return None
    ops, loads = values.behind(values.value(root, 0))
    if not any(values.is_sum(one) for one in ops) or not any(_is_square(values, one) for one in ops):
        return None
    over = values.value(op, 1 - position)
    _unused, own = values.behind(over)
    owners = [{one.name for each in these if (one := values.launch.owner_of(each.index))} for these in (own, loads)]
    if not own or not owners[0] & owners[1]:
        return None
    centred = _is_centred(values, over)
    radicand = values.maker(values.value(root, 0))
    eps = None
    if radicand is not None and radicand.name == "arith.addf":
        plain = [k for k in (0, 1) if not values.behind(values.value(radicand, k))[1]]
        eps = plain[0] if len(plain) == 1 else None
    known = radicand if eps is not None else None
    return Normalised(MOMENTS if centred else SQUARES, op, position, _stored(values, op), root, known, eps)


def _is_square(values: KernelValues, op: Op) -> bool:
    return op.name == "arith.mulf" and values.source(values.value(op, 0)) == values.source(values.value(op, 1))


def _is_centred(values: KernelValues, value: Value) -> bool:
    """Whether the value is something less a sum of it, perhaps with zeros in other lanes."""
    op = values.maker(value)
    if op is not None and op.name == "arith.select":
        return any(_is_centred(values, values.value(op, k)) for k in (1, 2))
    if op is None or op.name != "arith.subf":
        return False
    return any(values.is_sum(one) for one in values.behind(values.value(op, 1))[0])


def _stored(values: KernelValues, op: Op) -> Op | None:
    """The one store that the result reaches lane by lane, in blocks of the same shape."""
    result = Value(values.flow.function_of[op.index], op.results[0])
    near = values.flow.ahead([result], lambda one: traits.of(one.name).is_lane_by_lane or one is op)
    found: list[StoredValue] = [one for one in values.stores if one.value in near]
    return found[0].store if len(found) == 1 and values.shape(found[0].value) == values.shape(result) else None


def relations(run: ObservedRun, normalised: list[Normalised]) -> Iterator[Relation]:
    """One relation for each normalised value."""
    for one in normalised:
        line = run.values.line(one.op)
        says = {
            SOFTMAX: _("what is divided by its sum{line} sums to 1"),
            MOMENTS: _("normalised values{line} have mean 0 and variance 1"),
            SQUARES: _("values over their root mean square{line} have mean square 1"),
        }[one.kind].format(line=at_lines(line))
        if not run.observed.is_whole:
            yield skipped(one.kind, says, _("its values take too much memory"), line=line)
            continue
        groups = list(_groups(run, one))
        if not groups:
            yield skipped(one.kind, says, _("its lanes cannot be matched with those that are stored"), line=line)
            continue
        yield _tested(run, one, says, groups, line)


# A program, its values that belong to one scale, and what the mean square of these should be.
_Group = tuple[int, Array, float]


def _groups(run: ObservedRun, one: Normalised) -> Iterator[_Group]:
    """The stored lanes of the normalised value that belong together: those with one scale in one program."""
    mine = run.observed.executed[one.op.index]
    stores = run.observed.executed[one.store.index] if one.store is not None else [None] * len(mine)
    if len(mine) != len(stores):
        return
    together: dict[tuple[int, int, bytes], list[Array]] = {}
    for each, store in zip(mine, stores, strict=True):
        if store is not None and not np.array_equal(store.programs, each.programs):
            return
        values, scale = each.results[0], each.operands[one.position]
        if values is None or scale is None:
            return
        shape = run.values.shape(Value(run.values.flow.function_of[one.op.index], one.op.results[0]))
        count = len(each.programs)
        wide = np.broadcast_to(lifted(widen(values), len(shape)), (count, *shape))
        scales = np.broadcast_to(lifted(widen(scale), len(shape)), (count, *shape))
        active = _active(one, store, shape, count)
        for row, program in enumerate(each.programs.tolist()):
            number, some, by = _rows(scales[row])
            for k in range(number):
                part = active[row].reshape(-1) & (some == k)
                key = (program, k, by[k].tobytes())
                together.setdefault(key, []).append(wide[row].reshape(-1)[part])
    expected = _expected(run, one)
    for (program, k, _unused), parts in together.items():
        flat = np.concatenate(parts)
        if len(flat):
            yield program, flat, expected.get((program, k), 1.0)


def _rows(scales: Array) -> tuple[int, Array, Array]:
    """The lanes of a block by row, where each row has one scale: how many, the row of each lane, the scales."""
    if scales.ndim <= 1 or not scales.size:
        return 1, np.zeros(scales.size, np.int64), scales.reshape(-1)[:1]
    for axis in range(scales.ndim - 1, -1, -1):
        first = scales.take([0], axis=axis)
        if np.array_equal(np.broadcast_to(first, scales.shape), scales, equal_nan=True):
            numbers = np.broadcast_to(np.arange(first.size).reshape(first.shape), scales.shape)
            return first.size, numbers.reshape(-1), first.reshape(-1)
    return scales.size, np.arange(scales.size), scales.reshape(-1)


def _active(one: Normalised, store: ObservedOp | None, shape: tuple[int, ...], count: int) -> Array:
    """The lanes of the normalised value that are stored."""
    at = None if one.store is None else effects.operands_of(one.store).mask
    mask = None if store is None or at is None else store.operands[at]
    flags = np.ones(1, np.bool_) if mask is None else mask.astype(np.bool_)
    return np.broadcast_to(lifted(flags, len(shape)), (count, *shape))


def _expected(run: ObservedRun, one: Normalised) -> dict[tuple[int, int], float]:
    """The mean square that a small number in the root leaves, by program and row."""
    found: dict[tuple[int, int], float] = {}
    if one.radicand is None or one.eps is None:
        return found
    for each in run.observed.executed[one.radicand.index]:
        whole, small = each.results[0], each.operands[one.eps]
        if whole is None or small is None:
            continue
        total, eps = np.broadcast_arrays(widen(whole), lifted(widen(small), max(whole.ndim - 1, 0)))
        share = np.divide(total - eps, total, out=np.ones_like(total), where=total != 0)
        share = np.broadcast_to(share, (len(each.programs), *share.shape[1:])).reshape(len(each.programs), -1)
        for row, program in enumerate(each.programs.tolist()):
            for k, part in enumerate(share[row].tolist()):
                found[program, k] = part
    return found


def _tested(run: ObservedRun, one: Normalised, says: str, groups: list[_Group], line: int | None) -> Relation:
    programs = np.array([program for program, _flat, _share in groups])
    wanted = np.array([share for _program, _flat, share in groups])
    with np.errstate(all="ignore"):
        if one.kind == SOFTMAX:
            got, wanted = np.array([flat.sum() for _program, flat, _share in groups]), np.ones(len(groups))
            wrong = ~(np.abs(got - 1) <= _NEAR)
        else:
            got = np.array([np.square(flat).mean() for _program, flat, _share in groups])
            wrong = ~(np.abs(got - wanted) <= _NEAR)
        if one.kind == MOMENTS:
            sizes = np.array([len(flat) for _program, flat, _share in groups])
            wrong &= ~(np.abs(got - wanted * (sizes - 1) / sizes) <= _NEAR)  # a variance over n - 1
            means = np.array([flat.mean() for _program, flat, _share in groups])
            off = ~(np.abs(means) <= _NEAR)
            if off.any():
                got, wanted, wrong = means, np.zeros(len(groups)), off
    argument = None if one.store is None else run.launch.owner_of(one.store.index)
    name = None if argument is None else argument.name
    return judged(one.kind, says, wrong, programs, found=got, expected=wanted, argument=name, line=line, unit="program")
