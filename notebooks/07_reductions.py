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
# # Reductions, softmax, numerical care
#
# *About 50 minutes. You need chapters 03 to 05.*
#
# A sum reduces many numbers to one. On a GPU the lanes of a program do this together, in an order that the compiler
# chooses, with numbers of few digits. In this chapter you will
#
# 1. reduce the rows of a matrix, with one program for each row,
# 2. write a softmax that reads its input once and never overflows,
# 3. see where digits are lost, and how to keep them.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise, predict

# %load_ext triton_lab
_ = torch.manual_seed(0)

# %% [markdown]
# ## A row for each program
#
# `tl.sum(x, axis=0)` adds up a block. Lanes past the end of the row must add nothing: `other=0.0`.


# %%
# %%triton cpu --show tiling,values
@triton.jit
def row_mean(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    mean = tl.sum(x, axis=0) / columns
    tl.store(out_ptr + row, mean)


x, means = torch.arange(60.0).reshape(5, 12), torch.empty(5)
row_mean[(5,)](x, means, 12, BLOCK=16)
print(means)

# %% [markdown]
# The block has 16 lanes, the row 12 elements. In the tab *Values*, `x` is a block, and `mean` one number for each
# program. Answer first, then look:

# %%
with lab.record() as launches:
    row_mean[(5,)](x, means, 12, BLOCK=16)
(mean,) = launches[0].origins(launches[0].accesses[-1], program=2, lane=0)
predict(
    "The block has 16 lanes, and a row 12 elements. How many elements of x went into the mean of row 2?",
    right=len(mean.elements),
    picture=launches[0].plot.origins(program=2),
    why="The other lanes are masked off, and load nothing: other=0.0 stands for them.",
)

# %% [markdown]
# ## Exercise 1: the sum of each row
#
# For a matrix with any strides.


# %%
@triton.jit
def row_sum_kernel(x_ptr, out_ptr, columns, stride_0, stride_1, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load a row, and store its sum
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_0 + column * stride_1, mask=column < columns, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0))
    # END SOLUTION


def row_sum(x):
    """The sum of each row of a matrix, in a new vector."""
    rows, columns = x.shape
    out = torch.empty(rows)
    row_sum_kernel[(rows,)](
        x, out, columns, x.stride(0), x.stride(1), BLOCK=triton.next_power_of_2(columns)
    )
    return out


# %%
exercise("row_sum").check(row_sum)

# %% [markdown]
# ## Exercise 2: from the minimum to the maximum
#
# The maximum of each row minus its minimum. Load the row only once.


# %%
@triton.jit
def row_range_kernel(x_ptr, out_ptr, columns, stride_0, stride_1, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load a row once, and find both ends
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * stride_0 + column * stride_1, mask=mask)
    high = tl.max(tl.where(mask, x, float("-inf")), axis=0)
    low = tl.min(tl.where(mask, x, float("inf")), axis=0)
    tl.store(out_ptr + row, high - low)
    # END SOLUTION


def row_range(x):
    """The greatest less the least element of each row, in a new vector."""
    rows, columns = x.shape
    out = torch.empty(rows)
    row_range_kernel[(rows,)](
        x, out, columns, x.stride(0), x.stride(1), BLOCK=triton.next_power_of_2(columns)
    )
    return out


# %%
exercise("row_range").check(row_range)

# %% [markdown]
# ## Softmax, and the first overflow
#
# `exp(x) / sum(exp(x))` turns any numbers into shares. Written like this, it fails even for numbers that are not
# large:


