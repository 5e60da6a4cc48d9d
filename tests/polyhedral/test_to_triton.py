"""Kernels written from schedules: they compile, run on the CPU target, and equal the schedule."""

from __future__ import annotations

import numpy as np
import pytest

from triton_lab.polyhedral import Schedule, examples, scop
from triton_lab.polyhedral.block_shape import NotABlockProgram


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
    "transpose": (examples.TRANSPOSE, {"n": 37}, {"i": 16, "j": 8}),
    "triangle": (examples.PAGE, {}, {"i": 2, "j": 4}),
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
    start = scop(examples.MATMUL, n=n).schedule.distribute("x").distribute("y")
    split = start.split("y", y, statement="S1").split("x", x, statement="S1").split("k", k, statement="S1")
    return split.reorder("yo", "xo", "ko", "yi", "xi", "ki")


@pytest.mark.parametrize(("n", "y", "x", "k"), [(40, 16, 32, 16), (64, 32, 16, 32), (17, 16, 16, 16), (13, 4, 8, 2)])
def test_matmul_equals_its_schedule(n: int, y: int, x: int, k: int) -> None:
    _agree(_matmul(n, y, x, k), exact=False)


def test_large_enough_tiles_become_a_dot() -> None:
    text = _matmul(64, 16, 16, 16).to_triton().text
    # Not in tf32, which a GPU would take for float32.
    assert 'acc = tl.dot(a, b, acc, input_precision="ieee")' in text
    assert "y = tl.program_id(0) * BLOCK_Y + tl.arange(0, BLOCK_Y)" in text
    assert "for k0 in range(0, n, BLOCK_K):" in text
    assert "tl.sum" in _matmul(64, 8, 16, 16).to_triton().text


def test_the_grid_counts_the_tiles() -> None:
    kernel = _matmul(40, 16, 32, 16).to_triton()
    assert kernel.grid(kernel.scop) == (3, 2)
    assert kernel.constants == {"BLOCK_Y": 16, "BLOCK_X": 32, "BLOCK_K": 16}


def test_the_last_loop_over_tiles_may_come_first() -> None:
    start = scop(examples.MATMUL, n=40).schedule.distribute("x").distribute("y")
    split = start.split("y", 16, statement="S1").split("x", 16, statement="S1").split("k", 16, statement="S1")
    _agree(split.reorder("xo", "yo", "ko", "yi", "xi", "ki"), exact=False)


def test_a_matrix_times_a_vector_adds_to_what_is_there() -> None:
    found = scop("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += A[i][j] * x[j];", n=21, m=19)
    _agree(found.schedule.tile({"i": 4, "j": 8}), exact=False)
    _agree(found.schedule, exact=False)


TRIANGLE = "for (int i = 0; i < n; i++) for (int k = 0; k <= i; k++) y[i] += A[i][k] * x[k];"


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        (scop(examples.WAVEFRONT).schedule.tile({"i": 4, "j": 4}), "carries a dependence"),
        (scop(examples.WAVEFRONT).schedule.reverse("i"), "illegal"),
        (scop("for (int i = 0; i < n; i++) A[min(i, 5)] = i;").schedule, "carries a dependence"),
        (scop("for (int i = 0; i < n; i++) s += x[i];").schedule, "carries a dependence"),
        (scop("for i in range(n):\n    A[i] = B[i] // C[i]").schedule, "means something else"),
        (scop("for i in range(n):\n    A[i] = B[i] ** C[i]").schedule, "small whole exponents"),
    ],
)  # fmt: skip
def test_what_no_kernel_computes_is_refused_with_its_reason(schedule: Schedule, reason: str) -> None:
    with pytest.raises(NotABlockProgram, match=reason):
        schedule.to_triton()
