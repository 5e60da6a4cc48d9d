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
# # Scheduling languages and blocks
#
# *About 45 minutes. You need chapter 31.*
#
# [Chapter 31](31_polyhedra.ipynb) treated a loop nest as a set of points and asked which orders are legal. This
# chapter shows two ways to write such orders: a *scheduling language*, which separates the algorithm from its order,
# and the *blocks* of Triton. You will
#
# 1. cut a nest into tiles, and count the cache misses that this saves,
# 2. tile over time steps, which is not legal at first,
# 3. read a matrix product in a scheduling language, line by line, proved legal and run,
# 4. turn a schedule into a Triton kernel,
# 5. write a kernel for the irregular nest, which both methods refuse.

# %%
import numpy as np
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise
from triton_lab.polyhedral import Cache
from triton_lab.polyhedral.related_work import page_nests

# %load_ext triton_lab

# %% [markdown]
# ## Splitting a loop
#
# `split` makes two loops of one: the outer counts pieces, the inner runs within a piece. Nothing else changes yet.
# `reorder` then moves loops past each other. Point at the instances, or play them:

# %%
transpose = lab.polyhedral.scop(page_nests.TRANSPOSE, n=6)
order = lab.schedule(transpose).split("j", 3).reorder("jo", "i", "ji")
print(order)
order.plot(order=True)

# %% [markdown]
# `tile` does both for several loops. Why is this useful? The lab simulates all accesses in a small cache, here with
# 32 lines of 8 elements each:

# %%
cache = Cache(lines=32, line_size=8)
wide = lab.schedule(page_nests.TRANSPOSE, n=64)
for attempt in (wide, wide.interchange("i", "j"), wide.tile({"i": 4, "j": 4})):
    print(" . ".join(attempt.steps) or "as written", "->", attempt.cost(cache))

# %% [markdown]
# ## Exercise 1: a transpose that keeps its cache lines
#
# A matrix of 64 by 64 has 512 lines, so 1,024 misses cannot be avoided. Find an order with no more misses.


# %%
def few_misses(order):
    # BEGIN SOLUTION: an order in which a line is used up before it goes
    order = order.tile({"i": 8, "j": 8})
    # END SOLUTION
    return order


# %%
exercise("few_misses").check(few_misses)

# %% [markdown]
# ## Tiles that are not legal at first
#
# A vector is smoothed in place, again and again. Each sweep `t` goes over the whole vector, and when the next sweep
# begins, its start is no longer in the cache. Tiles of `t` and `i` would use each element several times while it is
# in the cache. But they break dependences, drawn in red:

# %%
SMOOTHED = """
for (int t = 0; t < n; t++)
  for (int i = 1; i < n - 1; i++)
    A[i] = A[i - 1] + A[i] + A[i + 1];
"""
lab.schedule(SMOOTHED, n=7).tile({"t": 3, "i": 3})

# %% [markdown]
# An element needs its right neighbour of the previous sweep: this arrow points back, from `i + 1` to `i`. In a tile
# of fixed columns the element would come too early.
#
# ## Exercise 2: tiles over time steps
#
# Find a legal order with at most 300 misses in a cache of 8 lines of 4 elements, for `n = 64`. The original order has
# 1,024.


# %%
def tiles_in_time(order):
    # BEGIN SOLUTION: first make all arrows point forward
    order = order.skew("i", "t").tile({"t": 8, "i": 8})
    # END SOLUTION
    return order


# %%
exercise("tiles_in_time").check(tiles_in_time)

# %%
for attempt in (lab.schedule(SMOOTHED, n=64), tiles_in_time(lab.schedule(SMOOTHED, n=64))):
    print(
        " . ".join(attempt.steps) or "as written", "->", attempt.cost(Cache(lines=8, line_size=4))
    )

# %% [markdown]
# Your order on a few points, in the nest and in time. No arrow is red now:

# %%
tiles_in_time(lab.schedule(SMOOTHED, n=10))

# %% [markdown]
# ## A scheduling language
#
# Halide separates the algorithm from its schedule. This is the matmul of the related-work page in our language, line
# by line. (Halide names loops from the innermost, we from the outermost.) It is legal, and it visits every point
# once.

