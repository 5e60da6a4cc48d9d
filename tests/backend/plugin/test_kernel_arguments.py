"""What may be passed to a kernel, and what is said about the rest."""

from __future__ import annotations

import collections
import contextlib
import warnings

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.backend.plugin.grid_extents import checked_grid
from triton_lab.backend.plugin.kernel_arguments import ArgumentError


@triton.jit
def put(out, value):
    tl.store(out, value)


@triton.jit
def put_cast(out, value, dtype: tl.constexpr):
    tl.store(out, tl.full((), value, dtype))


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(y + offsets, tl.load(x + offsets, mask=inside), mask=inside)


@triton.jit
def optional(x, bias, y):
    value = tl.load(x)
    if bias is not None:
        value += tl.load(bias)
    tl.store(y, value)


@triton.jit
def nested(group, y):
    tl.store(y, tl.load(group[0]) + group[1][0] * tl.load(group[1][1]))


@triton.jit
def named(pair, y):
    tl.store(y, tl.load(pair.x) + pair.scale)


@triton.jit
def blocks(source, target, rows, columns, M: tl.constexpr, N: tl.constexpr):
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    target.store([row, column], source.load([row, column]) * 2)


@triton.jit(do_not_specialize=["n"])
def unspecialised(out, n):
    tl.store(out, n * 2)


@triton.jit
def combined(x, y, out, combine: tl.constexpr):
    tl.store(out, combine(tl.load(x), tl.load(y)))


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


def stored(value, dtype):
    out = torch.zeros(1, dtype=dtype)
    put[(1,)](out, value)
    return out.item()


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, torch.int32),
        (False, torch.bool),
        (0, torch.int32),
        (1, torch.int32),
        (16, torch.int64),
        (-(2**31), torch.int32),
        (2**31 - 1, torch.int32),
        (2**31, torch.int64),
        (2**63 - 1, torch.int64),
        (-(2**63), torch.int64),
        (1.5, torch.float32),
        (1e-40, torch.float32),
        (float("inf"), torch.float32),
        (np.float64(0.5), torch.float64),
    ],
)
def test_a_scalar_arrives_as_it_is(value, dtype):
    assert stored(value, dtype) == torch.tensor(value, dtype=dtype).item()


def test_a_number_from_2_to_the_63_up_keeps_its_bits():
    assert stored(2**63 + 5, torch.int64) == -(2**63) + 5


def test_a_float_beyond_float32_becomes_infinite_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert stored(1e300, torch.float32) == float("inf")


def test_nan_arrives():
    assert np.isnan(stored(float("nan"), torch.float32))


@pytest.mark.parametrize(
    ("named", "dtype"), [(tl.float16, torch.float16), (tl.bfloat16, torch.bfloat16), (tl.int8, torch.int8)]
)
def test_a_dtype_may_be_an_argument(named, dtype):
    out = torch.zeros(1, dtype=dtype)
    put_cast[(1,)](out, 3, named)
    assert out.item() == 3


def test_keywords_in_any_order_and_a_callable_grid():
    x, y = torch.arange(10.0), torch.zeros(10)
    copy[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](BLOCK=4, y=y, n=10, x=x)
    assert torch.equal(x, y)


def test_none_is_a_constant():
    x, y = torch.tensor([1.0]), torch.zeros(1)
    optional[(1,)](x, None, y)
    assert y.item() == 1
    optional[(1,)](x, torch.tensor([2.0]), y)
    assert y.item() == 3


def test_tuples_nest():
    y = torch.zeros(1)
    nested[(1,)]((torch.tensor([1.0]), (10, torch.tensor([2.0]))), y)
    assert y.item() == 21


def test_named_tuples_keep_their_names():
    Pair = collections.namedtuple("Pair", "x scale")
    y = torch.zeros(1)
    named[(1,)](Pair(torch.tensor([1.0]), 2.5), y)
    assert y.item() == 3.5


@pytest.mark.parametrize("rows", [16, 32])
def test_descriptors_of_the_host_clip_at_their_shape(rows):
    source, target = torch.randn(40, 48), torch.zeros(40, 48)
    made = [TensorDescriptor(t, [rows, 40], [48, 1], [16, 16]) for t in (source, target)]
    blocks[(triton.cdiv(40, 16), 3)](*made, 40, 48, M=16, N=16)
    assert torch.equal(target[:rows, :40], source[:rows, :40] * 2)
    assert not target[rows:].any() and not target[:, 40:].any()


def test_a_function_may_be_an_argument():
    out = torch.zeros(1)
    combined[(1,)](torch.tensor([3.0]), torch.tensor([9.0]), out, larger)
    assert out.item() == 9


def test_scalars_that_are_not_specialised_arrive():
    out = torch.zeros(1, dtype=torch.int32)
    for n in (0, 1, 16, 17):
        unspecialised[(1,)](out, n)
        assert out.item() == 2 * n
    assert len(unspecialised.device_caches[-1][0]) == 1, "one kernel for all of them"


def test_parameters_and_subclasses_are_tensors():
    class Mine(torch.Tensor):
        base = "an attribute that views of NumPy have as well"

    x, y = torch.nn.Parameter(torch.ones(4)), torch.zeros(4).as_subclass(Mine)
    copy[(1,)](x, y, 4, BLOCK=4)
    assert y.tolist() == [1] * 4


def test_reinterpreted_tensors_share_their_memory():
    x, y = torch.tensor([1.5, -2.0]), torch.zeros(2)
    copy[(1,)](triton.reinterpret(x, tl.int32), triton.reinterpret(y, tl.int32), 2, BLOCK=2)
    assert torch.equal(x, y)


