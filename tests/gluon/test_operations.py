"""Single operations of Gluon against their definition; those that only Triton 3.9 has are skipped before it."""

from __future__ import annotations

import inspect

import ml_dtypes
import numpy as np
import pytest
import torch
from triton.compiler.errors import CompilationError
from triton.experimental import gluon
from triton.experimental.gluon.language.nvidia import blackwell
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma
from triton.experimental.gluon.nvidia import hopper
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from tests.gluon import hopper_products, operations
from tests.gluon.operations import gl
from triton_lab.interpreter.asynchronous.buffer_accesses import OUT_OF_BOUNDS, USED_BEFORE_WAIT
from triton_lab.interpreter.kernel_errors import KernelError, Unsupported

chosen = pytest.mark.skipif(not hasattr(gl.shared_memory_descriptor, "atomic_scatter_add"), reason="from Triton 3.9 on")
newest = pytest.mark.skipif(not hasattr(blackwell, "fma2"), reason="from Triton 3.9 on")
_FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


@chosen
def test_elements_are_gathered_and_scattered() -> None:
    x, y = torch.randn(256), torch.zeros(256)
    operations.gathered[(1,)](x, y)
    assert torch.equal(y, x[(torch.arange(256) * 3) % 256])
    operations.scattered[(1,)](x, y)
    assert torch.equal(y, x.flip(0))


