"""A plain cell that ends with a launch shows what was compiled, and how to see what it did."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from IPython.core.interactiveshell import InteractiveShell
from triton.compiler import ASTSource, CompiledKernel

from tests.wordings import Wording
from triton_lab.magics import offer, unregister
from triton_lab.notebook.cell.compiled_kernel_text import told


@triton.jit
def cast_kernel(x_ptr, out_ptr, n, TYPE: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    tl.store(out_ptr + lane, tl.load(x_ptr + lane, mask=lane < n, other=0).to(TYPE), mask=lane < n)


@pytest.fixture
def shell() -> Iterator[Any]:
    mine = InteractiveShell()
    offer(mine)
    yield mine
    unregister(mine)


def launched(n: int = 20) -> CompiledKernel:
    return cast_kernel[(1,)](torch.ones(20), torch.zeros(20), n, tl.float16, BLOCK=32)


def shown(shell: Any, value: object) -> str:
    data, _ = shell.display_formatter.format(value)
    text: str = data["text/plain"]
    return text


def test_a_launch_shows_types_and_constants(shell: Any, wording: Wording) -> None:
    call = "cast_kernel(x_ptr: *fp32, out_ptr: *fp32, n: i32, TYPE=tl.float16, BLOCK=32)"
    wording(shown(shell, launched()), call=call)
    assert "n=1, TYPE" in shown(shell, launched(1)), "what Triton took for a constant"


def test_no_class_of_tritons_is_touched(shell: Any) -> None:
    kernel = launched()
    assert repr(kernel).startswith("<triton.compiler.compiler.CompiledKernel object at 0x")
    shown(shell, kernel)
    unregister(shell)
    assert shown(shell, kernel).startswith("<triton.compiler.compiler.CompiledKernel at 0x")
    offer(shell)
    assert shown(shell, kernel).startswith("cast_kernel(")


def test_what_was_compiled_for_a_gpu_says_for_which(wording: Wording) -> None:
    class Metadata:
        name = "cast_kernel"
        target = triton.backends.compiler.GPUTarget("cuda", 90, 32)

    class Kernel:
        metadata = Metadata
        src = ASTSource(cast_kernel, {"x_ptr": "*fp32", "BLOCK": "constexpr"}, {(4,): 64})

    head = told(Kernel()).splitlines()[0]
    wording(head, "launch", kernel="cast_kernel", arguments="x_ptr: *fp32, BLOCK=64", target="sm_90")
    Kernel.src = None  # of a kernel that was compiled from its IR
    wording(told(Kernel()).splitlines()[0], "IR", kernel="cast_kernel", target="sm_90")
