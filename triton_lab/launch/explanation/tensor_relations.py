"""Relations between whole tensors: sums and extremes along an axis, products of matrices, and the range of what only
chooses among its inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.number_conversion import widen
from triton_lab.ir import Op, effects, traits
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.number_formats import numpy_type, unit_roundoff
from triton_lab.launch.explanation.relation import Relation, judged
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.explanation.observed_run import ObservedRun
    from triton_lab.launch.explanation.stored_values import StoredValue

Array = NDArray[Any]

SUM, EXTREME, PRODUCT, RANGE = "sum of parts", "extreme of parts", "product", "among inputs"
_HALF = 0.5
_MOST_PRODUCT = 1 << 28  # multiplications


def relations(run: ObservedRun) -> Iterator[Relation]:
    """At most one relation for each argument that one store or atomic of the kernel writes."""
    by_owner: dict[str, list[StoredValue]] = {}
    for stored in run.values.stores:
        owner = run.launch.owner_of(stored.store.index)
        if owner is not None:
            by_owner.setdefault(owner.name, []).append(stored)
    for name, several in by_owner.items():
        if len(several) != 1:
            continue
        (stored,) = several
        out = run.launch.argument(name)
        sources = _sources(run, stored)
        if sources is None or name in {one.name for one in sources}:
            continue
        dots = [op for op in stored.ops if op.name == "tt.dot"]
        reduces = [op for op in stored.ops if op.name == "tt.reduce"]
        found: Relation | None = None
        if dots and not reduces:
            found = _product(run, stored, out, dots)
        elif len(sources) == 1 and not dots and _is_linear(run, stored):
            found = _sum(run, stored, out, sources[0])
        elif not dots:
            found = _chosen(run, stored, out, sources, reduces)
        if found is not None:
            yield found


def _sources(run: ObservedRun, stored: StoredValue) -> list[Argument] | None:
    """The arguments whose numbers enter a store; None if one is not known, was written, or is read by an index that
    memory holds."""
    found = {}
    written = {one.name for each in run.values.stores if (one := run.launch.owner_of(each.store.index))}
    for op in stored.loads:
        owner = run.launch.owner_of(op.index)
        if owner is None or owner.name in written or run.values.decided_by_loads(op) or op.name not in _LOADS:
            return None
        found[owner.name] = owner
    return list(found.values()) or None


_LOADS = frozenset(name for name, effect in effects.ACCESSES.items() if effect.reads and not effect.writes)


def _is_linear(run: ObservedRun, stored: StoredValue) -> bool:
    """Whether a store takes sums of what its loads read, perhaps scaled."""
    some = any(run.values.is_sum(op) for op in stored.ops) or effects.updates(stored.store)
    return some and all(_adds(run, op) for op in stored.ops)


def _adds(run: ObservedRun, op: Op) -> bool:
    trait = traits.of(op.name)
    plain = trait.kind in (Kind.MOVES, Kind.CREATES) or (trait.kind is Kind.CASTS and trait.makes != "integer")
    sums = op.name in traits.ADDITIONS or run.values.is_sum(op)
    return plain or sums or run.values.scales(op) or op.name == "arith.select"


def _sum(run: ObservedRun, stored: StoredValue, out: Argument, source: Argument) -> Relation | None:
    """The sums of the source along one of its axes, or all of it, times one factor."""
    if effects.updates(stored.store) and stored.store.attributes.get("atomic_rmw_op") not in _ADDING:
        return None
    got, given = run.after[out.name].astype(np.float64), run.before[source.name].astype(np.float64)
    if effects.updates(stored.store):
        got = got - run.before[out.name].astype(np.float64)
    scaled = any(run.values.scales(op) for op in stored.ops)
    for how, summed, size in _along(given, got.shape, np.sum):
        most = _along_axis(np.abs(given), size, got.shape)
        near = _tolerance(out, source, given.size // max(got.size, 1)) * most
        factor = _factor(got, summed) if scaled else 1.0
        wrong = ~(np.abs(got - factor * summed) <= near * abs(factor) + 1e-30)
        if wrong.mean() < _HALF or got.size == 1:
            says = _("{out} is {source}, summed {how}").format(out=out.name, source=source.name, how=how)
            if scaled:
                if got.size == 1:
                    return None  # one number and one factor always fit
                says = _("{says}, times {factor}").format(says=says, factor=f"{factor:.6g}")
            return _judged(run, SUM, says, stored, out, wrong, got, factor * summed)
    return None


_ADDING = (int(effects.Rmw.ADD), int(effects.Rmw.FADD))


def _along(given: Array, shape: tuple[int, ...], way: Any) -> Iterator[tuple[str, Array, int | None]]:
    """The reductions of an array that have this shape: how, the array, and the axis (None for all)."""
    if int(np.prod(shape)) == 1:
        yield _("over all its elements"), np.asarray(way(given)).reshape(shape), None
        return
    for axis in range(given.ndim):
        less = given.shape[:axis] + given.shape[axis + 1 :]
        if shape in (less, (*given.shape[:axis], 1, *given.shape[axis + 1 :])) and given.shape[axis]:
            yield _("along axis {axis}").format(axis=axis), way(given, axis=axis).reshape(shape), axis


def _along_axis(given: Array, axis: int | None, shape: tuple[int, ...]) -> Array:
    return np.asarray(given.sum() if axis is None else given.sum(axis=axis)).reshape(shape)


def _factor(got: Array, summed: Array) -> float:
    with np.errstate(all="ignore"):
        ratio = got / summed
    ratio = ratio[np.isfinite(ratio)]
    return float(np.median(ratio)) if ratio.size else 1.0


def _tolerance(out: Argument, source: Argument, terms: int) -> float:
    """Relative to the sum of the terms' sizes: what rounding explains."""
    if out.dtype.startswith(("int", "uint")) and source.dtype.startswith(("int", "uint", "bool")):
        return 0.0
    narrow = max(_roundoff(one) for one in (out, source))
    return 4 * narrow + (terms + 8) * 2.0**-24 if narrow > 2.0**-24 else (terms + 16) * 2.0**-23


