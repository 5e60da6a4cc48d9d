"""The bound of a mutated launch is that of the kernel which was meant, computed from its own source."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tests.launch.comparison.kernels import recorded
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.launch_results import of_launch, read
from triton_lab.launch.comparison.mutations.experiments import Experiments
from triton_lab.launch.launch import Launch
from triton_lab.launch.replay.replay_run import replay


@triton.jit
def computed(x_ptr, y_ptr, out_ptr, n, HOW: tl.constexpr, N: tl.constexpr):
    k = tl.arange(0, N)
    at = k[:, None] * N + k[None, :]
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    if HOW == "sum":
        found = x + y
    elif HOW == "difference":
        found = x - y
    elif HOW == "product":
        found = x * y
    elif HOW == "exchanged":
        found = y - x
    elif HOW == "root":
        found = tl.sqrt(tl.abs(x))
    elif HOW == "reciprocal root":
        found = tl.rsqrt(tl.abs(x))
    elif HOW == "root with an epsilon":
        found = tl.sqrt(tl.abs(x) + 1e-5)
    elif HOW == "exp":
        found = tl.exp(x)
    elif HOW == "exp of the negative":
        found = tl.exp(-x)
    elif HOW == "exp below the greatest":
        found = tl.exp(x - tl.max(x, 1)[:, None])
    elif HOW == "mean":
        found = x + tl.sum(y, 1)[:, None] / N
    elif HOW == "mean of n":
        found = x + tl.sum(y, 1)[:, None] / n
    elif HOW == "greatest":
        found = x * tl.max(y * y, 1)[:, None]
    elif HOW == "total":
        found = x * tl.sum(y * y, 1)[:, None]
    elif HOW == "dot":
        found = tl.dot(x, y, input_precision="ieee")
    elif HOW == "transposed dot":
        found = tl.dot(x, tl.trans(y), input_precision="ieee")
    tl.store(out_ptr + at, found)


def run(how: str) -> Launch:
    generator = torch.Generator().manual_seed(5)
    x, y = (torch.randn(16, 16, generator=generator) * 3 for _ in range(2))
    return recorded(lambda: computed[(1,)](x, y, torch.empty(16, 16), 13.0, HOW=how, N=16))


def of_mutation(launch: Launch, wanted: Callable[[str], bool]) -> tuple[Any, Any]:
    """The results and the bound with the first switch whose name is ``wanted``."""
    experiments = Experiments(launch, ["out_ptr"])
    tiers = chain(experiments.usual(None), experiments.rarer())
    switch = next(one for tier in tiers for one in tier if wanted(one.name))
    executable = switch.executable(launch)
    memory = replay(launch, executable=executable)
    return read(memory, launch.argument("out_ptr")), bounds(launch, False, executable=executable)["out_ptr"]


# A slip, what was meant, and the beginning of the switch's name.
MEANT = [
    ("sum", "difference", "- instead of +"),
    ("difference", "exchanged", "both sides of - exchanged"),
    ("root", "reciprocal root", "rsqrt instead of sqrt"),
    ("root", "root with an epsilon", "1e-05 added"),
    ("exp", "exp of the negative", "x_ptr with the other sign"),
    ("exp", "exp below the greatest", "the maximum of each row"),
    ("mean", "mean of n", "n instead of N"),
    ("greatest", "total", "sum instead of max"),
    ("total", "greatest", "max instead of sum"),
    ("dot", "transposed dot", "y_ptr transposed"),
]


@pytest.mark.parametrize(
    ("slip", "meant", "switch"),
    MEANT,
)
def test_a_mutation_has_the_bound_of_the_kernel_that_was_meant(slip: str, meant: str, switch: str) -> None:
    found, bound = of_mutation(run(slip), lambda name: name.startswith(switch))
    right = run(meant)
    np.testing.assert_array_equal(found, of_launch(right).arrays["out_ptr"])
    own = bounds(right, False)["out_ptr"]
    np.testing.assert_allclose(bound.size, own.size, rtol=1e-12)
    np.testing.assert_array_equal(np.broadcast_to(bound.kind, (16, 16)), np.broadcast_to(own.kind, (16, 16)))
    assert bound.any
