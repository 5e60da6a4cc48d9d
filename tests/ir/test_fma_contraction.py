"""Products fused with what is added to them: the numbers stay those of the plan before."""

from __future__ import annotations

from fractions import Fraction

import pytest

from triton_lab.ir import Plan, parse_plan
from triton_lab.ir.fma_contraction import contracted
from triton_lab.ir.verify import verify

MODULE = """
"builtin.module"() ({{
  "tt.func"() <{{function_type = (f32, f32, f32, f32) -> f32, sym_name = "k", sym_visibility = "public"}}> ({{
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
{lines}
    "tt.return"(%r) : (f32) -> ()
  }}) : () -> ()
}}) : () -> ()
"""
RULES = {
    "arith.addf": lambda x, y: x + y,
    "arith.subf": lambda x, y: x - y,
    "arith.mulf": lambda x, y: x * y,
    "arith.negf": lambda x: -x,
    "math.fma": lambda x, y, z: x * y + z,
}


def plan_of(*lines: str) -> Plan:
    """``r = add p c`` a line."""
    text = []
    for line in lines:
        result, _, op, *operands = line.split()
        types = ", ".join(["f32"] * len(operands))
        text.append(f'    %{result} = "arith.{op}"({", ".join(f"%{each}" for each in operands)}) : ({types}) -> f32')
    return parse_plan(MODULE.format(lines="\n".join(text)))


def returned(plan: Plan) -> Fraction:
    """What the kernel returns of four numbers that no two ways to combine them give alike."""
    (function,) = plan.functions.values()
    (block,) = function.body.blocks
    values = dict(zip(block.arguments, map(Fraction, (2, 3, 101, 1009)), strict=True))
    for op in block.ops:
        if op.name == "tt.return":
            return values[op.operands[0]]
        values[op.results[0]] = RULES[op.name](*(values[number] for number in op.operands))
    raise AssertionError("no return")


CASES = {
    "p + c": (["p = mulf a b", "r = addf p c"], 1),
    "c + p": (["p = mulf a b", "r = addf c p"], 1),
    "p - c": (["p = mulf a b", "r = subf p c"], 1),
    "c - p": (["p = mulf a b", "r = subf c p"], 1),
    "p + q": (["p = mulf a b", "q = mulf c d", "r = addf p q"], 1),
    "p - q": (["p = mulf a b", "q = mulf c d", "r = subf p q"], 1),
    "p + p": (["p = mulf a b", "r = addf p p"], 1),
    "p - p": (["p = mulf a b", "r = subf p p"], 1),
    "c + d": (["p = mulf a b", "r = addf c d"], 0),
    "p * c": (["p = mulf a b", "r = mulf p c"], 0),
    "p + c + d": (["p = mulf a b", "s = addf p c", "r = addf s d"], 1),
    "(p + c) * (d - q)": (["p = mulf a b", "q = mulf a d", "s = addf p c", "t = subf d q", "r = mulf s t"], 2),
    "(p - c) - (q - d)": (["p = mulf a b", "q = mulf a d", "s = subf p c", "t = subf q d", "r = subf s t"], 2),
}


@pytest.mark.parametrize("what", CASES)
def test_a_fused_plan_computes_the_same_in_exact_numbers(what: str) -> None:
    lines, fused = CASES[what]
    plan = plan_of(*lines)
    other = contracted(plan)
    assert returned(other) == returned(plan)
    names = [op.name for op in other.walk()]
    assert names.count("math.fma") == fused and (other is plan) == (not fused)
    assert names.count("arith.mulf") == [op.name for op in plan.walk()].count("arith.mulf")
    verify(other)
    # Operations keep their numbers, and what is new gets one of its own.
    numbers = [op.index for op in other.walk()]
    assert len(set(numbers)) == len(numbers)
    before = {op.results: op.index for op in plan.walk() if op.results}
    assert all(before.get(op.results, op.index) == op.index for op in other.walk())


def test_of_two_products_the_first_is_fused() -> None:
    other = contracted(plan_of("p = mulf a b", "q = mulf c d", "r = addf p q"))
    (function,) = other.functions.values()
    fma = next(op for op in function.walk() if op.name == "math.fma")
    products = [op for op in function.walk() if op.name == "arith.mulf"]
    assert fma.operands == (*products[0].operands, products[1].results[0])


NESTED = """
"builtin.module"() ({
  "tt.func"() <{function_type = (f32, f32, i1, tensor<4xf32>) -> (), sym_name = "k", sym_visibility = "public"}> ({
  ^bb0(%a: f32, %b: f32, %c: i1, %t: tensor<4xf32>):
    %p = "arith.mulf"(%a, %b) : (f32, f32) -> f32
    %s = "scf.if"(%c) ({
      %q = "arith.addf"(%p, %a) : (f32, f32) -> f32
      "scf.yield"(%q) : (f32) -> ()
    }, {
      %n = "arith.subf"(%b, %p) : (f32, f32) -> f32
      "scf.yield"(%n) : (f32) -> ()
    }) : (i1) -> f32
    %r = "tt.reduce"(%t) <{axis = 0 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %m = "arith.mulf"(%x, %y) : (f32, f32) -> f32
      %z = "arith.addf"(%m, %y) : (f32, f32) -> f32
      "tt.reduce.return"(%z) : (f32) -> ()
    }) : (tensor<4xf32>) -> f32
    "tt.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
"""


def test_sides_and_loops_are_fused_and_what_a_reduction_is_made_of() -> None:
    plan = parse_plan(NESTED)
    other = contracted(plan)
    inner = {op.name: [one.name for one in op.walk()][1:] for op in other.walk() if op.regions and op.name != "tt.func"}
    assert inner["scf.if"] == ["math.fma", "scf.yield", "arith.negf", "math.fma", "scf.yield"]
    assert inner["tt.reduce"] == ["arith.mulf", "math.fma", "tt.reduce.return"]
    verify(other)
