"""Kernels that the tests of the engine launch, and what a launch comes to on either engine."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.native import engine


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def gather(x, where, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.load(where + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + j, mask=i < n), mask=i < n)


@triton.jit
def wrapping(x, out, step, BLOCK: tl.constexpr):
    """Offsets that leave 32 bits; the mask looks at what they have become."""
    i = tl.arange(0, BLOCK) * step - step * 5
    tl.store(out + tl.arange(0, BLOCK), tl.load(x + i, mask=(i >= 0) & (i < BLOCK), other=-1))


@triton.jit
def rounds(x, out, n, turns, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    for j in range(0, turns):
        v = tl.load(x + (p * BLOCK + i + j) % n)
        tl.store(out + (p * turns + j) * BLOCK + i, v * 2)


@triton.jit
def shifted(x, n, BLOCK: tl.constexpr):
    """In place, each element to its neighbour's place."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(x + i + 1, v, mask=i + 1 < n)


@triton.jit
def counted(out, n):
    i = tl.full((), 0, tl.int64)
    while i < n:
        i += 1
    tl.store(out, i)


@triton.jit
def chased(x, out, BLOCK: tl.constexpr):
    """What is read depends on what was written before."""
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) + 1)
    tl.store(out + i, tl.load(x + tl.load(out + i)))


def outcome(launch: Callable[[], object], *tensors: torch.Tensor) -> tuple[str, list[np.ndarray]]:
    """The error of a launch, or nothing; and what the tensors hold then. They get back what they held."""
    saved = [tensor.clone() for tensor in tensors]
    told = ""
    try:
        launch()
    except lab.KernelError as error:
        told = f"{type(error).__name__}: {error}"
    held = [tensor.contiguous().view(torch.uint8).numpy().copy() for tensor in tensors]
    for tensor, before in zip(tensors, saved, strict=True):
        tensor.copy_(before)
    return told, held


def on_both(launch: Callable[[], object], *tensors: torch.Tensor) -> tuple[str, engine.EngineRun]:
    """Assert that both engines do the same; the error or nothing, and how the native one ran it."""
    with lab.limits(engine="numpy"):
        expected = outcome(launch, *tensors)
    engine.lately.clear()
    with lab.limits(engine="native"):
        found = outcome(launch, *tensors)
    assert found[0] == expected[0]
    for one, other in zip(found[1], expected[1], strict=True):
        assert (one == other).all()
    return found[0], engine.lately[-1]
