"""Sums that a loop carries in a narrow float, beside the same in float64 by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import triton_lab as lab
from tests.interpreter.support import kernel_from
from triton_lab.launch.checks.analysis.loop_sums import COSTLY, MANY, CarriedSums, Loss
from triton_lab.launch.launch import Launch
from triton_lab.launch.replay.replay_run import replay

PROGRAMS, LANES, TERMS = 3, 4, 41
Step = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def launch_of(update: str, x: torch.Tensor, start: float, terms: int = TERMS) -> tuple[Launch, np.ndarray]:
    """``s`` is updated by ``x`` in each round ``t``, and stored at the end."""
    kind = {torch.float16: "tl.float16", torch.bfloat16: "tl.bfloat16"}[x.dtype]
    kernel = kernel_from(
        "@triton.jit\n"
        "def kernel(x_ptr, out_ptr, start, n, BLOCK: tl.constexpr):\n"
        "    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        f"    s = tl.zeros((BLOCK,), {kind}) + start.to({kind})\n"
        "    for t in range(n):\n"
        f"        x = tl.load(x_ptr + t * {PROGRAMS * LANES} + k)\n"
        f"        s = ({update}).to({kind})\n"
        "    tl.store(out_ptr + k, s)\n"
    )
    out = torch.zeros(PROGRAMS * LANES, dtype=x.dtype)
    with lab.record() as launches:
        kernel[(PROGRAMS,)](x, out, start, terms, BLOCK=LANES)
    return launches[0], out.double().numpy().reshape(PROGRAMS, LANES)


def losses(launch: Launch) -> dict[int, Loss]:
    watcher = CarriedSums(launch)
    replay(launch, observer=watcher)
    told = [worst for _, worst in watcher.losses()]
    return {loss.program: loss for worst in told for loss in worst}


def _turned(s: np.ndarray) -> np.ndarray:
    return np.swapaxes(s.reshape(-1, 2, 2), 1, 2).reshape(s.shape)


def _flipped(x: np.ndarray) -> np.ndarray:
    return x.reshape(-1, LANES)[:, ::-1].reshape(x.shape)


FORMS: dict[str, Step] = {
    "s + x": lambda s, x, t: s + x,
    "tl.reshape(tl.trans(tl.reshape(s, (2, 2))), (4,)) + x": lambda s, x, t: _turned(s) + x,
    "tl.flip(x, 0) + tl.reshape(tl.expand_dims(s, 1), (4,))": lambda s, x, t: s + _flipped(x),
    "x + s": lambda s, x, t: s + x,
    "tl.flip(s, 0) + x": lambda s, x, t: _flipped(s) + x,
    "tl.gather(s, 3 - tl.arange(0, 4), 0) + x": lambda s, x, t: _flipped(s) + x,
    "s - x": lambda s, x, t: s - x,
    "tl.where(t % 2 == 0, s + x, s)": lambda s, x, t: s + x if t % 2 == 0 else s,
    "tl.where(t % 4 == 3, s, s + x)": lambda s, x, t: s if t % 4 == 3 else s + x,
    "s * 1.0625 + x": lambda s, x, t: s * 1.0625 + x,
    "1.0625 * s - x": lambda s, x, t: 1.0625 * s - x,
    "s / 1.0625 + x": lambda s, x, t: s / 1.0625 + x,
    "-(x - s)": lambda s, x, t: s - x,
    "tl.fma(x, x * 0 + 0.5, s)": lambda s, x, t: x * 0.5 + s,
    "tl.fma(x * 0 + 0.5, x, s)": lambda s, x, t: x * 0.5 + s,
    "s.to(tl.float32) + x.to(tl.float32)": lambda s, x, t: s + x,
}


@pytest.mark.parametrize("update", FORMS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_what_a_sum_should_be_is_that_of_float64(update: str, dtype: torch.dtype) -> None:
    if dtype == torch.bfloat16 and "fma" in update:
        pytest.skip("the front end has it for none but float16 and wider")
    generator = torch.Generator().manual_seed(3)
    x = (0.2 + 0.3 * torch.rand(TERMS, PROGRAMS * LANES, generator=generator)).to(dtype)
    x[:, :LANES] = 0  # the first program adds nothing, and loses nothing
    x[:, -1] *= 2
    start = 1100.0 if dtype == torch.float16 else 300.0
    growing = "*" in update or "/" in update
    launch, stored = launch_of(update, x, 3.0 if growing else start)
    exact = np.full(PROGRAMS * LANES, 3.0 if growing else start)
    for t, terms in enumerate(x.double().numpy()):
        exact = FORMS[update](exact, terms, t)
    exact = exact.reshape(PROGRAMS, LANES)
    found = losses(launch)
    fraction = 2.0 ** (11 if dtype == torch.float16 else 8)
    # A sum is held against itself, or against its terms where these cancel.
    squares = start**2 + (x.double() ** 2).sum(0).numpy().reshape(PROGRAMS, LANES)
    cost = np.abs(stored - exact) / np.maximum(np.abs(exact), np.sqrt(squares)) * fraction
    assert growing or (set(found) == set(np.flatnonzero(cost.max(axis=1) > COSTLY)) and 2 in found)
    for program, loss in found.items():
        # Triton tells a sum that is turned round before or after that.
        sign = np.sign(loss.exact) if update.startswith("-") else 1
        assert loss.exact == pytest.approx(sign * exact[program, loss.lane], rel=1e-12)
        assert float(loss.sum) == sign * stored[program, loss.lane] and loss.terms % TERMS == 0
        assert loss.type == ("float16" if dtype == torch.float16 else "bfloat16")
        assert loss.cost > COSTLY and stored[program, loss.lane] != exact[program, loss.lane]
        if not growing:
            assert loss.cost == pytest.approx(cost[program].max(), rel=1e-3) and loss.lane == cost[program].argmax()


BRANCHES = {
    "if (t + tl.program_id(0)) % 3 > 0:\n            s = s + x": lambda s, x, t, p: s + x if (t + p) % 3 else s,
    "if tl.program_id(0) == 1:\n            s = s + x\n        else:\n            s = x + s": lambda s, x, t, p: s + x,
    "if t % 2 == tl.program_id(0) % 2:\n            s = s + x\n        else:\n            s = tl.flip(s, 0)": (
        lambda s, x, t, p: s + x if t % 2 == p % 2 else s[::-1]
    ),
    "if tl.sum(x, 0) > 1.4:\n            s = s + x": lambda s, x, t, p: s + x if x.sum() > 1.4 else s,
}


@pytest.mark.parametrize("body", BRANCHES)
def test_a_sum_is_followed_where_programs_part(body: str) -> None:
    kernel = kernel_from(
        "@triton.jit\n"
        "def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):\n"
        "    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    s = tl.full((BLOCK,), 1100, tl.float16)\n"
        "    for t in range(n):\n"
        f"        x = tl.load(x_ptr + t * {PROGRAMS * LANES} + k)\n"
        f"        {body}\n"
        "    tl.store(out_ptr + k, s)\n"
    )
    terms = (0.2 + 0.3 * torch.rand(TERMS, PROGRAMS * LANES, generator=torch.Generator().manual_seed(5))).half()
    with lab.record() as launches:
        kernel[(PROGRAMS,)](terms, torch.zeros(PROGRAMS * LANES, dtype=torch.float16), TERMS, BLOCK=LANES)
    found = losses(launches[0])
    exact = np.full((PROGRAMS, LANES), 1100.0)
    for t, x in enumerate(terms.double().numpy().reshape(TERMS, PROGRAMS, LANES)):
        exact = np.stack([BRANCHES[body](exact[p], x[p], t, p) for p in range(PROGRAMS)])
    assert 2 in found
    for program, loss in found.items():
        assert np.abs(exact[program] - loss.exact).min() < 1e-9


@pytest.mark.parametrize("terms", [1, MANY - 1, MANY, 12])
def test_few_terms_are_not_told(terms: int) -> None:
    x = torch.full((terms, PROGRAMS * LANES), 2.0, dtype=torch.bfloat16)
    x[:, :LANES] = 1.9  # of bfloat16's units at 512, which are 4, less than a half
    launch, _ = launch_of("s + x", x, 512.0, terms)
    far = terms * 1.9 / 512 * 2**8 > COSTLY
    assert set(losses(launch)) == ({0, 1, 2} if far and terms >= MANY else set())


def test_a_sum_of_products_counts_each_of_its_terms() -> None:
    kernel = kernel_from(
        "@triton.jit\n"
        "def kernel(a_ptr, out_ptr, n, SIDE: tl.constexpr):\n"
        "    i, j = tl.arange(0, SIDE)[:, None], tl.arange(0, SIDE)[None, :]\n"
        "    s = tl.full((SIDE, SIDE), 1024, tl.float16)\n"
        "    for t in range(n):\n"
        "        a = tl.load(a_ptr + t * SIDE * SIDE + i * SIDE + j)\n"
        "        s = tl.dot(a, a, acc=s, out_dtype=tl.float16)\n"
        "    tl.store(out_ptr + i * SIDE + j, s)\n"
    )
    generator = torch.Generator().manual_seed(0)
    a = (0.1 + 0.07 * torch.rand(60, 16, 16, generator=generator)).half()
    out = torch.zeros(16, 16, dtype=torch.float16)
    with lab.record() as launches:
        kernel[(1,)](a, out, 60, SIDE=16)
    exact = 1024 + sum(each.double() @ each.double() for each in a).numpy()
    (loss,) = losses(launches[0]).values()
    cost = np.abs(out.double().numpy() - exact) / exact * 2.0**11
    assert loss.terms == 60 * 16 and divmod(loss.lane, 16) == np.unravel_index(cost.argmax(), (16, 16))
    assert loss.exact == pytest.approx(exact.reshape(-1)[loss.lane]) and loss.cost == pytest.approx(
        cost.max(), rel=0.02
    )


def test_a_step_that_no_longer_counts_is_told_in_float32_too() -> None:
    kernel: Any = kernel_from(
        "@triton.jit\n"
        "def kernel(x_ptr, out_ptr, n):\n"
        "    s = tl.load(x_ptr + tl.program_id(0))\n"
        "    for t in range(n):\n"
        "        s += 1.0\n"
        "    tl.store(out_ptr + tl.program_id(0), s)\n"
    )
    x = torch.tensor([0.0, 2.0**24 - 5, 2.0**24 - 20, 2.0**25])
    out = torch.zeros(4)
    with lab.record() as launches:
        kernel[(4,)](x, out, 12)
    found = losses(launches[0])
    stuck = {program: loss for program, loss in found.items() if np.isinf(loss.cost)}
    assert set(stuck) == {1, 3}
    for program, loss in stuck.items():
        assert float(loss.step) == 1 and float(loss.sum) == float(out[program]) and loss.exact == float(x[program]) + 12
