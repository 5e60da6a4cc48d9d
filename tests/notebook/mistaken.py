"""Kernels with the commonest mistakes, as people write them. ``# here`` marks the line that is to be named first,
``# born`` the others; what is to be said of each is in ``test_mistakes.py``.
"""
# ruff: noqa

from __future__ import annotations

import math

import numpy as np
import torch
import triton
import triton.language as tl

SIZE = 128
WEIGHTS = [1.0, 2.0]


def double(v):
    return v * 2


@triton.jit
def misspelt(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, tl.load(x_ptr + ofs))  # here


@triton.jit
def misspelt_argument(x_ptr, n_rows, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 1.0, mask=offs < n_row)  # here


@triton.jit
def misspelt_function(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, tl.laod(x_ptr + offs))  # here


@triton.jit
def misspelt_global(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + WEIGHT, 1.0)  # here


@triton.jit
def misspelt_hidden(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + _hiden(n), 1.0)  # here


@triton.jit
def _hidden(v):
    return v


@triton.jit
def unknown_name(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + zzzzzzzz, 1.0)  # here


@triton.jit
def used_too_early(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + offs, 1.0)  # here
    offs = tl.arange(0, BLOCK)  # born


@triton.jit
def only_in_a_branch(x_ptr, n, BLOCK: tl.constexpr):
    if n > 3:
        v = tl.load(x_ptr)  # born
    tl.store(x_ptr, v)  # here


@triton.jit
def only_in_a_loop(x_ptr, n, BLOCK: tl.constexpr):
    for i in range(n):
        v = tl.load(x_ptr + i)  # born
    tl.store(x_ptr, v)  # here


@triton.jit
def plain_global(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, SIZE), 1.0)  # here


@triton.jit
def list_global(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, WEIGHTS[0])  # here


@triton.jit
def plain_function(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, double(tl.load(x_ptr)))  # here


@triton.jit
def torch_function(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, torch.exp(tl.load(x_ptr)))  # here


@triton.jit
def numpy_function(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, np.sqrt(tl.load(x_ptr)))  # here


@triton.jit
def math_function(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, math.exp(tl.load(x_ptr)))  # here


@triton.jit
def pythons_function(x_ptr, n, BLOCK: tl.constexpr):
    for i, v in enumerate(range(3)):  # here
        tl.store(x_ptr + i, v)


@triton.jit
def pythons_abs(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, abs(tl.load(x_ptr)))  # here


@triton.jit
def torchs_method(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr, v.float())  # here


@triton.jit
def size_of_a_tensor(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 1.0, mask=offs < x_ptr.size(0))  # here


@triton.jit
def number_of_elements(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr, tl.sum(v) / v.numel())  # here


@triton.jit
def torchs_type(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr).to(torch.float16)  # here
    tl.store(x_ptr, v)


@triton.jit
def called_type(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.float32(n))  # here


@triton.jit
def arange_of_any_size(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)  # here
    tl.store(x_ptr + offs, 1.0)


@triton.jit
def arange_of_an_argument(x_ptr, n, BLOCK):
    offs = tl.arange(0, BLOCK)  # here
    tl.store(x_ptr + offs, 1.0)


@triton.jit
def arange_of_a_program(x_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = tl.arange(pid * BLOCK, (pid + 1) * BLOCK)  # here
    tl.store(x_ptr + offs, 1.0)


@triton.jit
def zeros_of_an_argument(x_ptr, n, BLOCK: tl.constexpr):
    half = n // 2
    acc = tl.zeros((half, BLOCK), tl.float32)  # here
    tl.store(x_ptr, tl.sum(acc))


@triton.jit
def zeros_of_any_size(x_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK, 3), tl.float32)  # here
    tl.store(x_ptr, tl.sum(acc))


