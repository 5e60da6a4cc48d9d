"""Nests as text: what is written in C is read back as what it was, what is written in Python is executed."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triton_lab.polyhedral.core.loop_nest import (
    Binary,
    Call,
    Choose,
    Compare,
    Expr,
    For,
    If,
    Logic,
    Name,
    Number,
    Unary,
    Visit,
)
from triton_lab.polyhedral.core.nest_printer import CPrinter, PythonPrinter, shifted
from triton_lab.polyhedral.core.source_text import SourceText
from triton_lab.polyhedral.frontends.from_c import nest_from_c

VALUES = {"i": 5, "j": -3, "n": 8}


@st.composite
def expressions(draw, depth=3) -> Expr:
    kinds = ["binary", "binary", "binary", "unary", "call", "choose", "compare", "logic", "not"]
    kind = draw(st.sampled_from(["number", "name", *(kinds if depth else [])]))

    def inner() -> Expr:
        return draw(expressions(depth - 1))

    match kind:
        case "number":
            return Number(draw(st.integers(-3, 9)))
        case "name":
            return Name(draw(st.sampled_from(sorted(VALUES))))
        case "binary":
            return Binary(draw(st.sampled_from(["+", "-", "*"])), inner(), inner())
        case "unary":
            return Unary("-", inner())
        case "call":
            return Call(draw(st.sampled_from(["min", "max"])), (inner(), inner()))
        case "compare":
            return Compare(draw(st.sampled_from(["<", "<=", ">", ">=", "==", "!="])), inner(), inner())
        case "logic":
            return Logic(draw(st.sampled_from(["and", "or"])), (inner(), inner()))
        case "not":
            return Unary("not", inner())
        case _:
            return Choose(inner(), inner(), inner())


def value(e: Expr) -> int:
    match e:
        case Number():
            return e.value
        case Name():
            return VALUES[e.id]
        case Unary():
            return -value(e.operand) if e.op == "-" else int(not value(e.operand))
        case Binary():
            return {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}[e.op](value(e.left), value(e.right))
        case Call():
            return {"min": min, "max": max}[e.function](map(value, e.arguments))
        case Compare():
            names = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
            return int(getattr(int, f"__{names[e.op]}__")(value(e.left), value(e.right)))
        case Logic():
            first, second = map(value, e.operands)
            return (first and second) if e.op == "and" else (first or second)
        case Choose():
            return value(e.yes if value(e.condition) else e.no)
    raise TypeError(e)


@settings(max_examples=200, deadline=None)
@given(expressions())
def test_brackets_stand_where_they_must(e):
    assert int(eval(PythonPrinter().text(e), dict(VALUES))) == int(value(e))


OPERATIONS = {
    **{op: (2, lambda a, b, op=op: Binary(op, a, b)) for op in ("+", "-", "*")},
    **{op: (2, lambda a, b, op=op: Compare(op, a, b)) for op in ("<", "==")},
    **{op: (2, lambda a, b, op=op: Logic(op, (a, b))) for op in ("and", "or")},
    "minus": (1, lambda a: Unary("-", a)),
    "not": (1, lambda a: Unary("not", a)),
    "min": (2, lambda a, b: Call("min", (a, b))),
    "choose": (3, Choose),
}
OPERATIONS["-1"] = (1, lambda a: Unary("-", a))
PLACES = [
    (outer, place, inner) for outer in OPERATIONS for place in range(OPERATIONS[outer][0]) for inner in OPERATIONS
]


@pytest.mark.parametrize(("outer", "place", "inner"), PLACES)
def test_brackets_stand_where_they_must_with_every_operation_in_every_place_of_every_other(
    outer, place, inner, monkeypatch
):
    leaves = [Name("i"), Name("j"), Name("n"), Number(2), Number(-1)]
    (many, around), (few, within) = OPERATIONS[outer], OPERATIONS[inner]
    e = around(*[within(*leaves[:few]) if k == place else leaves[few + k - (k > place)] for k in range(many)])
    python, c = PythonPrinter().text(e), CPrinter().text(e)
    (assigned,) = nest_from_c(SourceText(f"x = {c};")).body
    for i, j, n in itertools.product((-1, 0, 1, 2), (0, 1, 3), (1, 2)):
        for name, number in zip("ijn", (i, j, n), strict=True):
            monkeypatch.setitem(VALUES, name, number)
        assert int(eval(python, dict(VALUES))) == int(value(e)) == int(value(assigned.value)), (python, c)


def without_a_pair(text: str) -> Iterator[str]:
    """The text without one pair of brackets at a time, but for those of calls and of two signs in a row."""
    opened = []
    for place, letter in enumerate(text):
        if letter == "(":
            opened.append(place)
        elif letter == ")":
            start = opened.pop()
            before = text[:start]
            if not before[-1:].isalnum() and not (before.endswith("-") and text[start + 1] == "-"):
                yield f"{before}{text[start + 1 : place]}{text[place + 1 :]}"


# A choice that is a choice's last has brackets for who reads it.
@pytest.mark.parametrize(("outer", "place", "inner"), [each for each in PLACES if each != ("choose", 2, "choose")])
def test_no_brackets_stand_where_they_need_not(outer, place, inner):
    """Without any pair Python would read another expression, or none."""
    leaves = [Name("i"), Name("j"), Name("n"), Name("k"), Name("l")]
    (many, around), (few, within) = OPERATIONS[outer], OPERATIONS[inner]
    e = around(*[within(*leaves[:few]) if k == place else leaves[few + k - (k > place)] for k in range(many)])
    text = PythonPrinter().text(e)
    for other in without_a_pair(text):
        try:
            read = ast.dump(ast.parse(other))
        except SyntaxError:
            continue
        assert read != ast.dump(ast.parse(text)), (text, other)


@pytest.mark.parametrize(
    ("e", "c", "python"),
    [
        (Binary("*", Binary("+", Name("i"), Number(1)), Name("j")), "(i + 1) * j", "(i + 1) * j"),
        (Binary("+", Name("i"), Binary("*", Number(2), Name("j"))), "i + 2 * j", "i + 2 * j"),
        (Binary("-", Name("i"), Binary("-", Name("j"), Name("n"))), "i - (j - n)", "i - (j - n)"),
        (Binary("-", Binary("-", Name("i"), Name("j")), Name("n")), "i - j - n", "i - j - n"),
        (Binary("//", Name("i"), Number(2)), "floord(i, 2)", "i // 2"),
        (Binary("**", Name("i"), Number(2)), "pow(i, 2)", "i ** 2"),
        (Unary("-", Binary("+", Name("i"), Number(1))), "-(i + 1)", "-(i + 1)"),
        (Binary("*", Name("i"), Number(-1)), "i * -1", "i * -1"),
        (Unary("-", Unary("-", Name("i"))), "-(-i)", "-(-i)"),
        (Unary("-", Number(-2)), "-(-2)", "-(-2)"),
        (Binary("-", Name("i"), Unary("-", Name("j"))), "i - -j", "i - -j"),
        (Unary("not", Compare("<", Name("i"), Name("n"))), "!(i < n)", "not i < n"),
        (Logic("and", (Name("i"), Logic("or", (Name("j"), Name("n"))))), "i && (j || n)", "i and (j or n)"),
        (Choose(Name("i"), Name("j"), Number(7)), "i ? j : 7", "j if i else 7"),
        (Call("float32", (Name("i"),)), "(float)(i)", "float32(i)"),
        (Binary("+", Choose(Name("i"), Name("j"), Number(7)), Number(1)), "(i ? j : 7) + 1", "(j if i else 7) + 1"),
        (Compare("<", Compare("<", Name("i"), Name("j")), Name("n")), "(i < j) < n", "(i < j) < n"),
        (Compare("==", Name("i"), Compare("<", Name("j"), Name("n"))), "i == (j < n)", "i == (j < n)"),
        (Logic("or", (Logic("and", (Name("i"), Name("j"))), Number(7))), "i && j || 7", "i and j or 7"),
    ],
)
def test_how_expressions_are_written(e, c, python):
    assert (CPrinter().text(e), PythonPrinter().text(e)) == (c, python)


BODY = (Visit("S0", (Name("i"),)),)
LOOPS = [
    (0, 1, (("<", 8),), "for (int i = 0; i < 8; i++)", "for i in range(8):"),
    (2, 1, (("<=", 8),), "for (int i = 2; i <= 8; i++)", "for i in range(2, 9):"),
    (0, 3, (("<", 8),), "for (int i = 0; i < 8; i += 3)", "for i in range(0, 8, 3):"),
    (8, -1, ((">", 2),), "for (int i = 8; i > 2; i--)", "for i in range(8, 2, -1):"),
    (8, -2, ((">=", 2),), "for (int i = 8; i >= 2; i -= 2)", "for i in range(8, 1, -2):"),
    (0, 1, (("<", 8), ("<=", 4)), "for (int i = 0; i < 8 && i <= 4; i++)", "for i in range(min(8, 5)):"),
    (8, -1, ((">", 2), (">=", 5)), "for (int i = 8; i > 2 && i >= 5; i--)", "for i in range(8, max(2, 4), -1):"),
]


@pytest.mark.parametrize(("start", "step", "ends", "c", "python"), LOOPS)
def test_how_loops_are_written(start, step, ends, c, python):
    loop = For("i", Number(start), tuple(Compare(op, Name("i"), Number(end)) for op, end in ends), step, BODY)
    assert CPrinter().lines(loop, 0) == [c, "  S0(i);"]
    assert PythonPrinter().lines(loop, 0) == [python, "    S0(i)"]
    visited: list[int] = []
    exec("\n".join(PythonPrinter().lines(loop, 0)), {"S0": visited.append})
    compare = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__}
    i, expected = start, []
    while all(compare[op](i, end) for op, end in ends):
        expected.append(i)
        i += step
    assert visited == expected


def test_blocks_have_brackets_where_there_is_more_than_one_statement():
    one, two = (If(Name("c"), BODY * count, BODY * count) for count in (1, 2))
    assert CPrinter().lines(one, 1) == ["  if (c)", "    S0(i);", "  else", "    S0(i);"]
    assert CPrinter().lines(two, 0) == ["if (c) {", "  S0(i);", "  S0(i);", "}", "else {", "  S0(i);", "  S0(i);", "}"]
    assert PythonPrinter().lines(two, 0) == ["if c:", "    S0(i)", "    S0(i)", "else:", "    S0(i)", "    S0(i)"]
    assert PythonPrinter().lines(If(Name("c"), (), ()), 0) == ["if c:", "    pass"]
    assert CPrinter().lines(If(Name("c"), BODY, ()), 0) == ["if (c)", "  S0(i);"]


@settings(max_examples=100, deadline=None)
@given(expressions(2), st.integers(-3, 3).filter(bool))
def test_what_is_shifted_is_more_by_that_much(e, amount):
    assert value(shifted(e, amount)) == value(e) + amount


def test_a_shift_is_folded_into_the_last_number():
    n = Name("n")
    for start, amount, shown in (
        (Binary("-", n, Number(1)), 1, "n"), (Binary("+", n, Number(1)), 1, "n + 2"), (n, -1, "n - 1"),
        (Binary("-", n, Number(1)), -1, "n - 2"), (Binary("+", n, Number(1)), -3, "n - 2"), (Number(4), -5, "-1"),
        (Call("min", (n, Number(3))), 1, "min(n + 1, 4)"), (Call("f", (n,)), 1, "f(n) + 1"),
    ):  # fmt: skip
        assert PythonPrinter().text(shifted(start, amount)) == shown
