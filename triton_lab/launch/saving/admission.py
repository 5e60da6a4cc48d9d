"""Whether a launch from a file may run: its cost is estimated before it runs.

The estimate is in seconds on one slow core: each operation has a cost for each batch of programs and a small cost for
each lane. The number of a loop's rounds is not known before the run, so it is bounded such that all rounds together
take no longer than the time that is left. Blocks must have the shapes that their operations need, since NumPy would
broadcast other shapes to sizes that no type declares.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from triton_lab import messages
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.machine import BATCH_BYTES, Limits
from triton_lab.ir import Dense, Function, Op, Plan, Type, traits
from triton_lab.ir.value_flow import LOOPS
from triton_lab.launch.saving.checked_fields import hold
from triton_lab.launch.saving.file_format import SavedLaunchError
from triton_lab.localization import _

MAX_SECONDS = 20.0
"""The most seconds that a launch from a file may take, by the estimate."""
# Bounds of a plan: operations, depth of nested regions, axes of a block.
_OPERATIONS = 50_000
_DEPTH = 64
_AXES = 8

# Seconds for an operation on a batch of programs, with observers, and for one lane of most operations.
_OPERATION = 15e-6
_LANE = 2e-9
# The cost of a lane of slower operations, relative to other operations.
_HEAVY = {"arith.remf": 8, "tt.histogram": 16, "tt.gather": 8, "tt.extern_elementwise": 100, "tt.fp_to_fp": 8}
_HEAVY_MATH, _HEAVY_ACCESS, _HEAVY_ROWS, _HEAVY_ATOMIC = 12, 6, 12, 100
# How many products a dot adds in the time of one lane.
_PRODUCTS = 8


@dataclass(frozen=True, slots=True)
class _Cost:
    """The cost of running some operations once: seconds for each batch, and for each program in it."""

    batch: float = 0.0
    program: float = 0.0

    def plus(self, other: _Cost) -> _Cost:
        return _Cost(self.batch + other.batch, self.program + other.program)

    def times(self, factor: float) -> _Cost:
        return _Cost(self.batch * factor, self.program * factor)

    def seconds(self, programs: int, batches: int) -> float:
        return self.batch * batches + self.program * programs


def hold_plan(plan: Plan, block: int) -> None:
    """Check that the plan has a kernel's size and no block of more than ``block`` elements. Raises SavedLaunchError."""
    operations = 0
    for function in plan.functions.values():
        for type in function.types:
            each = (type, type.pointee) if type.pointee is not None else (type,)
            hold(
                all(len(one.shape) <= _AXES for one in each),
                _("a block of more than {axis}").format(axis=messages.count(_AXES, "axis", "axes")),
            )
            most = max(math.prod(one.shape) for one in each)
            hold(most <= block, _("a block of {elements}").format(elements=messages.count(most, "element")))
        for _unused, depth in _walk(function):
            operations += 1
            hold(
                operations <= _OPERATIONS,
                _("a kernel of more than {operations}").format(operations=messages.count(_OPERATIONS, "operation")),
            )
            hold(depth <= _DEPTH, _("a kernel with more than {DEPTH} regions inside each other").format(DEPTH=_DEPTH))


def hold_shapes(plan: Plan) -> None:
    """Check that each operation's operands and results have compatible shapes. Raises SavedLaunchError."""
    for function in plan.functions.values():
        for op in function.walk():
            hold(_fit(op, function), _("the shapes of {name}").format(name=op.name))


def _walk(function: Function) -> Iterator[tuple[Op, int]]:
    todo = [(op, 1) for block in function.body.blocks for op in block.ops]
    while todo:
        op, depth = todo.pop()
        yield op, depth
        todo += [(inner, depth + 1) for region in op.regions for block in region.blocks for inner in block.ops]


