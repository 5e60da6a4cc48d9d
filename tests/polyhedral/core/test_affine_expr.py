"""Affine expressions with quotients mean the integers they say, however they are put together or written down."""

from __future__ import annotations

import re

import islpy as isl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.polyhedral.core.affine_expr import (
    AffineExpr,
    Quotient,
    isl_name,
    latex_name,
    quotient_columns,
    source_name,
)
from triton_lab.polyhedral.core.loop_nest import Binary, Expr, Name, Number
from triton_lab.polyhedral.core.nest_printer import PythonPrinter

VALUES = {"i": 7, "j": -5, "n": 13}
small = st.integers(-6, 6)
divisors = st.integers(1, 5)


@st.composite
def expressions(draw, depth=2) -> AffineExpr:
    """Sums of names, and of quotients of such sums."""
    terms: dict = {}
    for name in draw(st.sets(st.sampled_from(sorted(VALUES)), max_size=2)):
        terms[name] = draw(small)
    if depth:
        for inner in draw(st.lists(expressions(depth - 1), max_size=2)):
            terms[Quotient(inner, draw(divisors))] = draw(small)
    return AffineExpr.make(terms, draw(small))


def number(expression: AffineExpr) -> int:
    return expression.evaluate(VALUES)


def executed(expression: Expr) -> int:
    return eval(PythonPrinter().text(expression), dict(VALUES))


@settings(max_examples=100, deadline=None)
@given(expressions(), expressions(), small, st.integers(-5, 5).filter(bool))
def test_arithmetic_is_that_of_integers(a, b, factor, divisor):
    assert number(a + b) == number(a) + number(b)
    assert number(a + factor) == number(a) + factor
    assert number(a - b) == number(a) - number(b)
    assert number(-a) == -number(a)
    assert number(a * factor) == number(a) * factor
    assert number(a // divisor) == number(a) // divisor
    assert number(a % divisor) == number(a) % divisor
    assert number(a.substitute({"i": b})) == a.evaluate({**VALUES, "i": number(b)})
    assert a + b == b + a and a - a == AffineExpr()


@settings(max_examples=80, deadline=None)
@given(expressions())
def test_an_expression_is_written_as_what_it_is(a):
    """For Python, for isl and for readers."""
    assert executed(a.as_expression()) == number(a)
    point = ", ".join(f"{name} = {value}" for name, value in VALUES.items())
    found = isl.Set(f"{{ [i, j, n, value] : {point.replace(',', ' and')} and value = {a.isl} }}")
    assert found.sample_point().get_coordinate_val(isl.dim_type.set, 3).to_python() == number(a)
    shown = re.sub(r"(\d)([ijn⌊])", r"\1*\2", str(a)).replace("/", "//")
    assert eval(shown.replace("⌊", "(").replace("⌋", ")"), dict(VALUES)) == number(a)
    assert not str(a).startswith("- ") and "+ -" not in str(a)


def test_what_divides_evenly_stands_outside_and_nested_quotients_are_one():
    i, j = AffineExpr.of("i"), AffineExpr.of("j")
    assert (i * 4 + j + 7) // 4 == i + 1 + AffineExpr.of(Quotient(j + 3, 4))
    assert (i * 4 + 8) // 4 == i + 2 and ((i * 4 + 8) // 4).quotients == ()
    nested = (i // 3) // 5
    assert nested == AffineExpr.of(Quotient(i, 15))
    assert ((i // 3) + 5) // 5 == nested + 1
    assert ((i // 3) * 2) // 5 != AffineExpr.of(Quotient(i * 2, 15))
    assert ((i // 3) + j) // 5 == AffineExpr.of(Quotient(AffineExpr.of(Quotient(i, 3)) + j, 5))
    assert ((i // 3) + 1) // 5 == AffineExpr.of(Quotient(AffineExpr.of(Quotient(i, 3)) + 1, 5))


@pytest.mark.parametrize(
    ("expression", "text", "is_sum", "is_constant"),
    [
        (AffineExpr(), "0", False, True),
        (AffineExpr((), -3), "-3", False, True),
        (AffineExpr.of("i"), "i", False, False),
        (AffineExpr.of("i") * -1, "-i", False, False),
        (AffineExpr.of("i") * 2, "2i", False, False),
        (AffineExpr.of("i") + 1, "i + 1", True, False),
        (AffineExpr.of("j") - AffineExpr.of("i"), "j - i", True, False),
        (AffineExpr.of("i") * -1 - 1, "-i - 1", True, False),
        (AffineExpr.of("j") * 3 - AffineExpr.of("i") * 2 + 4, "3j - 2i + 4", True, False),
        (AffineExpr.of("i") // 4, "⌊i/4⌋", False, False),
        ((AffineExpr.of("i") + 1) // 4, "⌊(i + 1)/4⌋", False, False),
        (AffineExpr.of("i") % 4, "i - 4⌊i/4⌋", True, False),
    ],
)
def test_how_expressions_are_written(expression, text, is_sum, is_constant):
    assert str(expression) == text
    assert (expression.is_sum, expression.is_constant) == (is_sum, is_constant)
    latex = text.replace("⌊", r"\lfloor ").replace("/", " / ").replace("⌋", r" \rfloor").replace("4\\", "4 \\")
    assert expression.latex.replace("2 i", "2i").replace("3 j", "3j") == latex


def test_rows_columns_and_names():
    quotient = Quotient(AffineExpr.of("n") + 1, 2)
    a = AffineExpr.make({"j": 2, quotient: -3}, 5)
    assert a.row(["i", "j", quotient]) == (0, 2, -3)
    assert a.names == {"j", "n"} and a.quotients == (quotient,)
    assert quotient_columns([AffineExpr.of("i"), a, a + AffineExpr.of(Quotient(a, 7))]) == (quotient, Quotient(a, 7))


@pytest.mark.parametrize(("name", "safe"), [("i", "i"), ("min", "min_"), ("min_", "min__"), ("minimum", "minimum")])
def test_names_that_are_words_of_isl(name, safe):
    assert isl_name(name) == safe and source_name(safe) == name
    assert source_name("a_") == "a_"


def test_names_in_formulas():
    assert [latex_name(name) for name in ("i", "rows", "n_k")] == ["i", r"\mathrm{rows}", r"\mathrm{n\_k}"]


def test_an_expression_of_a_nest():
    assert AffineExpr.make({"i": 1, "j": 3}, 2).as_expression() == Binary(
        "+", Binary("+", Number(2), Name("i")), Binary("*", Number(3), Name("j"))
    )


@given(expressions())
def test_a_nest_is_given_no_factor_of_one(expression: AffineExpr) -> None:
    """Kernels and programs are written from these: ``1 * i`` is noise."""
    for each in [expression, *(quotient.numerator for quotient in expression.quotients)]:
        text = PythonPrinter().text(each.as_expression())
        factors = re.findall(r"(?<![\w/] )(?<!\w)(-?\d+) \*", text)
        assert "1" not in factors, text
    for name, value in (("i", 1), ("i", 3), ("i", -1)):
        text = PythonPrinter().text((AffineExpr.of(name) * value + 2).as_expression())
        assert ("*" in text) == (value != 1)
