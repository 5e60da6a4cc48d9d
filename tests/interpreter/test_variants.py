"""Other arithmetics of the interpreter: tf32, fused products, orders of sums, by exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.interpreter import variants
from triton_lab.interpreter.executable import Executable
from triton_lab.ir import parse_plan
from triton_lab.ir.contract import contracted
from triton_lab.ir.verify import verify

floats = st.floats(min_value=-(2.0**60), max_value=2.0**60, width=32)


@given(floats)
def test_tf32_is_the_nearest_of_ten_bits(x: float) -> None:
    given_, found = np.float32([x]), float(variants.to_tf32(np.float32([x]))[0])
    cut = float(variants.to_tf32(given_, nearest=False)[0])
    if abs(x) < 2.0**-100:
        return
    _, exponent = np.frexp(x)
    step = 2.0 ** (int(exponent) - 11)
    assert (Fraction(found) / Fraction(step)).denominator == 1
    assert abs(Fraction(found) - Fraction(x)) <= Fraction(step) / 2
    assert abs(cut) <= abs(x) and abs(Fraction(cut) - Fraction(x)) < Fraction(step)


def test_tf32_leaves_what_is_not_finite() -> None:
    odd = np.float32([np.inf, -np.inf, np.nan, 0.0, -0.0])
    assert np.array_equal(variants.to_tf32(odd), odd, equal_nan=True)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 64])
def test_an_order_of_halves_has_every_term_once(n: int) -> None:
    assert sorted(variants.halves(np.arange(n)).tolist()) == list(range(n))


@settings(deadline=None)
@given(st.lists(floats, min_size=1, max_size=9))
def test_every_order_adds_all_terms(terms: list[float]) -> None:
    whole = [round(term) % 1000 for term in terms]  # sums of these are exact in any order
    for table in variants.ORDERS.values():
        assert set(table) == {"tt.reduce", "tt.dot"}
    assert sum(variants.halves(np.array(whole)).tolist()) == sum(whole)


MODULE = """
"builtin.module"() ({{
  "tt.func"() <{{function_type = (f32, f32, f32) -> (), sym_name = "k", sym_visibility = "public"}}> ({{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = "arith.mulf"(%a, %b) : (f32, f32) -> f32
    %s = "arith.{op}"({operands}) : (f32, f32) -> f32
    "tt.return"() : () -> ()
  }}) : () -> ()
}}) : () -> ()
"""


@pytest.mark.parametrize(
    ("op", "operands", "names"),
    [
        ("addf", "%p, %c", ["arith.mulf", "math.fma"]),
        ("addf", "%c, %p", ["arith.mulf", "math.fma"]),
        ("subf", "%p, %c", ["arith.mulf", "arith.negf", "math.fma"]),
        ("subf", "%c, %p", ["arith.mulf", "arith.negf", "math.fma"]),
        ("addf", "%a, %c", ["arith.mulf", "arith.addf"]),
    ],
)
def test_products_are_fused_with_what_is_added(op: str, operands: str, names: list[str]) -> None:
    plan = parse_plan(MODULE.format(op=op, operands=operands))
    other = contracted(plan)
    assert [one.name for one in other.walk()][: len(names)] == names
    assert (other is plan) == ("math.fma" not in names)
    verify(other)
    Executable.of(other)
