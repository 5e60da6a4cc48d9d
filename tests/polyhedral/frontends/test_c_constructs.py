"""What the front ends read beside plain loops: labels, jumps, choices, macros, unsigned numbers, data-dependent ifs."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest

from triton_lab.polyhedral import NotAScop, Scop, scop
from triton_lab.polyhedral.core.nest_printer import CPrinter
from triton_lab.polyhedral.scheduled_program import with_bodies


def _points(found: Scop, name: str = "S0") -> list[tuple[int, ...]]:
    return sorted(map(tuple, found.points(name).tolist()))


def _written(found: Scop, name: str = "S0") -> list[tuple[int, ...]]:
    """The elements that a statement writes, at the scop's values."""
    elements = found.fixed(found[name].writes[0].relation).range()
    out: list[tuple[int, ...]] = []
    elements.foreach_point(
        lambda p: out.append(
            tuple(p.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(elements.dim(isl.dim_type.set)))
        )
    )
    return sorted(out)


def test_a_label_names_its_statement() -> None:
    found = scop("for (int i = 0; i < n; i++) { first: A[i] = B[i]; C[i] = A[i]; S1: D[i] = C[i]; }")
    assert [s.name for s in found.statements] == ["first", "S2", "S1"]


def test_a_choice_in_a_subscript_has_one_element_for_each_instance() -> None:
    found = scop("for (int i = 0; i < 9; i++) A[i < 5 ? i : 2 * i - 5] = B[i];")
    assert _written(found) == [(k if k < 5 else 2 * k - 5,) for k in range(9)]
    assert not found["S0"].writes[0].is_affine


@pytest.mark.parametrize(
    ("head", "values"),
    [
        ("i = 0; i != n; i++", [0, 1, 2, 3, 4]),
        ("i = n; i != 0; i--", [1, 2, 3, 4, 5]),
        ("i = 0; i < (n > 3 ? 2 : 7); i++", [0, 1]),
        ("i = 0; i == n - 5; i++", [0]),
        ("i = 0; i < n && i * 2 != 6; i++", [0, 1, 2]),
        ("i = 0; i < n || i < 7; i++", [0, 1, 2, 3, 4, 5, 6]),
        ("i = 9, k = 0; k < n; k += 2, i--", [9, 8, 7]),
        ("unsigned i = 1; i < 4u; ++i", [1, 2, 3]),
    ],
)
def test_a_loop_runs_the_iterations_of_c(head: str, values: list[int]) -> None:
    found = scop(f"for ({head}) A[i] = 1;")
    found = found.bind(n=5) if "n" in found.parameters else found
    assert _written(found) == sorted((v,) for v in values)


def test_break_and_continue_restrict_what_runs() -> None:
    found = scop(
        "for (int i = 0; i < 9; i++) { S0: A[i] = 0; if (i % 3 == 1) continue; S1: B[i] = 0; if (i > m) break;"
        " S2: C[i] = 0; }",
        m=4,
    )
    ran: dict[str, list[tuple[int, ...]]] = {"S0": [], "S1": [], "S2": []}
    for i in range(9):
        ran["S0"].append((i,))
        if i % 3 == 1:
            continue
        ran["S1"].append((i,))
        if i > 4:
            break
        ran["S2"].append((i,))
    assert {name: _points(found, name) for name in ran} == ran


def test_an_endless_loop_is_read_if_it_is_left() -> None:
    assert _points(scop("for (int i = 3; ; i += 2) { if (i >= n) break; A[i] = 1; }", n=9)) == [(3,), (5,), (7,)]


@pytest.mark.parametrize(
    "text", ["for (int i = 0; ; i++) A[i] = 1;", "for (int i = 0; ; i++) { A[i] = 1; if (n == 3) break; }"]
)
def test_a_loop_that_nothing_ends_is_refused(text: str) -> None:
    with pytest.raises(NotAScop) as refused:
        scop(text)
    assert (refused.value.line, refused.value.column) == (1, 1)


