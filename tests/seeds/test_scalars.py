"""Python scalars in a kernel: they are promoted as the compiler promotes them."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def full_like_a_scalar(out):
    value = 0.0
    block = tl.full(value.shape, 3, value.dtype)
    tl.store(out, block)


@triton.jit
def sum_of_scalars(out):
    t0 = 0
    t1 = 1
    tl.store(out, (t0 + t1).to(tl.float32))


@triton.jit
def argument_to(out, n, x, flag):
    tl.store(out, n.to(tl.float32) / 2)
    tl.store(out + 1, x.to(tl.int32))
    tl.store(out + 2, flag.to(tl.float32))


@triton.jit
def constexpr_arithmetic(out, A: tl.constexpr, B: tl.constexpr):
    half: tl.constexpr = A // B
    tl.store(out, half + A % B)
    tl.store(out + 1, A / B)
    tl.store(out + 2, -A // B)
    tl.store(out + 3, 2**B)


@triton.jit
def promoted(out, x, y):
    tl.store(out, tl.load(x) + y)


@triton.jit
def literal_with_tensor(out, x):
    tl.store(out, tl.load(x) * 2 + 0.5)


def test_a_python_float_has_shape_and_dtype():
    out = torch.zeros(1)
    full_like_a_scalar[(1,)](out)
    assert out.item() == 3


def test_a_sum_of_python_integers_can_be_cast():
    out = torch.zeros(1)
    sum_of_scalars[(1,)](out)
    assert out.item() == 1


@pytest.mark.parametrize("n", [0, 5, 16])
def test_arguments_can_be_cast_specialised_or_not(n):
    out = torch.zeros(3)
    argument_to[(1,)](out, n, 2.75, True)
    assert out.tolist() == [n / 2, 2, 1]


def test_an_argument_of_one_is_a_python_integer_as_on_a_gpu():
    # Triton makes a constant of it, and constants have no `to`: mark it do_not_specialize.
    with pytest.raises(triton.CompilationError, match=r"'int' .* 'to'"):
        argument_to[(1,)](torch.zeros(3), 1, 2.75, True)
    out = torch.zeros(3)
    triton.jit(argument_to.fn, do_not_specialize=["n"])[(1,)](out, 1, 2.75, True)
    assert out.tolist() == [0.5, 2, 1]


def test_constants_are_computed_as_python_does():
    out = torch.zeros(4)
    constexpr_arithmetic[(1,)](out, A=7, B=2)
    assert out.tolist() == [7 // 2 + 7 % 2, 3.5, -7 // 2, 4]


@pytest.mark.parametrize(
    "dtype", [torch.int8, torch.int32, torch.float16, torch.bfloat16, torch.float32, torch.float64]
)
def test_a_tensor_keeps_its_type_beside_an_integer(dtype):
    x, out = torch.tensor([3], dtype=dtype), torch.zeros(1, dtype=dtype)
    promoted[(1,)](out, x, 4)
    assert out.item() == 7


def test_an_integer_tensor_becomes_float_beside_a_float():
    out = torch.zeros(1)
    literal_with_tensor[(1,)](out, torch.tensor([3], dtype=torch.int32))
    assert out.item() == 6.5
