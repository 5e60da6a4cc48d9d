"""Reading nests: what becomes of them, and where the ones that are no scops are refused."""

from __future__ import annotations

import numpy as np
import pytest

from tests.wordings import Wording
from triton_lab.polyhedral import NotAScop, scop
from triton_lab.polyhedral.core.affine_expr import AffineExpr
from triton_lab.polyhedral.core.loop_nest import MATHEMATICS, Assign, Number
from triton_lab.polyhedral.core.source_text import SourceText
from triton_lab.polyhedral.frontends.from_c import nest_from_c
from triton_lab.polyhedral.related_work import page_nests

SIZE = 5


def python_nest(A, B, n):  # type: ignore[no-untyped-def]
    """Half of A, where it is not on the diagonal."""
    last = n - 1
    for i in range(1, n):
        for j in range(last, -1, -2):
            if 0 <= j < i or i < j:
                B[i, j] = A[i][j] / 2
    return B


def global_nest(A):  # type: ignore[no-untyped-def]
    for i in range(SIZE):
        A[i] += A.shape[0] * len(A)


def test_the_pages_nest_has_the_pages_matrix() -> None:
    domain = scop(page_nests.PAGE).domain
    assert domain.matrix.coefficients(["i", "j"]).tolist() == [[1, 0], [-1, 0], [-1, 1], [0, -1]]
    assert domain.matrix.constants.tolist() == [0, 2, 0, 4]


def test_the_pages_latex_is_the_pages() -> None:
    page = scop(page_nests.PAGE)
    assert page.domain.latex == (
        r"\mathcal{P} = \{ i, j \in \mathbb{Z}^2 ~|~ "
        r"\begin{pmatrix} 1 & 0 \\ -1 & 0 \\ -1 & 1 \\ 0 & -1 \end{pmatrix} "
        r"\begin{pmatrix} i \\ j \end{pmatrix} + "
        r"\begin{pmatrix} 0 \\ 2 \\ 0 \\ 4 \end{pmatrix} \geq 0 \}"
    )
    (write,) = page.accesses
    assert write.latex == (
        r"f_{A}(i, j) = \begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix} \begin{pmatrix} i \\ j \end{pmatrix} = (i, j)"
    )


def test_the_pages_access_and_schedule_are_identities() -> None:
    page = scop(page_nests.PAGE)
    (write,) = page.accesses
    assert (write.kind, write.array) == ("write", "A")
    assert write.matrix.coefficients(["i", "j"]).tolist() == [[1, 0], [0, 1]]
    assert page.schedule.theta().rows == ((1, 0, 0), (0, 1, 0))


def test_the_code_has_12_points_and_the_figure_26() -> None:
    assert scop(page_nests.PAGE).count() == 12
    assert scop(page_nests.PAGE_FIGURE).count() == 26


def test_each_constraint_is_told_of_the_iterators() -> None:
    domain = scop(page_nests.PAGE_FIGURE).domain
    assert [c.told(domain.iterators) for c in domain.constraints] == ["i ≥ 0", "i ≤ 3", "i ≤ j", "j ≤ 7"]


@pytest.mark.parametrize("step", [1, 2, 5, -1, -3])
def test_a_step_of_any_size_and_sign_counts_as_python_does(step: int) -> None:
    start, stop = (1, 12) if step > 0 else (11, -1)
    found = scop(f"for i in range({start}, {stop}, {step}):\n    A[i] = 0")
    assert sorted(_elements(found)) == sorted(range(start, stop, step))


@pytest.mark.parametrize("step", ["0", "-0"])
def test_a_step_of_0_is_refused(step: str) -> None:
    with pytest.raises(NotAScop, match="step 0"):
        scop(f"for i in range(0, 9, {step}):\n    A[i] = 0")


