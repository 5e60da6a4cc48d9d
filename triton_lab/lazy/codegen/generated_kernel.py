"""A generated kernel: its text, and how to launch it."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class GeneratedKernel:
    """A generated kernel: `source` defines `name`, which takes the memory of `slots`, then `tiles` as constexprs."""

    name: str
    source: str
    slots: tuple[int, ...]
    tiles: tuple[tuple[str, int], ...]
    grid: tuple[int, ...]
    region: int  # its index in the step
    writes: tuple[int, ...]  # the slots that it stores into
    checks: bool = False  # it contains assertions, so it must be compiled for debugging


TRITON_DTYPES = {
    torch.bool: "tl.int1",
    torch.uint8: "tl.uint8",
    torch.int8: "tl.int8",
    torch.int16: "tl.int16",
    torch.int32: "tl.int32",
    torch.int64: "tl.int64",
    torch.float16: "tl.float16",
    torch.bfloat16: "tl.bfloat16",
    torch.float32: "tl.float32",
    torch.float64: "tl.float64",
}


def program_id(axis: int, positions: int) -> str:
    """The text of a program id that counts up to `positions` elements: 64-bit where 32 bits would overflow."""
    text = f"tl.program_id({axis})"
    return text if positions < 2**31 else f"{text}.to(tl.int64)"


def power_of_two(size: int, least: int, most: int) -> int:
    """The smallest power of two that is at least `size`, within [least, most]."""
    tile = least
    while tile < size and tile < most:
        tile *= 2
    return tile


def spread(text: str, index: str) -> str:
    """The text `text[index]`, in parentheses if `text` is more than a name."""
    return f"{text}[{index}]" if text.isidentifier() else f"({text})[{index}]"