CONDITION = "for (int i = 0; i < n; i++) if (A[i] > 0 && i > 1) { B[i] = A[i]; C[0] = C[0] + B[i]; }"


def test_a_condition_on_data_makes_accesses_that_may_happen() -> None:
    found = scop(CONDITION, n=6)
    assert _points(found) == [(2,), (3,), (4,), (5,)]
    assert [(a.kind, a.array, a.may) for a in found["S1"].accesses] == [
        ("read", "A", False), ("read", "C", True), ("read", "B", True), ("write", "C", True),
    ]  # fmt: skip
    assert all(d.may for d in found.dependences)
    assert "if (A[i] > 0)" in "\n".join(CPrinter().statement_lines(with_bodies(found.schedule, found.schedule.nodes)))


def test_a_write_that_may_happen_ends_no_value() -> None:
    found = scop("S0: s = 1; if (A[0] > 0) S1: s = 2; B[0] = s;")
    assert {(d.source, d.target) for d in found.value_dependences} == {("S0", "S2"), ("S1", "S2")}


def test_the_program_asks_its_conditions_where_c_does() -> None:
    """The first statement changes what the condition reads: both sides depend on what it was."""
    text = "for (int i = 0; i < 4; i++) if (A[i] > 0) { A[i] = 0; B[i] = 1; } else { A[i] = 5; B[i] = 2; }"
    after = scop(text).schedule.run({"A": np.array([0, 3, 0, 1]), "B": np.zeros(4)})
    assert after["A"].tolist() == [5, 0, 5, 0] and after["B"].tolist() == [2, 1, 2, 1]


def test_a_break_that_depends_on_data_ends_the_loop() -> None:
    text = "for (int i = 0; i < 5; i++) { if (A[i] == 7) break; if (A[i] == 3) continue; B[i] = 1; }"
    after = scop(text).schedule.run({"A": np.array([1, 3, 1, 7, 1]), "B": np.zeros(5)})
    assert after["B"].tolist() == [1, 0, 1, 0, 0]
    assert not scop(text).schedule.reverse("i").legality


def test_a_scalar_that_is_set_before_has_its_value_in_subscripts() -> None:
    found = scop("c = n; c += 2; if (m > 3) d = c; else d = 1; for (int i = 0; i < 3; i++) A[i + d] = c;", n=4, m=5)
    last = found.statements[-1].name
    assert _written(found, last) == [(6,), (7,), (8,)]
    assert [a.array for a in found[last].reads] == ["c"]


def test_a_scalar_that_a_loop_changes_has_no_value_in_subscripts() -> None:
    with pytest.raises(NotAScop) as refused:
        scop("c = 0;\nfor (int i = 0; i < n; i++) {\n  A[c] = 1;\n  c = c + 1;\n}")
    assert (refused.value.line, refused.value.column) == (3, 5)


@pytest.mark.parametrize(
    ("op", "value"), [("|", 13), ("&", 4), ("^", 9), ("<<", 384), (">>", 0), ("%", 5), ("-", 5 - 12), ("", 12)]
)
def test_an_assignment_computes_as_c_does(op: str, value: int) -> None:
    start = {"A": np.array([12 if op != "<<" else 3, 0]), "B": np.array([5 if op != "<<" else 7])}
    after = scop(f"A[1] = B[0]; A[1] {op}= A[0];" if op not in ("<<", ">>") else f"A[1] = A[0]; A[1] {op}= B[0];")
    assert after.schedule.run(start)["A"][1] == value


