"""Slips in where programs load and store, and in what a loop or an unrolled line computes, are told at their line."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.slips import randn
from triton_lab.launch.comparison.experiment_results import Causes
from triton_lab.launch.comparison.mutations.experiments import Experiments
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.replay_error import CannotReplay


@triton.jit
def doubled(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) + tl.arange(0, BLOCK)  # slip
    tl.store(y_ptr + at, 2.0 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


@triton.jit
def rows_copied(x_ptr, y_ptr, stride, out_stride, rows, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * stride + i, mask=i < n)
        to = y_ptr + row * stride  # slip
        tl.store(to + i, x + 1.0, mask=i < n)


@triton.jit
def mean_of_blocks(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * n
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at, mask=at < n, other=0.0)
        total = x  # slip
    tl.store(y_ptr + tl.program_id(0), tl.sum(total) / n)


@triton.jit
def scaled_rows(x_ptr, scale_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    scale = tl.load(scale_ptr)  # slip
    x = tl.load(x_ptr + row * n + i, mask=i < n)
    tl.store(y_ptr + row * n + i, x * scale, mask=i < n)


@triton.jit
def blended(a_ptr, b_ptr, w_ptr, y_ptr, n, CHANNELS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    w = tl.load(w_ptr + i, mask=i < n, other=0)
    for c in tl.static_range(CHANNELS):
        a = tl.load(a_ptr + i * CHANNELS + c, mask=i < n, other=0).to(tl.int32)
        b = tl.load(b_ptr + i * CHANNELS + c, mask=i < n, other=0)
        mixed = (a * w + b * (255 - w)) // 255  # slip
        tl.store(y_ptr + i * CHANNELS + c, mixed.to(tl.uint8), mask=i < n)


@triton.jit
def windows(x_ptr, w_ptr, y_ptr, size, step, taps, BLOCK: tl.constexpr):
    n = (size + step - 1) // step
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for k in range(taps):
        at = i * step + k - taps // 2
        x = tl.load(x_ptr + at, mask=(at >= 0) & (i < n), other=0.0)  # slip
        total += x * tl.load(w_ptr + k)
    tl.store(y_ptr + i, total, mask=i < n)


def line(launch: Launch) -> int:
    """The line of the slip, as the editor counts."""
    return launch.first_line + next(k for k, text in enumerate(launch.source.splitlines()) if "# slip" in text)


def told(launch: Launch, right: Any) -> Causes:
    return lab.compare(launch, right).causes()


def test_programs_that_overlap_lack_a_factor_and_not_programs() -> None:
    x, y = randn(59), torch.zeros(59)
    launch = recorded(lambda: doubled[(4,)](x, y, 59, BLOCK=16))
    causes = told(launch, {"y_ptr": 2.0 * x})
    assert f"(line {line(launch)})" in causes.cause and "BLOCK" in causes.cause, causes.cause


def test_stores_that_move_are_judged_where_they_are_now() -> None:
    x, y = randn(8, 23), torch.zeros(8, 29)
    launch = recorded(lambda: rows_copied[(3,)](x, y, 23, 29, 7, 21, BLOCK=32))
    right = torch.zeros(8, 29)
    right[:7, :21] = x[:7, :21] + 1.0
    causes = told(launch, {"y_ptr": right})
    assert f"(line {line(launch)})" in causes.cause and "out_stride" in causes.cause, causes.cause


def test_what_a_loop_overwrites_is_told_where_it_is_named() -> None:
    x = randn(9, 50)
    launch = recorded(lambda: mean_of_blocks[(9,)](x, torch.zeros(9), 50, BLOCK=16))
    causes = told(launch, {"y_ptr": x.mean(1)})
    assert f"(line {line(launch)})" in causes.cause, causes.cause


def test_the_first_element_of_an_argument_for_that_of_the_program() -> None:
    x, scale = randn(9, 20), randn(9, seed=1)
    launch = recorded(lambda: scaled_rows[(9,)](x, scale, torch.zeros(9, 20), 20, BLOCK=32))
    causes = told(launch, {"y_ptr": x * scale[:, None]})
    assert "scale_ptr + row" in causes.cause and f"(line {line(launch)})" in causes.cause, causes.cause


def test_a_cast_in_an_unrolled_loop_is_changed_in_all_its_copies() -> None:
    a, b = (torch.randint(0, 256, (40, 3), generator=torch.Generator().manual_seed(k)).to(torch.uint8) for k in (0, 1))
    w = torch.arange(40).mul(6).to(torch.uint8)
    launch = recorded(lambda: blended[(3,)](a, b, w, torch.zeros_like(a), 40, CHANNELS=3, BLOCK=16))
    wide = w.int()[:, None]
    causes = told(launch, {"y_ptr": ((a.int() * wide + b.int() * (255 - wide)) // 255).to(torch.uint8)})
    assert causes.known and f"(line {line(launch)})" in causes.cause, causes.cause


def taps_of(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.conv1d(x[None, None], w[None, None], stride=2, padding=1)[0, 0]


def test_an_input_element_that_a_mask_lets_through_is_told() -> None:
    x, w = randn(61), randn(3, seed=1)
    launch = recorded(lambda: windows[(2,)](x, w, torch.zeros(25), 50, 2, 3, BLOCK=16))
    comparison = lab.compare(launch, lambda x_ptr, w_ptr, size, **_: taps_of(x_ptr[: size - 1], w_ptr))
    assert comparison.dependence is not None and comparison.dependence.extra is not None
    assert comparison.dependence.extra.index == (49,)


def test_only_what_decides_about_the_wrong_input_is_located() -> None:
    x, w = randn(61), randn(3, seed=1)
    launch = recorded(lambda: windows[(2,)](x, w, torch.zeros(25), 50, 2, 3, BLOCK=16))
    located = Experiments(launch, ["y_ptr"], suspects=lambda: ["x_ptr"]).locating
    others = Experiments(launch, ["y_ptr"], suspects=lambda: ["w_ptr"]).locating
    ops = {op.index: op.name for op in launch.executable.plan.walk()}
    assert {"arith.cmpi", "arith.divsi"} & {ops[one] for one in located} and located - others
    assert not {ops[one] for one in located | others} & {"arith.mulf", "arith.addf", "tt.store"}
    assert not Experiments(launch, ["y_ptr"]).locating


def test_an_edit_that_does_not_go_with_the_one_before_it_is_refused() -> None:
    x, y = randn(59), torch.zeros(59)
    launch = recorded(lambda: doubled[(4,)](x, y, 59, BLOCK=16))
    index = next(op.index for op in launch.executable.plan.walk() if op.name == "arith.addi")

    def paired(editor, op):
        return [replace(op, operands=(op.operands[2],))]

    with pytest.raises(CannotReplay):
        Switch("both", "", edits=((index, paired),)).executable(launch)


@triton.jit
def momentum_step(p_ptr, g_ptr, m_ptr, lr, decay, beta, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    p = tl.load(p_ptr + i, mask=i < n)
    m = tl.load(m_ptr + i, mask=i < n)
    p = p * (1.0 - lr * decay)
    m = beta * m + (1.0 - beta) * tl.load(g_ptr + i, mask=i < n)
    correction = 1.0 - beta  # noqa: F841
    hat = m  # slip
    tl.store(p_ptr + i, p - lr * hat, mask=i < n)
    tl.store(m_ptr + i, m, mask=i < n)


def test_what_leaves_a_variable_unread_is_not_the_cause() -> None:
    """With these numbers it is as if `lr` and `decay` had been exchanged."""
    p, g, m = randn(45), randn(45, seed=1), torch.zeros(45)
    launch = recorded(lambda: momentum_step[(3,)](p.clone(), g, m.clone(), 0.02, 0.1, 0.8, 45, BLOCK=16))
    new = 0.8 * m + (1.0 - 0.8) * g
    causes = told(launch, {"p_ptr": p * (1.0 - 0.02 * 0.1) - 0.02 * new / (1.0 - 0.8), "m_ptr": new})
    assert "correction" in causes.cause and f"(line {line(launch)})" in causes.cause, causes.cause


@triton.jit
def third_moment(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * n + i, mask=i < n, other=0.0)
    apart = x - tl.sum(x, axis=0) / n  # slip
    square = tl.sum(apart * apart, axis=0)
    cube = tl.sum(apart * apart * apart, axis=0)
    tl.store(out_ptr + tl.program_id(0), cube / (square * tl.sqrt(square)))


def test_lanes_are_left_out_where_what_several_sums_take_is_named():
    x, out = randn(6, 21) * 2 + 3, torch.empty(6)
    launch = recorded(lambda: third_moment[(6,)](x, out, 21, BLOCK=32))
    apart = x - x.mean(1, keepdim=True)
    wanted = (apart**3).sum(1) / (apart**2).sum(1) ** 1.5
    cause = lab.compare(launch, {"out_ptr": wanted}).causes(seconds=60.0).cause
    assert f"line {launch.first_line + 4}" in cause, cause


@triton.jit
def largest_of_rows(x_ptr, out_ptr, sum_ptr, rows, n, BLOCK: tl.constexpr):
    i, total = tl.arange(0, BLOCK), 0.0
    for row in range(tl.program_id(0), rows, BLOCK):  # slip
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=float("-inf"))
        tl.store(out_ptr + row, tl.max(x, axis=0))
        total += tl.max(x, axis=0)
    tl.store(sum_ptr + tl.program_id(0), total)


def test_a_loop_of_programs_steps_by_their_number():
    x, out, sums = randn(20, 13), torch.zeros(20), torch.zeros(3)
    launch = recorded(lambda: largest_of_rows[(3,)](x, out, sums, 20, 13, BLOCK=16))
    largest = x.max(1).values
    wanted = {"out_ptr": largest, "sum_ptr": torch.stack([largest[k::3].sum() for k in range(3)])}
    cause = lab.compare(launch, wanted).causes(seconds=60.0).cause
    assert "tl.num_programs(0)" in cause and f"line {launch.first_line + 3}" in cause, cause
