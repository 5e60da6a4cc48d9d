"""Edits of a kernel's text: each edited kernel runs, and gives what the kernel itself and torch give."""

from __future__ import annotations

import ast

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.compiled.advice.edited_launch import edited_launch
from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.compiled.advice.launch_scope import LaunchScope
from triton_lab.compiled.advice.option_edits import option_edits
from triton_lab.compiled.advice.source_edits import source_edits
from triton_lab.launch.launch import Launch


@triton.jit
def masked(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    tl.store(y_ptr + offsets, x + 1, mask=mask)


@triton.jit
def by_elements(x_ptr, y_ptr, COUNT: tl.constexpr):
    start = tl.program_id(0) * COUNT
    for k in range(COUNT):
        x = tl.load(x_ptr + start + k)
        tl.store(y_ptr + start + k, x * x)


@triton.jit
def row_sums(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + tl.program_id(0) * columns + offsets, mask=offsets < columns, other=0.0)
    tl.store(y_ptr + tl.program_id(0), tl.sum(total))


@triton.jit
def tiles(x_ptr, y_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    across = tl.cdiv(N, BLOCK_N)
    rows = (pid // across) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = (pid % across) * BLOCK_N + tl.arange(0, BLOCK_N)
    where = rows[:, None] * N + columns[None, :]
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(y_ptr + where, tl.load(x_ptr + where, mask=mask) + 1, mask=mask)


@triton.jit
def over_the_grid(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + 1, mask=offsets < n)


def recorded(run) -> Launch:
    with lab.record() as launches:
        run()
    return launches[-1]


def scope_of(launch: Launch) -> LaunchScope:
    return LaunchScope(launch, launch.compiled[0].fn.src)


def edits_of(launch: Launch, kind: str) -> list[LaunchEdit]:
    return [edit for name, edit in source_edits(scope_of(launch)) if name == kind]


def run(launch: Launch, edit: LaunchEdit, *arguments, **constants) -> None:
    """Launch the edited kernel as a user would."""
    edited = edited_launch(launch, edit, 2)
    edited.compiled[0].fn[edit.grid or launch.grid](*arguments, **{**constants, **edit.constants})


def test_masks_that_are_true_go_with_their_other_values():
    x, y = torch.randn(512), torch.zeros(512)
    launch = recorded(lambda: masked[(4,)](x, y, 512, BLOCK=128))
    (edit,) = edits_of(launch, "mask")
    assert "mask=" not in (edit.text or "") and "other" not in (edit.text or "")
    assert edit.line == launch.first_line + 4
    y.zero_()
    run(launch, edit, x, y, 512, BLOCK=128)
    assert torch.equal(y, x + 1)


def test_masks_that_turn_lanes_off_stay():
    x, y = torch.randn(500), torch.zeros(500)
    assert not edits_of(recorded(lambda: masked[(4,)](x, y, 500, BLOCK=128)), "mask")


def test_a_loop_over_elements_becomes_a_block():
    x, y = torch.randn(512), torch.zeros(512)
    launch = recorded(lambda: by_elements[(16,)](x, y, COUNT=32))
    (edit,) = edits_of(launch, "vector")
    assert not any(isinstance(node, ast.For) for node in ast.walk(ast.parse(edit.text or "")))
    y.zero_()
    run(launch, edit, x, y, COUNT=32)
    assert torch.equal(y, x * x)


def test_a_loop_that_carries_a_value_stays():
    x, y = torch.randn(4, 128), torch.zeros(4)
    assert not edits_of(recorded(lambda: row_sums[(4,)](x, y, 128, BLOCK=32)), "vector")


@pytest.mark.parametrize("columns", [128, 100, 20])
def test_a_loop_is_split_into_whole_blocks_and_the_rest(columns):
    x, y = torch.randn(4, columns), torch.zeros(4)
    launch = recorded(lambda: row_sums[(4,)](x, y, columns, BLOCK=32))
    (edit,) = edits_of(launch, "split")
    assert (edit.text or "").count("for start in") == 2
    y.zero_()
    run(launch, edit, x, y, columns, BLOCK=32)
    torch.testing.assert_close(y, x.sum(1))


@pytest.mark.parametrize(("rows", "columns"), [(160, 128), (50, 70)])
def test_programs_in_groups_still_write_each_tile_once(rows, columns):
    x, y = torch.randn(rows, columns), torch.zeros(rows, columns)
    grid = (triton.cdiv(rows, 16) * triton.cdiv(columns, 16),)
    launch = recorded(lambda: tiles[grid](x, y, rows, columns, BLOCK_M=16, BLOCK_N=16))
    (edit,) = edits_of(launch, "swizzle")
    y.zero_()
    run(launch, edit, x, y, rows, columns, BLOCK_M=16, BLOCK_N=16)
    assert torch.equal(y, x + 1)


@pytest.mark.parametrize("block", [16, 64, 256])
def test_the_grid_follows_the_blocks(block):
    x, y = torch.randn(1000), torch.zeros(1000)
    launch = recorded(lambda: masked[(triton.cdiv(1000, 128),)](x, y, 1000, BLOCK=128))
    assert scope_of(launch).grid({"BLOCK": block}) == (triton.cdiv(1000, block), 1, 1)


def test_the_grid_follows_two_blocks_of_one_axis():
    x, y = torch.randn(160, 128), torch.zeros(160, 128)
    launch = recorded(lambda: tiles[(10 * 8,)](x, y, 160, 128, BLOCK_M=16, BLOCK_N=16))
    scope = scope_of(launch)
    assert scope.blocks == ("BLOCK_M", "BLOCK_N")
    assert scope.grid({"BLOCK_M": 32}) == (5 * 8, 1, 1)
    assert scope.grid({"BLOCK_M": 32, "BLOCK_N": 64}) == (5 * 2, 1, 1)


def test_a_grid_that_follows_from_no_size_is_not_guessed():
    x, y = torch.randn(1000), torch.zeros(1000)
    launch = recorded(lambda: masked[(9,)](x, y, 1000, BLOCK=128))
    with pytest.raises(LookupError):
        scope_of(launch).grid({"BLOCK": 64})
    assert not [edit for kind, edit in option_edits(scope_of(launch), LaunchEdit()) if kind == "block"]


def test_a_loop_over_the_grid_may_have_more_programs():
    x, y = torch.randn(1000), torch.zeros(1000)
    launch = recorded(lambda: over_the_grid[(2,)](x, y, 1000, BLOCK=32))
    grids = [edit.grid for kind, edit in option_edits(scope_of(launch), LaunchEdit()) if kind == "grid"]
    assert grids == [(8, 1, 1), (32, 1, 1), (128, 1, 1)]
    for grid in grids:
        y.zero_()
        run(launch, LaunchEdit(grid=grid), x, y, 1000, BLOCK=32)
        assert torch.equal(y, x + 1)
    assert scope_of(launch).grid({"BLOCK": 64}) is None


def test_a_block_that_must_cover_a_row_stays():
    @triton.jit
    def row(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + tl.program_id(0) * columns + offsets, mask=offsets < columns, other=0.0)
        tl.store(y_ptr + tl.program_id(0), tl.sum(x))

    x, y = torch.randn(4, 100), torch.zeros(4)
    assert scope_of(recorded(lambda: row[(4,)](x, y, 100, BLOCK=128))).blocks == ()


@triton.jit
def scaled_rows(x_ptr, scale_ptr, y_ptr, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for row in range(ROWS):
        place = scale_ptr + at
        scale = tl.load(place, mask=at < columns)
        x = tl.load(x_ptr + row * columns + at, mask=at < columns)
        tl.store(y_ptr + row * columns + at, x * scale, mask=at < columns)


@triton.jit
def doubled_again(x_ptr, ROUNDS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    for _ in range(ROUNDS):
        x = tl.load(x_ptr + at)
        tl.store(x_ptr + at, x * 2)


@triton.jit
def wide_indices(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = (tl.program_id(0).to(tl.int64) * BLOCK).to(tl.int64) + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1, mask=at < n)


@triton.jit
def wide_product(a_ptr, b_ptr, c_ptr, B: tl.constexpr):
    at = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    a = tl.load(a_ptr + at).to(tl.float32)
    tl.store(c_ptr + at, tl.dot(a, tl.load(b_ptr + at).to(tl.float32)))


def test_loads_that_are_the_same_in_each_round_stand_before_the_loop():
    x, scale, y = torch.randn(8, 100), torch.randn(100), torch.zeros(8, 100)
    launch = recorded(lambda: scaled_rows[(1,)](x, scale, y, 100, ROWS=8, BLOCK=128))
    (edit,) = edits_of(launch, "hoist")
    loop = next(node for node in ast.walk(ast.parse(edit.text or "")) if isinstance(node, ast.For))
    assert [ast.unparse(one.targets[0]) for one in loop.body if isinstance(one, ast.Assign)] == ["x"]
    y.zero_()
    run(launch, edit, x, scale, y, 100, ROWS=8, BLOCK=128)
    assert torch.equal(y, x * scale)


def test_a_load_of_what_the_loop_stores_stays():
    x = torch.randn(64)
    assert not edits_of(recorded(lambda: doubled_again[(1,)](x, ROUNDS=3, BLOCK=64)), "hoist")


def test_indices_stay_in_32_bits():
    x, y = torch.randn(500), torch.zeros(500)
    launch = recorded(lambda: wide_indices[(4,)](x, y, 500, BLOCK=128))
    scope = scope_of(launch)
    before = ast.dump(scope.tree)
    (edit,) = [one for kind, one in source_edits(scope) if kind == "types"]
    assert "int64" not in (edit.text or "") and ast.dump(scope.tree) == before
    y.zero_()
    run(launch, edit, x, y, 500, BLOCK=128)
    assert torch.equal(y, x + 1)


def test_tiles_are_multiplied_in_the_type_in_which_they_were_loaded():
    a, b, c = torch.randn(16, 16).half(), torch.randn(16, 16).half(), torch.zeros(16, 16)
    launch = recorded(lambda: wide_product[(1,)](a, b, c, B=16))
    (edit,) = edits_of(launch, "types")
    assert "float32" not in (edit.text or "")
    c.zero_()
    run(launch, edit, a, b, c, B=16)
    torch.testing.assert_close(c, a.float() @ b.float(), rtol=1e-3, atol=1e-3)
