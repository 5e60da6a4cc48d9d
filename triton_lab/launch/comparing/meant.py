"""What a kernel may have been meant to do, as switches that are tried: the usual slips beside wrong addresses.

They are what masked-off lanes hold, and whether they take part in reductions; the axis of a reduction; which program
id is which axis; a block that is read or stored across instead of along; a loop that ends an iteration early or late;
``<`` or ``<=``; powers and logarithms of 2 or e; what is divided by.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import words
from triton_lab.interpreter import access
from triton_lab.interpreter.affine import Affine
from triton_lab.interpreter.extremes import fmax, fmin, maximum, minimum
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.ops.combine import folding
from triton_lab.interpreter.ops.control import counting
from triton_lab.interpreter.ops.grid import coordinate
from triton_lab.interpreter.values import Value as Held
from triton_lab.interpreter.variants import Table, ordinary
from triton_lab.ir import Op
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.ir.effects import operands_of
from triton_lab.ir.plan import Dense, Function
from triton_lab.launch.comparing.addressing import redirected
from triton_lab.launch.comparing.experiments import Switch, types_of
from triton_lab.launch.comparing.relations import is_number, numbers

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch

Array = NDArray[Any]

_MOST = 12  # of a kind, on one launch: each runs it again


def meanings(launch: Launch) -> Iterator[Switch]:
    """Those that would change what this launch did, the likeliest slips first."""
    masked = _masked(launch)
    yield from islice(_others(launch, masked), _MOST)
    yield from islice(_left_out(launch, masked), _MOST)
    for kind in (_axes, _program_ids, _across, _loops, _comparisons, _functions, _divisors):
        yield from islice(kind(launch), _MOST)


def _lines(launch: Launch, *ops: Op) -> str:
    """`` (line 12)``; nothing where no line of the user's stands for them."""
    found = [launch.lines.get(op.index) for op in ops]
    lines = sorted({line.line for line in found if line is not None})
    return f" ({words.noun(len(lines), 'line')} {' and '.join(map(str, lines))})" if lines else ""


def _ops(launch: Launch, *names: str) -> list[Op]:
    return [op for op in launch.executable.plan.walk() if op.name in names]


def _shape(launch: Launch, op: Op) -> tuple[int, ...]:
    """The shape of what a load gives, or of what a reduction takes first."""
    return types_of(launch.executable.plan, op, lambda one: one.results if one.name == "tt.load" else one.operands)[
        0
    ].shape


# --- Lanes that a mask turns off ----------------------------------------------------------------------


def _masked(launch: Launch) -> list[tuple[Op, Access]]:
    """The loads of which some lanes were turned off, and get to other lanes or to memory all the same."""
    ops = {op.index: op for op in _ops(launch, "tt.load") if operands_of(op).mask is not None}
    flow = Flow.of(launch.executable.plan)
    mixed = [op for op in launch.executable.plan.walk() if op.name in ("tt.reduce", "tt.scan", "tt.dot")]
    behind = _behind(flow, [(op, number) for op in mixed for number in op.operands])
    stores = [(store, operands_of(store)) for store in _ops(launch, "tt.store")]
    found = []
    for one in launch.done:
        if one.op in ops and any(not event.active().all() for event in one.events):
            op = ops[one.op]
            mask = op.operands[operands_of(op).mask or 0]
            bare = [
                (store, store.operands[1]) for store, at in stores if at.mask is None or store.operands[at.mask] != mask
            ]
            value = Value(flow.function_of[op.index], op.results[0])
            if value in behind or value in _behind(flow, bare):
                found.append((op, one))
    return found


def _behind(flow: Flow, taken: Sequence[tuple[Op, int]]) -> set[Value]:
    """What these operands of operations are computed from."""
    return flow.behind(Value(flow.function_of[op.index], number) for op, number in taken)


def _others(launch: Launch, masked: Sequence[tuple[Op, Access]]) -> Iterator[Switch]:
    """Other values for the lanes that are turned off: what changes nothing in a maximum, a minimum, sum or product."""
    groups = [[each] for each in masked] + ([list(masked)] if len(masked) > 1 else [])
    for group in groups:
        for value, spelled in ((-np.inf, "-inf"), (0.0, "0"), (np.inf, "inf"), (1.0, "1")):
            ops = [op for op, _ in group]
            if value in (0.0, 1.0) or all("float" in one.dtype for _, one in group):
                yield Switch(
                    f"other={spelled}{_lines(launch, *ops)}", "what masked-off lanes hold", _filled(ops, value)
                )  # fmt: skip


