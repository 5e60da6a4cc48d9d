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
# # Masks, bounds and findings
#
# *About 45 minutes. You need chapter 02.*
#
# The size of a block is a power of two; the size of a tensor need not be. The grid must cover the last element, and
# the mask must turn off the lanes beyond it. Each of the two can be wrong, and the result often still looks right. In
# this chapter you will
#
# 1. see common mistakes in kernels, each with its picture and its finding,
# 2. use masks for more than the end of a vector: for edges, padding and tables,
# 3. learn which value a masked-off lane has.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise, predict

# %load_ext triton_lab

# %% [markdown]
# ## A grid that is too small
#
# `100 // 32` programs for 100 elements: the last elements are not stored and keep their old contents. In a new tensor
# these are arbitrary, often zeros, and a test that looks only at the first elements passes.


# %%
@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


x, out = torch.arange(100.0), torch.empty(100)
with lab.record() as launches:
    double[(100 // 32,)](x, out, 100, BLOCK=32)
store = launches[0].accesses[-1]
predict(
    "A program has 32 lanes, and 100 // 32 programs are launched. How many of the 100 elements are never stored?",
    [0, 4, 28, 32],
    right=100 - int(store.mask().sum()),
    picture=launches[0].plot("tiling", "findings"),
    why="Three programs store 96 elements. A fourth program is missing.",
)

# %% [markdown]
# The finding above the tabs says that the grid is too small, and how to launch enough programs. `triton.cdiv` rounds
# up, and then there are no findings:

# %%
with lab.record() as launches:
    out = torch.empty(100)
    double[(triton.cdiv(100, 32),)](x, out, 100, BLOCK=32)
print(launches[0].findings, bool((out == 2 * x).all()))

# %% [markdown]
# ## A mask that is missing
#
# Now the grid covers all elements, and 28 lanes of the last program are past the end. A GPU may read other memory
# there without an error. Here the launch stops before the access.


# %%
@triton.jit
def double_everything(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets))


with lab.record() as launches:
    try:
        double_everything[(4,)](x, torch.empty(100), BLOCK=32)
    except Exception as error:
        print(type(error).__name__)
launches[0].findings

# %% [markdown]
# The picture shows where: red places past the end of `x_ptr`, and the program that accesses them.

# %%
launches[0].plot.tiling("x_ptr")

# %% [markdown]
# ## Outside of the view, inside of the storage
#
# If a tensor is a view of a larger one, an index that is too large reaches other elements of the larger tensor. No
# machine reports this. The lab does, since it knows the view's shape and strides.

# %%
block = torch.zeros(6, 8)
view = block[:, :5]
with lab.record() as launches:
    # Wrong: 30 neighbours in memory are read, but a row of the view ends after 5 elements.
    double[(1,)](view, torch.empty(64), 30, BLOCK=32)
print(launches[0].findings[0])
launches[0].plot.storage("x_ptr")

# %% [markdown]
# ## The value of a masked-off lane
#
# A load with a mask gives every lane a value, also the masked-off lanes. Without `other` this value is undefined: a
# GPU may give anything. Here a block of eight lanes computes the maximum of five negative numbers:


# %%
@triton.jit
def greatest(x_ptr, out_ptr, n, OTHER: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=OTHER)
    tl.store(out_ptr, tl.max(x, axis=0))


negative, result = torch.arange(-9.0, -4.0), torch.empty(1)
for other in (0.0, float("-inf")):
    with lab.record() as launches:
        greatest[(1,)](negative, result, 5, OTHER=other, BLOCK=8)
    print(f"other={other}: {result.item()}")
launches[0].plot.values("x")

# %% [markdown]
# With `other=0.0` the maximum is 0, from a lane without an element. The right value of `other` depends on the next
# operation: 0 for a sum, minus infinity for a maximum, 1 for a product.
#
# ## Exercise 1: one place to the right
#
# `out[i] = x[i - 1]`, and `out[0] = 0`. This mask has a lower and an upper bound.


# %%
@triton.jit
def shift_right_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load from one place before, where there is one
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets - 1, mask=inside & (offsets > 0), other=0)
    tl.store(out_ptr + offsets, x, mask=inside)
    # END SOLUTION


def shift_right(x):
    """x one place further to the right, in a new tensor; a zero comes in, the last element falls out."""
    out = torch.empty_like(x)
    n = x.numel()
    shift_right_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


# %%
exercise("shift_right").check(shift_right)

# %% [markdown]
# ## Exercise 2: neighbours
#
# `out[i] = x[i - 1] + x[i] + x[i + 1]`. Elements outside of `x` count as zero.


# %%
@triton.jit
def sum_of_three_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: three loads, each with its own mask
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    left = tl.load(x_ptr + offsets - 1, mask=inside & (offsets > 0), other=0.0)
    middle = tl.load(x_ptr + offsets, mask=inside, other=0.0)
    right = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n, other=0.0)
    tl.store(out_ptr + offsets, left + middle + right, mask=inside)
    # END SOLUTION


def sum_of_three(x):
    """Each element with its neighbours, added up, in a new tensor."""
    out = torch.empty_like(x)
    n = x.numel()
    sum_of_three_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


# %%
exercise("sum_of_three").check(sum_of_three)

# %% [markdown]
# How often is each element loaded? Neighbouring programs share the elements at their borders.

# %%
with lab.record() as launches:
    sum_of_three(torch.arange(200.0))
launches[0].plot.accesses("x_ptr", by="reuse")

