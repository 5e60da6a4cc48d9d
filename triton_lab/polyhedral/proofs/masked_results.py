"""Whether results depend on lanes that a load's mask turns off, where no other= says what they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from triton_lab.ir import Op, effects, traits
from triton_lab.ir.dataflow import Flow
from triton_lab.ir.traits.trait import Kind
from triton_lab.ir.value_flow import Value
from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_conditions import TRUE, Formula, conjunction
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.isl_effort import TooHard
from triton_lab.polyhedral.kernels.access_domain import path_of, symbol_domain
from triton_lab.polyhedral.kernels.symbolic.symbolic_access import SymbolicAccess
from triton_lab.polyhedral.kernels.symbolic.symbolic_values import negation
from triton_lab.polyhedral.proofs.access_bounds import lanes_of
from triton_lab.polyhedral.proofs.proof import PROVED, UNKNOWN, PropertyProof
from triton_lab.polyhedral.proofs.proof_model import ProofModel
from triton_lab.polyhedral.proofs.refutation import with_numbers


class MaskedUse(NamedTuple):
    """A load with lanes that its mask turns off, and an operation that may use them."""

    load: Op
    use: Op


def _only_where_loaded(model: ProofModel, load: SymbolicAccess | None, use: SymbolicAccess | None) -> bool:
    """Whether each active lane of ``use`` is an active lane of ``load``, in the same iterations."""
    cases = _active_where_off(model, load, use)
    if cases is None or use is None:
        return False
    try:
        return not any(model.possible(case, lanes_of(use)) for case in cases)
    except TooHard:
        return False


def _active_where_off(model: ProofModel, load: SymbolicAccess | None, use: SymbolicAccess | None) -> Formula | None:
    """The cases in which a lane of ``use`` is active that ``load`` turns off; None if they are not known."""
    if load is None or use is None or load.shape != use.shape or path_of(load).rounds != path_of(use).rounds:
        return None
    off = _off(load)
    return None if off is None else conjunction(symbol_domain(use, model.grid_formula()), off)


def _off(load: SymbolicAccess) -> Formula | None:
    """The condition under which the mask turns a lane off; None if it is not known."""
    if load.mask.unknown is not None:
        return None
    off = negation(load.mask, load.facts)
    return None if off.unknown is not None else off.cases


def may_use_masked(model: ProofModel, uses: Sequence[MaskedUse], numbers: Mapping[str, AffineExpr]) -> bool:
    """Whether a load may turn lanes off that are used, for these sizes; True where a mask is not known.

    Raises TooHard.
    """
    touches = {t.op.index: t for t in model.touches}
    for one in uses:
        load, use = touches.get(one.load.index), touches.get(one.use.index)
        cases = _active_where_off(model, load, use)
        if cases is None and load is not None and (off := _off(load)) is not None:
            use, cases = load, conjunction(symbol_domain(load, model.grid_formula(), mask=False), off)
        if cases is None or use is None:
            return True
        if any(model.possible(with_numbers(case, numbers), lanes_of(use)) for case in cases):
            return True
    return False


_LANE_BY_LANE = frozenset({Kind.ELEMENTWISE, Kind.CASTS, Kind.COMPARES})


def masked_lanes_proof(model: ProofModel) -> PropertyProof:
    """Proved if each lane that a mask turns off goes only to lanes of accesses that the same mask turns off."""
    for load, use in masked_uses(model):
        places = [model.launch.lines.get(one.index) for one in (load, use)]
        first, second = (None if one is None else one.line for one in places)
        reason = _("the load of line {load} has a mask and no other=, and line {use} uses its lanes").format(
            load=first, use=second
        )
        owner = model.launch.owner_of(load.index)
        return PropertyProof("masked lanes", UNKNOWN, reason, None if owner is None else owner.name, first)
    return PropertyProof("masked lanes", PROVED)


def masked_uses(model: ProofModel) -> Iterator[MaskedUse]:
    """The loads that are not known to keep masked-off lanes from results, each with the first use that shows it."""
    plan = model.launch.executable.plan
    flow = Flow.of(plan)
    touches = {t.op.index: t for t in model.touches}
    takers: dict[Value, list[Op]] = {}
    for op in plan.walk():
        for number in op.operands:
            takers.setdefault(Value(flow.function_of[op.index], number), []).append(op)
    for op in plan.walk():
        if effects.is_access(op) and op.results and _is_open(op, touches):
            used = _used(model, op, flow, takers, touches)
            if used is not None:
                yield MaskedUse(op, used)


def _is_open(op: Op, touches: Mapping[int, SymbolicAccess]) -> bool:
    """Whether a load has lanes of which nothing says what they are."""
    at = effects.operands_of(op)
    if at.mask is None or effects.ACCESSES[op.name].kind != "load":
        return False
    touch = touches.get(op.index)
    return at.other is None and not (touch is not None and touch.mask.unknown is None and touch.mask.cases == TRUE)


def _used(
    model: ProofModel,
    load: Op,
    flow: Flow,
    takers: Mapping[Value, list[Op]],
    touches: Mapping[int, SymbolicAccess],
) -> Op | None:
    """An operation that may use the masked-off lanes; None if there is none."""
    function = flow.function_of[load.index]
    mask = load.operands[effects.operands_of(load).mask or 0]
    waiting = [Value(function, number) for number in load.results]
    seen = set(waiting)
    while waiting:
        value = waiting.pop()
        for op in takers.get(value, ()):
            if effects.is_access(op):
                at = effects.operands_of(op)
                same = at.mask is not None and op.operands[at.mask] == mask
                if not same and not _only_where_loaded(model, touches.get(load.index), touches.get(op.index)):
                    return op
                if at.mask is not None and op.operands[at.mask] == value.number:
                    return op
                continue  # its own lanes are off, too
            if traits.of(op.name).kind not in _LANE_BY_LANE:
                return op
            for number in op.results:
                result = Value(function, number)
                if result not in seen:
                    seen.add(result)
                    waiting.append(result)
    return None
