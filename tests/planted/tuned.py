"""Launches that an autotuner tries first: what its trials change of the tensors, and what they leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

from tests.planted.plant import plant

BLOCKS = [triton.Config({"BLOCK": block}) for block in (16, 32, 64)]


def tuned(kernel: Any, configs: list[Any] = BLOCKS, **options: Any) -> Any:
    """The kernel under an autotuner that knows nothing yet, and that chooses the last configuration."""
    return triton.autotune(configs=configs, key=[], do_bench=_last_wins(), **options)(kernel)


def over(n: int) -> Callable[[Any], tuple[int]]:
    return lambda meta: (triton.cdiv(n, meta["BLOCK"]),)


@triton.jit
def scale_kernel(x_ptr, s_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)  # BUG
    tl.store(x_ptr + offsets, x * tl.load(s_ptr + offsets, mask=mask), mask=mask)


@plant(scale_kernel, "tuned-in-place", "x_ptr")
def scaled_in_place(mended: bool) -> None:
    """Three trials before the launch that counts: 81 for 3."""
    kernel = tuned(scale_kernel, restore_value=["x_ptr"] if mended else None)
    kernel[over(100)](torch.ones(100), torch.full((100,), 3.0), 100)


@triton.jit
def count_kernel(x_ptr, total_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.atomic_add(total_ptr, tl.sum(x))  # BUG


@plant(count_kernel, "tuned-in-place", "total_ptr")
def added_to_a_total(mended: bool) -> None:
    """Each trial adds to the total, too."""
    kernel = tuned(count_kernel, reset_to_zero=["total_ptr"] if mended else None)
    kernel[over(100)](torch.ones(100), torch.zeros(1), 100)


@triton.jit
def half_kernel(x_ptr, out_ptr, START: tl.constexpr, SIZE: tl.constexpr, MENDED: tl.constexpr):
    offsets = tl.arange(0, SIZE)
    if not MENDED:
        offsets += START
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))  # BUG


@plant(half_kernel, "tuned-leftover", "out_ptr")
def half_that_another_trial_wrote(mended: bool) -> None:
    """Each configuration writes another half; together they write all."""
    configs = [triton.Config({"START": start, "SIZE": 64}) for start in (0, 64)]
    tuned(half_kernel, configs)[(1,)](torch.rand(128), torch.zeros(128), MENDED=mended)


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)  # BUG


@plant(copy_kernel, "tuned-leftover", "out_ptr")
def grid_of_one_configuration(mended: bool) -> None:
    """The grid fits the largest block, and the smallest is tried last: it covers a quarter."""
    grid = over(128) if mended else (2,)
    configs = [triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 16})]
    tuned(copy_kernel, configs)[grid](torch.rand(128), torch.zeros(128), 128)


def _last_wins() -> Callable[..., list[float]]:
    """A benchmark that runs a configuration once, and prefers the later one."""
    times = iter([3.0, 2.0, 1.0])

    def bench(call: Callable[[], None], **_options: Any) -> list[float]:
        call()
        return [next(times)] * 3

    return bench


@triton.jit
def elementwise_kernel(x_ptr, y_ptr, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    if KIND == "relu in place":
        tl.store(x_ptr + offsets, tl.maximum(x, 0.0), mask=mask)
    elif KIND == "abs in place":
        tl.store(x_ptr + offsets, tl.abs(x), mask=mask)
    elif KIND == "clamp in place":
        tl.store(x_ptr + offsets, tl.minimum(tl.maximum(x, -1.0), 1.0), mask=mask)
    elif KIND == "scratch":
        tl.store(y_ptr + offsets, x * 2, mask=mask)
        tl.debug_barrier()
        tl.store(y_ptr + offsets, tl.load(y_ptr + offsets, mask=mask) + 1, mask=mask)
    elif KIND == "maximum":
        tl.atomic_max(y_ptr + offsets, x, mask=mask)
    elif KIND == "exchange":
        tl.atomic_xchg(y_ptr + offsets, x, mask=mask)
    else:
        tl.store(y_ptr + offsets, x + 1, mask=mask)


_KINDS = ("relu in place", "abs in place", "clamp in place", "scratch", "maximum", "exchange", "sum")


def _innocent(kind: str, n: int) -> Callable[[], None]:
    def run() -> None:
        tuned(elementwise_kernel)[over(n)](torch.randn(n), torch.zeros(n), n, KIND=kind)

    run.__name__ = f"tuned {kind} of {n}"
    return run


INNOCENTS = [_innocent(kind, n) for kind in _KINDS for n in (64, 100, 250)]
