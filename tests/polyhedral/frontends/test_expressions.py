"""Expressions of both languages: any tree that is written down is read back, each part with its own place."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wordings import Wording
from triton_lab.polyhedral import scop
from triton_lab.polyhedral.core.loop_nest import (
    Assign,
    Binary,
    Call,
    Choose,
    Compare,
    Expr,
    For,
    If,
    Load,
    Logic,
    Name,
    Number,
    Unary,
    walk,
)
from triton_lab.polyhedral.core.source_text import NotAScop, SourceText
from triton_lab.polyhedral.frontends.from_c import nest_from_c
from triton_lab.polyhedral.frontends.from_python import nest_from_python


@dataclass(frozen=True)
class Written:
    """An expression, its text, and the texts of it and of all in it, in the order of `walk`."""

    expression: Expr
    text: str
    parts: tuple[str, ...]


def _leaf(expression: Expr, text: str) -> Written:
    return Written(expression, text, (text,))


def _of(expression: Expr, text: str, *inside: Written) -> Written:
    return Written(expression, text, (text, *(part for each in inside for part in each.parts)))


def _bracketed(each: Written, space: str) -> str:
    return f"({space}{each.text}{space})" if children_of(each) else each.text


def children_of(each: Written) -> bool:
    return len(each.parts) > 1 and not isinstance(each.expression, (Load, Call))


NAMES = ("i", "n", "alpha")
LEAVES = st.one_of(
    st.sampled_from([_leaf(Name(name), name) for name in NAMES]),
    st.integers(0, 2000).map(lambda value: _leaf(Number(value), str(value))),
    st.sampled_from([0.5, 1.5, 20.25]).map(lambda value: _leaf(Number(value), str(value))),
)
C_LEAVES = st.one_of(
    LEAVES,
    st.integers(0, 600).map(lambda value: _leaf(Number(value), hex(value))),
    st.integers(1, 600).map(lambda value: _leaf(Number(value), f"0{value:o}")),
    st.integers(0, 600).map(lambda value: _leaf(Number(value), f"{value}L")),
    st.sampled_from([0.5, 1.25]).map(lambda value: _leaf(Number(value), f"{value}f")),
)


def _expressions(c: bool) -> st.SearchStrategy[Written]:
    both = ("&&", "||", "!") if c else ("and", "or", "not ")
    space = st.sampled_from(["", " ", "  "])

    def larger(smaller: st.SearchStrategy[Written]) -> st.SearchStrategy[Written]:
        def binary(op: str, left: Written, right: Written, gap: str) -> Written:
            text = f"{_bracketed(left, gap)} {op}{gap} {_bracketed(right, gap)}"
            if op in ("<", "<=", ">", ">=", "==", "!="):
                return _of(Compare(op, left.expression, right.expression), text, left, right)
            if op in both:
                logic = Logic("and" if op == both[0] else "or", (left.expression, right.expression))
                return _of(logic, text, left, right)
            return _of(Binary(op, left.expression, right.expression), text, left, right)

        def unary(op: str, operand: Written, gap: str) -> Written:
            inner = f"({gap}{operand.text})" if len(operand.parts) > 1 else operand.text
            expression = Unary("-" if op == "-" else "not", operand.expression)
            return _of(expression, f"{op}{inner}", operand)

        def load(indices: list[Written], gap: str, comma: bool) -> Written:
            separator = f",{gap}" if comma else "]["
            text = f"A[{separator.join(each.text for each in indices)}]"
            return _of(Load("A", tuple(each.expression for each in indices)), text, *indices)

        def call(function: str, arguments: list[Written], gap: str) -> Written:
            text = f"{function}({f',{gap}'.join(each.text for each in arguments)})"
            return _of(Call(function, tuple(each.expression for each in arguments)), text, *arguments)

        def choose(condition: Written, yes: Written, no: Written, gap: str) -> Written:
            a, b, d = (_bracketed(each, gap) for each in (condition, yes, no))
            text = f"{a} ? {b} : {d}" if c else f"{b} if {a} else {d}"
            return _of(Choose(condition.expression, yes.expression, no.expression), text, condition, yes, no)

        operators = ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", *both[:2]]
        if not c:
            operators += ["//", "**"]
        return st.one_of(
            st.builds(binary, st.sampled_from(operators), smaller, smaller, space),
            st.builds(unary, st.sampled_from(["-", both[2]]), smaller, space),
            st.builds(load, st.lists(smaller, min_size=1, max_size=3), space, st.booleans()),
            st.builds(call, st.sampled_from(["min", "max"]), st.lists(smaller, min_size=1, max_size=3), space),
            st.builds(call, st.sampled_from(["sqrt", "floor"]), st.lists(smaller, min_size=1, max_size=1), space),
            st.builds(choose, smaller, smaller, smaller, space),
        )

    return st.recursive(C_LEAVES if c else LEAVES, larger, max_leaves=6)


def _without_brackets(text: str) -> str:
    """What is the same however the expression is bracketed and spaced."""
    return re.sub(r"[\s()]", "", text)


@settings(max_examples=60, deadline=None)
@given(_expressions(c=True), st.integers(0, 2))
def test_c_is_read_as_it_is_written_and_each_part_has_its_place(written: Written, before: int) -> None:
    text = "/* a\n comment */ " + "\n" * before + f"x = {written.text};"
    (assigned,) = nest_from_c(SourceText(text)).body
    assert isinstance(assigned, Assign) and assigned.value == written.expression
    lines = text.splitlines()
    for part, own in zip(walk(assigned.value), written.parts, strict=True):
        assert part.span.line == before + 2
        shown = lines[part.span.line - 1][part.span.column - 1 : part.span.end - 1]
        assert _without_brackets(shown) == _without_brackets(own)
        assert shown.count("(") <= shown.count(")"), "what is opened is closed"


@settings(max_examples=60, deadline=None)
@given(_expressions(c=False), st.integers(1, 30), st.sampled_from(["", "    ", "\t"]), st.sampled_from(["", "'ö'; "]))
def test_python_is_read_as_it_is_written_and_each_part_has_its_place(
    written: Written, first: int, indent: str, before: str
) -> None:
    body = f"if n > 0:\n    {before}x = {written.text}"
    source = SourceText(textwrap.indent(body, indent), first)
    (condition,) = nest_from_python(source).body
    assert isinstance(condition, If)
    (assigned,) = condition.body
    assert isinstance(assigned, Assign) and assigned.value == written.expression
    for part, own in zip(walk(assigned.value), written.parts, strict=True):
        assert part.span.line == first + 1
        assert source.line(part.span.line)[part.span.column - 1 : part.span.end - 1] == own
    assert (condition.span.line, condition.span.column) == (first, len(indent) + 1)


# Python's own word on where its errors are.
SYNTAX_ERRORS = [
    "x = (1",
    "for i in range(n)\n    A[i] = 0",
    "if a:\nx = 1",
    "x = 1 +",
    "A[0] = 3 3",
    "x = 'a",
    "a b c",
]


@pytest.mark.parametrize("first", [1, 2, 40])
@pytest.mark.parametrize("indent", ["", "        "])
@pytest.mark.parametrize("text", SYNTAX_ERRORS)
def test_what_is_no_python_is_told_where_python_tells_it(text: str, indent: str, first: int) -> None:
    with pytest.raises(SyntaxError) as theirs:
        ast.parse(text)
    source = SourceText(textwrap.indent(text, indent), first)
    with pytest.raises(NotAScop) as ours:
        nest_from_python(source)
    error = theirs.value
    assert error.lineno and error.offset
    assert ours.value.line == error.lineno + first - 1
    assert ours.value.column == error.offset + len(indent)
    same = error.end_lineno == error.lineno and (error.end_offset or 0) > error.offset
    assert ours.value.end == (error.end_offset if same else error.offset + 1) + len(indent)  # type: ignore[operator]
    assert ours.value.source_line == source.text.splitlines()[error.lineno - 1]


COMPARED = {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}


@pytest.mark.parametrize("op", COMPARED)
@pytest.mark.parametrize(
    ("change", "step"),
    [
        ("i += 3", 3), ("i -= 3", -3), ("i = i + 2", 2), ("i = i - 2", -2), ("i += -4", -4), ("i -= -4", 4),
        ("i = i + -5", -5), ("i = i - -5", 5), ("i++", 1), ("++i", 1), ("i--", -1), ("--i", -1),
    ],
)  # fmt: skip
def test_a_loop_of_c_has_its_start_conditions_and_step(op: str, change: str, step: int) -> None:
    text = f"for (int i = n; i {op} 7 && i < 2 * n; {change}) A[i] = 0;"
    (loop,) = nest_from_c(SourceText(text)).body
    assert isinstance(loop, For)
    assert (loop.iterator, loop.start, loop.step) == ("i", Name("n"), step)
    assert loop.conditions == (
        Compare(op, Name("i"), Number(7)),
        Compare("<", Name("i"), Binary("*", Number(2), Name("n"))),
    )
    assert loop.body == (Assign(Load("A", (Name("i"),)), Number(0)),)


@pytest.mark.parametrize(
    ("text", "label", "facts"),
    [
        ("for (int i = 0; i < n; j++) A[i] = 0;", "advance", {"iterator": "i"}),
        ("for (int i = 0; i < n; j += 1) A[i] = 0;", "advance", {"iterator": "i"}),
        ("for (int i = 0; i < n; i = j + 1) A[i] = 0;", "advance", {"iterator": "i"}),
        ("for (int i = 0; i < n; j = i + 1) A[i] = 0;", "advance", {"iterator": "i"}),
        ("for (int i = 0; i < n; i = i * 2) A[i] = 0;", "advance", {"iterator": "i"}),
        ("for (int i = 0; i < n; ) A[i] = 0;", "advance", {"iterator": "i"}),
        ("for (int i = 0; i < n; i += m) A[i] = 0;", "step", {}),
        ("for (int i = 0; i < n; i += 1.5) A[i] = 0;", "step", {}),
        ("for (int i = 0; i < n; i += !1) A[i] = 0;", "step", {}),
        ("for (int i = 0; i < n; i += 0) A[i] = 0;", "endless", {"step": 0}),
        ("for (int i = 0; i < n; i = i - 0) A[i] = 0;", "endless", {"step": 0}),
        ("for (int i; i < n; i++) A[i] = 0;", "start", {}),
        ("for (i += 1; i < n; i++) A[i] = 0;", "start", {}),
        ("for (float i = 0; i < n; i++) A[i] = 0;", "integer", {"iterator": "i"}),
        ("A[0] = L'a';", "number", {"given": "L'a'"}),
        ("A[0] = (x, 2);", "expression", {}),
        ("A[0] = s.x;", "struct", {}),
        ("A[0] = p->x;", "struct", {}),
        ("L: A[0] = 1; L: A[1] = 1;", "label", {"name": "L"}),
        ("A[0] = *p;", "pointer", {}),
        ("A[0] = &p;", "pointer", {}),
        ("A[0] = i++;", "side effect", {}),
        ("A[0] = 1 + --i;", "side effect", {}),
        ("A[0] = 1 + (x = 2);", "side effect", {}),
        ("A[0] = f(2);", "function", {}),
        ("A[0] = sqrt(2, 3);", "arguments", {"function": "sqrt", "arguments": 1}),
        ("A[0] = min();", "no arguments", {"function": "min"}),
        ("f(2)[0] = 1;", "array", {}),
        ("(a + b) = 1;", "target", {}),
        ("int *p;", "declaration", {}),
        ("int B[2] = {1, 2};", "declaration", {}),
        ("struct s x;", "struct", {}),
        ("float _Complex x;", "type", {"given": "_Complex float"}),
        ("goto end;", "goto", {"statement": "goto"}),
        ("switch (n) { }", "switch", {"statement": "switch"}),
        ("do n = 1; while (n);", "do-while", {"statement": "do-while"}),
        ("return;", "return", {"statement": "return"}),
        ("x;", "statement", {"given": "ID"}),
    ],
)
def test_what_c_may_not_say_is_refused_with_its_reason(
    text: str, label: str, facts: dict[str, object], wording: Wording
) -> None:
    with pytest.raises(NotAScop) as refused:
        nest_from_c(SourceText(text))
    wording(refused.value.reason, label, **facts)


@pytest.mark.parametrize(
    ("text", "label", "facts"),
    [
        ("for i, j in range(3): A[i] = 0", "iterator", {}),
        ("for i in range(3):\n    A[i] = 0\nelse:\n    A[0] = 1", "else", {"statement": "else"}),
        ("for i in range(): A[i] = 0", "range", {"range": "range(...)"}),
        ("for i in range(1, 2, 3, 4): A[i] = 0", "range", {"range": "range(...)"}),
        ("for i in rows(3): A[i] = 0", "range", {"range": "range(...)"}),
        ("for i in range(0, n, m): A[i] = 0", "step", {}),
        ("for i in range(0, n, 1.5): A[i] = 0", "step", {}),
        ("for i in range(0, n, -m): A[i] = 0", "step", {}),
        ("A[0] **= 2", "assignment", {}),
        ("A[0] //= 2", "assignment", {}),
        ("A[0] = a @ b", "expression", {}),
        ("A[0] = 1j", "expression", {}),
        ("A[0] = n in B", "expression", {}),
        ("A[0] = 0 < n in B", "expression", {}),
        ("A[0] = min(n, key=3)", "function", {}),
        ("A[0] = f(2)", "function", {}),
        ("A[0] = sqrt(2, 3)", "arguments", {"function": "sqrt", "arguments": 1}),
        ("A[0] = min()", "no arguments", {"function": "min"}),
        ("f(2)[0] = 1", "array", {}),
        ("a.b = 1", "target", {}),
        ("f(2)", "call", {}),
        ("x", "statement", {"given": "Expr"}),
        ("import a", "statement", {"given": "Import"}),
        ("for i in range(3):\n    return", "return", {"statement": "return"}),
    ],
)
def test_what_python_may_not_say_is_refused_with_its_reason(
    text: str, label: str, facts: dict[str, object], wording: Wording
) -> None:
    with pytest.raises(NotAScop) as refused:
        nest_from_python(SourceText(text))
    wording(refused.value.reason, label, **facts)


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("range(9)", (Number(0), Number(9)), 1),
        ("range(2, n)", (Number(2), Name("n")), 1),
        ("range(2, n, 3)", (Number(2), Name("n")), 3),
        ("range(n, 2, -3)", (Name("n"), Number(2)), -3),
    ],
)
def test_a_loop_of_python_has_its_start_condition_and_step(text: str, arguments: Any, expected: int) -> None:
    (loop,) = nest_from_python(SourceText(f"for i in {text}:\n    A[i] = 0")).body
    assert isinstance(loop, For)
    start, stop = arguments
    assert (loop.iterator, loop.start, loop.step) == ("i", start, expected)
    assert loop.conditions == (Compare("<" if expected > 0 else ">", Name("i"), stop),)


ARGUMENTS = [
    ("int n", "int32"), ("long n", "int64"), ("long long n", "int64"), ("short n", "int16"), ("long int n", "int64"),
    ("float *n", "float32"), ("double n[4][4]", "float64"), ("const float n[]", "float32"),
    ("long double n", "float64"), ("signed int n", "int32"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "dtype"), ARGUMENTS, ids=[each[0] for each in ARGUMENTS])
def test_a_function_of_c_declares_the_types_of_its_arguments(written: str, dtype: str) -> None:
    nest = nest_from_c(SourceText(f"void f(double *A, {written}) {{ A[0] = 1; }}"))
    assert nest.types == (("A", "float64"), ("n", dtype))
    assert nest.language == "c"


def test_a_type_that_is_not_read_matters_only_where_it_is_used() -> None:
    nest = nest_from_c(SourceText("void f(struct s n, double *A) { A[0] = 1; }"))
    assert nest.types == (("A", "float64"),)


@pytest.mark.parametrize("divided", ["i / 0", "i % 0", "i / n"])
def test_a_subscript_is_divided_by_what_is_above_nothing(divided: str) -> None:
    with pytest.raises(NotAScop):
        scop(f"for (int i = 0; i < 9; i++) A[{divided}] = 0;")


@pytest.mark.parametrize(
    ("text", "shown", "label", "facts"),
    [
        ("{ x = 1; } { y = 2; } }", (1, 23, 24), "unexpected", {"given": "'}'"}),
        ("{ x = 1; } { y = ; }", (1, 18, 19), "unexpected", {"given": "';'"}),
        ("{ x = 1; { y = 2; } z = 3; } w == ] 1;", (1, 35, 36), "unexpected", {"given": "']'"}),
        ("{ x = 1; {", (1, 11, 12), "ended", {}),
        ("for (int i = 0; i < 3; i++)  \n  ", (1, 28, 29), "expected", {"expected": "';'", "after": "')'"}),
        ("for (int i = 0; i < 3;", (1, 23, 24), "ended", {}),
        ("if (f(1) < 2) int x = 0;", (1, 15, 18), "body", {}),
        ("while ((a) < (b)) double x = 0;", (1, 19, 25), "body", {}),
        ("x = (1) float y = 0;", (1, 9, 14), "unexpected", {"given": "'float'"}),
        ("x = 1 2;", (1, 7, 8), "unexpected", {"given": "'2'"}),
        ("x = 1\n y = 2;", (1, 6, 7), "expected", {"expected": "';'", "after": "'1'"}),
        ("{ x = 1 }", (1, 8, 9), "expected", {"expected": "';'", "after": "'1'"}),
        ("x = 12.5", (1, 9, 10), "expected", {"expected": "';'", "after": "'12.5'"}),
        ("x = 1;\n  #error y 2", (2, 3, 13), "preprocessor", {"word": "error"}),
        ("#define F(a) a ## 1\nx = 1;", (1, 1, 20), "macro", {}),
    ],
)
def test_what_is_no_c_is_told_with_its_reason_and_extent(
    text: str, shown: tuple[int, int, int], label: str, facts: dict[str, object], wording: Wording
) -> None:
    with pytest.raises(NotAScop) as caught:
        nest_from_c(SourceText(text))
    assert (caught.value.line, caught.value.column, caught.value.end) == shown
    wording(caught.value.reason, label, **facts)


def test_declarations_side_by_side_are_statements() -> None:
    assert len(nest_from_c(SourceText("int x; int y;")).body) == 2


@pytest.mark.parametrize("text", ["void f(void) { x = 1; } void g(void) { x = 1; }"])
def test_two_things_at_once_are_no_nest(text: str) -> None:
    with pytest.raises(NotAScop):
        nest_from_c(SourceText(text))