def test_statements_parameters_steps_and_conditions_of_c() -> None:
    found = scop("""
for (int i = 0; i < n; i += 3) {
  int m = i + 1;
  x[i] = 1.5f;
  for (int j = max(m, 2); j <= min(n - 1, 2 * m) && j < 9; j++)
    if (j % 2 == 0 || i > 4) { x[i] -= y[j][m - 1] * i; }
    else y[j][i] /= 2;
}
""", n=10)  # fmt: skip
    assert found.parameters == ("n",)
    assert [s.text for s in found.statements] == ["x[i] = 1.5f", "x[i] -= y[j][m - 1] * i", "y[j][i] /= 2"]
    expected = {"S0": set(), "S1": set(), "S2": set()}
    for i in range(0, 10, 3):
        expected["S0"].add((i,))
        for j in range(max(i + 1, 2), min(9, 2 * (i + 1), 8) + 1):
            expected["S1" if j % 2 == 0 or i > 4 else "S2"].add((i, j))
    for name, points in expected.items():
        assert set(map(tuple, found.points(name).tolist())) == points
    assert [(a.kind, a.array) for a in found["S1"].accesses] == [("read", "x"), ("read", "y"), ("write", "x")]


def test_min_in_a_bound_is_two_rows_and_max_two_pieces() -> None:
    below_both = scop("for (int i = 0; i < min(n, m); i++) A[i] = 0;")
    assert [str(c) for c in below_both.domain.constraints] == ["i ≥ 0", "i ≤ n − 1", "i ≤ m − 1"]
    below_one = scop("for (int i = 0; i < max(n, m); i++) A[i] = 0;")
    assert len(below_one.domain.pieces) == 2


@pytest.mark.parametrize(
    ("step", "forwards"),
    [("i++", True), ("++i", True), ("i += 1", True), ("i--", False), ("--i", False), ("i -= 1", False)],
)
def test_a_step_of_one_has_three_spellings(step: str, forwards: bool) -> None:
    ends = "int i = 0; i < 9" if forwards else "int i = 8; i >= 0"
    found = scop(f"for ({ends}; {step}) A[i] = 0;")
    assert found.schedule.theta().rows == ((1 if forwards else -1, 0),)
    assert found.count() == 9


def test_a_falling_loop_has_a_negative_schedule() -> None:
    found = scop("for (int i = 9; i > 0; i--) A[i] = A[i - 1];")
    assert found.schedule.theta().rows == ((-1, 0),)


def test_a_scalar_declared_in_a_loop_is_one_per_iteration() -> None:
    text = "for (int i = 0; i < n; i++) {{ {} acc = A[i]; B[i] = acc * acc; }}"
    local, shared = scop(text.format("float")), scop(text.format(""))
    assert local.schedule.parallel("i").is_legal
    assert not shared.schedule.parallel("i").is_legal


