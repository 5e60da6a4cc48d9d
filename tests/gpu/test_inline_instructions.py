"""Inline PTX has the same bits on the CPU as on a GPU."""

from __future__ import annotations

import pytest
import torch

import triton_lab as lab
from tests.interpreter import inline_instructions

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("name", [*inline_instructions.instructions()])
def test_an_instruction_has_the_bits_of_a_gpu(name: str) -> None:
    with lab.target("cpu"):
        ours = inline_instructions.run(name)
    with lab.target("gpu"):
        theirs = inline_instructions.run(name)
    differ = torch.nonzero(~inline_instructions.same(name, ours, theirs)).reshape(-1)
    shown = [(int(k), hex(int(ours[k])), hex(int(theirs[k]))) for k in differ[:4]]
    assert not len(differ), f"{len(differ)} of {len(ours)}: {shown}"