@pytest.mark.parametrize(
    ("subscript", "expected"),
    [
        ("i >> 1", [-2, -2, -1, -1, 0, 0, 1, 1]),
        ("i << 2", [-16, -12, -8, -4, 0, 4, 8, 12]),
        ("i & 3", [0, 1, 2, 3, 0, 1, 2, 3]),
        ("~i", [3, 2, 1, 0, -1, -2, -3, -4]),
        ("abs(i)", [4, 3, 2, 1, 0, 1, 2, 3]),
        ("(unsigned char)i", [252, 253, 254, 255, 0, 1, 2, 3]),
        ("i / -2", [2, 1, 1, 0, 0, 0, -1, -1]),
        ("i % -3", [-1, 0, -2, -1, 0, 1, 2, 0]),
        ("(i > 1) + !i", [0, 0, 0, 0, 1, 0, 1, 1]),
    ],
)
def test_a_subscript_has_the_value_of_c(subscript: str, expected: list[int]) -> None:
    found = scop(f"for (int i = -4; i < 4; i++) A[i][{subscript}] = 1;")
    assert _written(found) == sorted((i - 4, value) for i, value in enumerate(expected))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("for (unsigned char k = 252; 1; ++k) { if (k > 260) break; a = 5; }", (1, 1)),
        ("for (unsigned i = n; i >= 0; i--) A[i] = 0;", (1, 1)),
        ("void f(unsigned n, int *A) { for (int i = 0; i < n - 1; i++) A[i] = 0; }", (1, 50)),
        ("void f(unsigned n, int *A) { for (int i = -1; i < n; i++) A[i + 1] = 0; }", (1, 47)),
        ("for (int i = 0; i > -1u; i++) A[i] = 0;", (1, 21)),
    ],
)
def test_what_may_wrap_around_is_refused_at_its_place(text: str, place: tuple[int, int]) -> None:
    with pytest.raises(NotAScop) as refused:
        scop(text)
    assert (refused.value.line, refused.value.column) == place


PUBLISHED = """
#include "kernel.h"
static void init(int n, DATA_TYPE POLYBENCH_1D(x,N,n)) { int i; for (i = 0; i < n; i++) x[i] = i; }
/* The kernel. */
static
void kernel(int n, DATA_TYPE POLYBENCH_2D(A,N,N,n,n),
            DATA_TYPE POLYBENCH_1D(x,N,n))
{
  int i, j;
  DATA_TYPE w;
#pragma scop
  for (i = 0; i < _PB_N; i++) {
    w = SCALAR_VAL(0.0);
    for (j = 0; j <= i; j++)
      w += SQRT_FUN(A[i][j]);
    x[i] = w;
  }
#pragma endscop
}
int main(int argc, char** argv) { int n = N; POLYBENCH_1D_ARRAY_DECL(x,DATA_TYPE,N,n); return 0; }
"""


def test_a_published_kernel_is_read_with_its_macros() -> None:
    found = scop(PUBLISHED, _PB_N=4)
    assert [len(_points(found, s.name)) for s in found.statements] == [4, 10, 4]
    assert {a.name: a.dtype for a in found.arrays} == {"w": "float64", "A": "float64", "x": "float64"}
    assert found["S1"].span.line == 15


def test_a_place_in_an_expansion_is_that_of_the_macro() -> None:
    text = "#define AT(k) A[(k)]\n#define N 4\nfor (int i = 0; i < N; i++) B[i] = AT(B[i]) + i * i;"
    with pytest.raises(NotAScop) as refused:
        scop(text)
    assert (refused.value.line, refused.value.column, refused.value.end) == (3, 36, 44)


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"#define D{k} D{k + 1} D{k + 1}\n" for k in range(40)) + "x = D0;",
        "#define F(a) F(a) + F(a)\n" + "x = " + "F(" * 30 + "1" + ")" * 30 + ";",
        "#if DEEP\n" * 500 + "x = 1;",
    ],
)  # fmt: skip
def test_macros_without_measure_end_in_words(text: str) -> None:
    with pytest.raises(NotAScop):
        scop(text)


def test_branches_of_the_preprocessor_are_followed() -> None:
    text = "#define FAST\n#ifdef FAST\n#define N 3\n#else\n#define N 9\n#endif\n#if 0\n$$$\n#endif\nA[N] = 1;"
    assert _written(scop(text)) == [(3,)]


