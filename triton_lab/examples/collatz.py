"""Collatz steps: a loop of unknown length and a branch, both different in every program.

Halve an even number, triple an odd one and add one; how many steps until 1? Program 26 (for the number 27) needs 111,
its neighbour 18. Each program computes one scalar here: there is no block, and the `while` and the `if` are real
control flow, not masks.
"""

# A kernel's parameters are pointers and scalars of the device: there are no Python types to give them.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from triton_lab.examples.example import Example, Size


@triton.jit
def collatz_kernel(start_ptr, steps_ptr):
    program = tl.program_id(0)
    number = tl.load(start_ptr + program)
    steps = 0
    while number > 1:
        if number % 2 == 0:
            number = number // 2
        else:
            number = 3 * number + 1
        steps += 1
    tl.store(steps_ptr + program, steps)


def collatz(start: torch.Tensor) -> torch.Tensor:
    """The int32 number of steps to 1 of each element of a contiguous int64 vector of positive numbers."""
    steps = torch.empty(start.shape, device=start.device, dtype=torch.int32)
    collatz_kernel[start.shape](start, steps)
    return steps


def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """The numbers from 1 + seed on, 50 or 4,096 of them."""
    count = {"small": 50, "bench": 4096}[size]
    return {"start": torch.arange(1 + seed, 1 + seed + count, device=device)}


def reference(start: torch.Tensor) -> torch.Tensor:
    """The same in torch: all numbers step together, and those that have reached 1 stop."""
    number, steps = start.clone(), torch.zeros(start.shape, device=start.device, dtype=torch.int32)
    while (moving := number > 1).any():
        number = torch.where(moving, torch.where(number % 2 == 0, number // 2, 3 * number + 1), number)
        steps += moving
    return steps


# Integers: equal.
EXAMPLES = (Example("collatz", "Collatz steps", collatz, reference, inputs),)