# %% [markdown]
# ## A race
#
# Two programs store to one element, and their order is undefined. On the CPU the result may be right each time. So
# the lab finds races from the accesses of the programs, not from the result.


# %%
# %%triton cpu --show findings,tiling
@triton.jit
def last_of_each(out_ptr, n, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * WIDTH + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, pid, mask=i < n)


last_of_each[(5,)](torch.empty(20, dtype=torch.int32), 20, WIDTH=4, BLOCK=8)

# %% [markdown]
# Blocks have 8 lanes, but each program begins only 4 elements after the last: all elements but the first four belong to
# two programs. These are 16 elements and 32 lanes.
#
# ## Memory that was never written
#
# `torch.empty` gives memory with its old contents. Reading it before it is written is a mistake, even if it holds
# zeros.

# %%
with lab.record() as launches:
    double[(1,)](torch.empty(20), torch.empty(20), 20, BLOCK=32)
launches[0].findings

# %% [markdown]
# ## Exercise 3: longer rows
#
# Make a matrix wider, with zeros on the right. Which values would the lanes beyond a row of `x` have without `other`?


# %%
@triton.jit
def pad_rows_kernel(
    x_ptr, out_ptr, rows, columns, width, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    # BEGIN SOLUTION: load what there is of x, zeros elsewhere, and store rows of `width` elements
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    there = (i < rows)[:, None] & (j < columns)[None, :]
    x = tl.load(x_ptr + i[:, None] * columns + j[None, :], mask=there, other=0)
    tl.store(
        out_ptr + i[:, None] * width + j[None, :],
        x,
        mask=(i < rows)[:, None] & (j < width)[None, :],
    )
    # END SOLUTION


def pad_rows(x, width):
    """A contiguous matrix with zeros on the right of each row, up to `width`, in a new tensor."""
    rows, columns = x.shape
    out = torch.empty((rows, width), dtype=x.dtype)
    grid = (triton.cdiv(rows, 8), triton.cdiv(width, 32))
    pad_rows_kernel[grid](x, out, rows, columns, width, ROWS=8, COLUMNS=32)
    return out


# %%
exercise("pad_rows").check(pad_rows)

# %% [markdown]
# ## Exercise 4: a table with gaps
#
# `out[i] = table[index[i]]`, and 0 where the index is outside of the table. Here a mask depends on loaded values.


# %%
@triton.jit
def take_kernel(table_ptr, index_ptr, out_ptr, size, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load indices, then the elements that they name, as far as there are such
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    index = tl.load(index_ptr + offsets, mask=mask, other=-1)
    inside = (index >= 0) & (index < size)
    tl.store(out_ptr + offsets, tl.load(table_ptr + index, mask=inside, other=0.0), mask=mask)
    # END SOLUTION


def take(table, index):
    """table[index], and 0 where the index is none of the table's, in a new tensor."""
    n = index.numel()
    out = torch.empty(n, dtype=table.dtype)
    take_kernel[(triton.cdiv(n, 64),)](table, index, out, table.numel(), n, BLOCK=64)
    return out


# %%
exercise("take").check(take)

# %% [markdown]
# ## How large is a block?
#
# Run the cell, then move the slider *BLOCK*. Each choice runs the launch again: with larger blocks there are fewer
# programs and more masked-off lanes.


# %%
def launch(BLOCK: int = 32):
    double[(triton.cdiv(100, BLOCK),)](x, torch.empty(100), 100, BLOCK=BLOCK)


lab.interact(launch, draw=lambda made: made.plot.tiling("out_ptr"), BLOCK=[8, 16, 32, 64, 128])

# %% [markdown]
# ## Exercise 5: what the mask costs
#
# A matrix of 100 rows and 70 columns in tiles of 32 by 32: how many lanes, over all programs, does the mask turn off?

# %%
# BEGIN SOLUTION: count lanes that have no element
masked_lanes = 4 * 3 * 32 * 32 - 100 * 70
# END SOLUTION

# %%
exercise("masked_lanes").check(masked_lanes)

# %% [markdown]
# ## A loop instead of a larger block
#
# A row may be longer than any block. Then a program loops over it, and the mask matters only in the last iteration.
# RMS norm in `triton_lab.examples` loops over each row twice: once for the sum of the squares, once to divide by the
# root of their mean.

# %%
from triton_lab.examples.rms_norm import rms_norm

x, weight = torch.randn(3, 600), torch.randn(600)
with lab.record() as launches:
    y = rms_norm(x, weight, block=256)
load = launches[0].accesses[0]
steps = f"{load.iterations} steps of {load.block[0]} lanes for 600 columns"
print(f"{load.kind} in line {load.line}: {steps}")
print(torch.allclose(y, torch.nn.functional.rms_norm(x, (600,), weight, 1e-6), atol=1e-5))

# %% [markdown]
# ## What to remember
#
# - Round the grid up, and mask off the lanes past the end: each can be wrong by itself.
# - A masked-off lane accesses no memory, but it has a value: choose it with `other`.
# - Each load needs a mask for its own addresses.
# - A right result proves little. Findings come from the accesses: out of bounds, outside of the view, races,
#   unwritten memory.

# %%
lab.course.progress("04")

# %% [markdown]
# **Where to read on.** [Chapter 07](07_reductions.ipynb) adds up masked blocks, and [chapter 11](11_atomics.ipynb) is
# about programs that update the same element. NVIDIA's *compute-sanitizer* finds such faults on a GPU, one run at a
# time.
