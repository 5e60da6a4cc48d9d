"""Several programs in one: the edited kernel gives what the kernel itself and torch give, on a smaller grid."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

from tests.compiled.advice.test_source_edits import edits_of, recorded, run, scope_of
from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.compiled.advice.option_edits import option_edits
from triton_lab.launch.comparison.argument_difference import EQUAL, NEAR
from triton_lab.launch.launch import Launch


@triton.jit
def softmax_of_a_row(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * columns + column, e / tl.sum(e, 0), mask=column < columns)


@triton.jit
def log_sum_of_a_row(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * columns
    most = -float("inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < columns, other=-float("inf"))
        new = tl.maximum(most, tl.max(x))
        total = total * tl.exp(most - new) + tl.sum(tl.exp(x - new))
        most = new
    tl.store(y_ptr + row, most + tl.log(total))


@triton.jit
def product_of_a_column(w_ptr, x_ptr, y_ptr, K, N, BLOCK_K: tl.constexpr):
    n = tl.program_id(1)
    total = tl.zeros((BLOCK_K,), tl.float32)
    for k in range(0, K, BLOCK_K):
        at = k + tl.arange(0, BLOCK_K)
        total += tl.load(w_ptr + at * N + n, mask=at < K, other=0.0) * tl.load(x_ptr + at, mask=at < K, other=0.0)
    tl.store(y_ptr + n, tl.sum(total, axis=0))


@triton.jit
def running_sums_of_a_row(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.cumsum(tl.load(x_ptr + at), axis=0))


@triton.jit
def one_element(ids_ptr, table_ptr, out_ptr, N):
    token = tl.program_id(0)
    n = tl.program_id(1)
    tl.store(out_ptr + token * N + n, tl.load(table_ptr + tl.load(ids_ptr + token) * N + n))


@triton.jit
def tile(x_ptr, y_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK * BLOCK + tl.arange(0, BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(y_ptr + at, tl.load(x_ptr + at))


@triton.jit
def turned(x_ptr, y_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + row * 32 + at, tl.gather(tl.load(x_ptr + row * 32 + at), BLOCK - 1 - at, 0))


@triton.jit
def place_of_the_greatest(x_ptr, y_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    tl.store(y_ptr + row, tl.argmax(tl.load(x_ptr + row * BLOCK + tl.arange(0, BLOCK)), 0, False))


@triton.jit
def sum_of_rows(x_ptr, total_ptr, count_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0)
    tl.atomic_add(total_ptr + at, x, mask=at < columns)
    tl.atomic_add(count_ptr + row % 8, 1.0)


def programs(launch: Launch, edit: LaunchEdit) -> int:
    grid = edit.grid or launch.grid
    return launch.programs // (grid[0] * grid[1] * grid[2])


def test_a_program_takes_several_rows():
    x, y = torch.randn(128, 50), torch.zeros(128, 50)
    launch = recorded(lambda: softmax_of_a_row[(128,)](x, y, 50, BLOCK=64))
    edits = edits_of(launch, "rows")
    assert {programs(launch, one) for one in edits} == {4, 16, 64}
    for edit in edits:
        y.zero_()
        run(launch, edit, x, y, 50, BLOCK=64)
        torch.testing.assert_close(y, torch.softmax(x, 1))


def test_what_a_loop_carries_has_a_number_for_each_row():
    x, y = torch.randn(32, 300), torch.zeros(32)
    launch = recorded(lambda: log_sum_of_a_row[(32,)](x, y, 300, BLOCK=64))
    edits = edits_of(launch, "rows")
    assert {(programs(launch, one), one.constants.get("BLOCK")) for one in edits} == {(4, None), (4, 16), (16, None)}
    for edit in edits:
        y.zero_()
        run(launch, edit, x, y, 300, BLOCK=64)
        torch.testing.assert_close(y, torch.logsumexp(x, 1))


def test_columns_of_another_axis_become_neighbours():
    w, x, y = torch.randn(70, 48), torch.randn(70), torch.zeros(48)
    launch = recorded(lambda: product_of_a_column[(1, 48)](w, x, y, 70, 48, BLOCK_K=32))
    edits = edits_of(launch, "rows")
    assert {one.grid for one in edits} == {(1, 3, 1), (1, 12, 1)}
    for edit in edits:
        y.zero_()
        run(launch, edit, w, x, y, 70, 48, BLOCK_K=32)
        torch.testing.assert_close(y, x @ w)


@pytest.mark.parametrize("axis", [0, 1])
def test_elements_become_a_block_along_either_axis(axis):
    ids, table, out = torch.randint(0, 9, (16,)), torch.randn(9, 64), torch.zeros(16, 64)
    launch = recorded(lambda: one_element[(16, 64)](ids, table, out, 64))
    found = [one for one in edits_of(launch, "rows") if one.grid is not None and one.grid[axis] < launch.grid[axis]]
    assert found
    for edit in found:
        out.zero_()
        run(launch, edit, ids, table, out, 64)
        assert torch.equal(out, table[ids])


def test_what_stands_behind_the_axis_stays():
    x, y = torch.randn(16, 64), torch.zeros(16, dtype=torch.int64)
    launch = recorded(lambda: place_of_the_greatest[(16,)](x, y, BLOCK=64))
    for edit in edits_of(launch, "rows"):
        assert "tie_break_left=False" in (edit.text or "")
        y.zero_()
        run(launch, edit, x, y, BLOCK=64)
        assert torch.equal(y, x.argmax(1))


def test_rows_are_added_up_before_the_atomics_that_all_programs_share():
    x, total, count = torch.randn(64, 50), torch.zeros(50), torch.zeros(8)
    launch = recorded(lambda: sum_of_rows[(64,)](x, total, count, 50, BLOCK=64))
    for edit in edits_of(launch, "rows"):
        assert (edit.text or "").count("axis=0") == 1
        total.zero_(), count.zero_()
        run(launch, edit, x, total, count, 50, BLOCK=64)
        torch.testing.assert_close(total, x.sum(0))
        assert count.tolist() == [8.0] * 8


def test_a_program_whose_ids_count_blocks_already_stays():
    """A larger block is the simpler edit."""
    x, y = torch.randn(16, 32), torch.zeros(16, 32)
    assert not edits_of(recorded(lambda: running_sums_of_a_row[(16,)](x, y, BLOCK=32)), "rows")


@pytest.mark.parametrize("kernel", [tile, turned])
def test_blocks_of_two_axes_and_elements_that_move_stay(kernel):
    x, y = torch.randn(16, 32, 32), torch.zeros(16, 32, 32)
    assert not edits_of(recorded(lambda: kernel[(16,)](x, y, BLOCK=32)), "rows")


def test_programs_that_do_not_divide_the_grid_stay():
    x, y = torch.randn(37, 50), torch.zeros(37, 50)
    assert not edits_of(recorded(lambda: softmax_of_a_row[(37,)](x, y, 50, BLOCK=64)), "rows")


def test_other_options_keep_the_smaller_grid():
    x, y = torch.randn(32, 300), torch.zeros(32)
    launch = recorded(lambda: log_sum_of_a_row[(32,)](x, y, 300, BLOCK=64))
    (edit, *_) = edits_of(launch, "rows")
    after = [one for _kind, one in option_edits(scope_of(launch), edit)]
    assert after and {one.grid for one in after} == {edit.grid}
    assert all(edit.title.split(", grid")[0] in one.title and "grid=" in one.title for one in after)


def test_tiny_rows_are_advised_to_share_programs():
    x, y = torch.randn(8192, 32), torch.zeros(8192, 32)
    launch = recorded(lambda: softmax_of_a_row[(8192,)](x, y, 32, BLOCK=32))
    advice = launch.advise("sm_90", seconds=30, measure=False)
    assert advice.original.time.limit == "starts"
    first = advice[0]
    assert programs(launch, first.edit) > 1 and first.results in (EQUAL, NEAR)