def _filled(ops: Sequence[Op], value: float) -> Table:
    chosen = {op.index for op in ops}

    def load(frame: Frame, op: Op, *operands: Held) -> Held:
        found: Array = ordinary("tt.load")(frame, op, *operands)
        if op.index not in chosen:
            return found
        at = operands_of(op)
        assert at.mask is not None
        mask = frame.elements(op, at.mask, operands[at.mask])
        return np.where(mask, found, np.array(value).astype(found.dtype))

    return {"tt.load": load}


# What changes nothing in a reduction by that function.
_NEUTRAL: Sequence[tuple[Collection[Any], float]] = (
    ((np.add,), 0.0),
    ((np.multiply,), 1.0),
    ((fmax, maximum, np.maximum), -np.inf),
    ((fmin, minimum, np.minimum), np.inf),
)


@dataclass(eq=False)
class _Seen:
    """The mask of a load as a run has it, for the reductions that come after: by program."""

    programs: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    mask: Array = field(default_factory=lambda: np.ones((1,), np.bool_))

    def of(self, programs: Array) -> Array | None:
        """The mask of these ``programs``; None where one of them has not been at the load."""
        if not np.isin(programs, self.programs).all():
            return None
        return self.mask if len(self.mask) == 1 else self.mask[np.searchsorted(self.programs, programs)]


def _left_out(launch: Launch, masked: Sequence[tuple[Op, Access]]) -> Iterator[Switch]:
    """Reductions of blocks as large as a load's, without the lanes that were turned off there."""
    flow = Flow.of(launch.executable.plan)
    reductions = [op for op in _ops(launch, "tt.reduce") if len(op.operands) == 1]
    behind = {op.index: _behind(flow, [(op, op.operands[0])]) for op in reductions}
    for load, _ in masked:
        value, shape = Value(flow.function_of[load.index], load.results[0]), _shape(launch, load)
        fed = [op for op in reductions if value in behind[op.index] and _shape(launch, op) == shape]
        for group in [[op] for op in fed] + ([fed] if len(fed) > 1 else []):
            name = f"lanes masked off{_lines(launch, load)} left out{_lines(launch, *group)}"
            yield Switch(name, "masked-off lanes that take part in a reduction", _without(load, group))


def _without(load: Op, reductions: Sequence[Op]) -> Table:
    chosen = {op.index for op in reductions}
    seen = _Seen()

    def loaded(frame: Frame, op: Op, *operands: Held) -> Held:
        at = operands_of(op)
        if op.index == load.index and at.mask is not None:
            seen.programs, seen.mask = frame.programs, frame.elements(op, at.mask, operands[at.mask])
        return ordinary("tt.load")(frame, op, *operands)  # type: ignore[no-any-return]

    def reduced(frame: Frame, op: Op, *operands: Held) -> Held:
        mask = seen.of(frame.programs) if op.index in chosen else None
        function = folding(frame.region(op)[0])
        neutral = next((value for functions, value in _NEUTRAL if function in functions), None)
        if mask is None or neutral is None:
            return ordinary("tt.reduce")(frame, op, *operands)  # type: ignore[no-any-return]
        array = frame.spread(op, 0, operands[0])
        return ordinary("tt.reduce")(frame, op, np.where(mask, array, _as(neutral, array.dtype)))  # type: ignore[no-any-return]

    return {"tt.load": loaded, "tt.reduce": reduced}


def _as(value: float, dtype: np.dtype[Any]) -> Array:
    """Of integers the greatest and the least stand for the infinities."""
    if dtype.kind in "iu" and np.isinf(value):
        info = np.iinfo(dtype)
        return np.array(info.max if value > 0 else info.min, dtype)
    return np.array(value).astype(dtype)


# --- Axes ---------------------------------------------------------------------------------------------


