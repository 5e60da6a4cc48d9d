# ---
# jupyter:
#   jupytext:
#     formats: py:percent,ipynb
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # When two arguments are one
#
# *About 35 minutes. You need chapter 03.*
#
# A kernel takes addresses. Two of its arguments may refer to the same memory: the same tensor twice, overlapping
# slices, or one storage with two dtypes. Then a store through one argument changes what a load through the other reads.
# In this chapter you will see the effect of such sharing, and write three kernels that change their inputs.
#
# On the CPU a kernel of the lab works in the tensors' own memory, so all of this is as on a GPU.

# %%
import numpy as np
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise, predict

# %load_ext triton_lab

# %% [markdown]
# ## The same buffer twice
#
# The kernel stores 1 through its first argument and does not touch the second. Both are the same tensor, so the second
# one is 1, too.


# %%
# %%triton cpu --show storage
@triton.jit
def store_one(buffer, buffer2):
    tl.store(buffer, 1)


buffer = torch.zeros(1)
store_one[(1,)](buffer, buffer)
print(buffer)

# %% [markdown]
# ## Overlapping slices
#
# Two slices of one vector: elements 0-5 and 3-8. The kernel reads the first and writes the second, so three
# elements are read through one name and written through the other. This is legal, but it is nearly always a mistake,
# so the lab reports it.


# %%
@triton.jit
def shift(source, target, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(target + i, tl.load(source + i, mask=i < n) * 10, mask=i < n)


whole = torch.arange(9, dtype=torch.float32)
with lab.record() as launches:
    shift[(1,)](whole[:6], whole[3:], 6, BLOCK=8)
predict(
    "whole holds 0 to 8. Ten times its elements 0 to 5 are stored to 3 to 8. What is element 6 then?",
    [6, 30, 60, 300],
    right=int(whole[6]),
    picture=launches[0].plot("storage", "findings"),
    why="It gets ten times element 3 as it was loaded. The loads came before the stores.",
)

# %% [markdown]
# Here all six values were loaded before the first was stored, so the result equals torch's with a copy in between. On
# a GPU the threads do not wait for one another here. This is the reason for the warning.

# %%
expected = torch.arange(9, dtype=torch.float32)
expected[3:] = expected[:6].clone() * 10
print(torch.equal(whole, expected))

# %% [markdown]
# ## Exercise 1: how many do they share?
#
# `x` has 20 elements. How many elements have `x[2:8]` and `x[5:12]` in common?

# %%
# BEGIN SOLUTION: a number
shared_elements = 3
# END SOLUTION

# %%
exercise("shared_elements").check(shared_elements)

# %% [markdown]
# ## Exercise 2: swap two vectors
#
# Exchange the elements of two vectors of equal length, without another copy.


# %%
@triton.jit
def swap_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load both, then store both
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i, mask=i < n)
    b = tl.load(y_ptr + i, mask=i < n)
    tl.store(x_ptr + i, b, mask=i < n)
    tl.store(y_ptr + i, a, mask=i < n)
    # END SOLUTION


def swap(x, y):
    """x gets the elements of y, and y those of x."""
    swap_kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)


# %%
exercise("swap").check(swap)

# %% [markdown]
# ## In place, with a conflict
#
# A kernel may store to the memory that it loads from if every place belongs to one program. Here this is not so: a
# program stores in reverse order to places that another program loads.