def test_c_division_truncates_and_python_floors() -> None:
    c = scop("for (int i = -7; i < 8; i++) A[i / 2 + 9] = 0;")
    python = scop("for i in range(-7, 8):\n    A[i // 2 + 9] = 0")
    assert set(_elements(c)) == {int(i / 2) + 9 for i in range(-7, 8)}
    assert set(_elements(python)) == {i // 2 + 9 for i in range(-7, 8)}


def _elements(found):  # type: ignore[no-untyped-def]
    from triton_lab.polyhedral.core.integer_points import set_points

    return set_points(found.fixed(found.accesses[-1].relation).range())[:, 0].tolist()


def test_a_python_function_is_read_from_its_own_source() -> None:
    found = scop(python_nest, n=6)
    expected = {(i, j) for i in range(1, 6) for j in range(5, -1, -2) if 0 <= j < i or i < j}
    assert set(map(tuple, found.points().tolist())) == expected
    assert found.language == "python"
    a = np.arange(36.0).reshape(6, 6)
    ours = found.schedule.run({"A": a, "B": np.zeros((6, 6))})
    assert np.array_equal(ours["B"], python_nest(a, np.zeros((6, 6)), 6))


def test_globals_and_shapes_give_parameters_their_values() -> None:
    found = scop(global_nest)
    assert found.values == {"SIZE": 5}
    assert found.schedule.run({"A": np.zeros(5)})["A"].tolist() == [25.0] * 5


def test_an_integer_given_once_stands_for_its_value() -> None:
    found = scop("for (int i = 0; i < n; i++) { int m = n - 1 - i; A[m] = B[i]; }")
    assert [s.name for s in found.statements] == ["S0"]
    assert found["S0"].writes[0].expressions == (AffineExpr.of("n") - AffineExpr.of("i") - 1,)


REFUSED = [
    (page_nests.PAGE_SPARSE, 4, 22, "a bound of k must be affine in iterators and parameters, but this reads memory"),
    ("for (int i = 0; i < n; i++)\n  for (int j = 0; j < n; j++)\n    A[i*j] = 0;", 3, 7, "multiplies two variables"),
    ("if (n > 0) {\n  A[0] = 0;\n  break;\n}", 3, 3, "break stands in no loop"),
    ("for (int i = 0; ; i++)\n  A[i] = 0;", 1, 1, "has no bound"),
    ("for (int i = 0; i < n; i++)\n  A[B[i]] = 0;", 2, 5, "reads memory"),
    ("for (int i = 0; i < n; i++)\n  for (int j = 0; j < A[i]; j++) B[j] = 0;", 2, 23, "reads memory"),
    ("for (int i = 0; i < n; i++)\n  f(A, i);", 2, 3, "a call may change anything"),
    ("for (int i = 0; i < n; i++)\n  A[i] = f(i);", 2, 10, "unknown function"),
    ("for (int i = 0; i < n; i++)\n  *A = 0;", 2, 3, "pointers"),
    ("for (unsigned i = n; i >= 0; i--)\n  A[i] = 0;", 1, 1, "uint32"),
    ("for (int i = 0; i < n; i *= 2)\n  A[i] = 0;", 1, 24, "advance its own iterator i by a constant"),
    ("for (int i = 0; i > n; i++)\n  A[i] = 0;", 1, 17, "does not end the loop"),
    ("for (int i = 0; i < n; i++)\n  i = 2;", 2, 3, "changes the loop's iterator i"),
    ("do n = 1; while (n > 0);", 1, 1, "bounds of do-while"),
    ("for (int i = 0; i < n; i++) {\n  s = A[i];\n  B[s] = 1; s = 2; }", 3, 5, "the program changes s"),
    ("def f(A, n):\n    for i in range(n):\n        while A[i]: pass", 3, 9, "bounds of while"),
    ("def f(A, n):\n    for x in A:\n        A[0] = x", 2, 14, "range"),
    ("def f(A, n):\n    for i in range(n):\n        A[i, :] = 0", 3, 14, "slice"),
    ("def f(A, n):\n    for i in range(n):\n        A[n / 2] = 0", 3, 11, "write //"),
    ("def f(A, n):\n    for i in range(n):\n        A[i] = 'ö'; A[i * i] = 0", 3, 16, "not allowed in a loop nest"),
    ("for (int i = 0; i < n; i++) B[i] = 0;\nA[i] = 0;", 2, 3, "i is the iterator of the loop in line 1"),
    ("for (int i = 0; i < n; i++) B[i] = 0;\nA[0] = i;", 2, 8, "which is not around this"),
    ("if (j > 0) A[0] = 1;\nfor (int j = 0; j < n; j++) B[j] = 0;", 1, 5, "j is the iterator of the loop in line 2"),
    ("for i in range(n):\n    B[i] = 0\nfor j in range(i):\n    B[j] = 1", 3, 16, "loop in line 1"),
    ("for i in range(n):\n    A[i] = A[i + 1] = A[i] + 1", 2, 5, "one assignment per line"),
    ("for (int i = 0; i < n; i++)\n  A[i] = pow(i);", 2, 10, "pow takes 2 arguments"),
    ("#include <stdio.h>\nfor (;;) ;", 2, 1, "first value"),
]


@pytest.mark.parametrize(("text", "line", "column", "reason"), REFUSED, ids=[r[3][:30] for r in REFUSED])
def test_what_is_no_scop_is_refused_at_its_place(text: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(NotAScop) as caught:
        scop(text)
    assert reason in caught.value.reason
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("A[i] = B[i] = A[i] + 1", True),
        ("B[i] = A[i] = A[i] + 1", False),  # the last target may be read: nothing comes after it
        ("A[i] = B[i] = C[i] = B[i] * 2", True),
        ("A[i] = B[A[i]] = 1", True),
        ("B[A[i]] = A[i] = 1", False),  # the first target's subscript is worked out before all
        ("A[i] = C[i] = B[A[i]] = 1", True),
        ("C[i] = B[A[i]] = A[i] = 1", False),
        ("A[i] = B[i] = C[i] = 2 * i", False),
    ],
)
def test_targets_in_a_row_are_refused_where_one_would_change_what_the_next_reads(text: str, again: bool) -> None:
    nest = f"for i in range(n):\n    {text}"
    subscript = "reads memory" if "B[A[i]]" in text else None
    reason = "reads a value that it changes" if again else subscript
    if reason is None:
        assert len(scop(nest).statements) == text.count(" = ")
    else:
        with pytest.raises(NotAScop, match=reason):
            scop(nest)


