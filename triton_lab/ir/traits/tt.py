"""The dialect ``tt``: blocks of elements, products, reductions, and what a program knows of itself."""

from __future__ import annotations

from functools import partial

from triton_lab.ir.traits import lane_rules as rules
from triton_lab.ir.traits.trait import ANY_ORDER, CORRECT, Kind, Trait, approximate, table

_MOVE = partial(Trait, kind=Kind.MOVES, keeps=True)
_FLOAT = partial(Trait, kind=Kind.ELEMENTWISE, lanes=rules.lane_by_lane, numbers="float")
_INTEGER = partial(Trait, kind=Kind.ELEMENTWISE, lanes=rules.lane_by_lane, numbers="integer")
_CAST = partial(Trait, kind=Kind.CASTS, lanes=rules.lane_by_lane)
_CREATED = partial(Trait, kind=Kind.CREATES, lanes=rules.nothing)
_CONTROL = partial(Trait, kind=Kind.CONTROL, lanes=rules.unknown)

TRAITS = table(
    # Moves.
    _MOVE("tt.splat", lanes=rules.splat, inverse="tt.unsplat"),
    _MOVE("tt.unsplat", lanes=rules.splat, inverse="tt.splat"),
    _MOVE("tt.broadcast", lanes=rules.broadcast),
    _MOVE("tt.expand_dims", lanes=rules.expand_dims),
    _MOVE("tt.reshape", lanes=rules.row_major, inverse="tt.reshape"),
    _MOVE("tt.trans", lanes=rules.trans, inverse="tt.trans"),
    _MOVE("tt.join", lanes=rules.join, inverse="tt.split"),
    _MOVE("tt.split", lanes=rules.split, inverse="tt.join"),
    _MOVE("tt.cat", lanes=rules.cat),
    Trait("tt.gather", Kind.PERMUTES, rules.gather, keeps=True),
    # Lane by lane.
    _INTEGER("tt.addptr", sums=True, wraps=True),
    _INTEGER("tt.mulhiui", commutative=True, signed=False),
    _FLOAT("tt.clampf", idempotent=True),
    _FLOAT("tt.precise_divf", symbol="/", rounding=CORRECT, siblings=("arith.divf",)),
    _FLOAT("tt.precise_sqrt", rounding=CORRECT, siblings=("math.sqrt",)),
    _FLOAT(
        "tt.approx_divf", symbol="/", rounding=approximate(2.0, unit="division", ieee=True), siblings=("arith.divf",)
    ),
    # A function of a library: of floats or of integers.
    Trait("tt.extern_elementwise", Kind.ELEMENTWISE, rules.lane_by_lane, rounding=approximate(None, flushes=None)),
    Trait("tt.elementwise_inline_asm", Kind.ELEMENTWISE, rules.packed, rounding=approximate(None, flushes=None)),
    Trait("tt.map_elementwise", Kind.ELEMENTWISE, rules.packed, rounding=ANY_ORDER),
    # Casts.
    _CAST("tt.fp_to_fp", numbers="float", rounding=CORRECT, inverse="tt.fp_to_fp"),
    _CAST("tt.bitcast", keeps=True, bitwise=True, inverse="tt.bitcast"),
    _CAST("tt.ptr_to_int", keeps=True, inverse="tt.int_to_ptr"),
    _CAST("tt.int_to_ptr", keeps=True, inverse="tt.ptr_to_int"),
    # Many lanes to one.
    Trait("tt.reduce", Kind.REDUCES, rules.reduce, rounding=ANY_ORDER),
    Trait("tt.scan", Kind.SCANS, rules.scan, rounding=ANY_ORDER),
    Trait("tt.histogram", Kind.REDUCES, rules.histogram, numbers="integer"),
    Trait("tt.dot", Kind.CONTRACTS, rules.dot, sums=True, rounding=ANY_ORDER, siblings=("tt.dot_scaled",)),
    Trait("tt.dot_scaled", Kind.CONTRACTS, rules.dot_scaled, sums=True, rounding=ANY_ORDER, siblings=("tt.dot",)),
    # From attributes, the grid, or scalars.
    _CREATED("tt.make_range"),
    _CREATED("tt.get_program_id"),
    _CREATED("tt.get_num_programs"),
    _CREATED("tt.make_tensor_descriptor", lanes=rules.lane_by_lane),
    _CAST("tt.descriptor_cast", keeps=True),
    # Control flow.
    _CONTROL("tt.func"),
    _CONTROL("tt.call"),
    _CONTROL("tt.return"),
    _CONTROL("tt.reduce.return"),
    _CONTROL("tt.scan.return"),
    _CONTROL("tt.map_elementwise.return"),
    # The rest has no results.
    Trait("tt.print", Kind.REPORTS, rules.nothing),
    Trait("tt.assert", Kind.REPORTS, rules.nothing),
    Trait("tt.grid_dependency_wait", Kind.ORDERS, rules.nothing),
    Trait("tt.grid_dependency_launch_dependents", Kind.ORDERS, rules.nothing),
)
