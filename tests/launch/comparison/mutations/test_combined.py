"""Slips in the user's own function that a scan combines two elements by."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.judgement import compiled
from tests.launch.comparison.kernels import recorded
from tests.launch.comparison.slips import randn
from tests.wordings import Wording
from triton_lab.launch.comparison.mutations.ir_query import split_at_lines

RIGHT = "a1 * a2, b1 * a2 + b2"
A, B = randn(4, 23).sigmoid(), randn(4, 23, seed=1)


@triton.jit
def composed(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def recurrence(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    a = tl.load(a_ptr + row * n + i, mask=i < n, other=1.0)
    b = tl.load(b_ptr + row * n + i, mask=i < n, other=0.0)
    _unused, state = tl.associative_scan((a, b), 0, composed)
    tl.store(out_ptr + row * n + i, state, mask=i < n)


def right(a_ptr: torch.Tensor, b_ptr: torch.Tensor, **_others: Any) -> torch.Tensor:
    """The state after each step, one step at a time."""
    states = [torch.zeros(len(a_ptr), dtype=torch.float64)]
    for a, b in zip(a_ptr.double().unbind(1), b_ptr.double().unbind(1), strict=True):
        states.append(a * states[-1] + b)
    return torch.stack(states[1:], 1).float()


@pytest.mark.parametrize(
    "text",
    [
        "a1 * a2, a1 * b2 + b1",
        "a1 * a2, b1 * a2 + b1",
        "a1 * a2, b1 * a2 - b2",
        "a1 + a2, b1 * a2 + b2",
        "a1 * a2, b1 + b2",
        "a1 * a2, b1 * a2",
    ],
)
def test_a_slip_in_the_function_is_found_there(text: str, wording: Wording) -> None:
    both = f"@triton.jit\n{composed.src}\n\n@triton.jit\n{recurrence.src}"
    kernel = compiled(recurrence, both.replace(RIGHT, text))
    launch = recorded(lambda: kernel[(4,)](A, B, torch.zeros(4, 23), 23, BLOCK=32))
    named = [one for one in lab.compare(launch, right).causes().experiments if one.names_it]
    place = both[: both.index(RIGHT)].count("\n") + 1
    assert split_at_lines(named[0].name)[1][0] == place
    wording(named[0].cause, text)
