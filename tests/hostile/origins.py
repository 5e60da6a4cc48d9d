"""Origins of stored elements in random kernels, against what changes when one loaded element changes: brute force.

A kernel is some statements on blocks of 16 lanes, each drawn at random: arithmetic, moves, gathers, sorts, scans,
products, loads by loaded indices, branches, loops and functions. Each element of each input is changed in turn; each
stored element that changes has the input's element among its origins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

import triton_lab as lab
from tests.hostile.outcome import Try
from tests.interpreter.support import kernel_from

KERNELS = 60
LANES = 16
FLOATS = [
    "f = f + g",
    "f = f * 0.5 - g",
    "f = tl.where(i < j, f, g)",
    "f = tl.where(m, f, g)",
    "f = tl.where(s > t, f, g * 2)",
    "f = tl.gather(f, i & 15, 0)",
    "f = tl.reshape(tl.gather(tl.reshape(f, (4, 4)), tl.reshape(i & 3, (4, 4)), 1), (16,))",
    "f = tl.reshape(tl.trans(tl.reshape(f, (2, 8))), (16,))",
    "f = tl.reshape(tl.permute(tl.reshape(f, (2, 4, 2)), (2, 0, 1)), (16,))",
    "e, h = tl.split(tl.reshape(f, (8, 2))); f = tl.reshape(tl.join(h, e - h), (16,))",
    "f = tl.cumsum(f, 0)",
    "f = tl.reshape(tl.cumsum(tl.reshape(g, (4, 4)), 1, reverse=True), (16,)) + f",
    "f = f - tl.max(g, 0)",
    "f = tl.reshape(tl.reshape(f, (4, 4)) + tl.sum(tl.reshape(g, (4, 4)), 1)[:, None], (16,))",
    "f = tl.sort(f)",
    "f = tl.flip(f, 0)",
    "f = f + tl.histogram(i & 15, 16).to(tl.float32)",
    "f = f + tl.histogram(i & 15, 16, mask=m).to(tl.float32)",
    "f = f + tl.argmax(g, 0).to(tl.float32)",
    "f = tl.load(X + (i & 63))",
    "f = tl.load(X + k, mask=m, other=g)",
    "f = f + tl.load(X + s)",
    "f = f + tl.sum(tl.dot(f[:, None] * g[None, :], f[None, :] + g[:, None], input_precision='ieee'), 0)",
    "f = tl.map_elementwise(lesser, f, g)",
    "f = tl.reduce(tl.reshape(f, (4, 4)), 0, lesser)[None, :] + tl.zeros((4, 4), tl.float32); f = tl.reshape(f, (16,))",
    "f = tl.associative_scan(f, 0, lesser)",
    "f = tl.clamp(f, -0.5, 0.5)",
    "f, g = g, f",
    "g = f * f",
    "f = i.to(tl.float32)",
    "f = (f.to(tl.int32, bitcast=True) ^ 1).to(tl.float32, bitcast=True)",
]
INTEGERS = [
    "i = i + j",
    "i = tl.gather(i, j & 15, 0)",
    "i = tl.load(I + (i & 63))",
    "i = tl.sort(i)",
    "j = i // (1 + (j & 7)) + j % (1 + (i & 3))",
    "i, j = j, i",
    "i = tl.cumsum(i, 0) ^ j",
    "m = f > g",
    "m = m & (i < j)",
    "s = tl.sum(i & 3, 0)",
    "s, t = t, s + 1",
    "i = i + s",
]
CONTROL = [
    "if s > t:\n        f = f + 1\n    else:\n        g = g * 2",
    "if tl.sum(i, 0) > 8:\n        f = g",
    "for c in range(s & 3):\n        f = f + tl.load(X + c * 16 + k)",
    "for c in range(t & 1, 3):\n        i = i + c\n        f = f * 0.5 + g",
    "c = s & 7\n    while c > t:\n        f = f - g\n        c -= 2",
    "f = f + early(tl.sum(g, 0), tl.max(f, 0), s)",
    "s = plain(s, t)",
]
HEAD = """
@triton.jit
def lesser(a, b):
    return tl.where(a < b, a, b)

@triton.jit(noinline=True)
def early(f, g, s):
    if s > 1:
        return f - g
    return g

@triton.jit(noinline=True)
def plain(f, g):
    return f * 2 + g

@triton.jit
def kernel(X, I, M, S, OUT):
    k = tl.arange(0, 16)
    f = tl.load(X + k); g = tl.load(X + 16 + k)
    i = tl.load(I + k); j = tl.load(I + 16 + k)
    m = tl.load(M + k) > 0
    s = tl.load(S); t = tl.load(S + 1)
"""


def source(random: np.random.Generator) -> str:
    """A kernel of some statements."""
    count = int(random.integers(1, 7))
    lines = []
    for _ in range(count):
        group = [FLOATS, FLOATS, INTEGERS, CONTROL][int(random.integers(4))]
        lines.append("    " + group[int(random.integers(len(group)))])
    return HEAD + "\n".join(lines) + "\n    tl.store(OUT + k, f)\n    tl.store(OUT + 16 + k, i.to(tl.float32))\n"


def inputs(random: np.random.Generator) -> list[torch.Tensor]:
    """Values for the kernel's arguments but for ``OUT``."""
    floats = random.standard_normal(64).astype(np.float32)
    numbers = [random.integers(0, high, size).astype(np.int32) for high, size in ((20, 64), (2, 16), (4, 2))]
    return [torch.from_numpy(each) for each in (floats, *numbers)]


def run(kernel: Any, given: list[torch.Tensor]) -> np.ndarray:
    """The bits that the kernel stores."""
    out = torch.zeros(2 * LANES)
    kernel[(1,)](*given, out)
    return out.numpy().view(np.uint32)


def unsound(text: str, random: np.random.Generator) -> str:
    """The first change that the origins do not explain; nothing if there is none."""
    kernel, given = kernel_from(text), inputs(random)
    with lab.record() as launches:
        before = run(kernel, given)
    launch = launches[0]
    stores = [access for access in launch.accesses if access.kind == "store"]
    known: dict[int, set[tuple[str, int]]] = {}
    others = inputs(random)
    for name, array, other in zip("XIMS", given, others, strict=True):
        for element in range(array.numel()):
            old = array[element].item()
            array[element] = other[element]
            try:
                changed = np.flatnonzero(run(kernel, given) != before).tolist()
            finally:
                array[element] = old
            for lane in changed:
                if lane not in known:
                    found = launch.origins(stores[lane // LANES], program=0, lane=lane % LANES)
                    known[lane] = {(one.argument or "", at) for one in found for at in one.elements.tolist()}
                if (name, element) not in known[lane]:
                    return (
                        f"OUT[{lane}] depends on {name}[{element}], and its origins are {sorted(known[lane])}: {text}"
                    )
    return ""


def tries(seed: int) -> Iterator[Try]:
    """Random kernels, each with random inputs."""
    for number in range(KERNELS):
        random = np.random.default_rng((seed, number))
        text = source(random)
        with lab.limits(engine="numpy"):  # the engines add up products in different orders
            seen = unsound(text, random)
        yield Try(f"kernel {number}", "wrong" if seen else "survived", seen)