BROKEN = [
    ("for (int i = 0; i < ; i++) A[i] = 0;", ";", 1),
    ("for (int i = 0; i < 3; i++ A[i] = 0;", "A", 0),
    ("for (int i = 0; i < 3; i++) A[i = 0;", ";", 2),
    ("for (int i = 0; i < 3; i++) A[i] = @;", "@", 0),
    ("for (int i = 0; i < 3; i++) A[i] = 3 +;", ";", 2),
    ("for (int i = 0; i < 3; i++) float x = 0;", "float", 0),
    ("for (int i = 0; i < 3; i++) A[i] = 0; }", "}", 0),
]


@pytest.mark.parametrize(("text", "token", "which"), BROKEN)
def test_parse_errors_point_at_the_character(text: str, token: str, which: int) -> None:
    place = -1
    for _ in range(which + 1):
        place = text.index(token, place + 1)
    with pytest.raises(NotAScop) as caught:
        scop(f"// a comment\n{text}")
    assert (caught.value.line, caught.value.column) == (2, place + 1)
    assert str(caught.value).splitlines()[-1].index("^") - 2 == place


# As the page has it: no braces, and no semicolon after B.
PAGE_SPARSE_AS_WRITTEN = """\
for(int i = 0; i < 4; i++)
for(int j = 0; j < 4; j++)
  float acc = 0;
  for(int k = 0; k < K[i]; k++)
    acc += A[i][col[i, k]] * B[k][j]
  C[i][j] = acc;
"""


def test_the_pages_sparse_text_is_told_what_it_lacks(wording: Wording) -> None:
    with wording.raises(NotAScop) as caught:
        scop(PAGE_SPARSE_AS_WRITTEN)
    assert (caught.value.line, caught.value.column) == (3, 3)


def test_a_call_before_a_declaration_lacks_a_semicolon_and_no_braces() -> None:
    with pytest.raises(NotAScop, match="expected ';' after '\\)'"):
        scop("x = sqrt(y)\nint m = 2;")


DERICHE = """
k = (1 - exp(-alpha)) * (1 - exp(-alpha)) / (1 + 2 * alpha * exp(-alpha) - exp(2 * alpha));
a1 = a5 = k;
b1 = pow(2.0f, -alpha);
c1 = c2 = 1;
for (int i = 0; i < w; i++) {
  ym1 = 0;
  xm1 = 0;
  for (int j = 0; j < h; j++) {
    y1[i][j] = a1 * img[i][j] + a5 * xm1 + b1 * ym1;
    xm1 = img[i][j];
    ym1 = y1[i][j];
  }
}
for (int i = 0; i < w; i++)
  for (int j = 0; j < h; j++)
    out[i][j] = c1 * (y1[i][j] + c2);
"""


def test_deriches_chained_assignments_and_powers_run() -> None:
    """PolyBench's deriche, its first pass, against NumPy."""
    rng = np.random.default_rng(0)
    img, alpha = rng.random((4, 6)), 0.25
    found = scop(DERICHE, w=4, h=6)
    zeros = {"y1": np.zeros((4, 6)), "out": np.zeros((4, 6))}
    out = found.schedule.run({"img": img, "alpha": np.float64(alpha), **zeros})["out"]
    k = (1 - np.exp(-alpha)) ** 2 / (1 + 2 * alpha * np.exp(-alpha) - np.exp(2 * alpha))
    before, y = np.zeros(4), np.zeros(4)
    for j in range(6):
        y = k * img[:, j] + k * before + 2.0**-alpha * y
        before = img[:, j]
        np.testing.assert_allclose(out[:, j], y + 1)
    assert [s.text for s in found.statements[1:3]] == ["a5 = k", "a1 = a5 = k"]