def test_declared_functions_of_numbers_are_called_in_order() -> None:
    text = (
        "int f(int x); void show(int);\n"
        "void g(int n, int *A) { for (int i = 0; i < n; i++) { A[i] = f(i); show(A[i]); } }"
    )
    found = scop(text, n=3)
    shown: list[int] = []
    with pytest.raises(ValueError, match="calls f"):
        found.schedule.run({"A": np.zeros(3, int)})
    after = found.schedule.run({"A": np.zeros(3, int), "f": lambda x: x * x, "show": lambda x: shown.append(x) or 0})
    assert after["A"].tolist() == [0, 1, 4] and shown == [0, 1, 4]
    assert not found.schedule.reverse("i").legality


def test_local_arrays_constants_and_types_of_the_text_are_read() -> None:
    found = scop(
        "enum { K = 2, L };\ntypedef float real;\nstatic const int M = 5;\n"
        "void f(int n, real A[restrict n][n]) {\n"
        "for (int i = 0; i < n; i++) { real t[4]; t[K] = A[i][L]; A[i][M] = t[K]; } }",
        n=6,
    )
    assert {a.name: (a.ndim, a.dtype, a.local) for a in found.arrays} == {
        "A": (2, "float32", False), "t": (2, "float32", True),
    }  # fmt: skip
    assert _written(found, "S1") == [(i, 5) for i in range(6)]
    assert found.schedule.reverse("i").legality


def test_an_assumption_is_used_where_it_matters() -> None:
    text = "void f(unsigned n, int *A) { %s for (unsigned i = 0; i < n - 1; i++) A[i] = 0; }"
    with pytest.raises(NotAScop):
        scop(text % "")
    assert scop(text % "__builtin_assume(n > 2);", n=4).count() == 3


def test_a_loop_that_only_data_ends_has_dependences_and_no_last_instance() -> None:
    found = scop("for (int i = 0; i < n; i++) { while (A[i] > 0) { S: A[i] = A[i] - 1; } }", n=3)
    flow = next(d for d in found.dependences if (d.kind, d.source, d.target) == ("flow", "S", "S"))
    assert flow.may and flow.vector == (0, "+")
    assert found.schedule.reverse("i").legality and not found.schedule.reverse("round_1").legality
    for ask in (found.count, found.schedule.order, found.plot().title, lambda: found.schedule.run({"A": np.zeros(3)})):
        with pytest.raises(ValueError, match=r"no last instance|unbounded"):
            ask()


def test_a_while_that_nothing_ends_has_all_rounds() -> None:
    found = scop("while (n > 3) { A[0] = 1; if (m > 2) break; B[0] = 1; }")
    rounds = "[n, m] -> { [r] : n > 3 and r >= 0"
    assert found["S1"].domain.set.reset_tuple_id().is_equal(isl.Set(f"{rounds} and m <= 2 }}"))
    assert found["S0"].domain.set.reset_tuple_id().is_equal(isl.Set(f"{rounds} and (m <= 2 or r = 0) }}"))


def test_python_has_the_same_constructs() -> None:
    text = """
for i in range(n):
    if i != 3:
        A[i if i < 4 else 4] |= 2
    if i > 5:
        break
    if B[i] > 0:
        continue
    B[i & 3] = ~i ^ 1
"""
    found = scop(text, n=8)
    a, b = [0] * 8, [0, 4, 0, 0, 5, 0, 0, 0]
    after = found.schedule.run({"A": np.array(a), "B": np.array(b)})
    for i in range(8):
        if i != 3:
            a[i if i < 4 else 4] |= 2
        if i > 5:
            break
        if b[i] > 0:
            continue
        b[i & 3] = ~i ^ 1
    assert after["A"].tolist() == a and after["B"].tolist() == b


STRUCT = "struct s { int a; int b[4]; };"