def admitted(executable: Executable, programs: int, limits: Limits, seconds: float) -> Limits:
    """``limits`` with loop rounds bounded such that a launch of ``programs`` takes at most ``seconds``.

    Raises SavedLaunchError if it takes more even without its loops.
    """
    estimate = _Estimate(executable)
    name = executable.plan.kernel.name
    together = min(programs, 1 if executable.waiting_loops else _batch(executable, limits))
    straight = estimate.function(name).seconds(programs, -(-programs // together))
    if straight > seconds:
        raise SavedLaunchError(
            _(
                "running it would take about {told}, but at most {told_2} are allowed: use lab.load(path, "
                "max_seconds=...) if you trust it"
            ).format(told=_told(straight), told_2=_told(seconds))
        )
    rounds = [cost.seconds(together, 1) for cost in estimate.rounds.values()]
    if not rounds:
        return limits
    most = int((seconds - straight) / max(rounds))
    return replace(limits, steps=max(1, most if limits.steps is None else min(limits.steps, most)))


def too_long(limits: Limits) -> SavedLaunchError:
    """The error for a launch that took more rounds than `admitted` allowed."""
    return SavedLaunchError(
        _(
            "its loops take more than {rounds}, which is the limit for the allowed time: use lab.load(path, "
            "max_seconds=...) if you trust it"
        ).format(rounds=messages.count(limits.steps or 0, "round"))
    )


def _told(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds < 1e6 else _("more than a week")


def _batch(executable: Executable, limits: Limits) -> int:
    if limits.batch is not None:
        return limits.batch
    kernel = executable.routines[executable.plan.kernel.name]
    return max(1, min(BATCH_BYTES, limits.memory) // max(1, kernel.footprint))


class _Estimate:
    """Costs of functions without loop bodies; ``rounds`` has the cost of each loop's body, by the loop's index."""

    def __init__(self, executable: Executable) -> None:
        self._plan = executable.plan
        self._known: dict[str, _Cost | None] = {}
        self.rounds: dict[int, _Cost] = {}

    def function(self, name: str) -> _Cost:
        if name not in self._known:
            self._known[name] = None
            function = self._plan.functions[name]
            self._known[name] = self._blocks(function, [op for block in function.body.blocks for op in block.ops])
        found = self._known[name]
        hold(found is not None, _("a function that calls itself ({name})").format(name=f"{name:.80}"))
        assert found is not None
        return found

    def _blocks(self, function: Function, ops: Sequence[Op]) -> _Cost:
        total = _Cost()
        for op in ops:
            total = total.plus(self._op(function, op))
        return total

    def _op(self, function: Function, op: Op) -> _Cost:
        inner = [one for region in op.regions for block in region.blocks for one in block.ops]
        if op.name in LOOPS:
            self.rounds[op.index] = self._blocks(function, inner).plus(_Cost(_OPERATION, _LANE))
            return _Cost(_OPERATION, _LANE)
        own = _Cost(_OPERATION, _LANE * lanes(function, op))
        if op.name == "tt.call":
            return own.plus(self.function(op.attributes["callee"]))
        if not inner:
            return own
        body = self._blocks(function, inner)
        if op.name in traits.FOLDS:
            # A reduction halves the block in each round; a scan goes over the whole block in each round.
            extent = max((math.prod(function.types[value].shape) for value in op.operands), default=1)
            rounds = max(1, extent.bit_length())
            each = body.program / _LANE * extent * (rounds if op.name == "tt.scan" else 2)
            return own.plus(_Cost(body.batch * rounds, each * _LANE))
        if op.name == "tt.map_elementwise":
            extent = max((math.prod(function.types[value].shape) for value in op.operands), default=1)
            return own.plus(_Cost(body.batch, body.program * extent))
        return own.plus(body)


def lanes(function: Function, op: Op) -> float:
    """The cost of one operation, in lanes of a cheap operation."""
    types = [function.types[value] for value in (*op.operands, *op.results)]
    shapes = [(type.pointee if type.is_descriptor and type.pointee else type).shape for type in types]
    most = max((math.prod(shape) for shape in shapes), default=1)
    if op.name in traits.DOTS:
        *_unused, inner = shapes[0] or (1,)
        return float(most + math.prod(shapes[-1]) * inner / _PRODUCTS)
    if op.name == "tt.histogram" and op.results:
        most += math.prod(shapes[-1])
    return float(most * _heavy(op.name))


def _heavy(name: str) -> int:
    """The cost of a lane, relative to most operations."""
    trait = traits.of(name)
    if trait.effect is None:
        return _HEAVY.get(name, _HEAVY_MATH if trait.dialect == "math" else 1)
    if trait.effect.kind == "atomic":
        return _HEAVY_ATOMIC
    return _HEAVY_ROWS if trait.effect.roles.count("coordinate") == 2 else _HEAVY_ACCESS


# Elementwise operations: all blocks have the same shape.
_ELEMENTWISE = (
    traits.names(lambda trait: trait.is_lane_by_lane and trait.dialect == "tt")
    | traits.names(lambda trait: trait.effect is not None and not trait.effect.described and not trait.effect.waits)
    | traits.names(lambda trait: trait.kind is traits.Kind.SCANS)
)
# Operations that only move elements: their number stays the same, where nothing is repeated.
_SAME_SIZE = traits.names(lambda trait: trait.kind is traits.Kind.MOVES and trait.keeps)


def _fit(op: Op, function: Function) -> bool:
    taken = [function.types[value].shape for value in op.operands]
    given = [function.types[value].shape for value in op.results]
    name = op.name
    if name == "arith.select" and taken and taken[0] == ():
        taken = taken[1:]  # one condition for all lanes
    if name == "arith.constant":
        value = op.attributes.get("value")
        return not taken and (not isinstance(value, Dense) or [value.type.shape] == given)
    if name == "tt.make_range":
        start, end = op.attributes.get("start"), op.attributes.get("end")
        return isinstance(start, int) and isinstance(end, int) and given == [(end - start,)]
    if name.startswith(("arith.", "math.")) or name in _ELEMENTWISE:
        effect = traits.of(name).effect
        if effect is not None and effect.result == "token":  # a copy into a buffer: the token has no lanes
            types = [function.types[value] for value in op.operands]
            return len({type.shape or (type.pointee or type).shape for type in types}) <= 1
        return len({*taken, *given}) <= 1
    if name == "tt.broadcast":
        (one,), (whole,) = taken, given
        return len(one) == len(whole) and all(a in (1, b) for a, b in zip(one, whole, strict=True))
    if name == "tt.splat":
        return taken == [()]
    if name in _SAME_SIZE:
        return sum(map(math.prod, taken)) == sum(map(math.prod, given))
    if name == "tt.dot":
        return _dot_fits(taken, given)
    if name == "tt.gather":
        return len(taken) == 2 and given == taken[1:] and len(taken[0]) == len(taken[1])
    if name == "tt.reduce":
        return _reduce_fits(op, [function.types[value] for value in op.operands], given)
    return True


def _dot_fits(taken: Sequence[tuple[int, ...]], given: Sequence[tuple[int, ...]]) -> bool:
    if len(taken) != 3 or len(given) != 1 or not all(len(shape) == len(given[0]) >= 2 for shape in taken):
        return False
    (*outer, m, k), (*_unused, k2, n), result = taken
    return k == k2 and given[0] == result == (*outer, m, n) and taken[1][:-2] == tuple(outer)


def _reduce_fits(op: Op, taken: Sequence[Type], given: Sequence[tuple[int, ...]]) -> bool:
    axis = op.attributes.get("axis")
    shapes = {type.shape for type in taken}
    if len(shapes) != 1 or type(axis) is not int:
        return False
    (shape,) = shapes
    return 0 <= axis < len(shape) and all(one == shape[:axis] + shape[axis + 1 :] for one in given)