def _axes(launch: Launch) -> Iterator[Switch]:
    """Reductions of square blocks along the other axis."""
    for op in _ops(launch, "tt.reduce"):
        shape = _shape(launch, op)
        if len(shape) == 2 and shape[0] == shape[1] > 1:
            axis = op.attributes["axis"]
            name = f"axis={1 - axis} and not {axis}{_lines(launch, op)}"
            yield Switch(name, "the axis of a reduction", _turned(op))


def _turned(which: Op) -> Table:
    def reduced(frame: Frame, op: Op, *operands: Held) -> Held:
        if op.index == which.index:
            operands = tuple(np.swapaxes(frame.spread(op, k, value), 1, 2) for k, value in enumerate(operands))
        return ordinary("tt.reduce")(frame, op, *operands)  # type: ignore[no-any-return]

    return {"tt.reduce": reduced}


def _program_ids(launch: Launch) -> Iterator[Switch]:
    """Two axes of the grid, exchanged where the kernel asks which program it is."""
    asked = {op.attributes["axis"]: op for op in _ops(launch, "tt.get_program_id")}
    for one, two in ((0, 1), (0, 2), (1, 2)):
        if one in asked and two in asked and (launch.grid[one] > 1 or launch.grid[two] > 1):
            where = _lines(launch, asked[one], asked[two])
            name = f"program_id({one}) and program_id({two}) exchanged{where}"
            yield Switch(name, "which program id is which", _exchanged({one: two, two: one}))


def _exchanged(axes: Mapping[int, int]) -> Table:
    def program_id(frame: Frame, op: Op) -> Held:
        axis = op.attributes["axis"]
        return coordinate(frame.programs, frame.machine.grid, axes.get(axis, axis)).astype(np.int32)

    return {"tt.get_program_id": program_id}


def _across(launch: Launch) -> Iterator[Switch]:
    """Blocks of two axes of a matrix, read or stored with its two strides exchanged."""
    ops = {op.index: op for op in _ops(launch, "tt.load", "tt.store")}
    for one in launch.done:
        argument = None if one.argument is None else launch.argument(one.argument)
        if one.op not in ops or argument is None or len(argument.shape) != 2 or len(one.block) != 2:
            continue
        if len(set(argument.strides)) == 2 and 0 not in argument.strides and _along(one, argument):
            name = f"the strides of {argument.name} exchanged{_lines(launch, ops[one.op])}"
            noun = "loaded" if one.kind == "load" else "stored"
            cause = f"which of its axes {argument.name} is {noun} along"
            yield Switch(name, cause, redirected({one.op: _exchanging(argument)}))


def _along(one: Access, argument: Argument) -> bool:
    """Whether the block goes along both axes of the matrix."""
    strides = {stride * argument.itemsize for stride in argument.strides}
    return all(isinstance(event.pointer, Affine) and set(event.pointer.strides) == strides for event in one.events)


def _exchanging(argument: Argument) -> Callable[[access.Pointer, access.Mask], tuple[access.Pointer, access.Mask]]:
    """As if the two strides of ``argument`` had been each other's, in the block and between it and the start."""
    low, high = sorted(stride * argument.itemsize for stride in argument.strides)

    def change(where: access.Pointer, mask: access.Mask) -> tuple[access.Pointer, access.Mask]:
        if not isinstance(where, Affine):
            return where, mask
        rows, rest = np.divmod(where.base - argument.address, high)
        columns, rest = np.divmod(rest, low)
        strides = tuple({low: high, high: low}.get(stride, stride) for stride in where.strides)
        return Affine(argument.address + rows * low + columns * high + rest, strides, where.shape), mask

    return change


# --- Loops --------------------------------------------------------------------------------------------


def _loops(launch: Launch) -> Iterator[Switch]:
    """Each loop with an iteration more, and with one less."""
    for op in _ops(launch, "scf.for"):
        for more, name, cause in (
            (1, "one iteration more", "a loop that ends an iteration early"),
            (-1, "one iteration less", "a loop that has an iteration too many"),
        ):
            yield Switch(f"{name}{_lines(launch, op)}", cause, _counted(op, more))


def _counted(which: Op, more: int) -> Table:
    def loop(frame: Frame, op: Op, lower: Held, upper: Held, step: Held, *initial: Held) -> Any:
        if op.index == which.index:
            _, high, stride = counting(frame, op, (lower, upper, step))
            upper = (high + more * stride).astype(frame.elements(op, 1, upper).dtype)
        return ordinary("scf.for")(frame, op, lower, upper, step, *initial)

    return {"scf.for": loop}