@chosen
def test_each_lane_finds_what_the_lanes_before_it_left() -> None:
    x = torch.arange(1, 257, dtype=torch.int32)
    y, found = torch.zeros_like(x), torch.zeros_like(x)
    operations.counted[(1,)](x, y, found)
    held, before = [0] * 256, [0] * 256
    for lane in range(100):
        before[lane] = held[lane // 4]
        held[lane // 4] += lane + 1
    assert y.tolist() == held and found.tolist() == before


@chosen
def test_an_index_out_of_range_is_named() -> None:
    with pytest.raises(KernelError, match="256") as caught:
        operations.gathered_outside[(1,)](torch.randn(256), torch.zeros(256))
    assert caught.value.rule == OUT_OF_BOUNDS


def test_a_buffer_out_of_range_is_named_where_it_is_used() -> None:
    with pytest.raises(KernelError) as caught:
        operations.index_outside[(1,)](torch.randn(256), torch.zeros(256))
    assert caught.value.rule == OUT_OF_BOUNDS and "store" in str(caught.value)


def test_views_alias() -> None:
    x, y = torch.randn(32, 32), torch.zeros(1024 + 512)
    operations.viewed[(1,)](x, y)
    assert torch.equal(y[:1024].view(32, 32), x.T) and torch.equal(y[1024:].view(32, 16), x[:, 16:])


@pytest.mark.parametrize(("dtype", "step"), [(torch.float16, 32), (torch.float16, 64), (torch.float32, 8)])
def test_a_product_of_lines_without_a_swizzle_is_refused(dtype: torch.dtype, step: int) -> None:
    """No GPU runs it: Triton's compiler finds no matrices for the tensor core there."""
    a, b = torch.randn(64, 2 * step).to(dtype), torch.randn(32, 2 * step).to(dtype)
    plain = gl.NVMMASharedLayout(0, 8 * dtype.itemsize, 2)
    described = [TensorDescriptor.from_tensor(one, [len(one), step], plain) for one in (a, b)]
    with pytest.raises(CompilationError, match=f"warpgroup_mma.*{step * dtype.itemsize} bytes"):
        hopper_products.product_of_rows[(1,)](*described, torch.zeros(64, 32), 2 * step, False)


def test_a_pending_sum_is_not_used() -> None:
    a = torch.randn(64, 64).half()
    with pytest.raises(KernelError) as caught:
        operations.summed_wrongly[(1,)](a, a, torch.zeros(64, 64))
    assert caught.value.rule == USED_BEFORE_WAIT and caught.value.op is not None
    assert caught.value.op.name == "tt.store"


def test_a_sum_that_a_loop_hands_on_is_not_used_either() -> None:
    a, y = torch.randn(64, 64).half(), torch.zeros(64, 64)
    operations.summed_in_a_loop[(1,)](a, a, y, LEFT=0)
    torch.testing.assert_close(y, 6 * (a.float() @ a.float()), rtol=1e-3, atol=1e-2)
    with pytest.raises(KernelError) as caught:
        operations.summed_in_a_loop[(1,)](a, a, y, LEFT=1)
    assert caught.value.rule == USED_BEFORE_WAIT and caught.value.op is not None
    assert caught.value.op.name == "arith.mulf"


@newest
def test_shared_memory_of_a_cluster_is_refused_at_its_line() -> None:
    with pytest.raises(Unsupported, match="num_ctas=2") as caught:
        operations.shared_by_a_cluster[(1,)](torch.randn(256), torch.zeros(256), num_ctas=2)
    assert "allocate_shared_memory" in str(caught.value)


@newest
def test_packed_arithmetic() -> None:
    x, y = torch.randn(256), torch.zeros(256)
    operations.packed[(1,)](x, y, arch="sm100")
    assert torch.equal(y, (x.double() * x.double() + (x + x - x).double()).float())


@newest
def test_tensor_memory_is_stored_sliced_and_loaded() -> None:
    x, y = torch.randn(128, 64), torch.zeros(128, 64)
    operations.kept[(1,)](x, y, arch="sm100")
    x[:, 32:] += 1
    assert torch.equal(x, y)


@newest
@pytest.mark.parametrize("kind", ["e4m3", "e5m2", "e2m1"])
def test_scaled_products_are_those_of_exact_numbers(kind: str) -> None:
    generator = np.random.default_rng(0)
    width = 64 if kind == "e2m1" else 128
    bytes_ = generator.integers(0, 256, (2, 128, width), np.uint8)
    if kind == "e2m1":
        numbers = np.stack([_FP4[bytes_ & 15], _FP4[bytes_ >> 4]], -1).reshape(2, 128, 128)
    else:
        bytes_ &= 0xBF  # no infinities, no NaN
        numbers = bytes_.view({"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}[kind]).astype(np.float32)
    exponents = generator.integers(120, 134, (2, 128, 4), np.uint8)
    wide = numbers.astype(np.float64) * np.repeat(2.0 ** (exponents.astype(np.float64) - 127), 32, -1)
    y = torch.zeros(128, 128)
    given = [torch.from_numpy(one.copy()) for one in (*bytes_, *exponents)]
    operations.scaled[(1,)](*given, y, kind, width, arch="sm100")
    np.testing.assert_allclose(y.numpy(), wide[0] @ wide[1].T, rtol=1e-4, atol=1e-3 * np.abs(wide).max())


@gluon.jit
def view_kernel(LAYOUT: gl.constexpr, TURNED: gl.constexpr, PART: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float16, [2, 64, 64], LAYOUT)
    if PART:
        buffer = buffer.index(0)
    if TURNED:
        buffer.permute([1, 0] if PART else [1, 0, 2])
    else:
        buffer.reshape([32, 128] if PART else [128, 64])


PLANES = {
    "nvmma": gl.NVMMASharedLayout(128, 16, 2),
    "swizzled": gl.SwizzledSharedLayout(1, 1, 1, [1, 0]),
    "padded": gl.PaddedSharedLayout.with_identity_for([[64, 4]], [64, 64], [1, 0]),
}


@pytest.mark.parametrize("called", ["reshape", "permute"])
@pytest.mark.parametrize("layout", PLANES.values(), ids=PLANES)
def test_a_view_of_several_buffers_at_once_is_refused_and_one_of_them_is_not(layout: object, called: str) -> None:
    with pytest.raises(CompilationError, match=f"{called}.*\\(2, 64, 64\\).*buffer.index"):
        view_kernel[(1,)](layout, TURNED=called == "permute", PART=False)
    view_kernel[(1,)](layout, TURNED=called == "permute", PART=True)


@gluon.jit
def image_kernel(x_desc):
    box = gl.allocate_shared_memory(x_desc.dtype, x_desc.block_shape, x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    tma.async_load_im2col(x_desc, [0, 0, 0, 0], [0, 0], bar, box)


@newest
def test_a_copy_of_image_patches_is_refused_at_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_LAB_VERIFY")  # which holds a plan only to what is run
    x, layout = torch.zeros(1, 4, 4, 32), gl.NVMMASharedLayout(128, 32, 2)
    corners = {"pixel_box_lower_corner": [0, 0], "pixel_box_upper_corner": [0, 0]}
    described = hopper.TensorDescriptorIm2Col.from_tensor(x, [16, 32], layout, element_strides=[1] * 4, **corners)
    with pytest.raises(Unsupported, match="im2col") as caught:
        image_kernel[(1,)](described)
    assert caught.value.op.location.line == inspect.getsourcelines(image_kernel.fn)[1] + 5
