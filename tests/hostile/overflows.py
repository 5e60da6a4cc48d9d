"""Integers that wrap and reach an address by way of random moves: each must be found, in the right lanes.

The offset of lane i is ``i * 2**30 * 4 + i``: a product does not fit int32 from i = 1 on, and what is left is i.
So the offset that a lane uses at the end tells where it came from. With a factor of 1 nothing wraps, and nothing may be
found.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

import triton_lab as lab
from tests.hostile.outcome import Try
from tests.interpreter.support import kernel_from

KERNELS = 40
# These move elements, and the lanes are known; those below also compare them, and more lanes may be named.
MOVES = [
    "off = tl.gather(off, 15 - k, 0)",
    "off = tl.gather(off, p, 0)",
    "off = tl.reshape(tl.gather(tl.reshape(off, (4, 4)), tl.reshape(p & 3, (4, 4)), 1), (16,))",
    "off = tl.reshape(tl.trans(tl.reshape(off, (2, 8))), (16,))",
    "off = tl.reshape(tl.permute(tl.reshape(off, (2, 4, 2)), (2, 0, 1)), (16,))",
    "a, b = tl.split(tl.reshape(off, (8, 2)))\n    off = tl.reshape(tl.join(b, a), (16,))",
    "a, b = tl.split(tl.reshape(off, (8, 2)))\n    off = tl.cat(b, a, can_reorder=True)",
    "off = tl.flip(off, 0)",
    "off = tl.where(p > 7, off, tl.flip(off, 0))",
    "off = tl.reshape(off[:, None] + tl.zeros((16, 2), tl.int32), (2, 16)) \n    off = tl.max(off, 0)",
    "off = off.to(tl.int64)\n    off = off.to(tl.int32)",
    "off = tl.sum(tl.where((k[:, None] == k[None, :]), off[None, :], 0), 1)",
    "if flag > 0:\n        off = tl.flip(off, 0)",
    "for _ in range(flag):\n        off = tl.gather(off, 15 - k, 0)",
    "off = moved(off)",
]
OTHERS = [
    "off = tl.sort(off)",
    "off = tl.map_elementwise(lesser, off, off)",
    "off = tl.associative_scan(off, 0, lesser)",
]
HEAD = """
@triton.jit
def lesser(a, b):
    return tl.where(a < b, a, b)

@triton.jit
def moved(off):
    return tl.reshape(tl.trans(tl.reshape(off, (4, 4))), (16,))

@triton.jit
def kernel(X, P, OUT, factor, flag):
    k = tl.arange(0, 16)
    p = tl.load(P + k)
    off = k * factor * 4 + k
"""


def faults(lines: list[str], random: np.random.Generator) -> str:
    """What is wrong about the findings of a kernel of these lines; nothing if all is right."""
    kernel = kernel_from(
        HEAD + "".join(f"    {line}\n" for line in lines) + "    tl.store(OUT + k, tl.load(X + off))\n"
    )
    x, order = torch.arange(16.0), torch.from_numpy(random.permutation(16).astype(np.int32))
    for factor in (1 << 30, 0):
        out = torch.zeros(16)
        with lab.record() as launches:
            kernel[(1,)](x, order, out, factor, 1)
        found = [each for each in launches[0].findings if each.kind == "overflow"]
        lanes = sorted({lane for each in found for lane in each.lanes.tolist()})
        right = np.flatnonzero(out.numpy() >= 1).tolist() if factor else []
        exact = not any(line in OTHERS for line in lines)
        if (lanes != right) if exact or not factor else not set(lanes) >= set(right):
            return f"factor {factor}: lanes {lanes} and not {right}: {lines}"
    return ""


def tries(seed: int) -> Iterator[Try]:
    """Each move alone, then some at random."""
    random = np.random.default_rng(seed)
    chains = [[each] for each in (*MOVES, *OTHERS)]
    for _ in range(KERNELS):
        count = int(random.integers(2, 6))
        pool = MOVES if random.integers(3) else [*MOVES, *OTHERS]
        chains.append([pool[int(random.integers(len(pool)))] for _ in range(count)])
    for lines in chains:
        seen = faults(lines, random)
        yield Try(", ".join(lines), "wrong" if seen else "survived", seen)