# --- Arithmetic ---------------------------------------------------------------------------------------

# Predicates of arith.cmpi by number, and what they are with and without the bounds.
_STRICT = {2: 3, 3: 2, 4: 5, 5: 4, 6: 7, 7: 6, 8: 9, 9: 8}
_SPELLED = {2: "<", 3: "<=", 4: ">", 5: ">=", 6: "<", 7: "<=", 8: ">", 9: ">="}


def _comparisons(launch: Launch) -> Iterator[Switch]:
    """Comparisons of integers with their bounds, or without."""
    for op in _ops(launch, "arith.cmpi"):
        predicate = op.attributes["predicate"]
        if predicate in _STRICT and launch.lines.get(op.index) is not None:
            meant = _STRICT[predicate]
            name = f"{_SPELLED[meant]} and not {_SPELLED[predicate]}{_lines(launch, op)}"
            yield Switch(name, "a comparison", _compared(op, meant))


def _compared(which: Op, predicate: int) -> Table:
    meant = replace(which, attributes={**which.attributes, "predicate": predicate})

    def compared(frame: Frame, op: Op, *operands: Held) -> Held:
        return ordinary("arith.cmpi")(frame, meant if op.index == which.index else op, *operands)  # type: ignore[no-any-return]

    return {"arith.cmpi": compared}


_BASES = {"math.exp": "math.exp2", "math.exp2": "math.exp", "math.log": "math.log2", "math.log2": "math.log"}


def _functions(launch: Launch) -> Iterator[Switch]:
    """Powers and logarithms of the other base: of one kind, all at once and each by itself."""
    for base, meant in _BASES.items():
        found = _ops(launch, base)
        for group in ([found] if len(found) > 1 else []) + [[op] for op in found]:
            name = f"{meant[5:]} and not {base[5:]}{_lines(launch, *group)}"
            yield Switch(name, "the base of a power or logarithm", _rebased(group, base, meant))


def _rebased(ops: Sequence[Op], base: str, meant: str) -> Table:
    chosen = {op.index: replace(op, name=meant) for op in ops}

    def function(frame: Frame, op: Op, *operands: Held) -> Held:
        op = chosen.get(op.index, op)
        return ordinary(op.name)(frame, op, *operands)  # type: ignore[no-any-return]

    return {base: function}


def _divisors(launch: Launch) -> Iterator[Switch]:
    """Divisions by one of the launch's numbers, by another of them."""
    known = numbers(launch)
    for function in launch.executable.plan.functions.values():
        made = {number: op for op in function.walk() for number in op.results}
        for op in made.values():
            name = _number_in(function, made, op.operands[1], known) if op.name == "arith.divf" else None
            for other, meant in known.items() if name is not None else ():
                if meant not in (0.0, known[str(name)]):
                    title = f"{other} and not {name} as divisor{_lines(launch, op)}"
                    yield Switch(title, "what is divided by", _divided(op, meant))


_HANDED_ON = frozenset(
    {"tt.splat", "tt.broadcast", "tt.expand_dims", "arith.sitofp", "arith.uitofp", "arith.extf", "arith.truncf"}
)


def _number_in(function: Function, made: Mapping[int, Op], number: int, known: Mapping[str, float]) -> str | None:
    """The name of the launch's number that a value is, converted or spread at most; None where it is something else."""
    while number in made and made[number].name in _HANDED_ON:
        number = made[number].operands[0]
    if number not in made:
        name = function.names[number]
        return name if name in known else None
    value = made[number].attributes.get("value") if made[number].name == "arith.constant" else None
    if isinstance(value, Dense) and len(value.values) == 1:
        value = value.values[0]
    return next((name for name, one in known.items() if is_number(value) and one == value), None)


def _divided(which: Op, meant: float) -> Table:
    def divided(frame: Frame, op: Op, left: Held, right: Held) -> Held:
        if op.index == which.index:
            right = np.full_like(frame.elements(op, 1, right), meant)
        return ordinary("arith.divf")(frame, op, left, right)  # type: ignore[no-any-return]

    return {"arith.divf": divided}
