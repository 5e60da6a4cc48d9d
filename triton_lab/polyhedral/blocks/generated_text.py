"""What was written: text, launches, constants, before it is proved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.polyhedral.blocks.triton_kernel import KernelLaunch


@dataclass(frozen=True)
class GeneratedText:
    """The text of the kernels and their driver, what it launches, and the block sizes by the names of constants."""

    text: str
    launches: tuple[KernelLaunch, ...]
    constants: dict[str, int]


def signature(name: str, arguments: Sequence[str], numbers: Sequence[str] | None = None) -> list[str]:
    """The head of the function ``name``; of a kernel, if there are ``numbers``, arguments that take many values (and 1
    is one of them): one compiled kernel serves them all."""
    plain = f"def {name}({', '.join(arguments)}):"
    lines = [plain] if len(plain) < 110 and numbers is None else [f"def {name}(", *wrapped(arguments), "):"]
    if numbers is None:
        return lines
    every = f"(do_not_specialize=[{', '.join(map(repr, numbers))}])" if numbers else ""
    return [f"@triton.jit{every}", *lines]


def wrapped(arguments: Sequence[str]) -> list[str]:
    """The arguments, several to a line."""
    lines, line = [], "   "
    for argument in arguments:
        if len(line) + len(argument) > 96:
            lines.append(line)
            line = "   "
        line += f" {argument},"
    return [*lines, line]
