"""Scans as threads of a GPU make them, held to what an H100 made with Triton 3.6 (``h100_scans.npz``)."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import as_of_a_gpu, recorded
from tests.wordings import Wording
from triton_lab.examples.prefix_scan import compose, recurrence, recurrence_inputs
from triton_lab.interpreter.variants.thread_reductions import Shares
from triton_lab.interpreter.variants.thread_scans import Turns, scanned_together
from triton_lab.launch.comparison.argument_difference import UNKNOWN
from triton_lab.launch.comparison.launch_results import of_launch
from triton_lab.launch.comparison.numerics import in_threads
from triton_lab.launch.launch import Launch

DATA = np.load(Path(__file__).with_name("h100_scans.npz"))


@triton.jit
def running_sums(x, out, N: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + at, tl.cumsum(tl.load(x + at), 0, reverse=REVERSE))


@triton.jit
def along_an_axis(x, out, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.cumsum(tl.load(x + at), AXIS))


@triton.jit
def lines(a, b, out, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    _, made = tl.associative_scan((tl.load(a + at), tl.load(b + at)), 0, compose)
    tl.store(out + at, made)


def made_there(run: Callable[[torch.Tensor], object], made: np.ndarray) -> Launch:
    """The launch, with what the H100 made of it."""
    launch = recorded(lambda: run(torch.zeros(made.shape)))
    ((name, ours),) = [(name, of_launch(launch).arrays[name]) for name in of_launch(launch).written]
    return replace(launch, target="gpu", outputs=[(name, torch.from_numpy(made), torch.from_numpy(ours))])


def named(launch: Launch) -> str:
    comparison = lab.compare(launch)
    assert any(one.count for one in comparison), "the order makes no difference here"
    return comparison.cause


@pytest.mark.parametrize("name", [name[:-2] for name in DATA.files if name.startswith("row") and name.endswith("_x")])
def test_running_sums_of_a_gpu_are_named_to_the_bit(name: str) -> None:
    x, made = torch.from_numpy(DATA[f"{name}_x"]), DATA[f"{name}_o"]
    n, warps = (int(part) for part in name.split("_")[1:3])
    reverse = name.endswith("_r")
    cause = named(made_there(lambda out: running_sums[(1,)](x, out, n, reverse, num_warps=warps), made))
    order = "the order in which the threads of a GPU scan: with scans as threads of a GPU do on running_sums (CPU)"
    assert cause == f"{order} 1 of 1 row is bit-equal"


@pytest.mark.parametrize("name", [name[:-2] for name in DATA.files if name.startswith("two") and name.endswith("_x")])
def test_and_along_either_axis_of_a_block(name: str, wording: Wording) -> None:
    x, made = torch.from_numpy(DATA[f"{name}_x"]), DATA[f"{name}_o"]
    m, n, axis, warps = map(int, name.split("_")[1:])
    cause = named(made_there(lambda out: along_an_axis[(1,)](x, out, m, n, axis, num_warps=warps), made))
    kernel = along_an_axis.fn.__name__
    wording(cause, kernel=kernel, rows=f"{m} of {m}")


@pytest.mark.parametrize("name", ["line_256_4", "line_512_1"])
def test_and_of_pairs_whose_products_are_fused(name: str) -> None:
    a, b = (torch.from_numpy(DATA[f"{name}_{one}"]) for one in "ab")
    n, warps = map(int, name.split("_")[1:])
    cause = named(made_there(lambda out: lines[(1,)](a, b, out, n, num_warps=warps), DATA[f"{name}_o"]))
    assert cause.startswith("fused multiply-add, and ") and "with fused multiply-add" in cause
    assert cause.endswith("1 of 1 row is bit-equal")


def test_a_recurrence_is_explained_to_its_end() -> None:
    launch = made_there(lambda _: recurrence(**recurrence_inputs()), DATA["recurrence"])
    assert named(launch).endswith("on recurrence_kernel (CPU) 5 of 5 rows are bit-equal")


@pytest.mark.parametrize("extent", [2, 8, 64])
def test_scans_of_integers_are_the_same_in_any_order(extent: int) -> None:
    x = np.random.default_rng(0).integers(-99, 99, (3, extent, 2))
    for bits in range(extent.bit_length()):
        for lanes in range(bits + 1):
            turns = Turns(extent >> bits, 1 << lanes, 1 << bits - lanes)
            (found,) = scanned_together(lambda a, b: [a[0] + b[0]], [x], 1, turns)
            assert np.array_equal(found, np.cumsum(x, 1)), turns


def test_only_neighbours_that_threads_hold_in_turns_are_known() -> None:
    assert Turns.of(Shares(64, (1, 32), (2, 4, 8), (16,))) == Turns(4, 8, 2)
    assert Turns.of(Shares(8, (), (1, 2), (4,))) == Turns(2, 4, 1)
    assert Turns.of(Shares(2, (1,), (), ())) == Turns(1, 1, 2)
    assert Turns.of(Shares(16, (1,), (4, 2), (8,))) is None  # lanes out of turn
    assert Turns.of(Shares(16, (1, 2, 4, 8), (), ())) is None  # a thread may begin anew in between
    assert Turns.of(Shares(16, (2, 4), (1,), (8,))) is None


def test_roundings_are_named_where_each_difference_hangs_on_a_choice() -> None:
    """What a choice that rounding may turn gives has no bound: it is not known whether it is rounding."""
    launch = recorded(lambda: recurrence(**recurrence_inputs()))
    there = as_of_a_gpu(launch, next(one.table for one in in_threads(launch)), fuses=True)
    ((name, made, ours),) = there.outputs
    made = made.clone()
    made[0, 5] = torch.nextafter(made[0, 5], made.new_tensor(9.0))
    comparison = lab.compare(replace(there, outputs=[(name, made, ours)]))
    assert comparison.verdict == UNKNOWN and not any(one.beyond for one in comparison)
    assert re.search("fused multiply-add, and .*threads", comparison.cause)