# %%
from triton_lab.polyhedral.related_work.halide_matmul import halide_matmul

halide = halide_matmul(32, block_size=16)
print("\n".join(halide.steps))
print(halide.legality)
print(
    "visits:",
    len(halide.order()),
    "different:",
    len(set(halide.order().pairs)),
    "expected:",
    32**2 + 32**3,
)

# %% [markdown]
# Here is the program that these steps make, with blocks of 8 instead of 16. The cell after it runs the one with blocks
# of 16 and compares the result with NumPy.

# %%
print(halide_matmul(8, block_size=8).program("c"))

# %%
rng = np.random.default_rng(0)
arrays = {name: rng.random((32, 32), dtype=np.float32) for name in "ABC"}
np.abs(halide.run(arrays)["C"] - arrays["A"] @ arrays["B"]).max()

# %% [markdown]
# ## From schedule to kernel
#
# If the tiles of a schedule are blocks, the lab can write it as a Triton kernel. The kernel below was generated from
# the steps above it: tiles of `y` and `x` are programs, and a tile of `k` is an iteration of a loop.

# %%
matmul = lab.polyhedral.scop(page_nests.MATMUL, n=40)
tiled = lab.schedule(matmul).distribute("x").distribute("y")
for loop in ("y", "x", "k"):
    tiled = tiled.split(loop, 16, statement="S1")
tiled = tiled.reorder("yo", "xo", "ko", "yi", "xi", "ki")
kernel = tiled.to_triton()
print(kernel)

# %%
arrays = {name: rng.random((40, 40), dtype=np.float32) for name in "ABC"}
np.allclose(kernel.run(arrays)["C"], tiled.run(arrays)["C"], rtol=1e-5), kernel.grid(matmul)

# %% [markdown]
# If a schedule cannot be a block program, the error gives the reason:

# %%
wavefront = lab.polyhedral.scop(page_nests.WAVEFRONT, n=6)
try:
    lab.schedule(wavefront).tile({"i": 4, "j": 4}).to_triton()
except ValueError as reason:
    print(reason)

# %% [markdown]
# ## Exercise 3: a schedule that is a kernel
#
# The outer product of two vectors, `C[y][x] = A[y] * B[x]`, with `n` rows and `m` columns. Find a schedule whose kernel
# has a grid of 3 by 4 programs for 40 rows and 100 columns: blocks of 16 rows and 32 columns.


# %%
def outer_blocks(order):
    # BEGIN SOLUTION: tiles that become blocks
    order = order.tile({"y": 16, "x": 32})
    # END SOLUTION
    return order


# %%
exercise("outer_blocks").check(outer_blocks)

# %% [markdown]
# How such tiles lie, for a small `n`:

# %%
outer = "for (int y = 0; y < n; y++) for (int x = 0; x < m; x++) C[y][x] = A[y] * B[x];"
lab.schedule(outer, n=8, m=14).tile({"y": 4, "x": 8}).plot(order=True)

# %% [markdown]
# ## The irregular nest
#
# Both methods refuse this nest: the bound of `k` is read from memory. Its rows are *ragged*: the data give the length
# of each. (The page writes `B[k][j]`; it must be `B[col[i, k]][j]`.)

# %%
from triton_lab.polyhedral.related_work.ragged_nest import PAGE_RAGGED

PAGE_RAGGED

# %% [markdown]
# ## Three ways, one problem
#
# The same matrices, three programs. First a nest that all three can express. (The times are those of interpreters, so
# they do not say which program is fast on a machine.)

# %%
from triton_lab.polyhedral.related_work.three_ways import matmul_ways, ragged_ways

matmul_ways()

# %% [markdown]
# Then the irregular nest: refused by the first, padded by the second, and direct in the third.

# %%
ragged_ways()

# %% [markdown]
# ## Exercise 4: rows of data-dependent length
#
# A sparse matrix times a vector. Only the elements that are not zero are kept, row after row, in `values`; `columns`
# has the column of each, and row `r` begins at `starts[r]` and ends before `starts[r + 1]`. One program for each row.


