"""Modules in MLIR's generic form: from text, and from kernels through Triton's own front end."""

from __future__ import annotations

import pytest
import triton
import triton.language as tl
from triton.compiler import ASTSource

from triton_lab.backend.compiler import TARGET
from triton_lab.ir import ParseError, Plan, Successor, Type, parse_plan

MODULE = """
#loc = loc("a.py":1:0)
"builtin.module"() ({
  "tt.func"() <{function_type = (!tt.ptr<f32>, i32) -> (), sym_name = "kernel", sym_visibility = "public"}> ({
  ^bb0(%x: !tt.ptr<f32> loc("x"(#loc)), %n: i32 loc(#loc)):
    %c = "arith.constant"() <{value = 4 : i32}> : () -> i32 loc(#loc2)
    %0:2 = "scf.if"(%c) ({
      "scf.yield"(%c, %n) : (i32, i32) -> () loc(#loc)
    }, {
      "scf.yield"(%n, %c) : (i32, i32) -> () loc(#loc)
    }) : (i32) -> (i32, i32) loc(#loc)
    "cf.cond_br"(%c, %0#1, %n)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 1>}>
      : (i32, i32, i32) -> () loc(#loc)
  ^bb1(%a: i32 loc(#loc)):
    "cf.br"(%a)[^bb2] : (i32) -> () loc(#loc)
  ^bb2(%b_7: i32 loc(#loc)):
    "tt.return"() : () -> () loc(#loc)
  }) {noinline = false} : () -> () loc(#loc)
}) : () -> () loc(#loc)
#loc2 = loc("four"("a.py":3:8))
"""


def test_a_module_becomes_a_plan():
    plan = parse_plan(MODULE)
    kernel = plan.kernel
    assert kernel.name == "kernel" and kernel.public
    entry, first, second = kernel.body.blocks
    constant, branch, end = entry.ops
    assert [kernel.types[v] for v in entry.arguments] == [Type("ptr", (), Type("f32")), Type("i32")]
    assert constant.attributes == {"value": 4} and constant.location.line == 3 and constant.location.name == "four"
    assert len(branch.results) == 2 and len(branch.regions) == 2
    assert branch.regions[0].blocks[0].ops[0].operands == (constant.results[0], entry.arguments[1])
    assert end.operands == constant.results
    assert end.successors == (Successor(1, (branch.results[1],)), Successor(2, (entry.arguments[1],)))
    assert first.ops[0].successors == (Successor(2, first.arguments),)
    assert kernel.names[second.arguments[0]] == "b", "the number that makes a name unique is no part of it"


def test_operations_are_numbered_as_they_stand():
    plan = parse_plan(MODULE)
    assert [op.index for op in plan.walk()] == sorted({op.index for op in plan.walk()})


@pytest.mark.parametrize(("text", "line"), [(MODULE.replace("^bb2(%b_7", "^bb5(%b_7"), 16), (MODULE[:300], 7)])
def test_what_is_no_module_is_refused_with_the_line(text, line):
    with pytest.raises(ParseError, match=f"line {line} "):
        parse_plan(text)


@triton.jit(noinline=True)
def helper(a, b):
    return a + b


@triton.jit
def kernel(x, n, N: tl.constexpr):
    k = tl.arange(0, N)
    total = tl.load(x + k, mask=k < n)
    for i in range(n):
        total += helper(n, i)
    if n == 3:
        return
    tl.store(x + k, total)


def plan_of(function, signature, constants) -> Plan:
    signature = signature | dict.fromkeys(constants, "constexpr")
    compiled = triton.compile(ASTSource(function, signature, constants), target=TARGET)
    text = compiled.asm["plan"]
    return parse_plan(text if isinstance(text, str) else text.decode())


def test_a_kernel_of_tritons_own_making():
    plan = plan_of(kernel, {"x": "*fp32", "n": "i32"}, {"N": 16})
    assert len(plan.functions) == 2 and plan.kernel.name == "kernel"
    names = [op.name for op in plan.walk()]
    assert {"tt.load", "scf.for", "tt.call", "cf.cond_br", "tt.store"} <= set(names)
    (call,) = [op for op in plan.walk() if op.name == "tt.call"]
    assert call.attributes["callee"] in plan.functions


def test_operations_know_their_lines():
    plan = plan_of(kernel, {"x": "*fp32", "n": "i32"}, {"N": 16})
    first = kernel.starting_line_number
    (load,) = [op for op in plan.walk() if op.name == "tt.load"]
    (store,) = [op for op in plan.walk() if op.name == "tt.store"]
    assert (load.location.line, store.location.line) == (first + 3, first + 8)
    assert plan.kernel.location.line in (first, first + 1)


def test_an_inlined_function_knows_its_caller():
    @triton.jit
    def inner(a):
        return a * 2

    @triton.jit
    def outer(x):
        tl.store(x, inner(tl.load(x)))

    # Helpers are found among the globals of the kernel's module.
    outer.fn.__globals__["inner"] = inner
    plan = plan_of(outer, {"x": "*i32"}, {})
    (product,) = [op for op in plan.walk() if op.name in ("arith.muli", "arith.shli")]
    lines = [place.line for place in product.location.frames()]
    assert lines == [inner.starting_line_number + 2, outer.starting_line_number + 2]


def test_attributes_of_both_kinds_are_the_operations():
    """Those that belong to it, in ``<{}>``, and those that somebody hung on, in ``{}`` behind it."""
    text = MODULE.replace(
        '"arith.constant"() <{value = 4 : i32}>', '"arith.constant"() <{value = 4 : i32}> {more = 5 : i32}'
    )
    (constant, *_) = parse_plan(text).kernel.body.blocks[0].ops
    assert constant.attributes == {"value": 4, "more": 5}
