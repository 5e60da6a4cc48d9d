"""A launch that fails is shrunk to a small one that fails for the same reason, and to a script of it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.shrinking.planted import checked, failing, shrunk
from tests.planted.plant import Plant, planted
from triton_lab.launch.launch import Launch

# Every 14th planted bug: all kinds that are frequent, in some seconds.
SHARE = [one for one in planted() if one.kind not in ("bank-conflicts", "tuned-in-place", "tuned-leftover")][::14]


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets), mask=offsets < n)


@triton.jit
def double_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + lane, mask=lane < n, other=0.0)
    tl.store(out_ptr + row * n + lane, tl.where(x == 7.0, 3 * x, 2 * x), mask=lane < n)


def doubled(rows: int, columns: int, seven: tuple[int, int]) -> Launch:
    x = torch.rand(rows, columns + 28)[:, :columns]
    x[seven] = 7.0
    with lab.record() as launches:
        double_kernel[(rows,)](x, torch.zeros(rows, columns), columns, x.stride(0), BLOCK=64)
    return launches[0]


@pytest.mark.parametrize("plant", SHARE, ids=lambda plant: f"{plant.kind}: {plant.name}")
def test_a_planted_bug_stays_the_same_bug(plant: Plant) -> None:
    one = shrunk(plant)
    if one.small is None:
        assert "descriptor" in one.refused or "pointers" in one.refused
        return
    assert one.same
    assert one.small.script_fails
    assert plant.kind not in one.twin.split()


def test_sizes_that_belong_together_shrink_together() -> None:
    x, out = torch.rand(1000), torch.zeros(1000)
    before = x.clone()
    with lab.record() as launches, pytest.raises(lab.KernelError):
        copy_kernel[(8,)](x, out, 1000, BLOCK=128)
    small = lab.shrink(launches)
    launch = small.launch
    n, block = launch.argument("n").value, launch.argument("BLOCK").value
    assert (small.kind, small.argument) == ("out-of-bounds", "x_ptr")
    assert launch.argument("x_ptr").shape == launch.argument("out_ptr").shape == (n,)
    assert n <= 3 and block <= 4 and launch.grid[0] == triton.cdiv(n, block)
    assert small.line == copy_kernel.starting_line_number + 3
    assert torch.equal(x, before) and not out.any()
    assert {one.name for one in small.sizes} == {"grid", "x_ptr", "out_ptr", "n", "BLOCK"}


def test_what_the_failure_depends_on_stays_in_the_tensor() -> None:
    small = lab.shrink(doubled(13, 100 - 64, (9, 30)), lambda x_ptr, **_: 2 * x_ptr)
    assert (small.kind, small.argument) == ("different", "out_ptr")
    assert small.launch.grid == (1, 1, 1)
    assert small.launch.argument("x_ptr").shape == (1, 1)
    assert "7.0" in small.script and "assert_close" in small.script
    assert small.script_fails


def test_a_question_of_the_callers_decides() -> None:
    small = lab.shrink(doubled(13, 36, (9, 30)), fails=lambda launch: launch.grid[0] >= 3)
    assert small.kind == "predicate" and small.launch.grid == (3, 1, 1)


def test_no_record_outside_hears_the_smaller_launches(capfd: pytest.CaptureFixture[str]) -> None:
    plant = next(one for one in planted() if one.kind == "out-of-bounds")
    launch = failing(plant)
    with lab.record() as outside:
        lab.shrink(launch)
    assert not outside
    assert lab.last is launch
    assert not capfd.readouterr().out


def test_the_limits_hold() -> None:
    plant = next(one for one in planted() if one.kind == "race")
    small = lab.shrink(failing(plant), launches=2)
    assert small.tries <= 3 and not small.is_smallest
    assert small.script_fails


def test_check_finds_kind_argument_and_line_in_the_saved_scripts() -> None:
    kinds = {one.kind: one for one in planted() if one.kind in ("uninitialized", "out-of-bounds", "overflow")}
    small = [shrunk(plant) for plant in kinds.values()]
    assert len(checked(small)) == len(small) == 3


def test_what_cannot_be_shrunk_is_refused() -> None:
    launch = doubled(3, 36, (1, 1))
    with pytest.raises(ValueError, match="nothing to shrink"):
        lab.shrink(launch)
    with pytest.raises(ValueError, match="race"):
        lab.shrink(failing(next(one for one in planted() if one.kind == "out-of-bounds")), kind="race")
    with pytest.raises(TypeError):
        lab.shrink(launch, torch.zeros(3, 36))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        lab.shrink("launch")  # type: ignore[arg-type]


def test_a_launch_from_a_file_has_no_kernel_to_launch(tmp_path: Path) -> None:
    launch = failing(next(one for one in planted() if one.kind == "out-of-bounds"))
    launch.save(tmp_path / "one.launch")
    with pytest.raises(lab.CannotReplay):
        lab.shrink(lab.load(tmp_path / "one.launch"))
