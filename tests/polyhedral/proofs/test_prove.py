"""`lab.prove`: verdicts for every size, their assumptions, kernels that did not run, and refutations that ran."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.examples import example
from triton_lab.examples.matmul import matmul
from triton_lab.examples.softmax import softmax_forward as softmax
from triton_lab.examples.vector_add import add, add_kernel
from triton_lab.polyhedral.proofs.proof import PROVED, REFUTED, UNKNOWN, Proof


@triton.jit
def at_most_n_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets <= n)
    tl.store(out_ptr + offsets, x, mask=offsets < n)


@triton.jit
def last_element_kernel(x_ptr, out_ptr, n):
    tl.store(out_ptr, tl.load(x_ptr + n - 1))


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, n, m, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    index = tl.load(index_ptr + offsets, mask=inside, other=0)
    tl.store(out_ptr + offsets, tl.load(x_ptr + index, mask=inside), mask=inside)


@triton.jit
def strided_rows_kernel(x_ptr, out_ptr, rows, columns, stride, BLOCK: tl.constexpr):
    """Each program takes every so many rows, as far as there are rows."""
    lane = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * stride + lane, mask=lane < columns, other=0.0)
        tl.store(out_ptr + row * stride + lane, x, mask=lane < columns)


def _recorded(run: Callable[[], Any]) -> Any:
    with lab.record() as launches:
        run()
    return launches[-1]


def _outcomes(proof: Proof) -> list[str]:
    return [one.outcome for one in proof.accesses]


def _texts(proof: Proof) -> set[str]:
    return {one.text for one in proof.assumptions}


def test_vector_addition_is_proved() -> None:
    proof = lab.prove(_recorded(lambda: add(torch.ones(1000), torch.ones(1000), block=128)))
    assert proof.outcome == PROVED and _outcomes(proof) == [PROVED] * 3
    assert {"x_ptr.numel() == n", "grid[0] == cdiv(n, BLOCK)"} <= _texts(proof)
    assert [one.outcome for name in ("races", "writes", "overflow") for one in proof.property(name)] == [PROVED] * 3
    assert [one.line for one in proof.accesses] == [21, 22, 23]


def test_products_of_sizes_and_strides_are_proved() -> None:
    product = lab.prove(_recorded(lambda: matmul(torch.ones(70, 50), torch.ones(50, 90))), refute=False)
    assert _outcomes(product) == [PROVED] * 3
    assert "grid[0] == cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)" in _texts(product)
    rows = lab.prove(_recorded(lambda: softmax(torch.ones(13, 100))), refute=False)
    assert _outcomes(rows) == [PROVED] * 2


def test_addresses_of_a_group_of_products_are_decided_within_the_usual_time() -> None:
    group = example("grouped_gemm")
    proof = lab.prove(_recorded(lambda: group.run(**group.inputs("small", 0, "cpu"))), refute=False)
    assert _outcomes(proof)[:6] == [PROVED] * 6
    # Two extents have one value: one of them is the number of columns.
    assert {"sizes_ptr.shape[0] == products", "sizes_ptr.shape[1] == 3"} <= _texts(proof)


def test_a_loop_over_rows_with_the_grid_as_its_step_is_proved() -> None:
    x, out = torch.ones(13, 20), torch.empty(13, 20)
    launch = _recorded(lambda: strided_rows_kernel[(4,)](x, out, 13, 20, 20, BLOCK=32))
    assert _outcomes(lab.prove(launch)) == [PROVED] * 2


def test_a_refutation_is_the_smallest_launch_and_was_run() -> None:
    n = 100
    x = torch.ones(n + 60)[:n]  # there is more behind the view, so that the launch itself does not fail
    proof = lab.prove(_recorded(lambda: at_most_n_kernel[(2,)](x, torch.empty(n), n, BLOCK=64)))
    load, store = proof.accesses
    assert load.outcome == REFUTED and store.outcome == PROVED and proof.outcome == REFUTED
    assert load.launch is not None and load.launch.findings[0].line == load.line
    assert load.launch.findings[0].severity == "error"
    # Two programs run for any n: the grid is a literal.
    assert (dict(load.sizes), load.program, load.lane) == ({"n": 0}, (0, 0, 0), (0,))
    assert lab.prove(at_most_n_kernel, "*fp32, *fp32, i32", {"BLOCK": 64}).accesses[0].launch is None


def test_a_later_launch_that_breaks_an_assumption_says_so() -> None:
    proof = lab.prove(_recorded(lambda: add(torch.ones(1000), torch.ones(1000), block=128)))
    assert proof.outcome == PROVED
    x = torch.ones(1000)
    kept = _recorded(lambda: add(torch.ones(300), torch.ones(300), block=128))
    broken = _recorded(lambda: add_kernel[(8,)](x, x, torch.empty(1000), 990, BLOCK=128))
    assert "proof" not in kept.remark
    assert "x_ptr.numel() == n" in broken.remark and "grid" not in broken.remark


def test_no_elements_at_all_is_a_size_too() -> None:
    proof = lab.prove(last_element_kernel, grid=(1,), x_ptr=torch.ones(7), out_ptr=torch.ones(1), n=7)
    load = proof.accesses[0]
    assert (load.outcome, dict(load.sizes)) == (REFUTED, {"n": 0})
    mended = lab.prove(last_element_kernel, grid=(1,), x_ptr=torch.ones(7), out_ptr=torch.ones(1), n=7, assume="n >= 1")
    assert mended.accesses[0].outcome == PROVED
    assert [one.text for one in mended.assumptions if one.origin == "user"] == ["n >= 1"]


def test_an_index_from_memory_is_not_known_unless_assumed() -> None:
    given = {
        "x_ptr": torch.ones(50),
        "index_ptr": torch.zeros(100, dtype=torch.int32),
        "out_ptr": torch.ones(100),
        "n": 100,
        "m": 50,
        "BLOCK": 64,
    }
    proof = lab.prove(gather_kernel, grid=(2,), **given)
    (load,) = [one for one in proof.accesses if one.argument == "x_ptr"]
    assert load.outcome == UNKNOWN and "memory" in load.reason
    assumed = lab.prove(gather_kernel, grid=(2,), assume=["index_ptr in [0, m)"], **given)
    assert PROVED in {one.outcome for one in assumed.accesses if one.argument == "x_ptr"}


def test_a_kernel_is_proved_from_its_types() -> None:
    proof = lab.prove(add_kernel, "*fp32, *fp32, *fp32, i32", {"BLOCK": 1024})
    assert _outcomes(proof) == [PROVED] * 3
    assert {one.origin for one in proof.assumptions if "numel" in one.text} == {"kernel"}


def test_an_assumption_can_be_left_out() -> None:
    launch = _recorded(lambda: add(torch.ones(1000), torch.ones(1000), block=128))
    proof = lab.prove(launch, assume="not x_ptr.numel() == n", refute=False)
    assert proof.accesses[0].outcome == UNKNOWN and proof.accesses[1].outcome == PROVED
    with pytest.raises(ValueError, match="x_ptr"):
        lab.prove(launch, assume="not n >= 5")
    with pytest.raises(ValueError, match="index in"):
        lab.prove(launch, assume="the moon")


def test_overflow_has_a_bound() -> None:
    x = torch.ones(13, 100)
    (found,) = lab.prove(_recorded(lambda: softmax(x)), refute=False).property("overflow")
    assert found.outcome == PROVED and "46,34" in found.reason


def test_what_is_no_kernel_is_refused() -> None:
    with pytest.raises(TypeError):
        lab.prove(3)
    with pytest.raises(ValueError, match="grid"):
        lab.prove(add_kernel, n=3)
    with pytest.raises(ValueError, match="seconds"):
        lab.prove(add_kernel, "*fp32, *fp32, *fp32, i32", {"BLOCK": 8}, seconds=0)


def test_a_launch_that_does_not_run_writes_nothing() -> None:
    x, out = torch.ones(8), torch.full((8,), 7.0)
    lab.prove(add_kernel, grid=(1,), x_ptr=x, y_ptr=x, out_ptr=out, n=8, BLOCK=8)
    assert bool((out == 7).all())


@triton.jit
def heads_kernel(x_ptr, heads, size, turned, BLOCK: tl.constexpr):
    """Doubles the first numbers of each head."""
    half = turned // 2
    for start in range(0, heads * half, BLOCK):
        place = start + tl.arange(0, BLOCK)
        inside = place < heads * half
        x = x_ptr + (place // half).to(tl.int64) * size + place % half
        tl.store(x, tl.load(x, mask=inside, other=0.0) * 2, mask=inside)


def test_an_order_of_two_sizes_is_assumed_where_the_proof_needs_it_and_compared_with_later_launches() -> None:
    def launch(size: int, turned: int) -> Any:
        return _recorded(lambda: heads_kernel[(1,)](torch.ones(3 * size), 3, size, turned, BLOCK=32))

    order = "turned <= size"
    proof = lab.prove(launch(8, 8), refute=False)
    assert _outcomes(proof) == [PROVED] * 2 and order in _texts(proof) and "size <= turned" not in _texts(proof)
    assert not launch(9, 6).remark
    # With one head nothing leaves the tensor.
    assert order in launch(6, 7).remark
    without = lab.prove(launch(8, 8), assume=[f"not {order}"], refute=False)
    assert order not in _texts(without)


@triton.jit
def both_sizes_kernel(x_ptr, y_ptr, n, m, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(y_ptr + lane, tl.load(x_ptr + lane, mask=lane < n, other=0.0), mask=lane < n)
    tl.store(y_ptr + lane, 0.0, mask=lane < m)


def test_no_order_of_two_sizes_is_assumed_that_only_masks_compare() -> None:
    # y may have fewer elements than x: that is no assumption, it is a fault.
    launch = _recorded(lambda: both_sizes_kernel[(1,)](torch.ones(16), torch.ones(20), 16, 20, BLOCK=32))
    proof = lab.prove(launch)
    assert not {one for one in _texts(proof) if "<=" in one}
    assert proof.accesses[1].kind == "store" and proof.accesses[1].outcome != PROVED


@triton.jit
def packed_rows_kernel(x_ptr, out_ptr, stride, columns, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + j, mask=j < columns)
    tl.store(out_ptr + row * columns + j, x, mask=j < columns)


def test_each_size_has_one_bound_against_overflow() -> None:
    x = torch.zeros(4, 12)[:, :9]
    launch = _recorded(lambda: packed_rows_kernel[(4,)](x, torch.zeros(4, 9), 12, 9, BLOCK=16))
    (found,) = lab.prove(launch, refute=False).property("overflow")
    bounds = re.findall(r"([\w.\[\]]+) <= ([\d,^]*\d)", found.reason)
    assert len(bounds) == len(dict(bounds)) >= 3 and set(dict(bounds).values()) == {"46,341"}, found.reason
