"""Scripts that the tests of the command line run."""

from __future__ import annotations

from pathlib import Path

HEAD = """\
import sys
import torch
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


@triton.jit
def fill(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, offsets)


def launch(x, size=1000):
    add[(8,)](x, torch.ones(1000), torch.empty(1000), size, BLOCK=128)


print("arguments:", *sys.argv[1:])
"""
FINE = HEAD + "for _ in range(6):\n    launch(torch.ones(1000))\n"
# Line 11 loads what nobody has written.
UNWRITTEN = HEAD + "for _ in range(3):\n    launch(torch.empty(1000))\n"
# Line 19 stores beyond its tensor, and the launch is stopped.
BEYOND = HEAD + "fill[(2,)](torch.zeros(200, dtype=torch.int32), BLOCK=128)\n"
# What warns and is no error: the product of two large numbers is infinite.
INFINITE = HEAD + "launch(torch.full((1000,), 3e38) * torch.ones(1000), 1000)\n"


def written(folder: Path, text: str, name: str = "script.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