def test_empty_tensors_and_empty_grids_do_nothing():
    empty = torch.empty(0)
    copy[(1,)](empty, empty, 0, BLOCK=4)
    y = torch.zeros(4)
    for grid in ((0,), (3, 0), (2, 2, 0)):
        copy[grid](torch.ones(4), y, 4, BLOCK=4)
    assert not y.any()


def test_a_compiled_kernel_can_be_launched():
    x, y = torch.arange(8.0), torch.zeros(8)
    kernel = copy.warmup(x, y, 8, BLOCK=8, grid=(1,))
    assert not y.any(), "warming up runs nothing"
    for _ in range(2):
        kernel[(1, 1, 1)](x, y, 8, 8)
    assert torch.equal(x, y)


def test_a_compiled_kernel_says_how_many_arguments_it_takes():
    x, y = torch.arange(8.0), torch.zeros(8)
    kernel = copy.warmup(x, y, 8, BLOCK=8, grid=(1,))
    with pytest.raises(ArgumentError, match=r"4 arguments \(x, y, n, BLOCK\).* 3 "):
        kernel[(1, 1, 1)](x, y, 8)


def test_a_compiled_kernel_takes_bare_addresses_and_null():
    x, y = torch.arange(8.0), torch.zeros(8)
    kernel = copy.warmup(x, y, 8, BLOCK=8, grid=(1,))
    kernel[(1, 1, 1)](x.data_ptr(), y.data_ptr(), 8, 8)
    assert torch.equal(x, y)
    kernel[(1, 1, 1)](None, None, 0, 8)


def test_kernels_are_warmed_up_by_types_alone():
    assert copy.warmup(torch.float32, torch.float32, 8, BLOCK=8, grid=(1,)).asm["ttir"]


@pytest.mark.parametrize(
    ("argument", "facts"),
    [
        (lambda: torch.ones(4, device="meta"), {"device": "meta", "remedy": "device='cpu'"}),
        (lambda: _resized_to_nothing(), {}),
    ],
    ids=["meta", "freed"],
)
def test_a_tensor_without_memory_is_named(argument, facts, wording: Wording):
    with wording.raises(ArgumentError, facts.get("device", "freed"), name="x", **facts):
        copy[(1,)](argument(), torch.zeros(4), 4, BLOCK=4)


def _resized_to_nothing():
    x = torch.ones(4)
    x.untyped_storage().resize_(0)
    return x


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
def test_a_fake_tensor_is_named():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        x = torch.ones(4)
    with pytest.raises(ArgumentError, match=r"'x' .* FakeTensor"):
        copy[(1,)](x, torch.zeros(4), 4, BLOCK=4)


@pytest.mark.parametrize("argument", [[1.0, 2.0], "text", np.int64(3)])
def test_what_is_no_tensor_and_no_number_gets_tritons_own_error(argument):
    with pytest.raises(TypeError, match=f"specialize .*{type(argument).__name__}"):
        copy[(1,)](argument, torch.zeros(4), 4, BLOCK=4)


def test_a_sparse_tensor_gets_tritons_own_error():
    with pytest.raises(RuntimeError, match="doesn't have storage"):
        copy[(1,)](torch.ones(4).to_sparse(), torch.zeros(4), 4, BLOCK=4)


def test_too_few_arguments_get_pythons_own_error():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'n'"):
        copy[(1,)](torch.ones(4), torch.zeros(4), BLOCK=4)


@pytest.mark.parametrize(
    ("grid", "error", "message"),
    [
        ((-1,), ValueError, r"\(-1, 1, 1\).* negative"),
        ((10 / 4,), TypeError, r"triton.cdiv\(n, BLOCK\)"),
        ((1, 65536), ValueError, "larger than"),
        ((2**31,), ValueError, "larger than"),
    ],
)
def test_a_grid_that_no_gpu_takes_is_refused(grid, error, message):
    with pytest.raises(error, match=message):
        copy[grid](torch.ones(4), torch.zeros(4), 4, BLOCK=4)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_grid_is_as_large_as_a_gpu_takes_and_no_larger(axis):
    most = (2**31 - 1, 65535, 65535)[axis]
    for extent, fits in ((0, True), (1, True), (most, True), (most + 1, False), (-1, False)):
        grid = [1, 1, 1]
        grid[axis] = extent
        if fits:
            assert checked_grid(*grid) == tuple(grid)
        else:
            with pytest.raises(ValueError, match="negative extent" if extent < 0 else "larger than"):
                checked_grid(*grid)


def test_a_grid_counts_in_integers_of_any_kind():
    assert checked_grid(np.int64(3), torch.tensor(2), True) == (3, 2, 1)
    with pytest.raises(TypeError, match=r"triton\.cdiv"):
        checked_grid(2.0, 1, 1)


@pytest.mark.parametrize("recorded", [False, True])
def test_a_grid_of_four_axes_is_refused(recorded, wording: Wording):
    out = torch.zeros(4)
    with contextlib.ExitStack() as stack:
        launches = stack.enter_context(lab.record()) if recorded else None
        for grid in ((2, 1, 1, 2), lambda meta: (2, 1, 1, 2)):
            with wording.raises(ValueError, grid="(2, 1, 1, 2)", axes=4):
                copy[grid](torch.ones(4), out, 4, BLOCK=4)
        assert out.sum() == 0 and not launches
        copy[(2, 1, 1)](torch.ones(4), out, 4, BLOCK=4)
    assert out.sum() == 4