# %%
@triton.jit
def naive_softmax(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    at = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    e = tl.exp(tl.load(x_ptr + at, mask=mask, other=float("-inf")))
    tl.store(y_ptr + at, e / tl.sum(e, axis=0), mask=mask)


scores = torch.tensor([[1.0, 2.0, 3.0], [81.0, 82.0, 83.0], [91.0, 92.0, 93.0]])
with lab.record() as launches:
    shares = torch.empty(3, 3)
    naive_softmax[(3,)](scores, shares, 3, BLOCK=4)
print(shares)
launches[0].findings

# %% [markdown]
# All rows should be equal: they differ by a constant. In the last row `exp` is infinite in float32, and infinity
# divided by infinity is NaN. Where does the NaN arise? Step through program 2:

# %%
launches[0].plot.steps(program=2)

# %% [markdown]
# ## Exercise 3: softmax that does not overflow
#
# For any strides and any numbers. Read the row once: it stays in the program's registers.


# %%
@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, stride_0, stride_1, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: take the greatest element away first
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    at = x_ptr + row * stride_0 + column * stride_1
    x = tl.load(at, mask=mask, other=float("-inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * columns + column, e / tl.sum(e, axis=0), mask=mask)
    # END SOLUTION


def softmax(x):
    """Softmax of each row of a matrix, contiguous, of the dtype of x."""
    rows, columns = x.shape
    out = torch.empty((rows, columns), dtype=x.dtype)
    softmax_kernel[(rows,)](
        x, out, columns, x.stride(0), x.stride(1), BLOCK=triton.next_power_of_2(columns)
    )
    return out


# %%
exercise("softmax").check(softmax)

# %% [markdown]
# How near is it to torch? The lab follows the roundings and says whether they explain the difference. (An *ulp* is the
# distance from a float to the next one.)

# %%
with lab.record() as launches:
    softmax(torch.randn(13, 100))
lab.compare(launches[0], lambda x_ptr, **_: {"out_ptr": torch.softmax(x_ptr, 1)})

# %% [markdown]
# ## Rows longer than a block
#
# A block is in registers, and their number is limited. A program loops over a long row in steps. The value that it
# carries from step to step is the *accumulator*. Exercise 4 has one, a block of 64 partial sums:


# %%
@triton.jit
def long_row_sum_kernel(x_ptr, out_ptr, columns, stride_0, stride_1, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: walk over the row in steps of BLOCK, in float32
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        total += tl.load(
            x_ptr + row * stride_0 + column * stride_1, mask=column < columns, other=0.0
        )
    tl.store(out_ptr + row, tl.sum(total, axis=0))
    # END SOLUTION


def long_row_sum(x):
    """The sum of each row, in float32, by programs with a block of 64 lanes."""
    rows, columns = x.shape
    out = torch.empty(rows)
    long_row_sum_kernel[(rows,)](x, out, columns, x.stride(0), x.stride(1), BLOCK=64)
    return out


# %%
exercise("long_row_sum").check(long_row_sum)

# %% [markdown]
# Which elements does a program touch when? Time runs down:

# %%
with lab.record() as launches:
    long_row_sum(torch.randn(2, 300))
launches[0].plot.timeline("x_ptr", program=1)

# %% [markdown]
# ## Where digits get lost
#
# In theory, the variance needs one pass: the mean of the squares minus the square of the mean. In float32, with
# numbers around 1,000 that differ by less than 1, both are about a million, and six of their seven digits are equal:

# %%
around = 1000 + torch.rand(100)
one_pass = around.square().mean() - around.mean().square()
two_passes = (around - around.mean()).square().mean()
exact = around.double().var(correction=0)
print(f"one pass {one_pass:.4f}, two passes {two_passes:.4f}, in float64 {exact:.4f}")

# %% [markdown]
# ## Exercise 5: mean 0, variance 1
#
# `(x - mean) / sqrt(variance + 1e-5)` for each row. The row is in registers, so a second pass costs no memory.


# %%
@triton.jit
def normalise_kernel(x_ptr, out_ptr, columns, stride_0, stride_1, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: mean first, then the differences, then the mean of their squares
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * stride_0 + column * stride_1, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns
    tl.store(out_ptr + row * columns + column, centred / tl.sqrt(variance + 1e-5), mask=mask)
    # END SOLUTION


def normalise(x):
    """Each row with mean 0 and variance 1, contiguous."""
    rows, columns = x.shape
    out = torch.empty((rows, columns))
    normalise_kernel[(rows,)](
        x, out, columns, x.stride(0), x.stride(1), BLOCK=triton.next_power_of_2(columns)
    )
    return out


# %%
exercise("normalise").check(normalise)

# %% [markdown]
# ## Exercise 6: when adding one changes nothing
#
# A loop adds 1.0 to a float16 number that begins at 0. At which number does it stop growing?

# %%
# BEGIN SOLUTION: the number that a float16 sum of ones never gets beyond
half_sum = 2048
# END SOLUTION

# %%
exercise("half_sum").check(half_sum)

# %% [markdown]
# So use float32 accumulators, even if inputs and results are float16.
#
# ## What to remember
#
# - A reduction needs a value for lanes without an element: 0 for a sum, minus infinity for a maximum.
# - Softmax subtracts the maximum first. Otherwise `exp` overflows.
# - A row that fits into a block is read once. A longer row needs a loop with an accumulator.
# - Do not subtract large numbers that are nearly equal; do not add many small ones in half precision.

# %%
lab.course.progress("07")

# %% [markdown]
# **Where to read on.** [Chapter 09](09_matmul.ipynb) reduces along two matrices at once; [chapter
# 13](13_attention.ipynb) needs a softmax of rows that never exist as a whole. Higham's *Accuracy and Stability of
# Numerical Algorithms* is the book about lost digits.
