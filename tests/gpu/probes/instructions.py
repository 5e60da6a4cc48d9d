"""The approximate instructions of PTX on every mantissa, each beside the nearest float.

An answer is an int8: how many floats it lies above the correctly rounded result.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

_BLOCK = 1024


@triton.jit
def _of_single(x_ptr, out_ptr, ASM: tl.constexpr, BLOCK: tl.constexpr):
    k = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + k)
    made = tl.inline_asm_elementwise(ASM, "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out_ptr + k, made)


@triton.jit
def _of_double(x_ptr, out_ptr, ASM: tl.constexpr, BLOCK: tl.constexpr):
    k = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + k)
    made = tl.inline_asm_elementwise(ASM, "=d,d", [x], dtype=tl.float64, is_pure=True, pack=1)
    tl.store(out_ptr + k, made)


def single(instruction: str, bits: np.ndarray) -> np.ndarray:
    """The bits of a float32 instruction's results for operands with these ``bits`` (a multiple of 1024 of them)."""
    x = torch.from_numpy(bits.astype(np.uint32).view(np.float32)).cuda()
    out = torch.empty_like(x)
    _of_single[(x.numel() // _BLOCK,)](x, out, ASM=f"{instruction} $0, $1;", BLOCK=_BLOCK)
    return out.cpu().numpy().view(np.uint32)


def double(instruction: str, bits: np.ndarray) -> np.ndarray:
    """The same for float64."""
    x = torch.from_numpy(bits.astype(np.uint64).view(np.float64)).cuda()
    out = torch.empty_like(x)
    _of_double[(x.numel() // _BLOCK,)](x, out, ASM=f"{instruction} $0, $1;", BLOCK=_BLOCK)
    return out.cpu().numpy().view(np.uint64)


EXACT = {
    "ex2.approx.ftz.f32": np.exp2,
    "rcp.approx.ftz.f32": lambda x: 1.0 / x,
    "rsqrt.approx.ftz.f32": lambda x: 1.0 / np.sqrt(x),
    "sqrt.approx.ftz.f32": np.sqrt,
    "lg2.approx.ftz.f32": np.log2,
    "sin.approx.ftz.f32": np.sin,
    "cos.approx.ftz.f32": np.cos,
    "tanh.approx.f32": np.tanh,
}
# The binades that are asked, by the bits of their ends.
BINADES = {
    "ex2.approx.ftz.f32": (0x3F800000, 0x40000000),
    "rcp.approx.ftz.f32": (0x3F800000, 0x40000000),
    "rsqrt.approx.ftz.f32": (0x3F800000, 0x40800000),
    "sqrt.approx.ftz.f32": (0x3F800000, 0x40800000),
    "lg2.approx.ftz.f32": (0x3F000000, 0x40000000),
}


def nearest(instruction: str, bits: np.ndarray) -> np.ndarray:
    """The bits of the correctly rounded results."""
    with np.errstate(all="ignore"):
        exact = EXACT[instruction](bits.astype(np.uint32).view(np.float32).astype(np.float64))
        return np.asarray(exact).astype(np.float32).view(np.uint32)


def all_mantissas(instruction: str) -> np.ndarray:
    """For each float of the asked binades: how many floats the result is above the nearest one, as int8."""
    first, last = BINADES[instruction]
    found = []
    for start in range(first, last, 1 << 22):
        bits = np.arange(start, start + (1 << 22), dtype=np.uint32)
        off = single(instruction, bits).astype(np.int64) - nearest(instruction, bits).astype(np.int64)
        found.append(np.clip(off, -127, 127).astype(np.int8))
    return np.concatenate(found)


def binade(instruction: str, exponent: int) -> np.ndarray:
    """The bits of the results for every 32nd float from 2^exponent to twice that."""
    first = exponent + 127 << 23
    return single(instruction, np.arange(first, first + (1 << 23), 32, dtype=np.uint32))


def scattered(count: int, seed: int) -> np.ndarray:
    """Bits of float32 of all kinds: any pattern, subnormal numbers, numbers around 1, zeros, infinities and NaN."""
    rng = np.random.default_rng(seed)
    quarter = count // 4
    parts = [
        rng.integers(0, 1 << 32, quarter, dtype=np.uint32),
        rng.integers(0, 1 << 23, quarter // 4, dtype=np.uint32)
        | (rng.integers(0, 2, quarter // 4, dtype=np.uint32) << 31),
        rng.standard_normal(quarter).astype(np.float32).view(np.uint32),
        (rng.standard_normal(quarter) * 40).astype(np.float32).view(np.uint32),
    ]
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, 2, 88.7, -87.4, 126, -126, -149], np.float32)
    parts.append(special.view(np.uint32))
    left = count - sum(map(len, parts))
    parts.append((rng.uniform(-160, 160, left)).astype(np.float32).view(np.uint32))
    return np.concatenate(parts)


def scattered_doubles(count: int, seed: int) -> np.ndarray:
    """Bits of float64 of all kinds, in the same way."""
    rng = np.random.default_rng(seed)
    quarter = count // 4
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, 2, 709.7, -745, -708.3])
    parts = [
        rng.integers(0, 1 << 63, quarter, dtype=np.uint64)
        | (rng.integers(0, 2, quarter, dtype=np.uint64) << np.uint64(63)),
        rng.integers(0, 1 << 52, quarter // 4, dtype=np.uint64),
        rng.standard_normal(quarter).view(np.uint64),
        (rng.standard_normal(quarter) * 100).view(np.uint64),
        special.view(np.uint64),
    ]
    left = count - sum(map(len, parts))
    return np.concatenate([*parts, rng.uniform(-760, 760, left).view(np.uint64)])
