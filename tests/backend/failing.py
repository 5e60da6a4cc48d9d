"""Launches that fail, and the carets in what they say."""

from __future__ import annotations

import itertools
import re

import pytest
import torch

from triton_lab.interpreter.kernel_errors import KernelError


def failure(kernel, x=None, y=None, grid=(1,), **more) -> KernelError:
    x = torch.zeros(4) if x is None else x
    y = torch.zeros(4) if y is None else y
    with pytest.raises(KernelError) as caught:
        kernel[grid](x, y, **more)
    return caught.value


def underlined(error: KernelError) -> list[str]:
    """The texts that have carets under them."""
    lines = str(error).split("\n")
    found = []
    for text, carets in itertools.pairwise(lines):
        if re.fullmatch(r"\s+\^+", carets):
            start, stop = carets.index("^"), len(carets)
            # A wide character takes two columns of the terminal.
            columns = "".join(c + "\0" * (ord(c) > 0x2E80) for c in text)
            found.append(columns[start:stop].replace("\0", ""))
    return found


def unplaced(error: KernelError) -> str:
    """What an error says, without the file, the number of the line and its text."""
    lines = str(error).split("\n")
    carets = {number for number, line in enumerate(lines) if re.fullmatch(r"\s+\^+", line)}
    kept = [line for number, line in enumerate(lines) if not {number, number + 1} & carets]
    return re.sub(r"\S+\.py, line \d+", "{file}, line {line}", "\n".join(kept))
