"""Ask a GPU for the bits of its instructions, functions, casts and products, and write them into a folder.

python -m tests.gpu.probes --out FOLDER
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import argparse
import functools
import itertools
import json
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton.language as tl

from tests.gpu.probes import instructions, kernels

_CASTS = ("float32", "float16", "bfloat16", "float64")
_PRODUCTS = (
    # inputs, precision, accumulator
    ("float8_e4m3fn", "ieee", tl.float32), ("float8_e5m2", "ieee", tl.float32), ("float16", "ieee", tl.float32),
    ("bfloat16", "ieee", tl.float32), ("float32", "tf32", tl.float32), ("float32", "tf32x3", tl.float32),
    ("float32", "ieee", tl.float32), ("float32", "bf16x3", tl.float32), ("float32", "bf16x6", tl.float32),
    ("float16", "ieee", tl.float16), ("float8_e4m3fn", "ieee", tl.float16),
)  # fmt: skip
# Rows, columns, terms and the step of the loop, warps.
_SHAPES = ((16, 16, 32, 32, 4), (64, 16, 32, 32, 4), (64, 32, 128, 128, 4), (64, 16, 128, 32, 4), (128, 32, 64, 64, 8))


def of_instructions(found: dict[str, Any]) -> None:
    for name in instructions.BINADES:
        found[f"mantissas {name}"] = instructions.all_mantissas(name)
    bits = instructions.scattered(1 << 18, 0)
    for name in (*instructions.EXACT, "ex2.approx.f32"):
        found[f"scattered {name}"] = instructions.single(name, bits)
    for exponent in range(-8, 3):  # below, the result is the operand, and above it is 1
        found[f"binade {exponent} tanh.approx.f32"] = instructions.binade("tanh.approx.f32", exponent)
    mantissas = np.arange(1 << 20, dtype=np.uint64) << np.uint64(32)
    one = np.uint64(0x3FF0000000000000)
    for name in ("rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"):
        for twice in range(2 if "rsqrt" in name else 1):
            operands = (one + (np.uint64(twice) << np.uint64(52))) + mantissas
            found[f"mantissas {name} {twice}"] = (instructions.double(name, operands) >> np.uint64(32)).astype(
                np.uint32
            )
        found[f"scattered {name}"] = instructions.double(name, instructions.scattered_doubles(1 << 14, 1))


def of_single(found: dict[str, Any]) -> None:
    x, y = _wild(instructions.scattered, np.float32, 1 << 14)
    for name, expression in kernels.EXPRESSIONS.items():
        _tried(found, name, lambda e=expression: kernels.of_expression(e, x, y, torch.float32))
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        low, high = (
            torch.from_numpy(instructions.scattered(1 << 12, seed).view(np.float32)).cuda().to(dtype) for seed in (5, 6)
        )
        for name, expression in kernels.LIMITS.items():
            label = f"clamp {str(dtype).removeprefix('torch.')} {name}"
            _tried(found, label, lambda e=expression, x=low, y=high, t=dtype: kernels.of_expression(e, x, y, t))


def of_double(found: dict[str, Any]) -> None:
    x, y = _wild(instructions.scattered_doubles, np.float64, 1 << 12)
    for name, expression in kernels.EXPRESSIONS.items():
        _tried(found, name, lambda e=expression: kernels.of_expression(e, x, y, torch.float64))


def _wild(make: Callable[[int, int], np.ndarray], kind: Any, count: int) -> list[torch.Tensor]:
    """Two operands of all kinds, on the GPU; the second is shuffled."""
    order = np.random.default_rng(4).permutation(count)
    return [torch.from_numpy(bits.view(kind)).cuda() for bits in (make(count, 2), make(count, 3)[order])]


def of_casts(found: dict[str, Any]) -> None:
    rng = np.random.default_rng(7)
    wild = np.concatenate([rng.standard_normal(6000) * 300, rng.standard_normal(2000) * 1e5, rng.uniform(0, 300, 184)])
    wild = np.concatenate([wild, [np.nan, np.inf, -np.inf, 0.5, -0.5, 255.5, 256.0, -1.0]])
    values = torch.from_numpy(rng.permutation(wild)[:8192].astype(np.float32)).cuda()
    found["cast input"] = values.cpu().numpy()
    for source in _CASTS:
        x = values.to(getattr(torch, source))
        for target in (torch.uint8, torch.int8, torch.int16, torch.uint16, torch.int32):
            for block in (128, 256, 512, 1024, 2048):
                label = f"cast {source} {str(target).removeprefix('torch.')} {block}"
                _tried(found, label, lambda b=block, x=x, t=target: kernels.of_expression("x", x, x, t, b))


def of_products(found: dict[str, Any], used: dict[str, str]) -> None:
    for (inputs, precision, acc), shape, kind in itertools.product(_PRODUCTS, _SHAPES, ("normal", "wild", "whole")):
        for imprecise in (None, 32) if "float8" in inputs and acc == tl.float32 else (None,):
            label = f"{inputs} {precision} {acc} {' '.join(map(str, shape))} {kind} {imprecise}"
            _tried(
                found, label, functools.partial(_product, inputs, precision, acc, shape, kind, imprecise, used, label)
            )


def _product(
    inputs: str, precision: str, acc: Any, shape: Sequence[int], kind: str, imprecise: int | None,
    used: dict[str, str], label: str,
) -> np.ndarray:  # fmt: skip
    m, n, k, step, warps = shape
    a, b, c = operands(m, n, k, inputs, kind)
    made, used[label] = kernels.of_product(a, b, c, step, precision, acc, imprecise, warps)
    return made


def operands(m: int, n: int, k: int, dtype: str, kind: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The tiles and the first sum of a product, on the GPU, always the same."""
    rng = np.random.default_rng(m * 1000 + n * 10 + k)
    shapes = ((m, k), (k, n), (m, n))
    if kind == "whole":
        tiles = [rng.integers(0, 9, shape).astype(np.float32) for shape in shapes]
    else:
        tiles = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
        if kind == "wild":
            tiles = [tile * np.exp2(rng.integers(-4, 5, tile.shape)).astype(np.float32) for tile in tiles]
    a, b, c = (torch.from_numpy(tile).cuda() for tile in tiles)
    kept = getattr(torch, dtype)
    return a.to(kept), b.to(kept), c


def _tried(found: dict[str, Any], name: str, run: Callable[[], Any]) -> None:
    try:
        found[name] = run()
    except Exception as error:
        found[name] = np.array(
            f"{type(error).__name__}: {str(error).strip().splitlines()[-1][:200] if str(error) else ''}"
        )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.probes", description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=["single", "double", "casts", "products", "instructions"])
    chosen = parser.parse_args(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    used: dict[str, str] = {}
    for part in chosen.only:
        found: dict[str, Any] = {}
        start = time.perf_counter()
        try:
            {"single": of_single, "double": of_double, "casts": of_casts, "instructions": of_instructions,
             "products": lambda one: of_products(one, used)}[part](found)  # fmt: skip
        except Exception:
            traceback.print_exc()
        if part == "products":
            found["instructions"] = np.array(json.dumps(used))
        if part == "instructions":
            half = [name for name in found if "sqrt" in name]
            np.savez_compressed(chosen.out / "roots.npz", **{name: found.pop(name) for name in half})
        np.savez_compressed(chosen.out / f"{part}.npz", **found)
        failed = [f"{name}: {one}" for name, one in found.items() if one.dtype.kind == "U"]
        print(
            f"{part}: {len(found)} answers, {len(failed)} refused, {time.perf_counter() - start:.1f} s",
            *failed[:3],
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
