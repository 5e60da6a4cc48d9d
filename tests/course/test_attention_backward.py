"""Wrong gradients and wrong merges of attention, each from a misunderstanding: the check says what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

from tests.course import others
from tests.course.told_fault import told_fault


@triton.jit
def _delta(o_ptr, g_ptr, out_ptr, tokens, oh, ot, od, gh, gt, gd, HOW: tl.constexpr, DIM: tl.constexpr):
    head, token = tl.program_id(1), tl.program_id(0) * 32 + tl.arange(0, 32)
    d, there = tl.arange(0, DIM), token < tokens
    o_at = (head * oh + token * ot)[:, None] + d[None, :] * od
    g_at = (head * gh + token * gt)[:, None] + d[None, :] * gd
    o = tl.load(o_ptr + o_at, mask=there[:, None], other=0.0)
    g = tl.load(g_ptr + (o_at if HOW == "strides of out" else g_at), mask=there[:, None], other=0.0)
    if HOW == "squares":
        total = tl.sum(g.to(tl.float32) * g, axis=1)
    elif HOW == "half":
        total = tl.sum(o * g, axis=1)
    elif HOW == "mean":
        total = tl.sum(o.to(tl.float32) * g, axis=1) / DIM
    elif HOW == "largest":
        total = tl.max(o.to(tl.float32) * g, axis=1)
    else:
        total = tl.sum(o.to(tl.float32) * g, axis=1)
    at = token if HOW == "one head" else head * tokens + token
    tl.store(out_ptr + at, total, mask=there)


def delta(how: str) -> Any:
    def answer(out: torch.Tensor, dout: torch.Tensor) -> torch.Tensor:
        heads, tokens, dim = out.shape
        if how == "host":
            return (out.float() * dout.float()).sum(2)
        last = dim if how == "shape" else tokens
        found = torch.empty((heads, last), dtype=out.dtype if how == "dtype" else torch.float32)
        grid = (triton.cdiv(tokens, 32), heads)
        _delta[grid](out, dout, found, tokens, *out.stride(), *dout.stride(), HOW=how, DIM=dim)
        return found

    return answer


@triton.jit
def _merge(parts_ptr, lse_ptr, out_ptr, splits, HOW: tl.constexpr, DIM: tl.constexpr, SPLITS: tl.constexpr):
    head, s, d = tl.program_id(0), tl.arange(0, SPLITS), tl.arange(0, DIM)
    past = 0.0 if HOW == "zero" else float("-inf")
    lse = tl.load(lse_ptr + head * splits + s, mask=s < splits, other=past)
    at = (head * splits + s)[:, None] * DIM + d[None, :]
    parts = tl.load(parts_ptr + at, mask=(s < splits)[:, None], other=0.0)
    if HOW == "overflow":
        weights = tl.exp(lse)
    elif HOW == "exp2":
        weights = tl.exp2(lse - tl.max(lse, axis=0))
    elif HOW == "sum":
        weights = tl.where(s < splits, 1.0, 0.0)
    elif HOW == "best":
        weights = tl.where(lse == tl.max(lse, axis=0), 1.0, 0.0)
    elif HOW == "not exp":
        weights = tl.where(s < splits, lse, 0.0)
    else:
        weights = tl.exp(lse - tl.max(lse, axis=0))
    total = tl.sum(weights[:, None] * parts, axis=0)
    if HOW == "mean of weighted":
        total = total / splits
    elif HOW != "not divided" and HOW != "sum":
        total = total / tl.sum(weights, axis=0)
    tl.store(out_ptr + head * DIM + d, total)


def merge(how: str) -> Any:
    def answer(parts: torch.Tensor, lse: torch.Tensor) -> torch.Tensor:
        heads, splits, dim = parts.shape
        if how == "host":
            return (lse.softmax(1)[:, :, None] * parts).sum(1)
        out = torch.empty(heads, dim)
        block = 4 if how == "four" else triton.next_power_of_2(splits)
        _merge[(heads,)](parts, lse, out, splits, HOW=how, DIM=dim, SPLITS=block)
        return out

    return answer


def of_q(how: str) -> Any:
    """The other right gradient with arguments as a misunderstanding has them."""

    def answer(q: Any, k: Any, v: Any, lse: Any, delta: Any, dout: Any) -> Any:
        given = {"q": q, "k": k, "v": v, "lse": lse, "delta": delta, "dout": dout}
        if how == "no delta":
            given["delta"] = torch.zeros_like(delta)
        elif how == "delta added":
            given["delta"] = -delta
        elif how == "no lse":
            given["lse"] = torch.zeros_like(lse)
        elif how == "exchanged":
            given["k"], given["v"] = v, k
        return others.gradient_of_q(**given)

    return answer


WRONG = [
    ("delta_of", delta, "strides of out", ("out of bounds", "g_ptr")),
    ("delta_of", delta, "squares", ("o instead of g",)),
    ("delta_of", delta, "half", ("too late", "float32")),
    ("delta_of", delta, "mean", ("DIM",)),
    ("delta_of", delta, "largest", ("sum instead of max",)),
    ("delta_of", delta, "one head", ("head * tokens",)),
    ("delta_of", delta, "shape", ("out of bounds", "out_ptr")),
    ("delta_of", delta, "dtype", ("float16", "float32")),
    ("delta_of", delta, "host", ("no kernel stored",)),
    ("merge", merge, "zero", ("masked-off", "-inf")),
    ("merge", merge, "overflow", ("overflow", "maximum")),
    ("merge", merge, "exp2", ("exp instead of exp2",)),
    ("merge", merge, "sum", ("[0, 0]",)),
    ("merge", merge, "best", ("[0, 0]",)),
    ("merge", merge, "not exp", ("[0, 0]",)),
    ("merge", merge, "mean of weighted", ("tl.sum(weights)",)),
    ("merge", merge, "not divided", ("[0, 0]",)),
    ("merge", merge, "four", ("(3, 7, 32)",)),
    ("merge", merge, "host", ("no kernel stored",)),
    ("gradient_of_q", of_q, "no delta", ("[0, 0, 0]",)),
    ("gradient_of_q", of_q, "delta added", ("instead of -",)),
    ("gradient_of_q", of_q, "no lse", ("[0, 0, 0]",)),
    ("gradient_of_q", of_q, "exchanged", ("k_ptr and v_ptr",)),
]


@pytest.mark.parametrize(("name", "made", "how", "facts"), WRONG, ids=[f"{one[0]}-{one[2]}" for one in WRONG])
def test_a_misunderstanding_is_told_what_is_wrong(name: str, made: Any, how: str, facts: tuple[str, ...]) -> None:
    fault = str(told_fault(name, made(how), lambda fault: all(fact in str(fault) for fact in facts)))
    assert all(fact in fault for fact in facts), fault
