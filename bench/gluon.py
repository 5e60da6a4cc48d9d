"""A product of 512 x 512 x 512 in fp16: Gluon's, by TMA and wgmma, against Triton's own, both in NumPy's engine."""

from __future__ import annotations

import time
from collections.abc import Iterable

import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.gluon.cases import described
from tests.gluon.kernels import product

from .figure import AtMost, Figure
from .timing import medians_in_turns

SIDE = 512


@triton.jit
def plain_product(a, b, c, n, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    along = tl.arange(0, STEP)
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, n, STEP):
        x = tl.load(a + rows[:, None] * n + (k + along)[None, :])
        y = tl.load(b + (k + along)[:, None] * n + columns[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * n + columns[None, :], acc.to(tl.float16))


def measure(quick: bool = False) -> Iterable[Figure]:
    """How many times longer Gluon's product takes; the processor's time counts."""
    a, b, c = (torch.randn(SIDE, SIDE).half() for _ in range(3))
    tiles = described(a, [128, 64]), described(b, [64, 128]), described(c, [128, 128])

    def by_triton() -> None:
        plain_product[(4, 4)](a, b, c, SIDE, 128, 128, 64)

    def by_gluon() -> None:
        product[(4, 4)](*tiles, SIDE, num_warps=4)

    with lab.limits(engine="numpy"):
        took = medians_in_turns(
            {"triton": by_triton, "gluon": by_gluon},
            at_least=5,
            at_most=20 if quick else 200,
            budget=1.0 if quick else 10.0,
            clock=time.process_time,
        )
    note = ", ".join(f"{name} {seconds * 1e3:.3g} ms" for name, seconds in took.items())
    yield Figure("Gluon's product of 512^3 over Triton's", took["gluon"] / took["triton"], "times", AtMost(2), note)
