"""Up to which sizes no number that an address or a mask depends on overflows."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

from triton_lab.ir import Plan, effects
from triton_lab.ir.dataflow import Flow
from triton_lab.ir.value_flow import Value, decisive
from triton_lab.localization import _
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.kernels.symbolic.nonlinear_terms import Interval
from triton_lab.polyhedral.kernels.symbolic.symbol_facts import interval, program
from triton_lab.polyhedral.kernels.symbolic.unknown_values import MayOverflow
from triton_lab.polyhedral.proofs.proof import PROVED, UNKNOWN, PropertyProof
from triton_lab.polyhedral.proofs.proof_model import ProofModel

# Sizes up to this number are tried.
_LARGEST = 1 << 40


def overflow_proof(model: ProofModel) -> PropertyProof:
    """Whether addresses and masks are computed without overflow, and for which sizes."""
    relevant = addressing(model.launch.executable.plan)
    wraps = [(op, reason) for op, reason in model.unknown.wraps.items() if op in relevant]
    if wraps:
        op, reason = wraps[0]
        line = model.launch.lines.get(op)
        return PropertyProof("overflow", UNKNOWN, reason, line=None if line is None else line.line)
    bounds: dict[frozenset[str], int] = {}
    for one in model.unknown.overflows.values():
        if one.op not in relevant:
            continue
        names = frozenset(_sizes_of(model, one))
        most = _most(model, one, names)
        if not names or most < 1:
            line = model.launch.lines.get(one.op)
            reason = _("a number of {bits} bits may overflow").format(bits=one.bits)
            return PropertyProof("overflow", UNKNOWN, reason, line=None if line is None else line.line)
        bounds[names] = min(most, bounds.get(names, most))
    return PropertyProof("overflow", PROVED, _text(model, bounds))


def addressing(plan: Plan) -> frozenset[int]:
    """The operations that compute what addresses, masks and the flow of control depend on."""
    flow = Flow.of(plan)
    start: set[Value] = set()
    for op in plan.walk():
        function = flow.function_of.get(op.index, "")
        start.update(Value(function, number) for number in decisive(op))
        if effects.is_access(op):
            at = effects.operands_of(op)
            places = [at.address, *at.coordinates, *([] if at.mask is None else [at.mask])]
            start.update(Value(function, op.operands[place]) for place in places)
    behind = flow.behind(start, lambda op: not effects.is_access(op))
    return frozenset(flow.maker[value].index for value in behind if value in flow.maker)


def _sizes_of(model: ProofModel, one: MayOverflow) -> Iterator[str]:
    """The free symbols that the number depends on, also through the grid and the loops around it."""
    names = {name for _when, value in one.cases for name in value.names}
    for case in one.formula:
        for c in case:
            if any(name.startswith("_t") and name in names for name in c.expression.names):
                names |= c.expression.names
    for axis, extent in enumerate(model.grid):
        if program(axis) in names:
            names |= extent.names
    yield from (name for name in sorted(names) if name in model.sizes.free)


def _most(model: ProofModel, one: MayOverflow, names: Collection[str]) -> int:
    """The largest number up to which all of ``names`` may go together; 0 if the number may overflow at 1."""
    low, high = 0, _LARGEST
    if _fits(model, one, dict.fromkeys(names, high)):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if _fits(model, one, dict.fromkeys(names, middle)):
            low = middle
        else:
            high = middle
    return low


def _fits(model: ProofModel, one: MayOverflow, most: Mapping[str, int]) -> bool:
    """Whether the number fits its type while each size is at most so large."""
    ranges: dict[str, Interval] = dict(one.ranges)
    for name, bound in most.items():
        ranges[name] = (ranges.get(name, (0, 0))[0], bound)
    for axis, extent in enumerate(model.grid):
        ranges[program(axis)] = (0, max(0, interval(extent, ranges)[1] - 1))
    for name in [name for name in ranges if name.startswith("_t")]:
        ranges[name] = _rounds(name, one, ranges)
    limit = 1 << (one.bits - 1)
    for when, value in one.cases:
        low, high = interval(value, ranges)
        for constraint in when:  # min and max: the other side bounds the value, too
            high = min(high, interval(value + constraint.expression, ranges)[1])
        if low < -limit or high >= limit:
            return False
    return True


def _rounds(name: str, one: MayOverflow, ranges: Mapping[str, Interval]) -> Interval:
    """The iterations of a loop, from the condition under which it goes on."""
    low, high = ranges[name]
    if len(one.formula) == 1:
        for c in one.formula[0]:
            factor = c.expression.coefficients.get(name, 0)
            if factor < 0:
                rest = c.expression - AffineExpr.make({name: factor})
                most = interval(rest, ranges)[1]
                if math.isfinite(most):
                    high = min(high, max(0, most // -factor))
    return low, high


def _text(model: ProofModel, bounds: Mapping[frozenset[str], int]) -> str:
    """The bounds in words, the least of each size: ``while m <= 46,341 and n <= 2^31 - 128``."""
    least: dict[str, int] = {}
    for names, most in bounds.items():
        for name in names:
            least[name] = min(most, least.get(name, most))
    told = sorted((most, model.sizes.free[name]) for name, most in least.items())
    parts = [f"{name} <= {power_text(most)}" for most, name in told]
    parts = [", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts
    return _("while {bounds}").format(bounds=_(" and ").join(parts)) if parts else ""


def power_text(number: int) -> str:
    """A number, near a power of two by its distance: ``2^31 - 128``."""
    power = round(math.log2(number)) if number > 0 else 0
    distance = number - (1 << power)
    if number >= 1 << 20 and abs(distance) < 1 << 16:
        return f"2^{power}" + (f" - {-distance:,}" if distance < 0 else f" + {distance:,}" if distance else "")
    return f"{number:,}"
