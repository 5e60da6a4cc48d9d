"""Kernels that ask for what Triton makes of functions, casts, limits and tiles on a GPU."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

from tests.interpreter.support import kernel_from

_HEAD = """
@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + k), tl.load(y_ptr + k)
    tl.store(out_ptr + k, ({expression}).to(out_ptr.dtype.element_ty))
"""
UNARY = ("exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf", "sigmoid", "floor", "ceil")
LIBRARY = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "cospi", "cyl_bessel_i0", "erf", "erfc",
    "erfcinv", "erfcx", "erfinv", "exp", "exp10", "exp2", "expm1", "j0", "lgamma", "log", "log10", "log1p", "log2",
    "logb", "normcdf", "normcdfinv", "rcbrt", "rint", "round", "rsqrt", "sin", "sinh", "sinpi", "sqrt", "tan", "tanh",
    "tgamma", "trunc", "y0",
)  # fmt: skip
LIBRARY_OF_TWO = ("atan2", "fdim", "fmod", "hypot", "nextafter", "pow", "remainder", "rhypot", "copysign")
FAST = ("fast_cosf", "fast_expf", "fast_exp10f", "fast_logf", "fast_log2f", "fast_log10f", "fast_sinf", "fast_tanf")
EXPRESSIONS = {
    **{f"tl.{name}": f"tl.{name}(x)" for name in UNARY},
    **{f"libdevice.{name}": f"libdevice.{name}(x)" for name in LIBRARY},
    **{f"libdevice.{name}": f"libdevice.{name}(x, y)" for name in LIBRARY_OF_TWO},
    **{"x / y": "x / y", "div_rn": "tl.div_rn(x, y)", "sqrt_rn": "tl.sqrt_rn(x)", "x % y": "x % y"},
    **{"x * y": "x * y", "x + y": "x + y", "fma": "tl.fma(x, y, x)", "fdiv": "tl.fdiv(x, y)"},
    **{f"libdevice.{name}": f"libdevice.{name}(x)" for name in FAST},
}
LIMITS = {
    "-1 to 1": "tl.clamp(x, -1.0, 1.0)",
    "-1 to 2": "tl.clamp(x, -1.0, 2.0)",
    "-y to y": "tl.clamp(x, -y, y)",
    "0 - y to y": "tl.clamp(x, 0.0 - y, y)",
    "1 to -1": "tl.clamp(x, 1.0, -1.0)",
    "0 to 0": "tl.clamp(x, 0.0, 0.0)",
    "-1 to 1, NaN kept": "tl.clamp(x, -1.0, 1.0, tl.PropagateNan.ALL)",
    "-1 to 2, NaN kept": "tl.clamp(x, -1.0, 2.0, tl.PropagateNan.ALL)",
}


def of_expression(expression: str, x: torch.Tensor, y: torch.Tensor, out: torch.dtype, block: int = 128) -> np.ndarray:
    """The raw bytes of ``expression`` for each element of ``x`` and ``y``."""
    made = torch.zeros(x.numel(), dtype=out, device=x.device)
    kernel_from(_HEAD.format(expression=expression))[(x.numel() // block,)](x, y, made, BLOCK=block)
    return made.view(torch.uint8).cpu().numpy()


@triton.jit
def product(a_ptr, b_ptr, c_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STEP: tl.constexpr,
            PRECISION: tl.constexpr, ACC: tl.constexpr, IMPRECISE: tl.constexpr):  # fmt: skip
    i, j = tl.arange(0, M), tl.arange(0, N)
    acc = tl.load(c_ptr + i[:, None] * N + j[None, :]).to(ACC)
    for start in range(0, K, STEP):
        k = start + tl.arange(0, STEP)
        a = tl.load(a_ptr + i[:, None] * K + k[None, :])
        b = tl.load(b_ptr + k[:, None] * N + j[None, :])
        acc = tl.dot(a, b, acc, input_precision=PRECISION, max_num_imprecise_acc=IMPRECISE, out_dtype=ACC)
    tl.store(out_ptr + i[:, None] * N + j[None, :], acc.to(tl.float32))


def of_product(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, step: int, precision: str, acc: Any,
               imprecise: int | None, warps: int = 4) -> tuple[np.ndarray, str]:  # fmt: skip
    """The product in float32, and the instructions that multiply tiles."""
    (m, k), n = a.shape, b.shape[1]
    out = torch.zeros(m, n, device=a.device)
    made = product[(1,)](a, b, c, out, m, n, k, step, precision, acc, imprecise, num_warps=warps)
    lines = (line.strip() for line in made.asm["ptx"].splitlines())
    used = {line.split()[0] for line in lines if line.startswith(("wgmma.mma_async", "mma.sync"))}
    return out.cpu().numpy(), " ".join(sorted(used)) or "fma"
