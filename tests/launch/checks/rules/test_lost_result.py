"""A kernel that returns what it should store."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.wordings import Wording


@triton.jit
def doubled_kernel(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    return x * 2


@triton.jit
def stored_kernel(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), x * 2)
    return x


@triton.jit
def printed_kernel(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_print("x", x)
    return x


@triton.jit
def ended_kernel(x_ptr, BLOCK: tl.constexpr):
    tl.load(x_ptr + tl.arange(0, BLOCK))
    return


def lost(kernel: Any) -> list[Any]:
    with triton_lab.record() as launches:
        kernel[(1,)](torch.ones(8), BLOCK=8)
    return [found for found in launches[0].findings if found.kind == "lost-result"]


def test_what_is_returned_and_not_stored_is_told_at_its_line(wording: Wording) -> None:
    (found,) = lost(doubled_kernel)
    assert found.severity == "warning"
    wording(found.message, value="`return x * 2`")
    assert found.excerpt == ("    return x * 2", "    ^^^^^^^^^^^^")
    with open(__file__) as file:
        assert file.read().split("\n")[found.line - 1] == found.excerpt[0]
    wording(found.hint, "hint")


@pytest.mark.parametrize("kernel", [stored_kernel, printed_kernel, ended_kernel])
def test_a_kernel_that_can_be_seen_to_do_something_or_returns_nothing_is_left_in_peace(kernel: Any) -> None:
    assert not lost(kernel)