def _roundoff(argument: Argument) -> float:
    return unit_roundoff(numpy_type(argument.dtype))


def _chosen(
    run: ObservedRun, stored: StoredValue, out: Argument, sources: list[Argument], reduces: list[Op]
) -> Relation | None:
    """For what only compares and moves: each output is one of the inputs, or a constant of the kernel."""
    extremes = {run.values.extreme(op) for op in reduces}
    if not all(traits.of(op.name).keeps or traits.of(op.name).extreme or run.values.extreme(op) or
               traits.of(op.name).kind is Kind.CREATES for op in stored.ops):  # fmt: skip
        return None
    if not any(traits.of(op.name).extreme for op in stored.ops) and not reduces:
        return None
    if any(op.name not in ("arith.constant",) for op in stored.ops if traits.of(op.name).kind is Kind.CREATES):
        return None
    if extremes in ({1}, {-1}) and len(sources) == 1:
        way = np.max if extremes == {1} else np.min
        given, got = run.before[sources[0].name], run.after[out.name]
        for how, wanted, _unused in _along(given, got.shape, way):
            wrong = ~((got == wanted) | (np.isnan(_float(got)) & np.isnan(_float(wanted))))
            if wrong.mean() < _HALF or got.size == 1:
                name = _("the greatest") if extremes == {1} else _("the least")
                says = _("{out} is {name} of {source} {how}").format(
                    out=out.name, name=name, source=sources[0].name, how=how
                )
                return _judged(run, EXTREME, says, stored, out, wrong, got, wanted)
    inputs = [widen(run.before[one.name]).reshape(-1) for one in sources]
    known = np.concatenate([*inputs, np.array(list(run.values.constants(stored.ops)))]).astype(np.float64)
    got, was = run.after[out.name], run.before[out.name]
    wrong = ~np.isin(_float(got), known) & ~np.isnan(_float(got)) & (_float(got) != _float(was))
    says = _("each element of {out} is one of {names}").format(
        out=out.name, names=", ".join(one.name for one in sources)
    )
    return _judged(run, RANGE, says, stored, out, wrong, got, None)


def _float(array: Array) -> Array:
    return widen(array).astype(np.float64)


def _product(run: ObservedRun, stored: StoredValue, out: Argument, dots: list[Op]) -> Relation | None:
    """The product of the two arguments that the dots take, with axes exchanged where shapes or numbers demand it."""
    if not all(op.name == "tt.dot" or _adds(run, op) for op in stored.ops):
        return None
    if any(run.values.scales(op) or op.name == "arith.select" for op in stored.ops):
        return None
    sides = []
    for position in (0, 1):
        owners = {run.launch.owner_of(op.index) for dot in dots
                  for op in run.values.behind(run.values.value(dot, position))[1]}  # fmt: skip
        if len(owners) != 1 or None in owners:
            return None
        sides.append(next(iter(owners)))
    a, b = sides
    if a is None or b is None:
        return None
    inner = {op.index for dot in dots for k in (0, 1) for op in run.values.behind(run.values.value(dot, k))[1]}
    if any(op.index not in inner for op in stored.loads):
        return None  # a bias, or what was there before
    got = _float(run.after[out.name])
    if effects.updates(stored.store):
        got = got - _float(run.before[out.name])
    best: tuple[float, Array, Array] | None = None
    for one in _turned(_float(run.before[a.name])):
        for other in _turned(_float(run.before[b.name])):
            fits = (
                one.ndim == other.ndim >= 2 and one.shape[-1] == other.shape[-2] and one.shape[:-2] == other.shape[:-2]
            )
            if not fits or (*one.shape[:-1], other.shape[-1]) != got.shape or got.size * one.shape[-1] > _MOST_PRODUCT:
                continue
            wanted = one @ other
            near = (_tolerance(out, a, one.shape[-1]) + _tolerance(out, b, 0)) * (np.abs(one) @ np.abs(other))
            wrong = ~(np.abs(got - wanted) <= near + 1e-30)
            if best is None or wrong.mean() < best[0]:
                best = float(wrong.mean()), wrong, wanted
    if best is None:
        return None
    says = _("{out} is the product of {a} and {b}").format(out=out.name, a=a.name, b=b.name)
    return _judged(run, PRODUCT, says, stored, out, best[1], got, best[2])


def _turned(array: Array) -> Iterator[Array]:
    yield array
    if array.ndim >= 2:
        yield np.swapaxes(array, -1, -2)


def _judged(
    run: ObservedRun, kind: str, says: str, stored: StoredValue, out: Argument, wrong: Array, got: Array,
    wanted: Array | None,
) -> Relation:  # fmt: skip
    flat = None if wanted is None else np.broadcast_to(wanted, got.shape).reshape(-1)
    return judged(
        kind, says, wrong.reshape(-1), np.arange(wrong.size), found=got.reshape(-1), expected=flat,
        argument=out.name, line=run.values.line(stored.store),
    )  # fmt: skip
