"""A value that the kernel computes and never reads is tried first, at every place that its copies can take it."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.slips import randn
from triton_lab.launch.comparison import time_budget
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope
from triton_lab.launch.comparison.probe import Probe
from triton_lab.launch.comparison.replicas.grammar import Grammar
from triton_lab.launch.comparison.replicas.replaced_values import places
from triton_lab.launch.comparison.replicas.replica_run import Replicas
from triton_lab.launch.comparison.rerun import Side
from triton_lab.launch.comparison.sources.written_kernel import as_written
from triton_lab.launch.replay.replay_run import replay


@triton.jit
def scattered(g_ptr, id_ptr, often_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    there = tl.load(id_ptr + row)
    g = tl.load(g_ptr + row * columns + j, mask=j < columns, other=0.0)
    often = tl.load(often_ptr + there)  # noqa: F841
    tl.atomic_add(out_ptr + there * columns + j, g, mask=j < columns)


def run_scattered() -> tuple[Callable[[], Any], Mapping[str, torch.Tensor]]:
    """Twenty programs make the results together."""
    ids = torch.tensor([0, 2, 2, 1, 4, 4, 4, 2, 0, 3] * 2, dtype=torch.int32)
    g, often = randn(20, 5), torch.bincount(ids).int()
    right = torch.zeros(5, 5).index_add(0, ids.long(), g) / often[:, None]
    return lambda: scattered[(20,)](g, ids, often, torch.zeros(5, 5), 5, BLOCK=8), {"out_ptr": right}


@triton.jit
def weighted_taps(x_ptr, w_ptr, out_ptr, n, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for tap in tl.static_range(TAPS):
        weight = tl.load(w_ptr + tap)  # noqa: F841
        part = tl.load(x_ptr + i + tap, mask=i < n, other=0.0)
        total += part.to(tl.float32)
    tl.store(out_ptr + i, total, mask=i < n)


def run_weighted_taps() -> tuple[Callable[[], Any], Mapping[str, torch.Tensor]]:
    """Each copy of an unrolled loop has a weight of its own."""
    x, w = randn(25).half(), randn(3, seed=1)
    right = sum(x[tap : tap + 21].float() * w[tap] for tap in range(3))
    assert isinstance(right, torch.Tensor)
    return lambda: weighted_taps[(3,)](x, w, torch.zeros(21), 21, TAPS=3, BLOCK=8), {"out_ptr": right}


@triton.jit
def rounded_rows(x_ptr, out_ptr, scale_ptr, columns, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + j, mask=j < columns, other=0.0)
    scale = tl.max(tl.abs(x)) / 15.0
    y = x.to(tl.float16)
    tl.store(out_ptr + row * columns + j, y.to(tl.float32) * scale, mask=j < columns)
    tl.store(scale_ptr + row, scale)


def run_rounded_rows() -> tuple[Callable[[], Any], Mapping[str, torch.Tensor]]:
    """What is divided too late is rounded once more."""
    x = randn(6, 29)
    scale = x.abs().amax(1) / 15
    right = {"out_ptr": (x / scale[:, None]).half().float() * scale[:, None], "scale_ptr": scale}
    return lambda: rounded_rows[(6,)](x, torch.zeros(6, 29), torch.zeros(6), 29, BLOCK=32), right


@triton.jit
def greatest(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + j, mask=j < columns, other=0.0)
    scale = tl.max(x) / 15.0
    tl.store(out_ptr + row, scale)


def run_greatest() -> tuple[Callable[[], Any], Mapping[str, torch.Tensor]]:
    """The argument of a function of the library."""
    x = randn(19, 29)
    return lambda: greatest[(19,)](x, torch.zeros(19), 29, BLOCK=32), {"out_ptr": x.abs().amax(1) / 15}


@triton.jit
def nibbles(packed_ptr, shift_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    packed = tl.load(packed_ptr + i // 8, mask=i < n, other=0)
    own = packed >> ((i % 8) * 4)
    zero_point = (tl.load(shift_ptr + i // 8, mask=i < n, other=0) >> ((i % 8) * 4)) & 0xF
    tl.store(out_ptr + i, (own - zero_point).to(tl.float32), mask=i < n)


def run_nibbles() -> tuple[Callable[[], Any], Mapping[str, torch.Tensor]]:
    """Numbers that were passed are whole where bits are joined."""
    words = torch.randint(-(2**31), 2**31, (2, 6), generator=torch.Generator().manual_seed(1)).int()
    parts = (words.long()[..., None] >> (4 * torch.arange(8))) & 15
    right = (parts[0] - parts[1]).flatten().float()
    return lambda: nibbles[(3,)](words[0], words[1], torch.zeros(48), 48, BLOCK=16), {"out_ptr": right}


@triton.jit
def whiled(p_ptr, q_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row, total, at = tl.program_id(0), tl.zeros((BLOCK,), tl.float32), 0
    while at < columns:
        j = at + tl.arange(0, BLOCK)
        p = tl.load(p_ptr + row * columns + j, mask=j < columns, other=0.0)
        q = tl.load(q_ptr + row * columns + j, mask=j < columns, other=0.0)
        total += tl.exp(p) * (q - p)
        at += BLOCK
    tl.store(out_ptr + row, tl.sum(total, axis=0))


def run_whiled() -> tuple[Callable[[], Any], Mapping[str, torch.Tensor]]:
    """A loop that counts does not wait for what is loaded in it."""
    p, q = randn(23, 21), randn(23, 21, seed=1)
    return lambda: whiled[(23,)](p, q, torch.zeros(23), 21, BLOCK=8), {"out_ptr": (q * (q - p)).sum(1)}


@triton.jit
def firsts(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=float("-inf"))
    place = tl.argmax(x, axis=0)
    tl.store(out_ptr + tl.program_id(0), place)


def run_firsts() -> tuple[Callable[[], Any], Mapping[str, torch.Tensor]]:
    """A product of whole numbers that has no name."""
    x = randn(19 * 16)
    right = x.reshape(19, 16).argmax(1) + 16 * torch.arange(19)
    return lambda: firsts[(19,)](x, torch.zeros(19, dtype=torch.int32), 304, BLOCK=16), {"out_ptr": right.int()}


@triton.jit
def ignored(x_ptr, label_ptr, loss_ptr, grad_ptr, columns, none, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    label = tl.load(label_ptr + row)
    x = tl.load(x_ptr + row * columns + j, mask=j < columns, other=0.0)
    tl.store(loss_ptr + row, tl.where(label == none, 0.0, tl.sum(x * x, axis=0)))
    tl.store(grad_ptr + row * columns + j, 2 * x, mask=j < columns)


def test_a_condition_that_an_earlier_line_compares_is_taken_both_ways() -> None:
    x, label = randn(8, 13), torch.tensor([3, -100, 1, 2, -100, 5, 6, -100])
    launch = as_written(
        recorded(lambda: ignored[(8,)](x, label, torch.zeros(8), torch.zeros(8, 13), 13, -100, BLOCK=16))
    )
    seen = (label >= 0)[:, None]
    side = Side("", launch, {"grad_ptr": (seen * 2 * x).numpy()})
    scope = KernelScope(launch, ["grad_ptr"])
    copies = Replicas.of(scope, Probe.of(side, side.held(replay(launch))))
    assert copies is not None
    found = copies.fitting([(place, list(Grammar(scope, place).composed())) for place in places(scope)])
    assert "tl.where(label == none, 0.0, x)" in {one.name for fitting in found for one in fitting}


@pytest.mark.parametrize(
    ("kernel", "run", "lines", "names"),
    [
        (scattered, run_scattered, {5, 7}, {"g", "often"}),
        (weighted_taps, run_weighted_taps, {7, 8}, {"part", "weight"}),
        (rounded_rows, run_rounded_rows, {5, 6}, {"x", "scale"}),
        (greatest, run_greatest, {4, 5}, {"tl", "abs", "x"}),
        (nibbles, run_nibbles, {5, 7}, {"own", "15"}),
        (whiled, run_whiled, {8}, {"q"}),
        (firsts, run_firsts, {5, 6}, {"place", "program_id", "BLOCK"}),
    ],
    ids=lambda one: getattr(getattr(one, "fn", None), "__name__", None),
)
def test_it_is_named_with_its_line(kernel, run, lines, names, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_budget.Budget, "spent", False)
    launch, right = run()
    causes = lab.compare(recorded(launch), right).causes()
    assert causes.known
    above = kernel.starting_line_number - 1
    told = {
        int(n) - above for part in re.findall(r"lines? ([\d and,]+)", causes.cause) for n in re.findall(r"\d+", part)
    }
    assert told and told <= lines, causes.cause
    assert names <= set(re.findall(r"\w+", causes.cause)), causes.cause


@triton.jit
def trailing_sum(x_ptr, out_ptr, n, window, BLOCK: tl.constexpr, WIDE: tl.constexpr):
    i, w = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, WIDE)
    at = i[:, None] - w[None, :]
    inside = (at >= 0) & (i < n)[:, None]
    x = tl.load(x_ptr + at, mask=inside, other=0.0)
    tl.store(out_ptr + i, tl.sum(x, axis=1) / window, mask=i < n)


def test_a_copy_that_leaves_out_what_was_right_does_not_fit() -> None:
    """The first elements are right: a mask that keeps only these would fit, and many do."""
    x = randn(41)
    padded = torch.nn.functional.pad(x, (4, 0))
    right = padded.unfold(0, 5, 1).sum(1) / 5
    launch = recorded(lambda: trailing_sum[(3,)](x, torch.zeros(41), 41, 5, BLOCK=16, WIDE=8))
    causes = lab.compare(launch, {"out_ptr": right}).causes()
    assert "w[None, :] < window" in causes.cause, causes.cause
