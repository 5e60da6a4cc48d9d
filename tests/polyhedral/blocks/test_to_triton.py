"""Kernels written from schedules: they compile, run on the CPU target, and equal the schedule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.polyhedral.random_nests import RandomNest, random_nests
from tests.wordings import Wording
from triton_lab.launch.recording.record import record
from triton_lab.polyhedral import Schedule, TooHard, scop
from triton_lab.polyhedral.blocks import contraction, lane_values, lane_writer
from triton_lab.polyhedral.blocks.translation_validation import example
from triton_lab.polyhedral.blocks.triton_kernel import NotABlockProgram
from triton_lab.polyhedral.execute import extent, least_shape
from triton_lab.polyhedral.related_work import page_nests


def _agree(schedule: Schedule, *, exact: bool = True, sizes: int = 0) -> None:
    from triton_lab.polyhedral.execute import least_shape

    rng = np.random.default_rng(0)
    found = schedule.scop
    shapes = {a.name: least_shape(found, a.name) for a in found.arrays}
    arrays = {name: rng.random(shape, dtype=np.float32) for name, shape in shapes.items()}
    ours, theirs = schedule.run(arrays), schedule.to_triton().run(arrays)
    for name in arrays:
        if exact:
            assert np.array_equal(ours[name], theirs[name]), name
        else:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-5)


ELEMENTWISE = {
    "transpose": (page_nests.TRANSPOSE, {"n": 37}, {"i": 16, "j": 8}),
    "triangle": (page_nests.PAGE, {}, {"i": 2, "j": 4}),
    "add": ("for (int i = 0; i < n; i++) C[i] = A[i] + B[i];", {"n": 100}, {"i": 32}),
    "compound": ("for (int i = 2; i < n; i++) C[i - 2] *= A[2 * i + 1];", {"n": 50}, {"i": 16}),
    "choice": (
        "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) A[i][j] = i > j / 2 ? A[i][j] * 2 : max(B[j], i);",
        {"n": 21}, {"i": 4, "j": 8},
    ),
    "three": (
        "for (int i = 0; i < 5; i++) for (int j = 0; j < 6; j++) for (int k = 0; k < 7; k++) A[k][i][j] = B[i + k][j];",
        {}, {"j": 4, "k": 4},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_nests_equal_their_schedule(name: str) -> None:
    text, values, sizes = ELEMENTWISE[name]
    start = scop(text, **values).schedule
    order = [i for i in start.scop["S0"].iterators if i not in sizes]
    _agree(start.reorder(*order, *sizes).tile(sizes) if order else start.tile(sizes))


def _matmul(n: int, y: int, x: int, k: int) -> Schedule:
    start = scop(page_nests.MATMUL, n=n).schedule.distribute("x").distribute("y")
    split = start.split("y", y, statement="S1").split("x", x, statement="S1").split("k", k, statement="S1")
    return split.reorder("yo", "xo", "ko", "yi", "xi", "ki")


@pytest.mark.parametrize(("n", "y", "x", "k"), [(40, 16, 32, 16), (64, 32, 16, 32), (17, 16, 16, 16), (13, 4, 8, 2)])
def test_matmul_equals_its_schedule(n: int, y: int, x: int, k: int) -> None:
    _agree(_matmul(n, y, x, k), exact=False)


def test_large_enough_tiles_become_a_dot() -> None:
    text = _matmul(64, 16, 16, 16).to_triton().text
    # Not in tf32, which a GPU would take for float32.
    assert 'acc = tl.dot(a, b, acc, input_precision="ieee", out_dtype=acc.dtype)' in text
    assert "y = tl.program_id(0) * BLOCK_Y + tl.arange(0, BLOCK_Y)" in text
    assert "for k0 in range(0, n, BLOCK_K):" in text
    assert "tl.sum" in _matmul(64, 8, 16, 16).to_triton().text


def test_the_grid_counts_the_tiles() -> None:
    kernel = _matmul(40, 16, 32, 16).to_triton()
    assert kernel.grid(kernel.scop) == (3, 2)
    assert kernel.constants == {"BLOCK_Y": 16, "BLOCK_X": 32, "BLOCK_K": 16}


def test_the_last_loop_over_tiles_may_come_first() -> None:
    start = scop(page_nests.MATMUL, n=40).schedule.distribute("x").distribute("y")
    split = start.split("y", 16, statement="S1").split("x", 16, statement="S1").split("k", 16, statement="S1")
    _agree(split.reorder("xo", "yo", "ko", "yi", "xi", "ki"), exact=False)


def test_a_matrix_times_a_vector_adds_to_what_is_there() -> None:
    found = scop("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += A[i][j] * x[j];", n=21, m=19)
    _agree(found.schedule.tile({"i": 4, "j": 8}), exact=False)
    _agree(found.schedule, exact=False)


TRIANGLE = "for (int i = 0; i < n; i++) for (int k = 0; k <= i; k++) y[i] += A[i][k] * x[k];"


@pytest.mark.parametrize(
    ("schedule", "label", "facts"),
    [
        (scop(page_nests.WAVEFRONT).schedule.tile({"i": 4, "j": 4}), "dependence", {}),
        (scop(page_nests.WAVEFRONT).schedule.reverse("i"),
         "illegal", {"kind": "flow", "array": "A", "distance": "(1, 0)"}),
        (scop("for (int i = 0; i < n; i++) A[min(i, 5)] = i;").schedule, "dependence", {}),
        (scop("for (int i = 0; i < n; i++) s += x[i];").schedule, "dependence", {}),
        (scop("for i in range(n):\n    A[i] = B[i] // C[i]").schedule, "operation", {"operation": "//"}),
        (scop("for i in range(n):\n    A[i] = B[i] ** C[i]").schedule, "exponents", {"operation": "**"}),
    ],
)  # fmt: skip
def test_what_no_kernel_computes_is_refused_with_its_reason(
    schedule: Schedule, label: str, facts: dict[str, str], wording: Wording
) -> None:
    with wording.raises(NotABlockProgram, label, **facts):
        schedule.to_triton()


PLAIN = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
K = "for (int k = 0; k < n; k++)"
# What was written without a word and computed something else, or did not compile.
ONCE_WRONG = {
    "a start for some rows alone": f"{PLAIN} {{ if (i < 2) C[i][j] = 0; {K} C[i][j] += A[i][k] * B[k][j]; }}",
    "a guard on rows": f"{PLAIN} {{ C[i][j] = 0; {K} if (j <= i) C[i][j] += A[i][k] * B[k][j]; }}",
    "a guard on rows without a start": f"{PLAIN} {K} if (i + j < n) C[i][j] += A[i][k] * B[k][j];",
    "syrk": f"for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) {K} C[i][j] += A[i][k] * A[j][k];",
    "a triangle of products": f"{PLAIN} {{ C[i][j] = 0; {K} if (k <= i) C[i][j] += A[i][k] * B[k][j]; }}",
    "names": f"""for (int acc = 0; acc < n; acc++) for (int mask = 0; mask < n; mask++) {K}
        tl[acc][mask] += b[acc][k] * a[k][mask];""",
    "a sum over every second": f"{PLAIN} for (int k = 0; k < n; k += 2) C[i][j] += A[i][k] * B[k][j];",
    "a sum from below zero": f"{PLAIN} for (int k = -3; k < n; k++) C[i][j] += A[i][k + 3] * B[k + 3][j];",
}  # fmt: skip


@pytest.mark.parametrize(
    ("tile", "dtype"),
    [
        (16, np.float32), (16, np.float64), (16, np.int32), (4, np.float64),
        (0, np.float32), (0, np.float64), (0, np.int32), (0, np.int64),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ONCE_WRONG)
def test_sums_with_guards_and_names_of_their_own(name: str, tile: int, dtype: type) -> None:
    schedule = _tiled(ONCE_WRONG[name], tile)
    kernel = schedule.to_triton()
    bound = schedule.scop.bind(**{p: 18 + 3 * k for k, p in enumerate(schedule.scop.parameters)})
    rng = np.random.default_rng(3)
    shapes = {a.name: least_shape(bound, a.name) for a in bound.arrays}
    arrays = {name: (rng.random(shape) * 9).astype(dtype) for name, shape in shapes.items()}
    ours, theirs = schedule.run(arrays, **bound.values), kernel.run(arrays, **bound.values)
    for array in arrays:
        np.testing.assert_allclose(theirs[array], ours[array], rtol=1e-4 if dtype == np.float32 else 1e-9)


def test_a_factor_that_changes_is_read_when_it_is_due() -> None:
    schedule = scop(f"{PLAIN} {K} C[i][j] += C[i][k] * B[k][j];").schedule
    arrays = {name: np.random.default_rng(0).random((19, 19)) for name in "CB"}
    for tiled in (schedule, schedule.split("i", 16)):
        ours, theirs = tiled.run(arrays, n=19), tiled.to_triton().run(arrays, n=19)
        np.testing.assert_allclose(theirs["C"], ours["C"], rtol=1e-9)


def _tiled(text: str, tile: int) -> Schedule:
    """The last statement in tiles, where its loops stand alone."""
    schedule = scop(text).schedule
    statements = schedule.scop.statements
    if not tile:
        return schedule
    for loop in reversed(statements[0].iterators[:2]) if len(statements) > 1 else ():
        schedule = schedule.distribute(loop)
    return schedule.tile(dict.fromkeys(statements[-1].iterators, tile), statement=statements[-1].name)


VALUES = {
    "saxpy": "w[i] = alpha * v[i] + w[i];",
    "whole quotients": "w[i] = v[i] / 3 + (v[i] - 7) / u[i] + (v[i] - 7) % u[i] + i / 2 + 1 / u[i] + -7 / 2;",
    "real quotients": "w[i] = v[i] / 2.0 + 1.0 / u[i] + i / 2.5 + n / 4;",
    "functions": "w[i] = sqrt(2) * v[i] + sqrt(n) + exp(-u[i]) + log(i + 1) + tanh(u[i]) + fabs(v[i] - 4) + sin(1.0);",
    "conditions": "w[i] = v[i] > u[i] && i > 3 ? max(v[i], 2) : (i == 5) + 2 * (v[i] >= u[i]);",
    "casts": "w[i] = (int)(u[i] * 1.7) + (float)i / 3 + (double)v[i];",
    "several": "{ w[i] = v[i] + 1; v[i] = w[i] * u[i]; u[i] = w[i] - v[i]; }",
    "a scalar of its own": "{ double t = v[i] * 2; w[i] = t + u[i]; }",
    "words of Triton": "range[i] = len[i] + triton[i] * tl[i] + max[i];",
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("name", VALUES)
def test_values_are_those_of_the_executed_schedule(name: str, dtype: type) -> None:
    schedule = scop(f"for (int i = 0; i < n; i++) {VALUES[name]}").schedule
    rng = np.random.default_rng(5)
    arrays: dict[str, np.ndarray] = {
        a.name: rng.integers(1, 19, 41 if a.ndim else ()).astype(dtype) for a in schedule.scop.arrays if not a.local
    }
    ours, theirs = schedule.run(arrays, n=41), schedule.to_triton().run(arrays, n=41)
    for array in arrays:
        rtol = 1e-5 if dtype == np.float32 else 1e-12
        np.testing.assert_allclose(theirs[array], ours[array], rtol=rtol, err_msg=array)


def test_declared_types_are_asked_for(wording: Wording) -> None:
    kernel = scop("void f(int n, int v[n], double w[n]) { for (int i = 0; i < n; i++) w[i] = v[i] / 2; }")
    written = kernel.schedule.to_triton()
    v = np.arange(9, dtype=np.int32)
    assert np.array_equal(written.run({"v": v, "w": np.zeros(9)}, n=9)["w"], v // 2)
    with wording.raises(TypeError):
        written.run({"v": v * 1.0, "w": np.zeros(9)}, n=9)


def test_a_program_of_several_launches_has_a_driver() -> None:
    kernel = scop(page_nests.STENCIL).schedule.to_triton()
    assert [launch.name for launch in kernel.launches] == ["kernel_0", "kernel_1"]
    assert "for t in range(n):" in kernel.text and "def run(A, B, n, BLOCK_I=256):" in kernel.text
    with pytest.raises(ValueError, match="several launches"):
        kernel.grid(kernel.scop.bind(n=9))


@pytest.mark.parametrize(
    ("where", "name", "wrong"),
    [
        (lane_writer.KernelWriter, "_mask", lambda self, outer, conditions: outer),
        (lane_values.ValuePrinter, "operand", lambda self, expression, around: "2.5"),
        (contraction.Contraction, "masks_say_all", property(lambda self: True)),
        (contraction, "_is_one", lambda scop, found: True),
    ],
)
def test_what_is_written_wrong_is_not_handed_out(
    monkeypatch: pytest.MonkeyPatch, where: object, name: str, wrong: object
) -> None:
    """The proof finds a mistake of the writer."""
    schedules = [
        scop(f"{PLAIN} C[i][j] = A[i][j] * 2 + B[j][i];").schedule,
        _tiled(ONCE_WRONG["a start for some rows alone"], 16),
        _tiled(ONCE_WRONG["a guard on rows"], 16),
    ]
    monkeypatch.setattr(where, name, wrong)
    refused = 0
    for schedule in schedules:
        try:
            schedule.to_triton()
        except NotABlockProgram:
            refused += 1
    assert refused


def test_the_proof_is_no_launch_of_the_users() -> None:
    with record() as launches:
        kernel = scop(page_nests.TRANSPOSE).schedule.to_triton()
    assert launches == []
    with record() as launches:
        kernel.run({"A": np.ones((5, 5)), "B": np.zeros((5, 5))}, n=5)
    assert len(launches) == 1


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(random_nests(), st.integers(3, 6))
def test_random_nests_are_right_or_refused(nest: RandomNest, n: int) -> None:
    """Nests with negative subscripts have no arrays to run on."""
    found = scop(nest.text)
    low = {
        a.name: np.minimum(0, extent(found.bind(**dict.fromkeys(found.parameters, n)), a.name)[0]) for a in found.arrays
    }
    assume(all(np.all(value >= 0) for value in low.values()))
    try:
        kernel = found.schedule.to_triton()
    except (NotABlockProgram, TooHard):
        return
    bound = found.bind(**dict.fromkeys(found.parameters, n))
    arrays = example(bound, seed=n)
    ours, theirs = found.schedule.run(arrays, **bound.values), kernel.run(arrays, **bound.values)
    for array in arrays:
        np.testing.assert_allclose(theirs[array], ours[array], rtol=1e-9)


@pytest.mark.parametrize(
    ("text", "given", "missing"),
    [
        ("for (int i = 0; i < n; i++) A[i] = B[i];", {"A": np.zeros(8)}, "B"),
        ("for (int i = 0; i < n; i++) A[i] = B[i];", {"B": np.zeros(8)}, "A"),
        ("for (int i = 0; i < n; i++) A[i] = s;", {"A": np.zeros(8)}, "s"),
    ],
)
def test_arrays_that_a_run_needs_are_asked_for(text: str, given: dict[str, np.ndarray], missing: str) -> None:
    kernel = scop(text, n=8).schedule.split("i", 4).to_triton()
    with pytest.raises(ValueError, match=rf"\b{missing}\b"):
        kernel.run(given, n=8)