@triton.jit
def too_large(x_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros((2048, 1024), tl.float32)  # here
    tl.store(x_ptr, tl.sum(acc))


@triton.jit
def if_of_a_block(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    if offs < n:  # here
        tl.store(x_ptr + offs, 1.0)


@triton.jit
def choice_of_a_block(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    v = 1.0 if offs < n else 2.0  # here
    tl.store(x_ptr + offs, v)


@triton.jit
def while_of_a_block(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    while offs < n:  # here
        offs += 1
    tl.store(x_ptr, 1.0)


@triton.jit
def element_of_a_block(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr, v[0])  # here


@triton.jit
def slice_of_a_block(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, 4), v[0:4])  # here


@triton.jit
def element_of_a_pointer(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    tl.store(x_ptr, x_ptr[i])  # here


@triton.jit
def element_of_moved_pointers(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, (x_ptr + BLOCK)[n])  # here


@triton.jit
def assigned_element(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    x_ptr[i] = 1.0  # here


@triton.jit
def return_in_a_loop(x_ptr, n, BLOCK: tl.constexpr):
    for i in range(n):
        if i > 3:
            return  # here
        tl.store(x_ptr + i, 1.0)


@triton.jit
def break_in_a_loop(x_ptr, n, BLOCK: tl.constexpr):
    for i in range(n):
        if i > 3:
            break  # here
        tl.store(x_ptr + i, 1.0)


@triton.jit
def continue_in_a_loop(x_ptr, n, BLOCK: tl.constexpr):
    for i in range(n):
        if i > 3:
            continue  # here
        tl.store(x_ptr + i, 1.0)


@triton.jit
def loop_over_a_list(x_ptr, n, BLOCK: tl.constexpr):
    for i in [1, 2, 3]:  # here
        tl.store(x_ptr + i, 1.0)


@triton.jit
def range_to_a_quotient(x_ptr, n, BLOCK: tl.constexpr):
    for i in range(n, n / BLOCK):  # here
        tl.store(x_ptr + i, 1.0)


@triton.jit
def range_by_quotients(x_ptr, n, BLOCK: tl.constexpr):
    for i in range(n / 2, n, n / BLOCK):  # here
        tl.store(x_ptr + i, 1.0)


@triton.jit
def range_of_a_quotient(x_ptr, n, BLOCK: tl.constexpr):
    for i in range(n / BLOCK):  # here
        tl.store(x_ptr + i, 1.0)


@triton.jit
def range_of_a_block(x_ptr, n, BLOCK: tl.constexpr):
    for i in range(0, n, tl.arange(0, BLOCK)):  # here
        tl.store(x_ptr + i, 1.0)


@triton.jit
def unrolled_range(x_ptr, n, BLOCK: tl.constexpr):
    for i in tl.static_range(n):  # here
        tl.store(x_ptr + i, 1.0)


@triton.jit
def comprehension(x_ptr, n, BLOCK: tl.constexpr):
    v = [tl.load(x_ptr + i) for i in range(4)]  # here
    tl.store(x_ptr, v[0])


@triton.jit
def growing_list(x_ptr, n, BLOCK: tl.constexpr):
    v = []
    v.append(tl.load(x_ptr))  # here
    tl.store(x_ptr, v[0])


@triton.jit
def dictionary(x_ptr, n, BLOCK: tl.constexpr):
    v = {"a": 1.0}  # here
    tl.store(x_ptr, v["a"])


@triton.jit
def anonymous_function(x_ptr, n, BLOCK: tl.constexpr):
    f = lambda v: v + 1  # here
    tl.store(x_ptr, f(1.0))


@triton.jit
def function_in_a_function(x_ptr, n, BLOCK: tl.constexpr):
    def f(v):  # here
        return v

    tl.store(x_ptr, f(1.0))


@triton.jit
def caught(x_ptr, n, BLOCK: tl.constexpr):
    try:  # here
        tl.store(x_ptr, 1.0)
    except Exception:
        pass


@triton.jit
def format_string(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr)
    tl.device_print(f"v is {v}", v)  # here


@triton.jit
def float_of_a_value(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, float(n))  # here


@triton.jit
def power(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.load(x_ptr) ** 2)  # here


@triton.jit
def matrix_product(x_ptr, n, BLOCK: tl.constexpr):
    a = tl.zeros((16, 16), tl.float32)
    tl.store(x_ptr, tl.sum(a @ a))  # here


@triton.jit
def loop_from_int_to_float(x_ptr, n, BLOCK: tl.constexpr):
    total = 0  # born
    for i in range(n):
        total += tl.load(x_ptr + i)  # here
    tl.store(x_ptr, total)


@triton.jit
def loop_from_int_block_to_float(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.int32)  # born
    k = 0
    while k < n:
        v = tl.load(x_ptr + offs)
        acc = acc + v  # here
        k += BLOCK
    tl.store(x_ptr + offs, acc)


@triton.jit
def loop_from_number_to_block(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    acc = 0.0  # born
    for i in range(n):
        acc += tl.load(x_ptr + offs)  # here
    tl.store(x_ptr + offs, acc)


@triton.jit
def branches_of_two_types(x_ptr, n, BLOCK: tl.constexpr):
    if n > 3:
        v = tl.load(x_ptr)  # born
    else:
        v = tl.program_id(0)  # here
    tl.store(x_ptr, v)


@triton.jit
def branch_of_another_shape(x_ptr, n, BLOCK: tl.constexpr):
    v = 0.0  # born
    if n > 3:
        v = tl.load(x_ptr + tl.arange(0, BLOCK))  # here
    tl.store(x_ptr, v)


@triton.jit
def first_or_one(v, n):
    if n > 3:
        return v  # here
    return 1  # born


@triton.jit
def returns_of_two_types(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, first_or_one(tl.load(x_ptr), n))


@triton.jit
def shapes_of_one_axis(x_ptr, n, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 64))  # born
    y = tl.load(x_ptr + tl.arange(0, 32))  # born
    tl.store(x_ptr, tl.sum(x + y))  # here


@triton.jit
def shapes_of_two_axes(x_ptr, n, BLOCK: tl.constexpr):
    rows = tl.arange(0, 64)
    x = tl.load(x_ptr + rows[:, None] + tl.arange(0, 16)[None, :])  # born
    y = tl.load(x_ptr + rows)  # born
    tl.store(x_ptr + rows[:, None], x * y)  # here


@triton.jit
def shape_of_a_mask(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, 64)  # born
    cols = tl.arange(0, 32)  # born
    tl.store(x_ptr, tl.sum(tl.load(x_ptr + offs, mask=cols < n)))  # here


@triton.jit
def shape_of_a_value(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, 64)  # born
    v = tl.load(x_ptr + tl.arange(0, 32))  # born
    tl.store(x_ptr + offs, v)  # here


@triton.jit
def added(v):
    w = v + 1  # born
    return w + tl.arange(0, 32)  # here


@triton.jit
def shapes_in_a_helper(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, 64)
    tl.store(x_ptr + offs, added(offs))


@triton.jit
def block_at_one_address(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))  # born
    tl.store(x_ptr, v)  # here


@triton.jit
def mask_at_one_address(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)  # born
    tl.store(x_ptr, tl.load(x_ptr, mask=offs < n))  # here


@triton.jit
def unnamed_mask_at_one_address(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)  # born
    tl.store(x_ptr, tl.load(x_ptr, offs < n))  # here


@triton.jit
def unnamed_mask_of_a_store(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)  # born
    tl.store(x_ptr, 1.0, offs < n)  # here


@triton.jit
def mask_before_the_value(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)  # born
    tl.store(x_ptr, mask=offs < n, value=1.0)  # here


@triton.jit
def dot_of_two_types(x_ptr, n, BLOCK: tl.constexpr):
    a = tl.zeros((16, 16), tl.float32)
    tl.store(x_ptr, tl.sum(tl.dot(a, a.to(tl.float16))))  # here


@triton.jit
def dot_of_wrong_shapes(x_ptr, n, BLOCK: tl.constexpr):
    a = tl.zeros((16, 32), tl.float32)
    tl.store(x_ptr, tl.sum(tl.dot(a, a)))  # here


@triton.jit
def dot_of_small_blocks(x_ptr, n, BLOCK: tl.constexpr):
    a = tl.zeros((16, 2), tl.float16)
    tl.store(x_ptr, tl.sum(tl.dot(a, tl.trans(a))))  # here


@triton.jit
def float_offset(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs / 2, 1.0)  # here


@triton.jit
def loaded_offset(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr)  # born
    tl.store(x_ptr + v, 1.0)  # here


@triton.jit
def load_of_a_number(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.load(n + tl.arange(0, BLOCK)))  # here


@triton.jit
def store_the_wrong_way_round(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    v = tl.load(x_ptr + offs)  # born
    tl.store(v, x_ptr + offs)  # here


@triton.jit
def tensor_for_a_stride(x_ptr, stride, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK) * stride, 1.0)  # here


@triton.jit
def tensor_for_a_size(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 1.0, mask=offs < n)  # here


@triton.jit
def tuple_for_a_size(x_ptr, shape, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 1.0, mask=offs < shape)  # here


@triton.jit
def none_for_a_size(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 1.0, mask=offs < n)  # here


@triton.jit
def bits_of_floats(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr)  # born
    tl.store(x_ptr, v & 3)  # here


@triton.jit
def exp_of_integers(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.exp(n))  # here


@triton.jit
def wrong_axis(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.zeros((16, 16), tl.float32), 2))  # here


@triton.jit
def wrong_program_axis(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.program_id(3))  # here


@triton.jit
def wrong_keyword(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.load(x_ptr, masks=True))  # here


@triton.jit
def forgotten_argument(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.zeros((BLOCK,))))  # here


@triton.jit
def static_assertion(x_ptr, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK >= 32, "BLOCK is too small")  # here


@triton.jit
def unpacked(x_ptr, n, BLOCK: tl.constexpr):
    a, b = tl.program_id(0)  # here
    tl.store(x_ptr, a)


@triton.jit
def own_square(v):
    v * v


@triton.jit
def nothing_returned(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, own_square(tl.load(x_ptr)))  # here


@triton.jit
def nothing_returned_to_a_variable(x_ptr, n, BLOCK: tl.constexpr):
    v = own_square(tl.load(x_ptr))  # here
    tl.store(x_ptr, v + 1)


@triton.jit
def hidden_module(x_ptr, tl, BLOCK):
    i = tl.arange(0, 4)  # here


@triton.jit
def hidden_function(x_ptr, n, BLOCK: tl.constexpr):
    max = tl.load(x_ptr)
    tl.store(x_ptr, max(n, 3))  # here


@triton.jit
def arange_of_a_float(x_ptr, n, BLOCK: tl.constexpr):
    HALF: tl.constexpr = BLOCK / 2
    tl.store(x_ptr + tl.arange(0, HALF), 1.0)  # here


@triton.jit
def factorial(n):
    return n * factorial(n - 1)  # here


@triton.jit
def recursion(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, factorial(n))


@triton.jit
def even(n):
    return 1 if n == 0 else odd(n - 1)


@triton.jit
def odd(n):
    return 0 if n == 0 else even(n - 1)  # here


@triton.jit
def recursion_of_two(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, even(n))


@triton.jit
def countdown(n):
    if n <= 1:
        return 1
    return n * countdown(n - 1)  # here


@triton.jit
def recursion_of_constants(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, countdown(BLOCK))


@triton.jit
def printed_alone(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))
    print(v)  # here


@triton.jit
def dot_of_integers(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, 16).to(tl.int64)
    tl.store(x_ptr, tl.sum(tl.dot(i[:, None] + i, i[:, None] + i)))  # here


@triton.jit
def zeros_of_a_number(x_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros(BLOCK, tl.float32)  # here
    tl.store(x_ptr + tl.arange(0, BLOCK), acc)


@triton.jit
def infinity(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, tl.load(x_ptr + offs, mask=offs < n, other=-inf))  # here


@triton.jit
def torchs_axis(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr, v.sum(dim=0))  # here


@triton.jit
def torchs_axis_of_softmax(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.softmax(v, axis=0))  # here


@triton.jit
def axis_of_the_largest_left_out(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr, tl.argmax(v))  # here


@triton.jit
def helped_too_much(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, _hidden(n, 2))  # here


@triton.jit
def torchs_relu(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.relu(v))  # here


@triton.jit
def shape_of_a_pointer(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 1.0, mask=offs < x_ptr.shape[0])  # here


@triton.jit
def elements_of_a_pointer(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 1.0, mask=offs < x_ptr.numel())  # here


@triton.jit
def list_by_a_counter(x_ptr, n, BLOCK: tl.constexpr):
    weights = [1.0, 2.0, 3.0]  # born
    for k in range(3):
        tl.store(x_ptr + k, weights[k])  # here


@triton.jit
def sum_of_a_list(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, sum([tl.load(x_ptr), 2.0]))  # here


@triton.jit
def choice_between_block_and_number(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))
    w = v if v > 0 else 0.0  # here
    tl.store(x_ptr + tl.arange(0, BLOCK), w)


@triton.jit
def printed_two(x_ptr, n, BLOCK: tl.constexpr):
    print(BLOCK, n)  # here


@triton.jit
def both_of_broadcast(x_ptr, n, BLOCK: tl.constexpr):
    a = tl.arange(0, BLOCK)[:, None]
    b = tl.arange(0, 2)[None, :]
    tl.store(x_ptr + a * 2 + b, tl.broadcast(a, b))  # here


@triton.jit
def interleaved_with_a_pointer(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, 32), tl.interleave(v, x_ptr))  # here


@triton.jit
def debugged(x_ptr, n, BLOCK: tl.constexpr):
    breakpoint(n)  # here
    tl.store(x_ptr, 1.0)


@triton.jit
def constant_of_run_time(x_ptr, n, BLOCK: tl.constexpr):
    HALF: tl.constexpr = n // 2  # here
    tl.store(x_ptr + tl.arange(0, HALF), 1.0)  # born


@triton.jit
def sized(SIZE: tl.constexpr):
    return tl.arange(0, SIZE)  # here


@triton.jit
def constant_of_a_helper(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + sized(n), 1.0)


@triton.jit
def axis_of_run_time(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr, tl.sum(tl.arange(0, BLOCK), n))  # here


@triton.jit
def larger_of_block_and_number(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.max(v, 0.0))  # here


@triton.jit
def smaller_of_two_blocks(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.min(v, v * 2))  # here


@triton.jit
def axis_of_the_grid_left_out(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.program_id() * BLOCK, 1.0)  # here


@triton.jit
def two_arguments_left_out(x_ptr, n, BLOCK: tl.constexpr):
    v = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.where(v > 0))  # here


@triton.jit
def random_number_at_a_constant(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.rand(n, 0))  # here
