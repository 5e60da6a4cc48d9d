"""The CPU in the place of a GPU: where tensors say they are, what is copied, and what torch answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from triton_lab.backend.plugin.device_mirror import Mirrors
from triton_lab.backend.plugin.kernel_arguments import ArgumentLeaf
from triton_lab.backend.plugin.launch_regions import extent_of, regions_of
from triton_lab.testing.cuda_on_cpu import in_place_of_a_gpu

pytestmark = pytest.mark.skipif(torch.version.cuda is not None, reason="this torch has GPUs of its own")


@pytest.fixture(autouse=True)
def mapped() -> Iterator[None]:
    with in_place_of_a_gpu():
        yield


def test_what_is_asked_of_the_gpu_says_so_and_the_rest_is_on_the_cpu() -> None:
    there = [
        torch.zeros(3, device="cuda"),
        torch.rand(3, device=torch.device("cuda", 0)),
        torch.zeros(3).cuda(),
        torch.zeros(3).to("cuda:0"),
        torch.zeros(3).to(0),
        torch.zeros(3).to(torch.zeros(1, device="cuda")),
        torch.nn.Linear(2, 2).cuda().weight,
        torch.nn.Linear(2, 2, device="cuda").bias,
    ]
    here = [torch.zeros(3), torch.zeros(3, device="cuda").cpu(), torch.zeros(3, device="cuda").to("cpu")]
    here.append(torch.zeros(3, device="cpu"))
    for tensor in there:
        assert tensor.is_cuda and not tensor.is_cpu and tensor.get_device() == 0
        assert tensor.device == torch.device("cuda", 0)
    for tensor in here:
        assert tensor.is_cpu and not tensor.is_cuda and tensor.device.type == "cpu"


def test_what_is_computed_from_tensors_there_is_there() -> None:
    x = torch.zeros(4, 4, device="cuda")
    for derived in (x + 1, x[1:], x.T, torch.cat([x, x]), torch.empty_like(x), x.new_zeros(3), x.sum(), x.split(2)[1]):
        assert derived.is_cuda
    assert torch.zeros(2, device=x.device).is_cuda and not torch.zeros(2).add(1).is_cuda
    assert not torch.zeros(4, 4).copy_(x).is_cuda


def test_moving_between_the_two_copies_and_moving_to_where_a_tensor_is_does_not() -> None:
    x = torch.zeros(3, device="cuda")
    before, same, dtype = x.cpu(), x.cuda(), x.to("cuda", torch.float32)
    x.add_(1)
    assert before.sum() == 0 and same is x and dtype is x
    y = torch.zeros(3)
    z = y.cuda()
    z.add_(1)
    assert y.sum() == 0 and y.cpu() is y


def test_gradients_come_there_and_a_backward_of_ones_own_finds_the_gpu() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
            assert gradients[0].is_cuda
            return torch.full((3,), 2.0, device="cuda") * gradients[0]

    x = torch.ones(3, device="cuda", requires_grad=True)
    for backward in (lambda y: y.backward(), lambda y: torch.autograd.backward(y)):
        backward(Twice.apply(x).sum())
    (found,) = torch.autograd.grad(Twice.apply(x).sum(), x)
    assert x.grad is not None and x.grad.is_cuda and x.grad.tolist() == [4.0] * 3 and found.is_cuda


def test_a_default_device_and_a_block_of_one_make_tensors_there() -> None:
    with torch.device("cuda"):
        assert torch.zeros(2).is_cuda
    torch.set_default_device("cuda")
    try:
        assert torch.zeros(2).is_cuda and torch.tensor([1.0]).is_cuda
    finally:
        torch.set_default_device(None)
    assert not torch.zeros(2).is_cuda


def test_torch_answers_for_a_gpu() -> None:
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1
    assert torch.cuda.get_device_capability() == (9, 0)
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total == torch.cuda.get_device_properties(0).total_memory
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.device(0), torch.cuda.stream(torch.cuda.Stream()):
        start.record()
        end.record()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) >= 0
    torch.manual_seed(3)
    first = torch.rand(3, device="cuda")
    torch.cuda.manual_seed(3)
    again = torch.rand(3, generator=torch.Generator(device="cuda").manual_seed(3), device="cuda")
    assert torch.equal(first, torch.rand(3, device="cuda")) and torch.equal(first, again)


def test_the_package_itself_sees_the_memory_that_there_is() -> None:
    # Whoever launches must not take it for another device's, and mirror it.
    x = torch.zeros(3, device="cuda")
    assert extent_of(x) == (x.data_ptr(), x.data_ptr() + 12)
    with torch.device("cuda"):  # another mode stands between
        (region,) = regions_of([ArgumentLeaf("x", "pointer", "*fp32", x, ())], Mirrors())
    assert region.data.ctypes.data == region.start == x.data_ptr()


def test_all_is_as_it_was_behind_it() -> None:
    names = ("is_available", "Event", "manual_seed", "device")
    with in_place_of_a_gpu():
        pass
    with pytest.MonkeyPatch.context():
        inner = [getattr(torch.cuda, name) for name in names]
        with in_place_of_a_gpu():
            assert [getattr(torch.cuda, name) for name in names] != inner
        assert [getattr(torch.cuda, name) for name in names] == inner


def test_another_dtype_of_what_is_there_is_there() -> None:
    x = torch.zeros(3, device="cuda")
    assert x.to(torch.float16).is_cuda and x.to("cuda", torch.float16).is_cuda and x.half().is_cuda
    assert not torch.zeros(3).to(torch.float16).is_cuda


def test_the_driver_tells_a_test_of_an_h100_and_triton_of_the_cpu() -> None:
    import triton
    from triton.runtime import driver

    import triton_lab as lab

    with lab.target("cpu"):
        target = driver.active.get_current_target()
        assert (target.backend, target.arch) == ("cuda", 90) and torch.cuda.get_device_capability()[0] >= 9
        assert triton.runtime.jit.driver.active is driver.active
        x, y = torch.ones(8, device="cuda"), torch.zeros(8, device="cuda")
        from tests.gluon.kernels import gl, scale

        scale[(1,)](x, y, 8, 3.0, BLOCK=128, layout=gl.BlockedLayout([1], [32], [4], [0]))
        assert y.tolist() == [3.0] * 8
