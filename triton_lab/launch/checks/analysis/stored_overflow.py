"""Products and sums in 32 bits that wrap before they are stored as numbers: keys, linear indices, seeds.

Numbers are also meant to wrap, in hashes, random generators and checksums. So only two
groups are examined: numbers that are widened to 64 bits before they are stored, since an intended wrap needs no
widening; and numbers that are stored in 32 bits and computed only from numbers of programs, lanes and arguments. Not
examined are sums of blocks, sums that a loop carries, steps with large odd constants, unsigned numbers, and numbers
that go through bit masks, shifts to the right or remainders.
"""

from __future__ import annotations

from triton_lab.ir import Op, effects
from triton_lab.ir.dataflow import Flow, Value
from triton_lab.launch.argument import Argument
from triton_lab.launch.checks.analysis.evidence import Evidence
from triton_lab.launch.checks.analysis.integer_bounds import IntegerBounds, constant_bounds
from triton_lab.launch.checks.analysis.wrapping_integers import SIGNS, passes
from triton_lab.launch.propagation.element_functions import inside_of_others
from triton_lab.launch.recording.launch_record import Recorded

# Constants from here on are no strides: generators of random numbers multiply or add them.
_MIXES = 1 << 15


def stored_suspects(evidence: Evidence) -> frozenset[int]:
    """The operations whose results are stored, and that may leave their 32 bits."""
    plan = evidence.launch.executable.plan
    flow = Flow.of(plan)
    reach = IntegerBounds(evidence.launch, flow)
    inside = inside_of_others(plan)
    found = set()
    for store in evidence.ops.values():
        position = effects.operands_of(store).value if effects.is_access(store) else None
        if position is None or effects.ACCESSES[store.name].kind != "store":
            continue
        value = Value(flow.function_of[store.index], store.operands[position])
        if not reach.type(value).is_integer:
            continue
        wide = reach.type(value).bits == 64
        if not wide and (reach.type(value).bits != 32 or _is_unsigned(evidence.owner(store))):
            continue
        for made in flow.behind([value], passes):
            op = flow.maker.get(made)
            if op is None or op.index in inside or op.name not in SIGNS or reach.type(made).bits != 32:
                continue
            if _wraps(reach, op) and not _is_meant(evidence, flow, reach, made, wide):
                found.add(op.index)
    return frozenset(found)


def _is_unsigned(argument: Argument | None) -> bool:
    return argument is None or argument.dtype.startswith("uint")


def _wraps(reach: IntegerBounds, op: Op) -> bool:
    exact = reach.unwrapped(op)
    return exact is None or exact[0] < -(1 << 31) or exact[1] >= 1 << 31


def _is_meant(evidence: Evidence, flow: Flow, reach: IntegerBounds, made: Value, wide: bool) -> bool:
    """Whether a result may be meant to wrap: unsigned, carried round a loop, mixed, or made of what memory holds."""
    own = flow.maker[made]
    behind = flow.behind(Value(made.function, number) for number in own.operands)
    if made in behind or mixes(evidence.launch, own):
        return True
    for each in behind:
        maker = flow.maker.get(each)
        if maker is None:
            continue
        if maker.name == "arith.extui" and reach.type(Value(each.function, maker.operands[0])).bits > 1:
            return True
        if mixes(evidence.launch, maker) or (not wide and effects.is_access(maker)):
            return True
    return False


def mixes(launch: Recorded, op: Op) -> bool:
    """Whether ``op`` is a step of a random number generator or hash: it has a large odd constant as an operand."""
    plan = launch.executable.plan
    makers = {result: one for function in plan.functions.values() for one in function.walk() for result in one.results}
    for number in op.operands:
        maker = makers.get(number)
        constant = None if maker is None or maker.name != "arith.constant" else constant_bounds(maker)
        if constant is not None and constant[0] == constant[1] and constant[0] % 2 and abs(constant[0]) >= _MIXES:
            return True
    return False