def test_each_field_of_a_struct_is_an_array() -> None:
    found = scop(
        f"{STRUCT} void f(int n, int A[n]) {{ struct s y[7], z;\n#pragma scop\n"
        "for (int i = 0; i < 7; i++) { struct s x; x.a = i; x.b[1] = 2 * i; y[i].a = x.a + x.b[1]; z.b[i % 4] = i; }\n"
        "for (int i = 0; i < 7; i++) { struct s x; x.a = i; A[i] = y[i].a + x.a; }\n#pragma endscop\n}"
    )
    assert {a.name: a.ndim for a in found.arrays} == {"x_a": 1, "x_b": 2, "y_a": 1, "z_b": 1, "A": 1}
    after = found.schedule.run({"A": np.zeros(7, np.int32), "y_a": np.zeros(7, np.int32), "z_b": np.zeros(4, np.int32)})
    assert after["A"].tolist() == [4 * i for i in range(7)]
    assert after["z_b"].tolist() == [4, 5, 6, 3]


def test_a_field_that_is_set_once_is_its_value() -> None:
    found = scop(
        f"{STRUCT} void f(int A[9]) {{\n#pragma scop\n"
        "for (int i = 0; i < 9; i++) { struct s x; x.a = 2 * i; A[x.a] = x.a; }\n#pragma endscop\n}"
    )
    assert [a.array for a in found.accesses] == ["A"]
    assert _written(found) == [(2 * k,) for k in range(9)]


def test_subscripts_of_nested_structs_come_from_the_left() -> None:
    found = scop(
        "typedef struct { struct { struct { int a[5]; } f[4]; int c; }; } t; void f(t s[3]) {\n#pragma scop\n"
        "for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) s[i].f[j].a[1] = s[i].c;\n#pragma endscop\n}"
    )
    assert _written(found) == [(i, j, 1) for i in range(3) for j in range(4)]
    assert {a.name: a.ndim for a in found.arrays} == {"s_f_a": 3, "s_c": 1}


STRUCTS_REFUSED = (
    f"{STRUCT} void f() {{ struct s x, y; x.a = 1; y = x; }}",
    f"{STRUCT} void f(struct s y[3]) {{ y[0].b = 1; }}",
    f"{STRUCT} void f(struct s *p) {{ p->a = 1; }}",
    f"{STRUCT} void f(struct s *p) {{ p[2].a = 1; }}",
    f"{STRUCT} void f() {{ struct s x; int x_a; x.a = 1; x_a = 2; }}",
    f"{STRUCT} void f() {{ x_a = 2; struct s x; x.a = 1; }}",
    "union s { int a; int b; }; void f() { union s x; x.a = 1; }",
    "struct s { int a; union { int c; float d; }; }; void f() { struct s x; x.a = 1; }",
    "struct s { int *a; }; void f() { struct s x; x.a = 1; }",
)


@pytest.mark.parametrize("text", STRUCTS_REFUSED)
def test_a_struct_is_read_field_by_field_and_never_where_fields_may_overlap(text: str) -> None:
    with pytest.raises(NotAScop):
        scop(text)


def test_a_step_may_be_a_sum_in_which_names_cancel_out() -> None:
    assert _points(scop("for (int i = 0; i < 7; i += (i + 100) - (i + 98)) A[i] = 0;")) == [(0,), (2,), (4,), (6,)]
    with pytest.raises(NotAScop):
        scop("for (int i = 1; i < 7; i += i) A[i] = 0;")


def test_a_condition_on_data_may_have_a_parameter_in_its_subscript() -> None:
    found = scop("void f(int test[9], int k) { int a;\n#pragma scop\nif (test[k]) a = 5;\n#pragma endscop\n}")
    assert found.parameters == ("k",)
    assert [(a.array, a.may) for a in found.accesses] == [("test", False), ("a", True)]


def test_what_is_marked_may_stand_in_a_loop() -> None:
    found = scop("void f(int A[9]) { for (int i = 0; i < 9; i++) {\n#pragma scop\nA[i] = 5;\n#pragma endscop\n} }")
    assert found.parameters == ("i",) and found["S0"].domain.iterators == ()
