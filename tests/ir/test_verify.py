"""A plan that breaks a rule of the IR is refused, and the operation named; what Triton's front end makes is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
import triton
import triton.language as tl

from tests.ir.test_parse import MODULE, plan_of
from tests.ir.test_value_flow import CASES
from triton_lab.ir import Block, Function, Op, Plan, Region, Successor, parse_plan
from triton_lab.ir.effects import is_access, operands_of
from triton_lab.ir.parse import VERIFY
from triton_lab.ir.value_flow import BRANCHES, TERMINATORS, YIELDS
from triton_lab.ir.verify import InvalidPlan, verify


@triton.jit
def accesses(x, y, n):
    k = tl.arange(0, 16)
    tl.store(y + k, tl.load(x + k, mask=k < n, other=0), mask=k < n)
    tl.atomic_add(y + k, 1, mask=k < n)
    tl.store(y + n, tl.atomic_cas(x, 1, n))
    d = tl.make_tensor_descriptor(x, [64, 16], [16, 1], [16, 16])
    r = tl.make_tensor_descriptor(x, [64, 16], [16, 1], [1, 16])
    d.store([n, 0], d.load([0, n]))
    d.atomic_add([n, 0], d.load([0, n]))
    r.scatter(r.gather(k, 0), k, n)


PLANS = [plan_of(function, signature, {}) for function, signature in CASES.items()]
PLANS.append(plan_of(accesses, {"x": "*i32", "y": "*i32", "n": "i32"}, {}))


def rebuilt(plan: Plan, change: Callable[[Function, Block], Block]) -> Plan:
    """``plan`` with each of its blocks changed, inner ones first."""

    def region(function, old):
        return replace(old, blocks=tuple(change(function, block(function, each)) for each in old.blocks))

    def block(function, old):
        ops = (replace(op, regions=tuple(region(function, each) for each in op.regions)) for op in old.ops)
        return replace(old, ops=tuple(ops))

    return replace(
        plan,
        functions={name: replace(each, body=region(each, each.body)) for name, each in plan.functions.items()},
    )


def with_op(plan: Plan, index: int, *others: Op) -> Plan:
    """``plan`` with ``others`` in the place of one operation."""

    def change(function: Function, block: Block) -> Block:
        ops = [new for op in block.ops for new in (others if op.index == index else (op,))]
        return replace(block, ops=tuple(ops))

    return rebuilt(plan, change)


def all_ops() -> Iterator[tuple[Plan, Function, Op]]:
    for plan in PLANS:
        for function in plan.functions.values():
            for op in function.walk():
                yield plan, function, op


def refused(plan: Plan, rule: str) -> None:
    with pytest.raises(InvalidPlan, match=rule):
        verify(plan)


def test_what_the_front_end_makes_keeps_the_rules():
    for plan in PLANS:
        verify(plan)
        verify(rebuilt(plan, lambda function, block: block))


def test_a_block_must_end_with_a_terminator_and_have_no_other():
    for plan, _, op in all_ops():
        if op.name in TERMINATORS:
            refused(with_op(plan, op.index), "ends with it|empty")
            refused(with_op(plan, op.index, replace(op, index=-1), op), "middle of a block")


def test_a_terminator_must_belong_to_its_region():
    for plan, _, op in all_ops():
        for other in YIELDS - {op.name} if op.name in YIELDS else ():
            refused(with_op(plan, op.index, replace(op, name=other)), rf"\({other}\).*ends with it")


def test_branches_must_lead_forward():
    branches = 0
    for plan, _, op in all_ops():
        if op.name in BRANCHES:
            branches += 1
            back = (Successor(0, op.successors[0].operands), *op.successors[1:])
            refused(with_op(plan, op.index, replace(op, successors=back)), "to block 0")
    assert branches


def test_results_and_operations_must_be_unique():
    for plan, _, op in all_ops():
        if op.results and not op.regions:
            refused(with_op(plan, op.index, op, op), "same index")
            refused(with_op(plan, op.index, op, replace(op, index=-1)), "comes into being twice")


def test_operands_must_be_there():
    """What comes later in the block, or only inside another operation, is not."""
    for plan, function, op in all_ops():
        if not op.operands:
            continue
        later = [result for each in function.walk() if each.index >= op.index for result in each.results]
        for number in (later[0], later[-1]) if later else ():
            refused(with_op(plan, op.index, replace(op, operands=(number, *op.operands[1:]))), "not there yet")


def test_what_control_hands_on_must_agree_in_number_and_type():
    handed = 0
    for plan, function, op in all_ops():
        if op.name in YIELDS and op.operands and op.name != "tt.return":
            handed += 1
            refused(with_op(plan, op.index, replace(op, operands=op.operands[:-1])), "handed on")
            own = function.types[op.operands[-1]]
            constants = (each for each in function.body.blocks[0].ops if each.name == "arith.constant")
            outside = [*function.arguments, *(n for each in constants for n in each.results)]
            other = next(n for n in outside if function.types[n].element != own.element)
            refused(with_op(plan, op.index, replace(op, operands=(*op.operands[:-1], other))), "of type")
        if op.name == "tt.call":
            refused(with_op(plan, op.index, replace(op, operands=op.operands[:-1])), "handed on")
            refused(with_op(plan, op.index, replace(op, attributes={"callee": "nobody"})), "no function nobody")
        for position, successor in enumerate(op.successors):
            if successor.operands:
                fewer = [*op.successors]
                fewer[position] = Successor(successor.block, successor.operands[1:])
                refused(with_op(plan, op.index, replace(op, successors=tuple(fewer))), "handed on")
    assert handed > 5


def test_the_operands_of_an_access_must_be_what_effects_says():
    """Any operand in the place of one of another type."""
    tried = 0
    for plan, function, op in all_ops():
        if not is_access(op):
            continue
        refused(with_op(plan, op.index, replace(op, operands=())), op.name)
        for position in range(len(op.operands)):
            own = function.types[op.operands[position]]
            coordinate = position in (*operands_of(op).coordinates, operands_of(op).timeout)
            for other in op.operands:
                type = function.types[other]
                if type != own and not (coordinate and type.is_integer) and own.element != "desc":
                    tried += 1
                    operands = (*op.operands[:position], other, *op.operands[position + 1 :])
                    refused(with_op(plan, op.index, replace(op, operands=operands)), "of type")
    assert tried > 30


def test_the_message_names_function_operation_and_line():
    plan = PLANS[-1]
    store = next(op for op in plan.walk() if op.name == "tt.store")
    operands = (store.operands[1], store.operands[0], *store.operands[2:])
    refused(
        with_op(plan, store.index, replace(store, operands=operands)),
        rf"^accesses, operation {store.index} \(tt.store\), line {store.location.line}: its address is of type 16xi32$",
    )


def test_plans_are_verified_in_tests_and_not_in_launches(monkeypatch):
    backwards = MODULE.replace('"cf.br"(%a)[^bb2]', '"cf.br"(%a)[^bb1]')
    with pytest.raises(InvalidPlan, match="from block 1 to block 1"):
        parse_plan(backwards)
    monkeypatch.delenv(VERIFY)
    parse_plan(backwards)


def module(body: str) -> Plan:
    """A module with one kernel of this body, of ``%p`` and ``%q``."""
    return parse_plan(
        '#l = loc("a.py":1:0)\n"builtin.module"() ({\n'
        '"tt.func"() <{function_type = (i32, i32) -> (), sym_name = "kernel", sym_visibility = "public"}> ({\n'
        f"^bb0(%p: i32 loc(#l), %q: i32 loc(#l)):\n{body}\n"
        "}) : () -> () loc(#l)\n}) : () -> () loc(#l)\n"
    )


def line(text: str) -> str:
    return f"{text} loc(#l)\n"


RETURN = line('"tt.return"() : () -> ()')
ADD = line('%s = "arith.addi"(%p, %q) : (i32, i32) -> i32')


@pytest.fixture
def unverified(monkeypatch):
    monkeypatch.delenv(VERIFY)


FORK = line('"cf.cond_br"(%p)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()')


@pytest.mark.usefixtures("unverified")
@pytest.mark.parametrize("where", ["before", "left", "right", "both"])
def test_after_two_ways_met_there_is_what_both_brought(where):
    """A value from before the fork may be used behind it, one that comes into being on one way may not."""
    use = line('%u = "arith.addi"(%s, %q) : (i32, i32) -> i32')
    body = (ADD if where == "before" else "") + FORK
    body += "^bb1:\n" + (ADD if where in ("left", "both") else "") + line('"cf.br"()[^bb3] : () -> ()')
    body += "^bb2:\n" + (ADD.replace("%s", "%t" if where == "both" else "%s") if where in ("right", "both") else "")
    body += line('"cf.br"()[^bb3] : () -> ()') + "^bb3:\n" + use + RETURN
    plan = module(body)
    if where == "before":
        verify(plan)
    else:
        refused(plan, "not there yet, or out of scope")


@pytest.mark.usefixtures("unverified")
def test_a_block_that_nothing_leads_to_may_do_what_it_likes_and_the_next_one_may_not():
    skip = line('"cf.br"()[^bb3] : () -> ()')
    use = line('%u = "arith.addi"(%s, %q) : (i32, i32) -> i32')
    unreached = skip + "^bb1:\n" + ADD + RETURN + "^bb2:\n" + use + skip + "^bb3:\n"
    verify(module(unreached + RETURN))
    refused(module(unreached + use.replace("%u", "%w") + RETURN), "not there yet")


def test_a_branch_must_lead_to_a_block_of_its_region():
    for plan, function, op in all_ops():
        if op.name in BRANCHES and op in [each for block in function.body.blocks for each in block.ops]:
            beyond = (Successor(len(function.body.blocks), ()), *op.successors[1:])
            refused(with_op(plan, op.index, replace(op, successors=beyond)), f"to block {len(function.body.blocks)}")


def test_each_result_must_have_a_type():
    for plan, function, op in all_ops():
        for number in (-1, len(function.types)):
            if op.results and not op.regions:
                refused(with_op(plan, op.index, replace(op, results=(number, *op.results[1:]))), "has no type")


def test_an_argument_of_a_block_comes_into_being_once():
    def twice(function, block):
        return replace(block, arguments=(*block.arguments, *block.arguments[:1]))

    for plan in PLANS:
        refused(rebuilt(plan, twice), "comes into being twice")


def test_an_operation_must_have_the_regions_that_belong_to_it():
    """As many as it has, and filled, but for an else."""
    tried = set()
    for plan, _, op in all_ops():
        if op.regions:
            refused(with_op(plan, op.index, replace(op, regions=op.regions[1:])), "regions")
            refused(with_op(plan, op.index, replace(op, regions=(*op.regions, Region(())))), "regions")
            for position, region in enumerate(op.regions):
                empty = [*op.regions]
                empty[position] = replace(region, blocks=())
                if (op.name, position) != ("scf.if", 1):
                    tried.add((op.name, position))
                    refused(with_op(plan, op.index, replace(op, regions=tuple(empty))), "one of them is empty")
        else:
            refused(with_op(plan, op.index, replace(op, regions=(Region(()),))), "it has 1 regions")
    assert {("scf.for", 0), ("scf.while", 1), ("scf.if", 0), ("tt.reduce", 0), ("tt.map_elementwise", 0)} <= tried


@pytest.mark.usefixtures("unverified")
def test_an_else_may_be_missing():
    verify(module(line('"scf.if"(%p) ({\n' + line('"scf.yield"() : () -> ()') + "}, {\n}) : (i32) -> ()") + RETURN))


def test_what_control_hands_on_must_agree_in_its_shape_too():
    """A block is no element: only the functions of reductions, scans and maps take one for the other."""
    tried = set()
    for plan, function, op in all_ops():
        for name in {"scf.yield", "tt.call", "cf.br"} & {op.name}:
            handed = op.operands if name != "cf.br" else op.successors[0].operands
            for position, own in enumerate(handed):
                type = function.types[own]
                if type.is_pointer or type.shape:
                    continue
                added = replace(function, types=(*function.types, replace(type, shape=(16,))))
                number = len(function.types)
                operands = (*handed[:position], number, *handed[position + 1 :])
                new = (
                    replace(op, operands=operands)
                    if name != "cf.br"
                    else replace(op, successors=(replace(op.successors[0], operands=operands),))
                )
                made = Op("arith.constant", (), (number,), {"value": 0}, (), (), None, -1)
                changed = replace(plan, functions={**plan.functions, function.name: added})
                tried.add(name)
                refused(with_op(changed, op.index, made, new), "of type")
    assert {"scf.yield", "tt.call"} <= tried


def test_the_result_of_an_access_is_what_it_touches():
    tried = set()
    for plan, function, op in all_ops():
        if not is_access(op):
            continue
        if not op.results:
            added = replace(function, types=(*function.types, function.types[op.operands[0]]))
            changed = replace(plan, functions={**plan.functions, function.name: added})
            refused(with_op(changed, op.index, replace(op, results=(len(function.types),))), "it has 1 results")
        if not op.results:
            continue
        type = function.types[op.results[0]]
        for other in (replace(type, shape=(*type.shape, 2)), replace(type, element="f64", pointee=None)):
            types = list(function.types)
            types[op.results[0]] = other
            changed = replace(plan, functions={**plan.functions, function.name: replace(function, types=tuple(types))})
            users = {each.name for each in function.walk() if op.results[0] in each.operands}
            if not users & (TERMINATORS | {"tt.call"}) and not any(each.regions for each in function.walk()):
                tried.add(op.name)
                refused(changed, "of type")
    assert {"tt.load", "tt.atomic_cas", "tt.atomic_rmw", "tt.descriptor_load", "tt.descriptor_gather"} <= tried