# %%
# %%triton cpu --show tiling
@triton.jit
def backwards(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + n - 1 - i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


numbers_up = torch.arange(16.0)
backwards[(4,)](numbers_up, 16, BLOCK=4)
print(numbers_up.tolist())

# %% [markdown]
# ## Exercise 3: reverse in place
#
# Now without a race. Which elements must one lane own, so that no other lane needs them?


# %%
@triton.jit
def reverse_in_place_kernel(x_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: a lane has one element of the first half, and its partner of the second
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n // 2
    front = tl.load(x_ptr + i, mask=mask)
    back = tl.load(x_ptr + n - 1 - i, mask=mask)
    tl.store(x_ptr + i, back, mask=mask)
    tl.store(x_ptr + n - 1 - i, front, mask=mask)
    # END SOLUTION


def reverse_in_place(x):
    """The elements of x in the opposite order, in x itself."""
    n = x.numel()
    reverse_in_place_kernel[(triton.cdiv(n, 64),)](x, n, BLOCK=64)


# %%
exercise("reverse_in_place").check(reverse_in_place)

# %% [markdown]
# ## Exercise 4: a matrix and its own transpose
#
# `x` becomes `x + x.T`, in place, for a square matrix with any strides. [Chapter 30](30_lazy_graphs.ipynb) has a
# compiler that refuses to do this in one kernel. You can.


# %%
@triton.jit
def add_transpose_kernel(x_ptr, n, stride_0, stride_1, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: a lane has the pair [i, j] and [j, i], for i <= j
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (i[:, None] <= j[None, :]) & (j < n)[None, :]
    upper = x_ptr + i[:, None] * stride_0 + j[None, :] * stride_1
    lower = x_ptr + j[None, :] * stride_0 + i[:, None] * stride_1
    total = tl.load(upper, mask=mask) + tl.load(lower, mask=mask)
    tl.store(upper, total, mask=mask)
    tl.store(lower, total, mask=mask)
    # END SOLUTION


def add_transpose(x):
    """x becomes x + x.T."""
    n = x.shape[0]
    grid = (triton.cdiv(n, 16), triton.cdiv(n, 16))
    add_transpose_kernel[grid](x, n, x.stride(0), x.stride(1), BLOCK=16)


# %%
exercise("add_transpose").check(add_transpose)

# %% [markdown]
# ## Exercise 5: a gradient in place
#
# A layer computes `out = relu(x * y)`: each row of the matrix `x` times the vector `y`, and 0 where that is below zero.
# In the backward pass, `grad` is the gradient of `out`. The gradient of `x` is `grad * y` where `x * y` is above
# zero, and 0 elsewhere. Store it in the place of `grad`, which is no longer needed. Then no other matrix is stored.


# %%
@triton.jit
def relu_backward_kernel(
    grad_ptr, x_ptr, y_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    # BEGIN SOLUTION: load all three, and store what grad becomes to where it came from
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    at = i[:, None] * columns + j[None, :]
    grad = tl.load(grad_ptr + at, mask=mask)
    x = tl.load(x_ptr + at, mask=mask)
    y = tl.load(y_ptr + j, mask=j < columns)[None, :]
    tl.store(grad_ptr + at, tl.where(x * y > 0, grad * y, 0.0), mask=mask)
    # END SOLUTION


def relu_backward(grad, x, y):
    """grad becomes the gradient of x, for relu(x * y); all are contiguous."""
    rows, columns = x.shape
    grid = (triton.cdiv(rows, 8), triton.cdiv(columns, 32))
    relu_backward_kernel[grid](grad, x, y, rows, columns, ROWS=8, COLUMNS=32)


# %%
exercise("relu_backward").check(relu_backward)

# %% [markdown]
# ## One storage, two dtypes
#
# `view(torch.uint8)` reads the same bytes as numbers from 0 to 255. Writing a float through one argument changes four
# elements of the other. This kernel stores first and loads afterwards, on purpose, with a barrier between the two. So
# its result is certain, although the lab's note warns of it.


# %%
# %%triton cpu --show storage
@triton.jit
def float_to_bytes(numbers, octets, out, BLOCK: tl.constexpr):
    tl.store(numbers, 1.0)
    tl.debug_barrier()
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(octets + i))


numbers = torch.zeros(2)
out = torch.zeros(8, dtype=torch.uint8)
float_to_bytes[(1,)](numbers, numbers.view(torch.uint8), out, BLOCK=8)
print(out.tolist())

# %%
print(list(np.float32([1.0, 0.0]).tobytes()))

# %% [markdown]
# ## Memory that torch does not know to be shared
#
# Arrays of NumPy may overlap too. With `torch.from_numpy` they become tensors with their own storages at overlapping
# addresses. Torch does not know that they share bytes, but the addresses show it.

# %%
array = np.arange(10, dtype=np.float32)
first, second = torch.from_numpy(array[:6]), torch.from_numpy(array[4:])
print(
    "same torch storage:", first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()
)
lab.storage(first, second)

# %%
# %%triton cpu --show none
shift[(1,)](first, second, 6, BLOCK=8)
print(array)

# %% [markdown]
# ## What to remember
#
# - In place is safe where each place belongs to one lane, which loads before it stores.
#
# How the lab treats arguments that share memory:
#
# - CPU tensors: sharing is always right, since nothing is copied.
# - Tensors of another device: storages are joined where their address ranges overlap.
# - The finding *alias* compares bytes that were really read and written, so it is never a guess; it is a note, not an
#   error.
# - A pointer that was loaded from memory is followed to the live tensor at its address.

# %%
lab.course.progress("06")

# %% [markdown]
# **Where to read on.** [Chapter 11](11_atomics.ipynb) is about programs that update the same element, and [chapter
# 30](30_lazy_graphs.ipynb) about compilers that decide which buffers may be overwritten.
