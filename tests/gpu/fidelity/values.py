"""What operations are tried on: for each program a row of `WIDTH` numbers, as raw bits."""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np

from tests.interpreter.support import bf16, e4m3, e5m2
from tests.interpreter.test_casts import around_boundaries

WIDTH = 1024
LANES = 64
# Operands that are taken as blocks of lanes stand side by side; scalars stand at SCALARS and after it.
SCALARS = 200
# The part of a row that these are, all that most operations need.
NARROW = 256
NUMPY: dict[str, Any] = {
    **{name: np.dtype(f"int{name[1:]}") for name in ("i8", "i16", "i32", "i64")},
    **{name: np.dtype(f"uint{name[1:]}") for name in ("u8", "u16", "u32", "u64")},
    **{"fp16": np.dtype(np.float16), "bf16": bf16, "fp32": np.dtype(np.float32), "fp64": np.dtype(np.float64)},
    **{"fp8e4nv": e4m3, "fp8e5": e5m2, "i1": np.dtype(np.int8)},
    # Formats of other hardware; their bits are all that is compared.
    **{"fp8e4b8": np.dtype(ml_dtypes.float8_e4m3fnuz), "fp8e5b16": np.dtype(ml_dtypes.float8_e5m2fnuz)},
    "fp8e4b15": np.dtype(np.uint8),
}


def is_float(dtype: str) -> bool:
    return "fp" in dtype or dtype == "bf16"


@functools.cache
def samples(dtype: str) -> np.ndarray:
    """2**16 numbers: all patterns of formats of 8 and 16 bits; of wide ones all exponents, and what lies near borders.

    Signed zeros, subnormal numbers, infinities and NaNs are among them.
    """
    kind = NUMPY[dtype]
    bits, rng = 8 * kind.itemsize, np.random.default_rng(0)
    if dtype == "i1":
        return np.arange(1 << 16).astype(np.int8) & 1
    if bits <= 16:
        return np.tile(np.arange(1 << bits, dtype=f"u{kind.itemsize}"), 1 << (16 - bits)).view(kind)
    raw = rng.integers(0, 1 << bits, 1 << 16, dtype=f"u{kind.itemsize}").view(kind)
    if kind.kind in "iu":
        near = [v for k in range(bits) for v in ((1 << k) - 1, 1 << k, (1 << k) + 1)]
        chosen = np.array([v % (1 << bits) for v in near], f"u{kind.itemsize}").view(kind)
    else:
        limits = [
            s * (2.0**k + d) for k in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1, -0.5, 0, 0.5, 1) for s in (1, -1)
        ]
        whole = [around_boundaries(kind, target)[::3] for target in (np.dtype(np.float16), bf16, e4m3, e5m2)]
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, *limits]).astype(kind)
        small = (rng.integers(0, 1 << (23 if bits == 32 else 52), 2048, dtype=f"u{kind.itemsize}")).view(kind)
        borders = np.concatenate(whole)
        chosen = np.concatenate([special, small, -small, rng.permutation(borders)[: 1 << 14]])
    raw[rng.permutation(1 << 16)[: len(chosen)]] = chosen
    return raw


@functools.cache
def wild(dtype: str, programs: int) -> np.ndarray:
    """Rows in which the first block of lanes goes through all samples, and the others through them in other orders."""
    found, rng = samples(dtype), np.random.default_rng(1)
    rows = found[rng.integers(0, len(found), (programs, WIDTH))]
    for number in range(3):
        order = found if number == 0 else rng.permutation(found)
        rows[:, number * LANES : (number + 1) * LANES] = np.resize(order, (programs, LANES))
    if is_float(dtype) and NUMPY[dtype].kind != "u":
        # Close numbers cancel, which random ones hardly do.
        near = rows[::4, :LANES].view(f"u{NUMPY[dtype].itemsize}")
        rows[::4, LANES : 2 * LANES] = (near + np.arange(LANES, dtype=near.dtype) % 5).view(rows.dtype)
    return rows


@functools.cache
def tame(dtype: str, programs: int) -> np.ndarray:
    """Rows of numbers around 1, of which sums and products stay finite."""
    kind, rng = NUMPY[dtype], np.random.default_rng(2)
    if not is_float(dtype):
        return (rng.integers(0, 2 if dtype == "i1" else 9, (programs, WIDTH))).astype(kind)
    if dtype == "fp8e4b15":
        return rng.integers(0x30, 0x48, (programs, WIDTH)).astype(np.uint8)
    return rng.standard_normal((programs, WIDTH)).astype(kind)


def within_rules(operation: str, dtype: str, rows: np.ndarray) -> np.ndarray:
    """Without what means nothing: integers divided by zero or past their end, shifts by more than there are bits."""
    if is_float(dtype):
        return rows
    rows, bits = rows.copy(), 1 if dtype == "i1" else 8 * rows.dtype.itemsize
    seconds = [rows[:, LANES : 2 * LANES], rows[:, SCALARS + 1 : SCALARS + 2]]
    words = operation.split()
    for second in seconds:
        if "//" in words or "%" in words or operation == "cdiv":
            past = -1 if dtype[0] == "i" and bits > 1 else 0
            second[(second == 0) | (second == second.dtype.type(past))] = 3 if bits > 1 else 1
        if "<<" in words or ">>" in words:
            unsigned = f"u{rows.dtype.itemsize}"
            second[...] = (second.view(unsigned) % np.array(bits, unsigned)).view(rows.dtype)
    return rows
