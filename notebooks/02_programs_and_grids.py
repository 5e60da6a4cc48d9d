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
# # Programs, grids, tiling
#
# *About 50 minutes. You need chapter 00.*
#
# A kernel is written for one program, and launched for many. The *grid* is the number of programs, in up to three
# dimensions. The *tiling* says which program works on which part of the data. In this chapter you will
#
# 1. see the order in which programs start, and why no result may depend on it,
# 2. cut a matrix into tiles, with a grid of two dimensions,
# 3. let few programs loop over much data.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise, predict

# %load_ext triton_lab

# %% [markdown]
# ## Programs by their numbers
#
# Every program runs the same code. Only `tl.program_id` differs. Here each program writes its number to a block.


# %%
# %%triton cpu --show tiling,grid
@triton.jit
def number(out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, pid, mask=i < n)


out = torch.empty(30, dtype=torch.int32)
number[(8,)](out, 30, BLOCK=4)
print(out.tolist())

# %% [markdown]
# The tab *Grid* plays the programs in the order in which they start. A GPU starts as many programs as fit, and they
# end in any order. So a program must not wait for a value that a later program stores, and must not store where
# another program stores. Then the order does not matter, and the GPU may choose it.
#
# ## Which element is whose?
#
# A program's elements need not be neighbours. Here a lane's neighbours belong to other programs. Read the kernel and
# answer, then compare the picture with the one above.


# %%
@triton.jit
def number_in_turns(out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid + tl.num_programs(0) * tl.arange(0, BLOCK)
    tl.store(out_ptr + i, pid, mask=i < n)


with lab.record() as launches:
    number_in_turns[(4,)](out, 30, BLOCK=8)
predict(
    "Four programs run number_in_turns on 30 elements. Which program stores element 13?",
    [0, 1, 2, 3],
    right=int(out[13]),
    picture=launches[0].plot.tiling("out_ptr"),
    why="Program p stores elements p, p + 4, p + 8, and so on: 13 is 1 + 4 + 4 + 4.",
)

# %% [markdown]
# Both are right. Contiguous blocks are faster on a GPU, where neighbouring lanes should touch neighbouring bytes:
# [chapter 19](19_machine_code.ipynb) shows why.
#
# ## Exercise 1: reverse a vector
#
# Reverse a vector. Which program loads which elements now?


# %%
@triton.jit
def reverse_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: store x backwards into out
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + (n - 1 - offsets), mask=mask), mask=mask)
    # END SOLUTION


def reverse(x):
    """The elements of x from the last to the first, in a new tensor."""
    out = torch.empty_like(x)
    n = x.numel()
    reverse_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


# %%
exercise("reverse").check(reverse)

# %% [markdown]
# ## Two dimensions
#
# A matrix is cut into tiles by a grid of two dimensions. A tile is a block of two dimensions: a column of row numbers
# `i[:, None]` and a row of column numbers `j[None, :]` make all pairs.


