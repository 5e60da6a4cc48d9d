"""Text that no reader takes: refused at its place, in words and in time."""

from __future__ import annotations

import warnings
from time import thread_time

import pytest

from triton_lab.polyhedral import NotAScop, TooHard, scop

LOOP = "for (int i = 0; i < n; i++)"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("A[\ud800] = 1;", 1, 3),
        ("A[0] = 1;\n\x00", 2, 1),
        (f"{LOOP}\n  A[i$] = 1;", 2, 5),
        ("for é in range(n):\n    A[é] = 1\n", 1, 1),
        (f"A[0] = {'(' * 200}1{')' * 200};", 1, 207),
        (f"for i in range(n):\n    A[i] = {'(' * 90}1{')' * 90}\n", 2, 101),
        (f"{LOOP} A[i * {'9' * 30}] = 1;", 1, 35),
        (f"for i in range({'9' * 30}):\n    A[i] = 1\n", 1, 16),
        (f"{LOOP} A[{2**40} * ({2**40} * i)] = 1;", 1, 31),
        (f"{LOOP} A[i] = 1e999;", 1, 36),
        (f"{LOOP} A[i] = 08;", 1, 36),
    ],
)
def test_what_no_reader_takes_is_refused_at_its_place(text: str, line: int, column: int) -> None:
    with pytest.raises(NotAScop) as refused:
        scop(text)
    assert (refused.value.line, refused.value.column) == (line, column)
    assert str(refused.value).encode()


@pytest.mark.parametrize("text", [f"A[0] = {'- ' * 2000}1;", f"for i in range(n):\n    A[i] = {'-' * 2000}1\n"])
def test_what_is_too_deep_for_python_is_refused(text: str) -> None:
    with pytest.raises(NotAScop, match="too deep"):
        scop(text)


def test_long_sums_are_scops() -> None:
    terms = 800
    for found in (
        scop(f"A[0] = {'+'.join(f'B[{q}]' for q in range(terms))};"),
        scop(f"for i in range(n):\n    A[i] = {'+'.join(f'B[i + {q}]' for q in range(terms))}\n"),
    ):
        assert len(found["S0"].reads) == terms
        assert found.schedule.program().count("+") >= terms - 1


def test_the_order_and_the_extents_in_a_sum_stay() -> None:
    found = scop("A[0] = (B[0] - B[1] - (B[2] - B[3])) * 2;")
    assert "A[0] = (B[0] - B[1] - (B[2] - B[3])) * 2;" in found.schedule.program()
    assert found["S0"].text == "A[0] = (B[0] - B[1] - (B[2] - B[3])) * 2"


def test_a_warning_of_pythons_is_not_the_readers() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(NotAScop):
            scop('for i in range(n):\n    A[i] = "\\d" is 1\n')


def test_a_syntax_error_takes_time_that_grows_with_the_text() -> None:
    def seconds(count: int) -> float:
        text = f"{LOOP} {{\n" + "  A[i] = A[i - 1] + 1;\n" * count + "$}"
        start = thread_time()
        with pytest.raises(NotAScop) as refused:
            scop(text)
        assert refused.value.line == count + 2
        return thread_time() - start

    assert seconds(400) < 30 * max(seconds(40), 0.01)


def test_cases_that_multiply_are_too_hard_at_their_place() -> None:
    conditions = " && ".join(f"(i != {3 * q} || i < {q})" for q in range(16))
    with pytest.raises(TooHard, match="cases") as hard:
        scop(f"{LOOP}\n  if ({conditions}) A[i] = 1;")
    assert (hard.value.line, hard.value.column) == (2, 3)


def test_a_long_line_is_shown_in_part() -> None:
    with pytest.raises(NotAScop) as refused:
        scop(f"A[0] = {'1 + ' * 2000}@;")
    shown = str(refused.value).split("\n")
    assert refused.value.column == 8008
    assert all(len(line) < 500 for line in shown)
    assert shown[1][shown[2].index("^")] == "@"