# %%
@triton.jit
def sparse_kernel(values_ptr, columns_ptr, starts_ptr, x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load where the row begins and ends, and walk over it
    row = tl.program_id(0)
    end = tl.load(starts_ptr + row + 1)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(tl.load(starts_ptr + row), end, BLOCK):
        k = start + tl.arange(0, BLOCK)
        column = tl.load(columns_ptr + k, mask=k < end, other=0)
        x = tl.load(x_ptr + column, mask=k < end, other=0.0)
        total += x * tl.load(values_ptr + k * stride, mask=k < end, other=0.0)
    tl.store(out_ptr + row, tl.sum(total, axis=0))
    # END SOLUTION


def sparse_product(values, columns, starts, x):
    """The product of a sparse matrix and the vector x; only values may have a stride."""
    rows = starts.numel() - 1
    out = torch.empty(rows)
    sparse_kernel[(rows,)](values, columns, starts, x, out, values.stride(0), BLOCK=32)
    return out


# %%
exercise("sparse_product").check(sparse_product)

# %% [markdown]
# Programs with long rows take more steps. On a GPU the short ones do not wait for them. This is the advantage of
# blocks here.

# %%
starts = torch.tensor([0, 4, 70, 75, 76], dtype=torch.int32)
with lab.target("cpu"), lab.record() as launches:
    sparse_product(torch.ones(76), torch.arange(76, dtype=torch.int32) % 8, starts, torch.ones(8))
launches[0].plot.timeline("values_ptr")

# %% [markdown]
# ## Exercise 5: a filter
#
# A convolution is a nest of five loops: pictures, rows, columns, and the rows and columns of a small filter. As blocks,
# the first three are programs and lanes, and the filter stays a loop:
# `out[n, r, c]` is the sum of `x[n, r + i, c + j] * filter[i, j]`. Elements beyond the picture count as zero.


# %%
@triton.jit
def convolve_kernel(
    x_ptr,
    filter_ptr,
    out_ptr,
    rows,
    columns,
    HIGH: tl.constexpr,
    WIDE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # BEGIN SOLUTION: walk over the filter, and add up a block of the picture times one number
    picture = tl.program_id(2) * rows * columns
    r = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))[:, None]
    c = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for i in range(HIGH):
        for j in range(WIDE):
            there = (r + i < rows) & (c + j < columns)
            x = tl.load(x_ptr + picture + (r + i) * columns + c + j, mask=there, other=0.0)
            total += x * tl.load(filter_ptr + i * WIDE + j)
    tl.store(out_ptr + picture + r * columns + c, total, mask=(r < rows) & (c < columns))
    # END SOLUTION


def convolve(x, filter):
    """The pictures x (pictures, rows, columns) under a filter, both contiguous; as large as x."""
    pictures, rows, columns = x.shape
    out = torch.empty(x.shape)
    # BEGIN SOLUTION: launch convolve_kernel on a grid of three dimensions
    grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 16), pictures)
    high, wide = filter.shape
    convolve_kernel[grid](x, filter, out, rows, columns, HIGH=high, WIDE=wide, BLOCK=16)
    # END SOLUTION
    return out


# %%
exercise("convolve").check(convolve)

# %% [markdown]
# Neighbouring programs share the borders of their tiles, as wide as the filter. How often is each element loaded?

# %%
with lab.target("cpu"), lab.record() as launches:
    convolve(torch.randn(1, 32, 32), torch.ones(3, 3))
launches[0].plot.accesses("x_ptr", by="reuse")

# %% [markdown]
# ## What to remember
#
# - Tiles use data while it is in the cache. If tiles are not legal, skewing may make them legal.
# - A scheduling language changes the order of a nest and keeps its meaning. The dependences say which changes are
#   legal.
# - A schedule whose tiles are blocks can be written as a Triton kernel.
# - If bounds are read from memory, both methods fail, but blocks with masks work.

# %%
lab.course.progress("32")

# %% [markdown]
# **Where to read on.** Ragan-Kelley and others, *Halide*; the related-work page of Triton's documentation, which this
# chapter is about. [Chapter 29](29_gpu_and_interpreter.ipynb) goes back to kernels, and to a GPU.
#
# This was the last chapter. You can now write a kernel, say what each program does and which bytes it moves, and test
# that its numbers are right. The next kernel is your own.