# %%
# %%triton cpu --show tiling
@triton.jit
def number_tiles(out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    places = i[:, None] * columns + j[None, :]
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    tl.store(out_ptr + places, tl.program_id(0) * 10 + tl.program_id(1), mask=mask)


matrix = torch.empty(10, 21, dtype=torch.int32)
number_tiles[(3, 3)](matrix, 10, 21, ROWS=4, COLUMNS=8)

# %% [markdown]
# Program `(1, 2, 0)` has the middle row of tiles and the last column of them. Programs at an edge have fewer active
# lanes. In the picture of the grid the first number goes across and the second goes down, so a row of the grid is a
# column of the matrix:

# %%
with lab.record() as launches:
    number_tiles[(3, 3)](matrix, 10, 21, ROWS=4, COLUMNS=8)
launches[0].plot.grid("lanes")

# %% [markdown]
# Which shape of a tile needs the fewest programs? All of these shapes have 32 lanes, and the matrix is the same. Run
# the cell, then move the slider *shape*.


# %%
def tiles(shape: str = "4 x 8"):
    ROWS, COLUMNS = map(int, shape.split(" x "))
    number_tiles[(triton.cdiv(10, ROWS), triton.cdiv(21, COLUMNS))](
        matrix, 10, 21, ROWS=ROWS, COLUMNS=COLUMNS
    )


lab.interact(
    tiles,
    draw=lambda made: made.plot.tiling("out_ptr"),
    shape=["1 x 32", "2 x 16", "4 x 8", "8 x 4", "16 x 2"],
)

# %% [markdown]
# `4 x 8` needs the fewest: 9 programs, which turn 78 lanes off. `16 x 2` needs 11 programs and turns 142 lanes off.
# Chapter 09 shows what the shape of a tile means for memory.
#
# ## Exercise 2: every pair
#
# The sum of each element of `x` and each of `y`: a matrix of `len(x)` rows and `len(y)` columns.


# %%
@triton.jit
def outer_sum_kernel(
    x_ptr, y_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    # BEGIN SOLUTION: load a block of x and one of y, and store all sums of pairs
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + i, mask=i < rows)
    y = tl.load(y_ptr + j, mask=j < columns)
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    tl.store(out_ptr + i[:, None] * columns + j[None, :], x[:, None] + y[None, :], mask=mask)
    # END SOLUTION


def outer_sum(x, y):
    """out[i, j] = x[i] + y[j], in a new tensor."""
    rows, columns = x.numel(), y.numel()
    out = torch.empty((rows, columns), dtype=x.dtype)
    grid = (triton.cdiv(rows, 8), triton.cdiv(columns, 16))
    outer_sum_kernel[grid](x, y, out, rows, columns, ROWS=8, COLUMNS=16)
    return out


# %%
exercise("outer_sum").check(outer_sum)

# %% [markdown]
# ## Exercise 3: one vector to every row
#
# `x + bias`, as a layer of a neural network does it. The matrix is contiguous. Write the launch as well.


# %%
@triton.jit
def add_bias_kernel(
    x_ptr, bias_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    # BEGIN SOLUTION: load a tile of x and the part of the bias that belongs to it, and store their sum
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    places = i[:, None] * columns + j[None, :]
    bias = tl.load(bias_ptr + j, mask=j < columns)
    tl.store(out_ptr + places, tl.load(x_ptr + places, mask=mask) + bias[None, :], mask=mask)
    # END SOLUTION


def add_bias(x, bias):
    """x + bias, with the bias added to each row, in a new tensor."""
    out = torch.empty_like(x)
    # BEGIN SOLUTION: launch add_bias_kernel on a grid of two dimensions
    rows, columns = x.shape
    grid = (triton.cdiv(rows, 8), triton.cdiv(columns, 32))
    add_bias_kernel[grid](x, bias, out, rows, columns, ROWS=8, COLUMNS=32)
    # END SOLUTION
    return out


# %%
exercise("add_bias").check(add_bias)

# %% [markdown]
# ## Few programs, much data
#
# Starting a program costs little, but not nothing. You can also launch only as many programs as the machine runs at
# once. Then each program works on several blocks, one after the other. The loop's step is the size of the whole grid:

# %%
n, BLOCK, programs = 100, 8, 3
for program in range(programs):
    print(f"program {program} begins blocks at", list(range(program * BLOCK, n, programs * BLOCK)))

# %% [markdown]
# ## Exercise 4: four programs, whatever the length
#
# Double a vector with a grid of `(4,)`, for any length. In the kernel `tl.num_programs(0)` is 4.


# %%
@triton.jit
def double_by_four_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: walk over the blocks that are this program's
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)
    # END SOLUTION


def double_by_four(x):
    """2 * x, in a new tensor, by four programs."""
    out = torch.empty_like(x)
    double_by_four_kernel[(4,)](x, out, x.numel(), BLOCK=64)
    return out


# %%
exercise("double_by_four").check(double_by_four)

# %% [markdown]
# Each colour is one of your four programs:

# %%
# %%triton cpu --show tiling
_ = double_by_four(torch.arange(1000.0))

# %% [markdown]
# ## Exercise 5: how many programs?
#
# A matrix of 1,000 rows and 700 columns is cut into tiles of 32 rows and 64 columns. What is the grid?

# %%
# BEGIN SOLUTION: a tuple, (blocks of rows, blocks of columns)
grid_of_a_matrix = (triton.cdiv(1000, 32), triton.cdiv(700, 64))
# END SOLUTION

# %%
exercise("grid_of_a_matrix").check(grid_of_a_matrix)

# %% [markdown]
# ## Exercise 6: two steps, one kernel
#
# `relu(x[i] * y[j])` for every pair, where `relu` replaces negative values by 0. The products are never stored: the
# next step is done while the block is still in the program's registers. This is called *fusion*.


# %%
@triton.jit
def outer_relu_kernel(
    x_ptr, y_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    # BEGIN SOLUTION: multiply a block of x and one of y, and store what is above zero
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + i, mask=i < rows)
    y = tl.load(y_ptr + j, mask=j < columns)
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    products = x[:, None] * y[None, :]
    tl.store(out_ptr + i[:, None] * columns + j[None, :], tl.maximum(products, 0.0), mask=mask)
    # END SOLUTION


def outer_relu(x, y):
    """relu(x[i] * y[j]) for every pair, in a new matrix."""
    rows, columns = x.numel(), y.numel()
    out = torch.empty((rows, columns), dtype=x.dtype)
    grid = (triton.cdiv(rows, 8), triton.cdiv(columns, 16))
    outer_relu_kernel[grid](x, y, out, rows, columns, ROWS=8, COLUMNS=16)
    return out


# %%
exercise("outer_relu").check(outer_relu)

# %% [markdown]
# ## What to remember
#
# - Programs differ only in their ids. The machine chooses the order in which they run.
# - You choose the tiling: contiguous blocks, strided elements, or tiles. Every element must belong to one program.
# - Two dimensions need a block of rows `[:, None]`, a block of columns `[None, :]`, and a mask for each.
# - A loop over `tl.num_programs` makes the grid independent of the data.

# %%
lab.course.progress("02")

# %% [markdown]
# **Where to read on.** [Chapter 03](03_storage.ipynb) asks where `i * columns + j` comes from, and what happens when a
# tensor does not lie in memory like that. CUDA's programming guide calls programs *thread blocks*.
