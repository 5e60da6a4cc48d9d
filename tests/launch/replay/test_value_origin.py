"""Where stored values come from, and single programs step by step, against what the kernels compute."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.launch import Launch


@triton.jit
def moves(x_ptr, out_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK * BLOCK + tl.arange(0, BLOCK * BLOCK)
    x = tl.load(x_ptr + offsets)
    turned = tl.trans(tl.reshape(x, (BLOCK, BLOCK)))
    tl.store(out_ptr + offsets, tl.reshape(turned, (BLOCK * BLOCK,)) * 2)


@triton.jit
def rows(x_ptr, bias_ptr, out_ptr, n, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, COLUMNS)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=0.0)
    bias = tl.load(bias_ptr + columns, mask=mask)
    total = tl.sum(x, axis=0)
    tl.store(out_ptr + row * n + columns, x * 0 + total + bias, mask=mask)


@triton.jit
def product(a_ptr, b_ptr, out_ptr, K, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)[:, None]
    j = tl.arange(0, SIZE)[None, :]
    acc = tl.zeros((SIZE, SIZE), tl.float32)
    for k in range(0, K, SIZE):
        a = tl.load(a_ptr + i * K + k + j)
        b = tl.load(b_ptr + (k + i) * SIZE + j)
        acc += tl.dot(a, b)
    tl.store(out_ptr + i * SIZE + j, acc)


def recorded(kernel: Any, grid: tuple[int, ...], *arguments: Any, **constants: Any) -> Launch:
    with lab.record() as launches:
        kernel[grid](*arguments, **constants)
    return launches[0]


def store_of(launch: Launch) -> Any:
    return next(access for access in launch.accesses if access.kind == "store")


@triton.jit
def flipped(x_ptr, out_ptr, BLOCK: tl.constexpr):
    k = tl.arange(0, BLOCK)
    tl.store(out_ptr + k, tl.flip(tl.load(x_ptr + k), 0))


@pytest.mark.parametrize("lane", [0, 3, 6])
def test_an_element_of_a_flipped_block_comes_from_one(lane: int) -> None:
    """``tl.flip`` exchanges elements by exclusive or with sums of several."""
    launch = recorded(flipped, (1,), torch.rand(8), torch.empty(8), BLOCK=8)
    (origin,) = launch.origins(store_of(launch), program=0, lane=lane)
    assert origin.elements.tolist() == [7 - lane]


@pytest.mark.parametrize("lane", [0, 1, 5, 14])
def test_a_moved_element_is_followed_to_where_it_was(lane: int) -> None:
    x = torch.rand(32)
    launch = recorded(moves, (2,), x, torch.empty(32), BLOCK=4)
    (origin,) = launch.origins(store_of(launch), program=1, lane=lane)
    i, j = divmod(lane, 4)
    assert origin.argument == "x_ptr"
    assert origin.elements.tolist() == [16 + j * 4 + i]


def test_a_sum_comes_from_its_whole_row_and_no_masked_lane() -> None:
    n = 5
    launch = recorded(rows, (3,), torch.rand(3, n), torch.rand(n), torch.empty(3, n), n, COLUMNS=8)
    found = {o.argument: o.elements.tolist() for o in launch.origins(store_of(launch), program=2, lane=3)}
    assert found == {"x_ptr": [10, 11, 12, 13, 14], "bias_ptr": [3]}


def test_an_element_of_a_product_comes_from_a_row_and_a_column_in_every_iteration() -> None:
    size, depth = 16, 48
    a, b = torch.rand(size, depth), torch.rand(depth, size)
    launch = recorded(product, (1,), a, b, torch.empty(size, size), depth, SIZE=size)
    i, j = 3, 7
    origins = launch.origins(store_of(launch), program=0, lane=i * size + j)
    rows_of_a = [e for o in origins if o.argument == "a_ptr" for e in o.elements.tolist()]
    columns_of_b = [e for o in origins if o.argument == "b_ptr" for e in o.elements.tolist()]
    assert rows_of_a == [i * depth + k for k in range(depth)]
    assert columns_of_b == [k * size + j for k in range(depth)]
    assert [o.iteration for o in origins if o.argument == "a_ptr"] == [0, 1, 2]


def test_only_stores_have_origins() -> None:
    launch = recorded(moves, (2,), torch.rand(32), torch.empty(32), BLOCK=4)
    load = launch.accesses[0]
    with pytest.raises(ValueError, match=rf"\bload .* {load.line}\b"):
        launch.origins(load, program=0, lane=0)


def test_a_trace_has_the_steps_of_one_program_in_order() -> None:
    x = torch.arange(32, dtype=torch.float32)
    trace = recorded(moves, (2,), x, torch.empty(32), BLOCK=4).trace(1)
    assert [(step.kind, step.name) for step in trace.steps] == [
        ("assign", "x_ptr"),
        ("assign", "out_ptr"),
        ("assign", "BLOCK"),
        ("assign", "pid"),
        ("assign", "offsets"),
        ("load", "x_ptr"),
        ("assign", "x"),
        ("assign", "turned"),
        ("store", "out_ptr"),
    ]
    load, stored = trace.steps[5], trace.steps[-1]
    assert load.values.tolist() == x[16:].tolist()
    assert load.line == moves.starting_line_number + 4
    assert stored.values.tolist() == (x[16:].reshape(4, 4).T.reshape(-1) * 2).tolist()
    assert set(trace.alive(5)) == {"x_ptr", "out_ptr", "BLOCK", "pid", "offsets"}
    assert trace.alive(5)["pid"].values == 1


def test_a_trace_of_a_program_outside_the_grid_is_refused() -> None:
    launch = recorded(moves, (2,), torch.rand(32), torch.empty(32), BLOCK=4)
    with pytest.raises(LookupError, match=r"number 2: .*\(2, 1, 1\) has 2 programs"):
        launch.trace(2)


@triton.jit
def scattered(x_ptr, index_ptr, out_ptr, rows, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    value = tl.load(x_ptr + row[:, None] * COLUMNS + column[None, :])
    out = tl.make_tensor_descriptor(out_ptr, [rows, COLUMNS], [COLUMNS, 1], [1, COLUMNS])
    out.scatter(value, tl.load(index_ptr + row), 0)


def test_what_a_scatter_stores_comes_from_its_value_and_not_from_its_rows() -> None:
    index = torch.tensor([3, 1, 6, 0, 2, 5, 7, 4], dtype=torch.int32)
    launch = recorded(scattered, (1,), torch.rand(8, 8), index, torch.zeros(8, 8), 8, ROWS=8, COLUMNS=8)
    (store,) = [access for access in launch.accesses if access.kind == "store"]
    found = launch.origins(store, 0, lane=2 * 8 + 5)
    assert [(origin.argument, origin.elements.tolist()) for origin in found] == [("x_ptr", [2 * 8 + 5])]


@triton.jit
def drawn(x_ptr, out_ptr, ATOMIC: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    x = tl.atomic_add(x_ptr + lane, 1.0, mask=lane < 3) if ATOMIC else tl.load(x_ptr + lane, mask=lane < 3, other=0.0)
    tl.store(out_ptr + lane, x)


@pytest.mark.parametrize("atomic", [True, False])
def test_a_lane_that_the_mask_turns_off_comes_from_no_element(atomic: bool) -> None:
    launch = recorded(drawn, (1,), torch.zeros(8), torch.zeros(8), ATOMIC=atomic, BLOCK=8)
    found = {
        lane: [o.elements.tolist() for o in launch.origins(store_of(launch), program=0, lane=lane)] for lane in (2, 5)
    }
    assert found == {2: [[2]], 5: [[]]}


@triton.jit
def last(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    place, first, second = out_ptr + lane, x_ptr + lane, y_ptr + BLOCK - 1 - lane
    tl.store(place, tl.load(first))
    x = tl.load(first)
    tl.store(place, x * tl.load(second))


def test_what_was_computed_right_before_a_store_is_followed() -> None:
    launch = recorded(last, (1,), torch.rand(4), torch.rand(4), torch.empty(4), BLOCK=4)
    copied, multiplied = [access for access in launch.accesses if access.kind == "store"]
    for lane in range(4):
        found = [(one.argument, one.elements.tolist()) for one in launch.origins(copied, program=0, lane=lane)]
        assert found == [("x_ptr", [lane])]
        found = [(one.argument, one.elements.tolist()) for one in launch.origins(multiplied, program=0, lane=lane)]
        assert found == [("x_ptr", [lane]), ("y_ptr", [3 - lane])]
