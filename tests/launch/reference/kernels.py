"""Kernels with references in torch, and mistakes planted into a line of each."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import triton_lab as lab

HEAD = """import torch
import triton
import triton.language as tl


@triton.jit
"""


@dataclass(frozen=True)
class Case:
    """A kernel called ``kernel`` as ``text``, how to launch it, and its ``reference``; ``mistakes`` are pairs of a part
    of the text and what stands there by mistake."""

    name: str
    text: str
    launch: Callable[[Any], Any]
    reference: Callable[..., Any]
    mistakes: tuple[tuple[str, str], ...]

    def build(self, folder: Path, mistake: tuple[str, str] | None = None) -> tuple[Any, int]:
        """The kernel, in a file of its own, and the line of the mistake (0: none)."""
        source, line = HEAD + self.text, 0
        if mistake is not None:
            assert source.count(mistake[0]) == 1, mistake
            line = source[: source.index(mistake[0])].count("\n") + 1
            source = source.replace(*mistake)
        path = folder / f"{self.name}.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location(self.name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.kernel, line

    def record(self, kernel: Any) -> lab.Launch:
        """One launch."""
        with lab.record() as launches:
            self.launch(kernel)
        return launches[0]


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def cases() -> Iterator[Case]:
    yield Case(
        "softmax",
        """def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=-float("inf"))
    top = tl.max(x, axis=0)
    shifted = x - top
    e = tl.exp(shifted)
    total = tl.sum(e, axis=0)
    tl.store(y_ptr + row * n + at, e / total, mask=at < n)
""",
        lambda kernel: kernel[(12,)](randn(12, 50), torch.empty(12, 50), 50, BLOCK=64),
        lambda x_ptr, **_: torch.softmax(x_ptr, 1),
        (
            ("tl.exp(shifted)", "tl.exp2(shifted)"),
            ("tl.max(x, axis=0)", "tl.min(x, axis=0)"),
            ("tl.sum(e, axis=0)", "tl.max(e, axis=0)"),
            ("e / total", "e * total"),
        ),
    )
    yield Case(
        "scores",
        """def kernel(q_ptr, k_ptr, o_ptr, scale, M, N, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + rows[:, None] * D + d[None, :], mask=rows[:, None] < M, other=0.0)
    k = tl.load(k_ptr + cols[:, None] * D + d[None, :], mask=cols[:, None] < N, other=0.0)
    acc = tl.dot(q, tl.trans(k))
    scaled = acc * scale
    out = tl.maximum(scaled, 0.0)
    tl.store(o_ptr + rows[:, None] * N + cols[None, :], out, mask=(rows[:, None] < M) & (cols[None, :] < N))
""",
        lambda kernel: kernel[(3, 2)](
            randn(40, 32), randn(30, 32, seed=1), torch.empty(40, 30), 0.25, 40, 30, D=32, BM=16, BN=16
        ),
        lambda q_ptr, k_ptr, scale, **_: torch.relu((q_ptr @ k_ptr.T) * scale),
        (
            ("acc * scale", "acc / scale"),
            ("scaled = acc * scale", "scaled = acc"),
            ("tl.maximum(scaled, 0.0)", "tl.minimum(scaled, 0.0)"),
            ("d[None, :], mask=cols", "(D - 1 - d)[None, :], mask=cols"),
        ),
    )
    yield Case(
        "layer_norm",
        """def kernel(x_ptr, w_ptr, b_ptr, y_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + row * n + at, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(mask, x - mean, 0.0)
    var = tl.sum(centred * centred, axis=0) / n
    rstd = 1 / tl.sqrt(var + eps)
    hat = centred * rstd
    w = tl.load(w_ptr + at, mask=mask, other=0.0)
    b = tl.load(b_ptr + at, mask=mask, other=0.0)
    y = hat * w + b
    tl.store(y_ptr + row * n + at, y, mask=mask)
""",
        lambda kernel: kernel[(9,)](
            randn(9, 100), randn(100, seed=1), randn(100, seed=2), torch.empty(9, 100), 100, 1e-5, BLOCK=128
        ),
        lambda x_ptr, w_ptr, b_ptr, **_: torch.nn.functional.layer_norm(x_ptr, (100,), w_ptr, b_ptr, 1e-5),
        (
            ("axis=0) / n\n    centred", "axis=0) / BLOCK\n    centred"),
            ("tl.where(mask, x - mean, 0.0)", "x - mean"),
            ("1 / tl.sqrt(var + eps)", "1 / (var + eps)"),
            ("hat * w + b", "hat * w - b"),
            ("centred * rstd", "x * rstd"),
            ("b_ptr + at, mask", "w_ptr + at, mask"),
        ),
    )
    yield Case(
        "gelu",
        """def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    cube = x * x * x
    inner = 0.7978845608 * (x + 0.044715 * cube)
    t = 2 / (1 + tl.exp(-2 * inner)) - 1
    y = 0.5 * x * (1 + t)
    tl.store(y_ptr + at, y, mask=at < n)
""",
        lambda kernel: kernel[(4,)](randn(30, 30), torch.empty(30, 30), 900, BLOCK=256),
        lambda x_ptr, **_: 0.5 * x_ptr * (1 + torch.tanh(0.7978845608 * (x_ptr + 0.044715 * x_ptr * x_ptr * x_ptr))),
        (
            ("x + 0.044715", "x - 0.044715"),
            ("0.7978845608 *", "0.7978845608 +"),
            ("0.5 * x * (1 + t)", "0.5 * x * (1 - t)"),
            ("x * x * x", "x * x"),
        ),
    )
    yield Case(
        "sums",
        """def kernel(x_ptr, y_ptr, K, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, K, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * K + at, mask=at < K, other=0.0)
        acc += x * x
    total = tl.sum(acc, axis=0)
    root = tl.sqrt(total)
    tl.store(y_ptr + row, root)
""",
        lambda kernel: kernel[(20,)](randn(20, 300), torch.empty(20), 300, BLOCK=64),
        lambda x_ptr, **_: torch.sqrt((x_ptr * x_ptr).sum(1)),
        (
            ("acc += x * x", "acc = x * x"),
            ("range(0, K, BLOCK)", "range(BLOCK, K, BLOCK)"),
            ("tl.sqrt(total)", "tl.exp(total)"),
            ("tl.sum(acc, axis=0)", "tl.max(acc, axis=0)"),
        ),
    )
