"""Kernels that differ on purpose, and what records one launch of them."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.variants import arithmetic_variants
from triton_lab.ir.fma_contraction import contracted
from triton_lab.launch.comparison.gpu_ways import emulations
from triton_lab.launch.comparison.launch_results import of_launch, read
from triton_lab.launch.comparison.numerics import combined
from triton_lab.launch.launch import Launch
from triton_lab.launch.replay.replay_run import replay


def recorded(run: Callable[[], Any], side: str = "cpu") -> Launch:
    """The last launch that ``run`` makes on that target."""
    with lab.target(side), lab.record() as launches:
        run()
    return launches[-1]


def as_of_a_gpu(launch: Launch, table: arithmetic_variants.Table, fuses: bool = False) -> Launch:
    """The launch as if a GPU had run it that does so."""
    plan = launch.executable.plan
    return _made_by(launch, Executable.of(contracted(plan) if fuses else plan, table))


def with_ways_of_a_gpu(launch: Launch, *names: str) -> Launch:
    """The launch as if a GPU had run it that differs from the CPU by the switches called ``names`` alone."""
    known = {one.name: one for one in emulations(launch)}
    return _made_by(launch, combined([known[name] for name in names]).executable(launch))


def _made_by(launch: Launch, executable: Executable) -> Launch:
    memory = replay(launch, executable=executable)
    found = of_launch(launch)
    outputs = [
        (name, torch.from_numpy(read(memory, launch.argument(name))), torch.from_numpy(found.arrays[name]))
        for name in found.written
    ]
    return replace(launch, target="gpu", outputs=outputs)


@triton.jit
def row_sum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, 0))


@triton.jit
def scale_and_shift(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    product = x * y
    tl.store(out_ptr + offsets, product + y, mask=mask)


@triton.jit
def exponential(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.exp(tl.load(x_ptr + offsets)))


@triton.jit
def quantised(x_ptr, out_ptr, scale, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, (tl.load(x_ptr + offsets) * scale).to(tl.int8))


@triton.jit
def quotient(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) / tl.load(y_ptr + offsets))


@triton.jit
def tile_product(a_ptr, b_ptr, out_ptr, K, N: tl.constexpr, BLOCK_K: tl.constexpr, ACC: tl.constexpr):
    i, k = tl.arange(0, N), tl.arange(0, BLOCK_K)
    acc = tl.zeros((N, N), dtype=ACC)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + i[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + i[None, :])
        acc += tl.dot(a, b).to(ACC)
    tl.store(out_ptr + i[:, None] * N + i[None, :], acc.to(tl.float32))


@triton.jit
def added_up(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + offsets % 4, tl.load(x_ptr + offsets))


@triton.jit
def copied(x_ptr, out_ptr, BLOCK: tl.constexpr, SHIFT: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, value, mask=offsets >= SHIFT)


@triton.jit
def two_stores(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    for turn in range(3):
        value = tl.load(x_ptr + offsets) + turn
        tl.store(out_ptr + turn * BLOCK + offsets, value)


@triton.jit
def overlapping(out_ptr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    tl.store(out_ptr + program * (BLOCK // 4) + tl.arange(0, BLOCK), program + tl.zeros((BLOCK,), tl.float32))
