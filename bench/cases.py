"""The kernels that are timed: an example at its benchmark size, and what torch calls the same thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn import functional

from triton_lab.examples import all_examples


@dataclass(frozen=True)
class Case:
    """`example` names the example; `options` are added to its inputs; `eager` takes them and runs torch's own op."""

    example: str
    eager: Callable[..., object]
    options: Mapping[str, Any] = field(default_factory=dict)


def _attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, causal: bool) -> torch.Tensor:
    return functional.scaled_dot_product_attention(q, k, v, is_causal=causal)


def _matmul(a: torch.Tensor, b: torch.Tensor, **blocks: int) -> torch.Tensor:
    return a @ b


CASES: dict[str, Case] = {
    "vector add 2^20, block 1024": Case("vector_add", lambda x, y, block: x + y),
    "softmax 1823x781": Case("softmax", lambda x: torch.softmax(x, dim=1)),
    "matmul 512^3 fp16, 64x64x32": Case("matmul_float16", _matmul),
    "matmul 512^3 fp16, 128x128x32": Case("matmul_float16", _matmul, {"block_m": 128, "block_n": 128}),
    "layer norm 1024x1024": Case(
        "layer_norm", lambda x, weight, bias: functional.layer_norm(x, [x.shape[1]], weight, bias)
    ),
    "attention 4x1024x64, full": Case("attention_full", _attend),
    "attention 4x1024x64, causal": Case("attention_causal", _attend),
}


def every_case() -> dict[str, Case]:
    """All of these, and every example that is not among them, beside its own reference in torch."""
    known = {case.example for case in CASES.values()}
    # Upstream runs programs one after the other: a consumer that came first would wait for ever.
    options: dict[str, dict[str, Any]] = {"producer_consumer": {"consumers_first": False}}
    others = [each for each in all_examples() if each.name not in known]
    return CASES | {each.name: Case(each.name, each.reference, options.get(each.name, {})) for each in others}
