"""Calls of public kernel libraries at small sizes: what `reach` proves the kernels of.

Sizes that mean different things differ, since a launch suggests what is assumed of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import torch

from bench.library_kernels import CALLS

Calls = Mapping[str, Callable[[], Any]]


def _normal(*shape: int, grad: bool = True) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float32).requires_grad_(grad)


def _call(module: str, function: str, *arguments: Callable[[], Any], **named: Any) -> Callable[[], Any]:
    """The call of a library's function, which is imported when it is made; so are its arguments."""

    def run() -> Any:
        found = getattr(importlib.import_module(module), function)
        return found(*(one() for one in arguments), **named)

    return run


def liger() -> Calls:
    """What the benchmarks call of liger-kernel."""
    return dict(CALLS["liger-kernel"]())


def conch() -> Calls:
    """Activations, norms, rotary embeddings, quantisation, paged attention."""
    ops = "conch.ops"
    rows, weights = (lambda: _normal(7, 130, grad=False)), (lambda: _normal(130, grad=False))
    pages = lambda: torch.randn(47, 32, 2, 48).half()  # noqa: E731
    table = lambda: torch.arange(45, dtype=torch.int32).reshape(5, 9)  # noqa: E731
    lengths = lambda: torch.tensor([5, 70, 33, 200, 288], dtype=torch.int32)  # noqa: E731
    starts = lambda: torch.tensor([0, 5, 6, 17, 23, 41], dtype=torch.int32)  # noqa: E731
    number = lambda value: lambda: value  # noqa: E731
    return {
        "gelu_tanh_and_mul": _call(f"{ops}.activation.gelu_tanh_and_mul", "gelu_tanh_and_mul", rows),
        "silu_and_mul": _call(f"{ops}.activation.silu_and_mul", "silu_and_mul", rows),
        "rms_norm": _call(f"{ops}.normalization.rms_norm", "rms_norm", rows, weights, number(1e-6)),
        "fused_add_rms_norm": _call(
            f"{ops}.normalization.rms_norm", "fused_add_rms_norm", rows, rows, weights, number(1e-6)
        ),
        "gemma_rms_norm": _call(f"{ops}.normalization.gemma_rms_norm", "gemma_rms_norm", rows, weights, number(1e-6)),
        "rotary_embedding": _call(
            f"{ops}.embedding.rotary_embedding",
            "rotary_embedding",
            lambda: torch.arange(7),
            lambda: torch.randn(7, 240),
            lambda: torch.randn(7, 96),
            number(48),
            lambda: torch.randn(16, 48),
        ),
        "scaled_fp8_quant": _call(f"{ops}.quantization.fp8", "scaled_fp8_quant", lambda: torch.randn(5, 70)),
        "scaled_int8_quant": _call(f"{ops}.quantization.int8", "scaled_int8_quant", lambda: torch.randn(5, 70)),
        "paged_attention": _call(
            f"{ops}.attention.paged_attention",
            "paged_attention",
            lambda: torch.randn(5, 14, 48).half(),
            pages,
            pages,
            table,
            lengths,
        ),
        "varlen_attention": _call(
            f"{ops}.attention.varlen_attention",
            "varlen_attention",
            lambda: torch.randn(41, 14, 48).half(),
            pages,
            pages,
            starts,
            number(18),
            lengths,
            number(288),
            table,
            causal=True,
        ),
    }


def flag_gems() -> Calls:
    """Element by element, norms, softmax and reductions."""
    ops, rows, weights = "flag_gems", (lambda: _normal(7, 130, grad=False)), (lambda: _normal(130, grad=False))
    wide = lambda: _normal(130, 40, grad=False)  # noqa: E731
    found = {name: _call(ops, name, rows) for name in ("abs", "exp", "gelu", "relu", "silu", "sigmoid", "neg", "rsqrt")}
    found |= {name: _call(ops, name, rows, rows) for name in ("add", "mul", "div", "maximum", "minimum", "sub")}
    found |= {name: _call(ops, name, rows) for name in ("sum", "mean", "max", "argmax", "prod", "all", "any", "cumsum")}
    found |= {name: _call(ops, name, rows, lambda: 1) for name in ("softmax", "log_softmax")}
    found |= {name: _call(ops, name, rows, wide) for name in ("mm",)}
    return found | {
        "rms_norm": _call(ops, "rms_norm", rows, lambda: [130], weights),
        "addmm": _call(ops, "addmm", lambda: _normal(7, 40, grad=False), rows, wide),
    }


def fla() -> Calls:
    """Linear attention, gates, delta rules, norms and losses, forward and backward."""
    batch, time, heads, size = 2, 200, 3, 32
    q = lambda: _normal(batch, time, heads, size)  # noqa: E731
    beta = lambda: torch.rand(batch, time, heads).requires_grad_()  # noqa: E731
    gate = lambda: (-torch.rand(batch, time, heads)).requires_grad_()  # noqa: E731
    gates = lambda: (-torch.rand(batch, time, heads, size)).requires_grad_()  # noqa: E731
    rows, weights = (lambda: _normal(150, 66)), (lambda: _normal(66))
    table = [
        ("ops.linear_attn", "chunk_linear_attn", (q, q, q)),
        ("ops.retention", "chunk_retention", (q, q, q)),
        ("ops.retention", "fused_recurrent_retention", (q, q, q)),
        ("ops.gla", "fused_recurrent_gla", (q, q, q, gates)),
        ("ops.delta_rule", "fused_recurrent_delta_rule", (q, q, q, beta)),
        ("ops.simple_gla", "chunk_simple_gla", (q, q, q, gate)),
        ("ops.forgetting_attn", "parallel_forgetting_attn", (q, q, q, gate)),
        ("ops.attn", "parallel_attn", (q, q, q)),
        ("modules.layernorm", "layer_norm", (rows, weights, weights)),
        ("modules.l2norm", "l2norm", (rows,)),
        ("modules.activations", "swiglu", (rows, rows)),
        ("modules.activations", "swish", (rows,)),
        ("modules.fused_cross_entropy", "cross_entropy_loss", (lambda: _normal(40, 300), lambda: torch.arange(40))),
    ]
    return {function: _call(f"fla.{module}", function, *given) for module, function, given in table}


LIBRARIES: Mapping[str, Callable[[], Calls]] = {
    "liger-kernel": liger,
    "conch-triton-kernels": conch,
    "flag_gems": flag_gems,
    "fla-core": fla,
}
"""The calls of each library, by the name of its distribution."""
