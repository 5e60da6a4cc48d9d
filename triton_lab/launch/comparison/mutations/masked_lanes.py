"""Switches for masked-off lanes: the values that they hold, and whether reductions include them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.min_max import fmax, fmin, maximum, minimum
from triton_lab.interpreter.op_registry import Implementation
from triton_lab.interpreter.ops.combine_functions import folding
from triton_lab.interpreter.runtime_values import Value as Held
from triton_lab.ir import Op, traits
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.effects import operands_of
from triton_lab.launch.comparison.interpreter_changes import ChangedAccess, Layers, changed
from triton_lab.launch.comparison.mutations.ir_query import behind, indices, lines_of, ops_of, shape_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]


def masked_off(launch: Launch) -> list[tuple[Op, Access]]:
    """The loads with masked-off lanes that reach other lanes or memory."""
    ops = {op.index: op for op in ops_of(launch, "tt.load") if operands_of(op).mask is not None}
    flow = Flow.of(launch.executable.plan)
    mixed = [op for op in launch.executable.plan.walk() if op.name in traits.FOLDS | {"tt.dot"}]
    mixing = behind(flow, [(op, number) for op in mixed for number in op.operands])
    stores = [(store, operands_of(store)) for store in ops_of(launch, "tt.store")]
    found = []
    for one in launch.done:
        if one.op in ops and any(not event.active().all() for event in one.events):
            op = ops[one.op]
            mask = op.operands[operands_of(op).mask or 0]
            bare = [
                (store, store.operands[1]) for store, at in stores if at.mask is None or store.operands[at.mask] != mask
            ]
            value = Value(flow.function_of[op.index], op.results[0])
            if value in mixing or value in behind(flow, bare):
                found.append((op, one))
    return found


def others(launch: Launch, masked: Sequence[tuple[Op, Access]]) -> Iterator[Switch]:
    """Switches for the value of masked-off lanes: the neutral elements of maximum, minimum, sum and product."""
    groups = [[each] for each in masked] + ([list(masked)] if len(masked) > 1 else [])
    for group in groups:
        for value, spelled in ((-np.inf, "-inf"), (0.0, "0"), (np.inf, "inf"), (1.0, "1")):
            ops = [op for op, _unused in group]
            if value in (0.0, 1.0) or all("float" in one.dtype for _unused, one in group):
                name = f"other={spelled}{lines_of(launch, *ops)}"
                yield Switch(name, _("what masked-off lanes hold"), layers=(_filled(ops, value),), ops=indices(ops))


def _filled(ops: Sequence[Op], value: float) -> Layers:
    def load(inner: Implementation, frame: Frame, op: Op, *operands: Held, touch: ChangedAccess | None = None) -> Held:
        found: Array = inner(frame, op, *operands, touch=touch)
        mask = (touch or ChangedAccess.of(op, operands)).active()
        return np.where(mask, found, np.array(value).astype(found.dtype))

    return changed(ops, load)


# The neutral element of a reduction by these functions.
_NEUTRAL: Sequence[tuple[Collection[Any], float]] = (
    ((np.add,), 0.0),
    ((np.multiply,), 1.0),
    ((fmax, maximum, np.maximum), -np.inf),
    ((fmin, minimum, np.minimum), np.inf),
)


@dataclass(eq=False)
class _Seen:
    """The mask of a load in the present run, by program, for the reductions after it."""

    programs: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    mask: Array = field(default_factory=lambda: np.ones((1,), np.bool_))

    def of(self, programs: Array) -> Array | None:
        """The mask of these ``programs``; None if one of them has not run the load."""
        if not np.isin(programs, self.programs).all():
            return None
        return self.mask if len(self.mask) == 1 else self.mask[np.searchsorted(self.programs, programs)]


def left_out(launch: Launch, masked: Sequence[tuple[Op, Access]]) -> Iterator[Switch]:
    """Switches for reductions of blocks of a load's shape, without the lanes that its mask turns off."""
    flow = Flow.of(launch.executable.plan)
    reductions = [op for op in ops_of(launch, "tt.reduce") if len(op.operands) == 1]
    taken = {op.index: behind(flow, [(op, op.operands[0])]) for op in reductions}
    for load, _unused in masked:
        value, shape = Value(flow.function_of[load.index], load.results[0]), shape_of(launch, load)
        fed = [op for op in reductions if value in taken[op.index] and shape_of(launch, op) == shape]
        for group in [[op] for op in fed] + ([fed] if len(fed) > 1 else []):
            name = _("lanes masked off{lines_of} left out{lines_of_2}").format(
                lines_of=lines_of(launch, load), lines_of_2=lines_of(launch, *group)
            )
            cause = _("masked-off lanes that take part in a reduction")
            yield Switch(name, cause, layers=_without(load, group), ops=indices(group))


def _without(load: Op, reductions: Sequence[Op]) -> tuple[Layers, ...]:
    seen = _Seen()

    def loaded(
        inner: Implementation, frame: Frame, op: Op, *operands: Held, touch: ChangedAccess | None = None
    ) -> Held:
        seen.programs, seen.mask = frame.programs, (touch or ChangedAccess.of(op, operands)).active()
        return inner(frame, op, *operands, touch=touch)  # type: ignore[no-any-return]

    def reduced(inner: Implementation, frame: Frame, op: Op, *operands: Held) -> Held:
        mask = seen.of(frame.programs)
        function = folding(frame.region(op)[0])
        neutral = next((value for functions, value in _NEUTRAL if function in functions), None)
        if mask is None or neutral is None:
            return inner(frame, op, *operands)  # type: ignore[no-any-return]
        array = frame.spread(op, 0, operands[0])
        return inner(frame, op, np.where(mask, array, _as(neutral, array.dtype)))  # type: ignore[no-any-return]

    return changed([load], loaded), changed(reductions, reduced)


def _as(value: float, dtype: np.dtype[Any]) -> Array:
    """The value in ``dtype``; for integers, the largest and the smallest number replace the infinities."""
    if dtype.kind in "iu" and np.isinf(value):
        info = np.iinfo(dtype)
        return np.array(info.max if value > 0 else info.min, dtype)
    return np.array(value).astype(dtype)


# --- Reduction functions ------------------------------------------------------------------------------

_FOLDS: Sequence[tuple[str, Any]] = (("sum", np.sum), ("max", np.max), ("min", np.min))


def folds(launch: Launch) -> Iterator[Switch]:
    """Switches that exchange sum, maximum and minimum in a reduction."""
    for op in ops_of(launch, "tt.reduce"):
        inner = [one.name for one in op.regions[0].blocks[0].ops[:-1]]
        held = next((name for name, prefix in _SPELLED.items() if len(inner) == 1 and inner[0][6:9] == prefix), None)
        for name, fold in _FOLDS:
            if held is not None and name != held:
                change = changed([op], _folded_by(fold))
                title = _("{name} and not {held}{lines_of}").format(name=name, held=held, lines_of=lines_of(launch, op))
                yield Switch(title, _("what a reduction does"), layers=(change,), ops=indices([op]))


_SPELLED = {"sum": "add", "max": "max", "min": "min"}


def _folded_by(fold: Any) -> Any:
    def reduced(inner: Implementation, frame: Frame, op: Op, value: Held) -> Held:
        array = frame.spread(op, 0, value)
        return np.asarray(fold(array, axis=op.attributes["axis"] + 1), array.dtype)

    return reduced
