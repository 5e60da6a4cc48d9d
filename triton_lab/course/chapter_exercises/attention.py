"""Chapter 13: a softmax between two products, neither of which is ever stored as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from triton_lab.course.attempt import Inputs
from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import bounded, launched, loads, once
from triton_lab.launch.launch import Launch
from triton_lab.localization import N_, _


def _scores(q: Any, k: Any, causal: bool) -> Any:
    import torch

    scores = q.double() @ k.double().transpose(1, 2) / math.sqrt(q.shape[2])
    tokens = q.shape[1]
    return scores.masked_fill(torch.ones(tokens, tokens).triu(1).bool(), -math.inf) if causal else scores


def attention(q: Any, k: Any, v: Any) -> Any:
    return (_scores(q, k, False).softmax(2) @ v.double()).to(q.dtype)


def causal_attention(q: Any, k: Any, v: Any) -> Any:
    return (_scores(q, k, True).softmax(2) @ v.double()).to(q.dtype)


def _long_half() -> Case:
    """2,048 keys in half precision of about equal weight, and values that do not cancel: a narrow sum shows."""
    near = tensor(1, 2048, 16, dtype="float16", scale=0.1)
    return replace(case(q=near, k=near, v=tensor(1, 2048, 16, dtype="float16", low=0.0, high=8.0)), hard=True)


def _cases() -> tuple[Case, ...]:
    """Cases of (heads, tokens, dim): one block and several, none full; many heads; large scores; half precision."""
    shapes = ((1, 32, 16), (2, 50, 16), (3, 97, 32), (1, 1, 16))
    return (
        *(case(**{name: tensor(*shape) for name in "qkv"}) for shape in shapes),
        case(q=tensor(2, 70, 16, scale=20.0), k=tensor(2, 70, 16, scale=20.0), v=tensor(2, 70, 16)),
        case(**{name: tensor(2, 40, 32, layout="inside") for name in "qkv"}),
        case(q=tensor(2, 40, 32), k=tensor(2, 40, 32, layout="inside"), v=tensor(2, 40, 32)),
        case(**{name: tensor(2, 65, 16, dtype="float16") for name in "qkv"}),
        _long_half(),
    )


def _columns(inputs: Any) -> int:
    return int(inputs["x"].shape[1])


def no_key_in_vain(launches: Sequence[Launch], inputs: Inputs) -> str:
    """Limit the loads of k to the keys that some query of a block needs: none after its last query."""
    heads, tokens, dim = inputs["k"].shape
    blocks = max(1, launches[-1].programs // heads)
    queries = 1 << max(0, math.ceil(math.log2(tokens / blocks)))
    needed = heads * dim * sum(min(tokens, queries * (one + 1)) for one in range(blocks))
    asked = loads("k", lambda _: needed, _("keys after all queries of a program are not needed"))
    return asked(launches, inputs)


EXERCISES = (
    Question(
        "bytes_of_scores",
        N_("The matrix that is never stored"),
        (
            N_("Each head has a matrix of tokens × tokens."),
            N_("16 * 4096 * 4096 numbers of 2 bytes."),
        ),
        right=lambda: 16 * 4096 * 4096 * 2,
        tell=lambda answer, right: _("Heads times queries times keys, and two bytes for each of the scores."),
    ),
    Task(
        "log_sum_exp",
        N_("Softmax in one pass"),
        (
            N_("Keep two numbers for the row: the maximum so far, and the sum of exp(x - maximum)."),
            N_("If a block has a greater number, multiply the sum so far by exp(old - new)."),
            N_(
                "new = tl.maximum(high, tl.max(x, axis=0)); total = total * tl.exp(high - new) + "
                "tl.sum(tl.exp(x - new), axis=0); high = new"
            ),
        ),
        cases=(
            case(x=tensor(3, 32)),
            case(x=tensor(5, 100)),
            case(x=tensor(2, 1000, scale=30.0)),
            case(x=tensor(4, 33, low=-500.0, high=-400.0)),
            case(x=tensor(3, 65, layout="turned")),
            case(x=tensor(2, 1)),
            case(x=tensor(2, 20_001)),
        ),
        reference=lambda x: x.double().logsumexp(1).float(),
        tolerance=(1e-5, 1e-5),
        work=(launched(), once("x"), bounded(_columns)),
        copied=False,
        points=2,
    ),
    Task(
        "attention",
        N_("Attention in one kernel"),
        (
            N_("A program has 32 queries of one head, and walks over the keys, 32 at a time: scores are one tl.dot."),
            (
                N_(
                    "It is `log_sum_exp` for 32 rows at once. The accumulator, of shape (32, dim), is scaled down "
                    "like the sum."
                )
            ),
            N_("accumulator = accumulator * shrink[:, None] + tl.dot(weights.to(v.dtype), v); divide at the end."),
        ),
        cases=_cases(),
        ranges=("negative", "tiny"),
        reference=attention,
        tolerance=(1e-3, 1e-3),
        work=(launched(),),
        points=3,
    ),
    Task(
        "causal_attention",
        N_("No look ahead"),
        (
            N_("If the key comes after the query, the score is minus infinity."),
            N_("Blocks of keys that begin after the program's last query are not needed: end the loop earlier."),
            N_("end = tl.minimum(tokens, (tl.program_id(0) + 1) * BLOCK)"),
        ),
        cases=_cases(),
        ranges=("negative", "tiny"),
        reference=causal_attention,
        tolerance=(1e-3, 1e-3),
        work=(launched(), no_key_in_vain),
        points=2,
    ),
)
