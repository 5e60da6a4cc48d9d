"""Producers and consumers in one launch: half of the programs wait for data that the other half writes.

A producer writes its chunk and then raises a flag; its consumer spins until it sees the flag and then reads the
chunk. Two conditions make this correct. Order: with `release`, everything written before the flag is visible to a
program that `acquire`s the flag. Progress: waiting helps only if the other program runs at the same time. A GPU
guarantees that only for programs that fit on it at once, so a launch like this one must be small.
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
def produce_consume_kernel(
    x_ptr, chunk_ptr, flag_ptr, total_ptr, n, PAIRS: tl.constexpr, BLOCK: tl.constexpr, CONSUMERS_FIRST: tl.constexpr
):
    program = tl.program_id(0)
    pair = program % PAIRS
    offsets = pair * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    if (program < PAIRS) != CONSUMERS_FIRST:
        x = tl.load(x_ptr + offsets, mask=mask)
        tl.store(chunk_ptr + offsets, x * x, mask=mask)
        tl.debug_barrier()  # every thread of this program must have stored before one of them raises the flag
        tl.atomic_xchg(flag_ptr + pair, 1, sem="release")
    else:
        while tl.atomic_add(flag_ptr + pair, 0, sem="acquire") == 0:  # adding nothing is an atomic read
            pass
        chunk = tl.load(chunk_ptr + offsets, mask=mask, other=0.0)
        tl.store(total_ptr + pair, tl.sum(chunk, axis=0))


def produce_consume(x: torch.Tensor, block: int = 128, consumers_first: bool = True) -> torch.Tensor:
    """The sum of squares of each block of a contiguous float32 vector.

    `consumers_first` gives the waiting programs the lower numbers: run one after the other, they would wait for ever.
    """
    assert x.is_contiguous()
    n, pairs = x.numel(), triton.cdiv(x.numel(), block)
    chunks, totals = torch.empty_like(x), x.new_empty(pairs)
    flags = torch.zeros(pairs, device=x.device, dtype=torch.int32)
    produce_consume_kernel[(2 * pairs,)](
        x, chunks, flags, totals, n, PAIRS=pairs, BLOCK=block, CONSUMERS_FIRST=consumers_first
    )
    return totals


def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """600 or 5,000 float32 numbers: 5 or 40 pairs of programs."""
    n = {"small": 600, "bench": 5000}[size]
    return {"x": torch.randn(n, generator=torch.Generator().manual_seed(seed)).to(device)}


def reference(x: torch.Tensor, block: int = 128, consumers_first: bool = True) -> torch.Tensor:
    """The same in torch."""
    padded = torch.nn.functional.pad(x, (0, -len(x) % block))
    return padded.reshape(-1, block).square().sum(dim=1)


# float32 sums of 128 positive terms in another order.
EXAMPLES = (Example("producer_consumer", "Producers and consumers", produce_consume, reference, inputs, rtol=2e-6),)
