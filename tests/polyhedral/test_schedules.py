"""The scheduling language: what each step prints, visits and computes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wordings import Wording
from triton_lab.polyhedral import Schedule, schedule, scop
from triton_lab.polyhedral.core.loop_tree import every_loop
from triton_lab.polyhedral.core.nest_maps import every_loop as written_loops
from triton_lab.polyhedral.related_work import page_nests
from triton_lab.polyhedral.related_work.halide_matmul import halide_matmul

NEST = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = B[i][j];"
CUBE = "for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) for (int k = i; k < 4; k++) A[i][j] += B[k];"
TWO = "for (int i = 0; i < n; i++) A[i] = i;\nfor (int i = 0; i < n; i++) B[i] = A[i];"


def test_a_step_leaves_the_schedule_that_it_starts_from() -> None:
    start = schedule(NEST, n=4)
    text = str(start)
    start.tile({"i": 2, "j": 2}).parallel("io")
    assert str(start) == text


def test_interchange_prints_the_loops_exchanged() -> None:
    assert schedule(NEST).interchange("i", "j").program() == (
        "for (int j = 0; j < n; j++)\n  for (int i = 0; i < n; i++)\n    A[i][j] = B[i][j];"
    )


def test_a_split_by_what_does_not_divide_keeps_the_rest() -> None:
    split = schedule(NEST, n=10).split("i", 4)
    assert split.program().splitlines()[1] == "  for (int ii = 0; ii <= min(3, n - 4 * io - 1); ii++)"
    assert sorted(split.order().pairs) == sorted(schedule(NEST, n=10).order().pairs)


_ROW = st.tuples(*[st.integers(-2, 2)] * 3)


@settings(max_examples=40, deadline=None)
@given(st.lists(_ROW, min_size=1, max_size=4))
def test_loops_of_a_matrix_have_the_names_of_the_axes(rows: list[tuple[int, int, int]]) -> None:
    found = scop(CUBE)
    order = found.schedule.matrix(rows)
    written = [loop.iterator for loop in written_loops(order.nodes)]  # those that isl adds where instances tie, too
    assert set(written) <= {"i", "j", "k"}
    assert sorted(order.order().pairs) == sorted(found.schedule.order().pairs)


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([[0, 1], [1, 0]], "ji"), ([[1, 1], [1, 0]], "ji"), ([[1, 1], [0, 1]], "ij"), ([[1, 1], [1, -1]], "ij"),
        ([[0, -1], [2, 0]], "ji"), ([[1, 1]], "j"),
    ],
)  # fmt: skip
def test_a_sum_of_iterators_has_the_name_that_is_left(rows: list[list[int]], names: str) -> None:
    assert "".join(loop.name for loop in every_loop(schedule(NEST).matrix(rows).tree)) == names


def test_a_sum_is_called_as_after_a_skew() -> None:
    skewed = schedule(NEST, n=4).skew("j", "i").interchange("i", "j")
    assert schedule(NEST, n=4).matrix([[1, 1], [1, 0]]).program() == skewed.program()


def test_loops_that_isl_finds_have_the_names_of_the_axes() -> None:
    program = schedule(page_nests.MATMUL).automatic().program()
    assert [line.split("int ")[1][0] for line in program.splitlines() if "for" in line] == ["y", "x", "k"]
    assert "C[y][x] += A[y][k] * B[k][x];" in program


def test_rows_of_a_matrix_can_be_called_by_their_number(wording: Wording) -> None:
    order = schedule(NEST).matrix([[0, 1], [1, 0]])
    assert order.parallel("t1").tree == order.parallel("i").tree
    with wording.raises(ValueError):
        order.parallel("t2")
    two = schedule(TWO)
    assert two.parallel("t0", statement="S1").tree == two.parallel("i", statement="S1").tree


def test_tiles_are_visited_one_after_the_other() -> None:
    points = schedule(NEST, n=4).tile({"i": 2, "j": 2}).order().points
    tiles = [tuple(t) for t in (points // 2).tolist()]
    assert [t for k, t in enumerate(tiles) if k % 4 == 0] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert all(Counter(tiles)[t] == 4 for t in tiles)


def test_the_matrix_of_a_tiled_schedule_has_columns_for_the_quotients() -> None:
    theta = schedule(NEST).tile({"i": 4, "j": 8}).theta()
    assert [str(c) for c in theta.columns] == ["i", "j", "⌊i/4⌋", "⌊j/8⌋", "n"]
    assert theta.coefficients(theta.columns[:4]).tolist() == [
        [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, -4, 0], [0, 1, 0, -8],
    ]  # fmt: skip


def test_skew_reverse_and_matrix_agree() -> None:
    start = schedule(NEST, n=5)
    assert start.skew("j", "i").order().pairs == start.matrix([[1, 0], [1, 1]]).order().pairs
    assert start.reverse("j").order().pairs == start.matrix([[1, 0], [0, -1]]).order().pairs
    assert start.interchange("i", "j").theta().rows == start.matrix([[0, 1], [1, 0]]).theta().rows


def test_fuse_and_distribute_are_inverse() -> None:
    start = schedule(TWO, n=4)
    fused = start.fuse("S0", "S1")
    assert fused.program() == "for (int i = 0; i < n; i++) {\n  A[i] = i;\n  B[i] = A[i];\n}"
    assert fused.is_legal
    assert fused.distribute("i").program() == start.program()


def test_fusion_that_reads_too_early_is_illegal() -> None:
    text = TWO.replace("B[i] = A[i]", "B[i] = A[n - 1 - i]")
    assert not schedule(text).fuse("S0", "S1").is_legal


def test_unrolled_loops_are_written_out() -> None:
    text = "for (int i = 0; i < 8; i++) A[i] = 0;"
    unrolled = schedule(text).split("i", 4).unroll("ii").program()
    assert unrolled.count("A[") == 4
    assert unrolled.count("for") == 1


def test_marks_are_printed() -> None:
    printed = schedule(NEST).parallel("i").vectorize("j").program()
    assert printed.splitlines()[0].startswith("parallel for (int i")
    assert printed.splitlines()[1].startswith("  vectorize for (int j")


@pytest.mark.parametrize(
    ("step", "label", "facts"),
    [
        (lambda s: s.split("k", 4), "loop", {"loop": "k", "loops": "i, j"}),
        (lambda s: s.split("i", 0), "factor", {"factor": 0}),
        (lambda s: s.split("i", 2, "j"), "name", {"loop": "j"}),
        (lambda s: s.vectorize("i"), "innermost", {"loop": "i", "inner": "j"}),
        (lambda s: s.parallel("i").unroll("i"), "parallel", {"loop": "i"}),
        (lambda s: s.distribute("j"), "one statement", {"loop": "j"}),
        (lambda s: s.fuse("S0", "S0"), "fused", {"statement": "S0"}),
        (lambda s: s.fuse("S0", "S9"), "statement", {"statement": "S9", "statements": "S0"}),
        (lambda s: s.fuse("S7", "S0"), "statement", {"statement": "S7", "statements": "S0"}),
        (lambda s: s.reorder("i", "i"), "twice", {}),
        (lambda s: s.matrix([[1]]), "columns", {"statement": "S0", "columns": "i, j, n, 1"}),
        (lambda s: s.matrix([[1.5, 0]]), "integers", {"statement": "S0"}),
        (lambda s: s.skew("i", "i"), "itself", {"loop": "i"}),
    ],
)
def test_steps_that_make_no_sense_say_why(step, label: str, facts: dict[str, object], wording: Wording) -> None:  # type: ignore[no-untyped-def]
    with wording.raises(ValueError, label, **facts):
        step(schedule(NEST))


def test_what_is_asked_of_a_statement_that_there_is_not_names_those_that_there_are(wording: Wording) -> None:
    for ask in (Schedule.expressions, Schedule.theta, Schedule.time_text, Schedule.latex):
        with wording.raises(KeyError):
            ask(schedule(TWO), "S9")


def test_loops_that_stand_apart_are_named_when_they_are_to_change_places(wording: Wording) -> None:
    text = (
        "for (int i = 0; i < n; i++) { A[i] = 0; for (int j = 0; j < 4; j++) for (int k = 0; k < n; k++) B[j][k] = i; }"
    )
    with wording.raises(ValueError):
        schedule(text).reorder("k", "i", "j")
    with wording.raises(ValueError):
        schedule(text).reorder("j", "i")
    assert schedule(text).reorder("k", "j").program().index("int k") < schedule(text).program().index("int k")


def test_loops_deep_in_a_tree_are_fused_where_their_statements_part(wording: Wording) -> None:
    rows = "".join(f"for (int j = 0; j < n; j++) {name}[i][j] = {k};" for k, name in enumerate("ABCD"))
    start = schedule(f"for (int k = 0; k < n; k++) Z[k] = 0; for (int i = 0; i < n; i++) {{ {rows} }}")
    fused = start.fuse("S3", "S2")
    assert [line.strip() for line in fused.program().splitlines()] == [
        "for (int k = 0; k < n; k++)",
        "Z[k] = 0;",
        "for (int i = 0; i < n; i++) {",
        "for (int j = 0; j < n; j++)",
        "A[i][j] = 0;",
        "for (int j = 0; j < n; j++) {",
        "B[i][j] = 1;",
        "C[i][j] = 2;",
        "}",
        "for (int j = 0; j < n; j++)",
        "D[i][j] = 3;",
        "}",
    ]
    with wording.raises(ValueError):
        start.fuse("S1", "S3")


def test_a_loop_of_many_with_one_name_is_chosen_by_its_statement(wording: Wording) -> None:
    with wording.raises(ValueError, loops=2):
        schedule(TWO).split("i", 4)
    assert "io" in schedule(TWO).split("i", 4, statement="S1").program()


def test_imperfect_nests_must_be_distributed_before_reordering() -> None:
    start = schedule(page_nests.MATMUL)
    with pytest.raises(ValueError, match="Distribute first"):
        start.reorder("k", "y")
    assert start.distribute("x").distribute("y").reorder("k", "y", "x", statement="S1").is_legal


def _arrays(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n)
    return {name: rng.random((n, n), dtype=np.float32) for name in "ABC"}


@pytest.mark.parametrize("n", [1, 7, 16, 21])
def test_the_pages_halide_schedule_visits_all_points_once_and_multiplies(n: int) -> None:
    halide = halide_matmul(n, block_size=16)
    assert halide.is_legal
    counts = Counter(halide.order().pairs)
    assert set(counts.values()) == {1}
    assert len(counts) == n**2 + n**3
    arrays = _arrays(n)
    assert np.array_equal(halide.run(arrays)["C"], schedule(page_nests.MATMUL, n=n).run(arrays)["C"])


def test_the_halide_schedule_prints_what_it_is_told() -> None:
    text = halide_matmul(32, block_size=16).program()
    assert "parallel for (int y = " in text
    assert text.count("vectorize for (int xii") == 8  # two of xi times four of yii
    assert "for (int yii" not in text


def test_running_keeps_the_given_arrays_and_their_dtype() -> None:
    arrays = _arrays(6)
    before = arrays["C"].copy()
    after = schedule(page_nests.MATMUL).run(arrays, n=6)
    assert np.array_equal(arrays["C"], before)
    assert after["C"].dtype == np.float32
    assert np.allclose(after["C"], arrays["A"] @ arrays["B"])


def test_running_a_vectorized_loop_gives_the_same_bits() -> None:
    arrays = _arrays(9)
    plain = schedule(page_nests.MATMUL, n=9).distribute("x").distribute("y")
    fast = plain.split("x", 4, statement="S1").reorder("y", "k", "xo", "xi", statement="S1").vectorize("xi")
    assert np.array_equal(plain.run(arrays)["C"], fast.run(arrays)["C"])


def test_running_outside_of_an_array_is_an_error_before_anything_runs(wording: Wording) -> None:
    with wording.raises(IndexError):
        schedule("for (int i = 0; i < 5; i++) A[i] = 0;").run({"A": np.zeros(3)})
    with wording.raises(ValueError):
        schedule("for (int i = 0; i < 5; i++) A[i] = 0;").run({})
    with wording.raises(ValueError):
        schedule(NEST).run(_arrays(2))


def test_c_and_python_programs_of_one_schedule_are_the_same_loops() -> None:
    start: Schedule = schedule(NEST).tile({"i": 4, "j": 4})
    assert (
        start.program("python").splitlines()[-1].strip() == "A[4 * io + ii, 4 * jo + ji] = B[4 * io + ii, 4 * jo + ji]"
    )
    assert [line.split("for ")[0] for line in start.program("python").splitlines()[:4]] == [
        "",
        " " * 4,
        " " * 8,
        " " * 12,
    ]


def test_tiling_pays_in_the_simulated_cache() -> None:
    from triton_lab.polyhedral.cache_cost import Cache

    cache = Cache(lines=32, line_size=8)
    plain = scop(page_nests.TRANSPOSE, n=64).schedule
    tiled = plain.tile({"i": 8, "j": 8})
    lines = 2 * 64 * 64 // 8
    assert tiled.cost(cache).misses == lines  # each line once: the least there is
    assert plain.cost(cache).misses == lines // 2 + 64 * 64


def test_the_cache_forgets_what_was_used_longest_ago() -> None:
    from triton_lab.polyhedral.cache_cost import Cache

    lines = np.array([0, 1, 0, 2, 1, 0])
    assert Cache(lines=2, line_size=1).misses(lines).tolist() == [True, True, False, True, True, True]
    direct = Cache(lines=2, line_size=1, ways=1).misses(np.array([0, 2, 0, 1, 1]))
    assert direct.tolist() == [True, True, True, True, False]
    with pytest.raises(ValueError, match="ways"):
        Cache(lines=4, ways=3)


@pytest.mark.parametrize("mark", ["", "vectorize"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C[i] = (A[i] > 1) + (B[i] > 1);", lambda a, b: (a > 1) * 1.0 + (b > 1) * 1.0),
        ("C[i] = -(A[i] > 1) - (B[i] > 1);", lambda a, b: (a > 1) * -1.0 - (b > 1)),
        ("C[i] = (A[i] == B[i]) * (A[i] > 1) * 7;", lambda a, b: 7.0 * ((a == b) & (a > 1))),
        ("C[i] += A[i] >= 1;", lambda a, b: 10.0 + (a >= 1)),
    ],
)
def test_a_condition_counts_as_one_or_zero(text: str, expected: Callable[..., np.ndarray], mark: str) -> None:
    schedule = scop(f"for (int i = 0; i < n; i++) {text}").schedule
    a, b = np.array([0.0, 1, 2, 3, 2]), np.array([2.0, 0, 2, 0, 9])
    arrays = {"A": a, "B": b, "C": np.full(5, 10.0)}
    arrays = {array.name: arrays[array.name] for array in schedule.scop.arrays}
    found = (schedule.vectorize("i") if mark else schedule).run(arrays, n=5)
    assert found["C"].tolist() == expected(a, b).tolist()


def test_in_c_a_conjunction_is_one_or_zero_whatever_its_operands_are() -> None:
    nest = "for (int i = 0; i < n; i++) C[i] = 3 * (A[i] && B[i]) + (A[i] || B[i]);"
    found = scop(nest).schedule.run({"A": np.array([0.0, 5, 5]), "B": np.array([2.0, 0, 4]), "C": np.zeros(3)}, n=3)
    assert found["C"].tolist() == [1, 1, 4]
