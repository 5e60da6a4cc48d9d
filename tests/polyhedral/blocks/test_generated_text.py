"""What is written for each kind of nest, run beside the schedule that it was written from: none of these is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from tests.wordings import Wording
from triton_lab.polyhedral import Schedule, schedule, scop
from triton_lab.polyhedral.blocks.triton_kernel import NotABlockProgram, TritonKernel, _check_tensor
from triton_lab.polyhedral.execute import least_shape
from triton_lab.polyhedral.related_work import page_nests

NESTS = {
    "subscripts that are numbers": "for (int i = 0; i < n; i++) C[1][i] = A[i][0] + A[i][1] * B[2] + B[0] + A[1][2];",
    "subscripts away from the iterator": "for (int i = 2; i < n; i++) C[i - 2][i + 1] = A[2 * i][n - i] + B[n - 1];",
    "subscripts alike": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][i] = A[i][i] + 1;",
    "a step": "for (int i = 1; i < n; i += 3) C[i] = A[i - 1] + B[i / 3];",
    "steps within a triangle": "for (int i = 0; i < n; i++) for (int j = i; j < n; j += 2) C[i][j] = A[j][i];",
    "a triangle from its row": "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) C[i][j] = A[j][i];",
    "a triangle to its row": "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) C[i][j] = A[j][i];",
    "one condition in another": """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
        if (i < j) { if (i + j > 5) { C[i][j] = A[i][j]; if (j != 7) D[i][j] = A[j][i]; else D[i][j] = 3; } }
        else C[i][j] = B[i];""",
    "a condition on one axis of two": """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)
        if (i > 2) { C[i][j] = A[i][j]; if (j > 3) D[i][j] = B[i]; }""",
    "sums along rows of a triangle": "for (int i = 0; i < n; i++) for (int k = i; k < n; k++) C[i] += A[i][k];",
    "sums with a step": "for (int i = 0; i < n; i++) for (int k = i; k < n; k += 3) C[i] += A[i][k] * B[k];",
    "sums up to two ends": "for (int i = 0; i < n; i++) for (int k = 0; k < min(i, 6); k++) C[i] += A[i][k];",
    "sums of some rows": "for (int i = 0; i < n; i++) if (i % 3 == 1) for (int k = 0; k < n; k++) C[i] += A[i][k];",
    "products that run": "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) C[i] *= A[i][k];",
    "differences": "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) C[i] = A[i][k] - C[i];",
    "a sum of what was just made": """for (int i = 0; i < n; i++) { D[i] = 0;
        for (int k = 0; k < n; k++) D[i] += A[i][k]; C[i] = D[i] / (1 + B[i]); }""",
    "numbers and conditions with a sign": """for (int i = 0; i < n; i++)
        C[i] = -A[i] + -(B[i] > 1) + !(A[i] > B[i]) * -2;""",
    "conditions that are counted": """for (int i = 0; i < n; i++)
        C[i] = (A[i] > 1) + (B[i] > 1) + 3 * (A[i] > 1 && B[i] > 1) + (i > 2) * (i < 5);""",
    "powers": "for i in range(n):\n    C[i] = A[i] ** 2 + B[i] ** 3 * 2 ** 3 + (not A[i] > 1)",
    "remainders of Python": "for i in range(n):\n    C[i] = A[i] + (i - 5) % 3 + (i - 7) // 2 - (i + 1) % 2",
    "one iteration": "for (int i = 0; i < n; i++) for (int j = 2; j < 3; j++) C[i][j] = A[j][i];",
    "lanes within a loop within lanes": """for (int i = 0; i < n; i++) for (int t = 0; t < 3; t++) {
        D[i] = D[i] * 2 + B[i]; for (int j = 0; j < n; j++) C[i][j] += A[i][j] * D[i]; }""",
    "quotients where lanes are off": "for (int i = 1; i < n; i++) C[i] = A[i] / B[i] + A[i] % B[i];",
}  # fmt: skip


def agree(schedule: Schedule, kernel: TritonKernel, n: int) -> None:
    bound = schedule.scop.bind(**dict.fromkeys(schedule.scop.parameters, n))
    rng = np.random.default_rng(n)
    arrays = {a.name: rng.integers(1, 9, least_shape(bound, a.name)) / 4 for a in bound.arrays}
    ours, theirs = schedule.run(arrays, **bound.values), kernel.run(arrays, **bound.values)
    for name in arrays:
        np.testing.assert_allclose(theirs[name], ours[name], rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", NESTS)
def test_each_nest_equals_its_schedule(name: str) -> None:
    schedule = scop(NESTS[name]).schedule
    kernel = schedule.to_triton()
    for n in (3, 9, 17):
        agree(schedule, kernel, n)


@pytest.mark.parametrize("tile", [2, 16])
@pytest.mark.parametrize("tiled", [t for size in (1, 2, 3) for t in itertools.combinations("yxk", size)], ids="".join)
def test_any_axes_of_a_product_may_be_tiled(tiled: tuple[str, ...], tile: int) -> None:
    start = scop(page_nests.MATMUL).schedule.distribute("x").distribute("y")
    for axis in tiled:
        start = start.split(axis, tile, statement="S1")
    outer = [f"{axis}o" if axis in tiled else axis for axis in "yxk"]
    schedule = start.reorder(*outer, *(f"{axis}i" for axis in tiled), statement="S1")
    kernel = schedule.to_triton()
    assert "acc = " in kernel.text and kernel.constants == {f"BLOCK_{axis.upper()}": tile for axis in tiled}
    assert kernel.grid(kernel.scop.bind(n=20)) == tuple(-(-20 // tile) if axis in tiled else 20 for axis in "yx")
    for n in (5, 20):
        agree(schedule, kernel, n)


def test_a_sum_may_begin_below_zero_where_its_start_does_not() -> None:
    text = """for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) { C[i][j] = 0;
        for (int k = -3; k < n; k++) C[i][j] += A[i][k + 3] * B[k + 3][j]; }"""
    start = scop(text).schedule.distribute("j").distribute("i")
    schedule = start.tile({"i": 4, "j": 4, "k": 4}, statement="S1")
    kernel = schedule.to_triton()
    for n in (3, 9):
        agree(schedule, kernel, n)


def test_only_loops_that_go_round_have_blocks() -> None:
    assert scop(NESTS["one iteration"]).schedule.to_triton().constants == {"BLOCK_I": 256}
    assert scop(NESTS["a step"]).schedule.to_triton().constants == {"BLOCK_I": 256}
    two = scop(NESTS["a triangle to its row"]).schedule.to_triton().constants
    assert two == {"BLOCK_I": 16, "BLOCK_J": 16}


def test_tiled_nests_are_written_with_their_tiles() -> None:
    """One lane for each iteration of a tile, also where the last tile is not full."""
    text = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) C[i][j] = A[j][1] + B[i];"
    schedule = scop(text).schedule.tile({"i": 4, "j": 8})
    kernel = schedule.to_triton()
    assert sorted(kernel.constants.values()) == [4, 8]
    assert kernel.grid(kernel.scop.bind(n=9)) in ((3, 2), (2, 3))
    for n in (1, 9, 16):
        agree(schedule, kernel, n)


def test_tensors_reach_as_far_as_offsets_of_32_bits_do() -> None:
    """The element furthest from the first one counts, not how many there are."""
    most = 2**31 - 1
    for shape, strides in (((2,), (most,)), ((1 << 16, 1 << 15), (1 << 15, 1)), ((2, 2), (most - 1, 1))):
        _check_tensor(torch.empty_strided(shape, strides, device="meta"), "A", None)
    for shape, strides in (((2,), (most + 1,)), ((2, 2), (most, 1)), ((1 << 16, (1 << 15) + 1), ((1 << 15) + 1, 1))):
        with pytest.raises(NotABlockProgram, match=r"^A spans 2,?147,?"):
            _check_tensor(torch.empty_strided(shape, strides, device="meta"), "A", None)
    _check_tensor(torch.empty_strided((0, 2), (most + 1, most + 1), device="meta"), "A", None)


@pytest.mark.parametrize(
    ("dtype", "declared", "fits"),
    [
        ("float32", "float64", True), ("int32", "int64", True), ("int32", None, True), ("float32", None, True),
        ("int32", "float32", False), ("float32", "int32", False),
    ],
)  # fmt: skip
def test_a_tensors_type_divides_as_the_declared_one(dtype: str, declared: str | None, fits: bool) -> None:
    tensor = torch.zeros(3, dtype=getattr(torch, dtype))
    if fits:
        _check_tensor(tensor, "A", declared)
    else:
        with pytest.raises(TypeError, match="A holds"):
            _check_tensor(tensor, "A", declared)


@pytest.mark.parametrize(
    ("sizes", "fits"),
    [((1024, 1024), True), ((1024, 1025), False), ((1025, 1024), False), ((2, 1 << 19), True), ((1 << 20,), True),
     ((1 << 20, 2), False), (((1 << 20) + 1,), False)],
)  # fmt: skip
def test_a_tile_of_more_lanes_than_triton_takes_is_refused(
    sizes: tuple[int, ...], fits: bool, wording: Wording
) -> None:
    """Each size counts as the power of two that holds it."""
    names = "ij"[: len(sizes)]
    loops = "".join(f"for (int {name} = 0; {name} < n; {name}++) " for name in names)
    found = scop(f"{loops}A{''.join(f'[{name}]' for name in names)} = 1;", n=1 << 22).schedule
    tiled = found.tile(dict(zip(names, sizes, strict=True)))
    if fits:
        assert tuple(tiled.to_triton().constants.values()) == sizes
    else:
        with wording.raises(NotABlockProgram):
            tiled.to_triton()


def test_nothing_is_asked_of_lanes_that_go_one_by_one() -> None:
    """A remainder by one is no condition."""
    text = schedule("for (int i = 0; i < n; i++) C[i] = A[i];").split("i", 4).to_triton().source
    assert "%" not in text.rpartition("@triton.jit")[2]
