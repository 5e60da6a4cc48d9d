"""A written program before its proof: text, launches, constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.polyhedral.blocks.triton_kernel import KernelLaunch


@dataclass(frozen=True)
class GeneratedText:
    """The text of the kernels and their driver, its launches, and the block sizes by the constants' names."""

    text: str
    launches: tuple[KernelLaunch, ...]
    constants: dict[str, int]


def signature(name: str, arguments: Sequence[str], numbers: Sequence[str] | None = None) -> list[str]:
    """The header of the function ``name``, a kernel if ``numbers`` are given.

    These are arguments with many values (also 1): Triton must not specialise on them, so one compiled kernel serves
    all.
    """
    plain = f"def {name}({', '.join(arguments)}):"
    lines = [plain] if len(plain) < 110 and numbers is None else [f"def {name}(", *wrapped(arguments), "):"]
    if numbers is None:
        return lines
    every = f"(do_not_specialize=[{', '.join(map(repr, numbers))}])" if numbers else ""
    return [f"@triton.jit{every}", *lines]


def wrapped(arguments: Sequence[str]) -> list[str]:
    """The arguments, wrapped to several per line."""
    lines, line = [], "   "
    for argument in arguments:
        if len(line) + len(argument) > 96:
            lines.append(line)
            line = "   "
        line += f" {argument},"
    return [*lines, line]
