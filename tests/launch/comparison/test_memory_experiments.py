"""Other memory as a cause: what an autotuner's trials changed, and tensors that are not contiguous."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.launch import Launch


@triton.jit
def scaled_kernel(x_ptr, factor_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, factor = tl.load(x_ptr + at, mask=at < n), tl.load(factor_ptr + at, mask=at < n)
    tl.store(x_ptr + at, x * factor, mask=at < n)


@triton.jit
def total_kernel(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total_ptr, tl.sum(tl.load(x_ptr + at, mask=at < n, other=0.0)))


@triton.jit
def doubled_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


def tuned(kernel: Any, first: torch.Tensor, second: torch.Tensor, **protected: Any) -> Launch:
    """The first launch of an autotuner of two configurations."""
    tuner = triton.autotune([triton.Config({"BLOCK": block}) for block in (16, 32)], key=["n"], **protected)(kernel)
    with lab.target("cpu"), lab.record() as launches:
        tuner[lambda meta: (triton.cdiv(64, meta["BLOCK"]),)](first, second, 64)
    return launches[-1]


def doubled(x: torch.Tensor, out: torch.Tensor) -> Launch:
    with lab.target("cpu"), lab.record() as launches:
        doubled_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return launches[-1]


def test_a_tensor_that_trials_scaled_is_to_be_restored() -> None:
    launch = tuned(scaled_kernel, torch.ones(64), torch.full((64,), 3.0))
    causes = lab.compare(launch, {"x_ptr": torch.full((64,), 3.0)}).causes()
    assert causes.known and 'restore_value=["x_ptr"]' in causes.cause


def test_zeros_that_trials_added_to_are_to_be_reset() -> None:
    launch = tuned(total_kernel, torch.ones(64), torch.zeros(1))
    causes = lab.compare(launch, {"total_ptr": torch.tensor([64.0])}).causes()
    assert causes.known and 'reset_to_zero=["total_ptr"]' in causes.cause


def test_memory_that_the_autotuner_restores_is_not_tried() -> None:
    launch = tuned(scaled_kernel, torch.ones(64), torch.full((64,), 3.0), restore_value=["x_ptr"])
    causes = lab.compare(launch, {"x_ptr": torch.full((64,), 4.0)}).causes()
    assert not any("trials" in one.name for one in causes.experiments)


VIEWS: dict[str, Callable[[], torch.Tensor]] = {
    "transposed": lambda: torch.randn(20, 30).t(),
    "every second row": lambda: torch.randn(20, 30)[::2],
    "left columns": lambda: torch.randn(20, 30)[:, :17],
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_read_as_contiguous_is_the_cause(name: str) -> None:
    x = VIEWS[name]()
    causes = lab.compare(doubled(x, torch.empty(x.shape)), x * 2).causes()
    assert causes.known and str(tuple(x.stride())) in causes.cause
    assert causes.experiments[-1].removes


def test_a_view_written_as_contiguous_is_the_cause() -> None:
    x, out = torch.randn(30, 20), torch.empty(20, 30).t()
    causes = lab.compare(doubled(x, out), x * 2).causes()
    assert causes.known and str(tuple(out.stride())) in causes.cause


def test_contiguous_tensors_have_no_such_experiment() -> None:
    x = torch.randn(10, 30)
    causes = lab.compare(doubled(x, torch.empty(10, 30)), x * 3).causes()
    assert not any("contiguous" in one.name for one in causes.experiments)
