"""Gluon kernels on the CPU target: their numbers are torch's, under `record` too."""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest
import torch
import triton

import triton_lab as lab
from tests.gluon import kernels
from tests.gluon.kernels import gl
from triton_lab.interpreter.kernel_errors import KernelError

BLOCKED = gl.BlockedLayout([4], [32], [4], [0])


def descriptor(tensor: torch.Tensor, block: list[int], layout: gl.NVMMASharedLayout) -> object:
    return kernels.TensorDescriptor.from_tensor(tensor, block, layout)


def test_element_wise_with_layouts() -> None:
    x, y = torch.randn(1000), torch.zeros(1000)
    kernels.scale[(4,)](x, y, 1000, 2.0, BLOCK=256, layout=BLOCKED)
    assert torch.equal(y, 2 * x)


@pytest.mark.parametrize("kernel", ["copied", "ring"])
@pytest.mark.parametrize("n", [1000, 256, 7])
def test_copies_in_groups(kernel: str, n: int) -> None:
    x, y = torch.randn(n), torch.zeros(n)
    if kernel == "copied":
        kernels.copied[(4,)](x, y, n, BLOCK=256, layout=BLOCKED)
    else:
        kernels.ring[(1,)](x, y, n, BLOCK=128, layout=gl.BlockedLayout([1], [32], [4], [0]), BUFFERS=3)
    assert torch.equal(x, y)


@pytest.mark.parametrize("shape", [(256, 256, 128), (200, 136, 96)])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_product_by_tma_and_warp_groups(shape: tuple[int, int, int], dtype: torch.dtype) -> None:
    m, n, k = shape
    a, b, c = torch.randn(m, k, dtype=dtype), torch.randn(k, n, dtype=dtype), torch.zeros(m, n, dtype=dtype)
    layout = gl.NVMMASharedLayout(128, 16, 2)
    described = (descriptor(t, s, layout) for t, s in ((a, [128, 64]), (b, [64, 128]), (c, [128, 128])))
    with lab.record() as launches:
        kernels.product[(triton.cdiv(m, 128), triton.cdiv(n, 128))](*described, k, num_warps=4)
    torch.testing.assert_close(c, (a.double() @ b.double()).to(dtype), rtol=1e-2, atol=1e-2)
    assert launches[0].error is None and not [one for one in launches[0].findings if one.severity == "error"]


def test_partitions_take_turns() -> None:
    x, y = torch.randn(3 * 512), torch.zeros(3 * 512)
    for k in range(3):
        kernels.specialized[(1,)](x[512 * k :], y[512 * k :], BLOCK=128, N=4)
    assert torch.equal(y, x + 1)


@pytest.mark.parametrize(
    ("kernel", "line", "kind"),
    [
        ("without_a_wait", "buffer.load(layout)", "used-before-wait"),
        ("without_a_commit", "buffer.load(layout)", "used-before-wait"),
        ("written_too_early", "c.store(", "written-while-read"),
        ("of_the_wrong_phase", "mbarrier.wait(", "phase-never-ends"),
        ("never_initialised", "mbarrier.expect(", "barrier-misuse"),
        ("too_many_bytes", "mbarrier.wait(", "phase-never-ends"),
        ("both_wait", "mbarrier.wait(", "phase-never-ends"),
    ],
)
def test_what_a_gpu_would_race_on_is_an_error_at_its_line(kernel: str, line: str, kind: str) -> None:
    x, y = torch.randn(128), torch.zeros(128)
    function = getattr(kernels, kernel)
    if "desc" in function.arg_names[0]:
        layout = gl.NVMMASharedLayout.get_default_for([32], gl.float32)
        x, y = descriptor(x, [32], layout), descriptor(y, [32], layout)  # type: ignore[assignment]
    with pytest.raises(KernelError) as caught:
        function[(1,)](x, y)
    assert caught.value.rule == kind and line in str(caught.value)


def test_an_interrupt_ends_all_partitions() -> None:
    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    before, usual = threading.active_count(), signal.signal(signal.SIGALRM, interrupt)
    x = torch.zeros(2)
    kernels.endless.warmup(x, 10, grid=(1,))
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    try:
        with pytest.raises(KeyboardInterrupt):
            kernels.endless[(1,)](x, 10)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, usual)
    assert threading.active_count() <= before