def test_a_chain_gives_each_target_what_the_next_one_holds() -> None:
    """C: the value of an assignment is that of its target, after conversion."""
    text = "for (int i = 0; i < n; i++) A[i] = B[i] += 0.75;"
    after = scop(text, n=3).schedule.run({"A": np.zeros(3), "B": np.arange(3)})
    assert after["B"].tolist() == after["A"].tolist() == [0, 1, 2]


def chained(A, B, n):  # type: ignore[no-untyped-def]
    for i in range(n):
        A[i] = x = B[i] / 2
        B[i] = x + i


def test_a_python_chain_computes_its_value_once() -> None:
    b = np.arange(5.0)
    ours = scop(chained, n=5).schedule.run({"A": np.zeros(5), "B": b})
    theirs = {"A": np.zeros(5), "B": b.copy()}
    chained(**theirs, n=5)
    assert all(np.array_equal(ours[name], theirs[name]) for name in "AB")


@pytest.mark.parametrize("name", sorted(MATHEMATICS))
def test_mathematical_functions_are_those_of_c(name: str) -> None:
    """Python's `math` has C's. What is printed in either language is read again."""
    import math

    arguments = [0.75, 0.5][: MATHEMATICS[name]]
    if name == "acosh":
        arguments = [1.75]
    call = f"{name}({', '.join(map(str, arguments))})"
    for text in (f"A[0] = {call};", f"A[0] = math.{call}"):
        start = scop(text).schedule
        for language in ("c", "python"):
            again = scop(start.program(language))
            got = again.schedule.run({"A": np.zeros(1)})["A"][0]
            assert got == pytest.approx(getattr(math, name, getattr(np, name, None))(*arguments), rel=1e-15)


def test_casts_are_printed_as_each_language_writes_them() -> None:
    start = scop("for (int i = 0; i < n; i++) A[i] = (float)B[i];").schedule
    assert "(float)(B[i])" in start.program("c")
    assert "float32(B[i])" in start.program("python")
    assert scop(start.program("python")).schedule.program("c") == start.program("c")


@pytest.mark.parametrize("rest", ["", "\nB[0] = 1;", "\n}"])
def test_a_missing_semicolon_is_missed_where_it_should_stand(rest: str) -> None:
    line = f"for (int i = 0; i < 3; i++) {'{ ' if '}' in rest else ''}A[i] = 1"
    with pytest.raises(NotAScop, match="expected ';'") as caught:
        scop(line + rest)
    assert (caught.value.line, caught.value.column) == (1, len(line) + 1)


def test_an_error_in_python_has_the_line_of_the_file() -> None:
    def sparse(A, K, n):  # type: ignore[no-untyped-def]
        for i in range(n):
            for k in range(K[i]):
                A[i] += k

    with pytest.raises(NotAScop) as caught:
        scop(sparse)
    assert caught.value.line == sparse.__code__.co_firstlineno + 2
    assert caught.value.source_line[caught.value.column - 1 :].startswith("K[i]")
    assert caught.value.filename == "test_front_ends.py"


def test_other_things_are_no_scops(wording: Wording) -> None:
    with pytest.raises(TypeError, match="recorded launch"):
        scop(3)
    with wording.raises(ValueError):
        scop(page_nests.MATMUL, m=3)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0", 0), ("7", 7), ("10", 10), ("010", 8), ("00", 0), ("017L", 15), ("0x10", 16), ("0X1f", 31), ("0b101", 5),
        ("12l", 12), ("9LL", 9), ("100", 100), ("1.5", 1.5), ("2.f", 2.0), ("0.25F", 0.25), ("1e2", 100.0),
        ("3.0L", 3.0), ("08.5", 8.5),
    ],
)  # fmt: skip
def test_a_number_is_what_c_says(written: str, value: float) -> None:
    (assigned,) = nest_from_c(SourceText(f"x = {written};")).body
    assert isinstance(assigned, Assign) and isinstance(assigned.value, Number)
    assert assigned.value.value == value and type(assigned.value.value) is type(value)


@pytest.mark.parametrize(("written", "why"), [("L'a'", "'a'")])
def test_other_numbers_are_refused(written: str, why: str) -> None:
    with pytest.raises(NotAScop, match=why):
        scop(f"for (int i = 0; i < 3; i++) A[i] = {written};")
