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
# # Matrix product: blocks, order of programs, reuse
#
# *About 60 minutes. You need chapter 07.*
#
# A product of two matrices uses every number many times. Its speed depends on how often each number is loaded from
# memory. This depends on the blocks and on the order of the programs. In this chapter you will
#
# 1. see which inputs one element of a product needs, and which inputs one tile needs,
# 2. write a product that takes any sizes and strides, and count what it loads,
# 3. let programs that run at the same time load the same data.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise, predict

# %load_ext triton_lab
_ = torch.manual_seed(0)

# %% [markdown]
# ## One element needs a row and a column
#
# The most obvious kernel: one program for each element of the result.


# %%
# %%triton cpu --show origins
@triton.jit
def one_by_one(a_ptr, b_ptr, c_ptr, N, K: tl.constexpr):
    i, j = tl.program_id(0), tl.program_id(1)
    k = tl.arange(0, K)
    row = tl.load(a_ptr + i * K + k)
    column = tl.load(b_ptr + k * N + j)
    tl.store(c_ptr + i * N + j, tl.sum(row * column, axis=0))


a, b, c = torch.randn(8, 16), torch.randn(16, 12), torch.empty(8, 12)
one_by_one[(8, 12)](a, b, c, 12, K=16)
torch.allclose(c, a @ b, atol=1e-5)

# %% [markdown]
# The tab *Origins* shows the inputs of an element: a row of `a` and a column of `b`. So each row of `a` is loaded for
# every element of that row of the result.

# %%
with lab.record() as launches:
    one_by_one[(8, 12)](a, b, c, 12, K=16)
naive = launches[0]
predict(
    "a is 8 by 16, b is 16 by 12, and each of the 96 programs computes one element. How many programs load a[0, 0]?",
    [1, 8, 12, 16, 96],
    right=c.shape[1],
    picture=naive.plot.accesses("a_ptr", by="reuse"),
    why="Row 0 of the result has 12 elements, and each of them needs all of row 0 of a.",
)

# %% [markdown]
# ## A tile needs a strip of each matrix
#
# A program with a tile of 4 by 4 loads four rows and four columns, and uses each number four times. `tl.dot` is the
# product of two blocks. Here all of K is one block.
#
# A GPU has units of its own for `tl.dot`, the *tensor cores*. For float32 they are fast only in a shorter type, tf32:
# of the 23 bits that a float32 number stores after its leading one, they read 10, and cut the rest off. That is too
# few for a comparison with torch, so kernels of this course say `input_precision="ieee"`: all bits count. ([Chapter
# 29](29_gpu_and_interpreter.ipynb) measures the difference. For float16, which stores 10 such bits, nothing is cut.)


# %%
@triton.jit
def by_tiles(a_ptr, b_ptr, c_ptr, N, K: tl.constexpr, M_: tl.constexpr, N_: tl.constexpr):
    i = tl.program_id(0) * M_ + tl.arange(0, M_)
    j = tl.program_id(1) * N_ + tl.arange(0, N_)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + j[None, :])
    tl.store(c_ptr + i[:, None] * N + j[None, :], tl.dot(a, b, input_precision="ieee"))


def loaded(launch, name):
    """Bytes that all programs load of an argument."""
    return sum(
        access.mask(step).sum() * access.itemsize
        for access in launch.accesses
        if access.kind == "load" and access.argument == name
        for step in range(access.iterations)
    )


a, b, c = torch.randn(64, 32), torch.randn(32, 64), torch.empty(64, 64)
for tile in (16, 32, 64):
    with lab.record() as launches:
        by_tiles[(64 // tile, 64 // tile)](a, b, c, 64, K=32, M_=tile, N_=tile)
    found = f"{launches[0].programs:2} programs load {loaded(launches[0], 'a_ptr'):6,} bytes of a"
    print(f"tiles of {tile:2}: {found}")

# %% [markdown]
# Twice the tile's width means half the bytes. The registers limit the size of a tile: they hold the accumulator.
#
# ## Drag a tile
#
# What all programs load follows from the shape of a tile alone: `a` once for each column of tiles, `b` once for each
# row of tiles. `lab.tiled_product` draws that for matrices of any size, without a launch. Does it say what the last
# launch loaded?

# %%
last = lab.tiled_product(a, b, tile=(64, 64)).product.moved
print(f"{last.a:,} bytes of a, {last.b:,} bytes of b")
assert (last.a, last.b) == (loaded(launches[0], "a_ptr"), loaded(launches[0], "b_ptr"))

# %% [markdown]
# **Guess first:** which of four shapes is best? Their accumulators need equally many registers. Then drag the tile over
# the result, and drag its corner, or use the arrow keys. The roofline is that of [chapter
# 01](01_what_a_gpu_is.ipynb). Its three marks are a program for each element, your tiles, and a cache that loads no
# byte twice.

# %%
x, w = torch.empty(1024, 512), torch.empty(512, 1024)
shapes = {f"{i} by {j}": (i, j) for i, j in [(16, 256), (32, 128), (64, 64), (256, 16)]}
moved = {
    name: lab.tiled_product(x, w, tile=shape).product.moved.total for name, shape in shapes.items()
}
predict(
    "All four tiles (rows by columns) have 4,096 elements. With which one do all programs load the fewest bytes?",
    list(shapes),
    right=min(moved, key=moved.get),
    picture=lab.tiled_product(x, w, tile=shapes["16 by 256"], program=(20, 1)),
    why="A tile of i by j loads i rows and j columns for i times j elements. A square loads the least for its area.",
)

# %% [markdown]
# With tiles of 64 by 64 the programs load 71 million bytes in all, and with 16 by 256 twice as many.
#
# From which size on is memory no longer the limit? That depends on the dtype: tensor cores multiply float16 faster.

# %%
for dtype in (torch.float32, torch.float16):
    x, w = torch.empty(4096, 4096, dtype=dtype), torch.empty(4096, 4096, dtype=dtype)
    for side in (32, 64, 128, 256):
        picture = lab.tiled_product(x, w, tile=(side, side))
        name, *_, intensity, best, limit = picture.rows()[1]
        print(f"{dtype}: {name:20} {intensity:>4} operations per byte, at best {best:13} {limit}")
print(picture.told()[2])

# %% [markdown]
# In float32, tiles of 128 by 128 are enough. In float16, even a tile that takes all registers loads too much. So
# programs must share what they load, through the cache. That is why the order of programs matters, further below.
#
# ## Exercise 1: a matrix product
#
# For any sizes and strides, in float32 and float16, with tiles of 32 by 32 and steps of 32 along K. The accumulator is
# float32, and the result has the dtype of `a`.


# %%
@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, am, ak, bk, bn, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: walk along K, and add up products of blocks
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, BLOCK)
    accumulator = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        inside = k + start < K
        a_at = a_ptr + i[:, None] * am + (k + start)[None, :] * ak
        b_at = b_ptr + (k + start)[:, None] * bk + j[None, :] * bn
        a = tl.load(a_at, mask=(i < M)[:, None] & inside[None, :], other=0.0)
        b = tl.load(b_at, mask=inside[:, None] & (j < N)[None, :], other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
    mask = (i < M)[:, None] & (j < N)[None, :]
    tl.store(c_ptr + i[:, None] * N + j[None, :], accumulator, mask=mask)
    # END SOLUTION


def matmul(a, b):
    """a @ b, contiguous."""
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    matmul_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), BLOCK=32)
    return c


# %%
exercise("matmul").check(matmul)

# %% [markdown]
# Which values does a program hold during its loop? Step through one program, and watch the accumulator:

# %%
with lab.record() as launches:
    matmul(torch.randn(50, 70), torch.randn(70, 40))
launches[0].plot.steps(program=0)

# %% [markdown]
# ## Exercise 2: how often is `a` loaded?
#
# Two matrices of 256 by 256 in float32, multiplied by the kernel of exercise 1. How many bytes of `a` do all programs
# together load?

# %%
# BEGIN SOLUTION: a number of bytes
bytes_of_a = 256 // 32 * 256 * 256 * 4
# END SOLUTION

# %%
exercise("bytes_of_a").check(bytes_of_a)

# %% [markdown]
# ## The order of programs
#
# A GPU starts programs in the order of their numbers, some hundred at once. Together they should load little data, so
# that it fits into a cache. Row by row, eight programs need one strip of `a` and all of `b`. In *bands* of two rows
# of tiles, column by column, they need two strips of `a` and half of `b`:


# %%
@triton.jit
def tile_numbers(out_ptr, TILES: tl.constexpr, BAND: tl.constexpr):
    program = tl.program_id(0)
    within = program % (BAND * TILES)
    row = program // (BAND * TILES) * BAND + within % BAND
    column = within // BAND
    tl.store(out_ptr + row * TILES + column, program)


numbers = torch.empty(8, 8, dtype=torch.int32)
for BAND in (1, 2):
    with lab.record() as launches:
        tile_numbers[(64,)](numbers, TILES=8, BAND=BAND)
    first = [(int(r), int(k)) for r, k in (numbers < 8).nonzero()]
    rows, columns = {r for r, _ in first}, {k for _, k in first}
    found = f"{len(rows)} of 8 strips of a, and {len(columns)} of b"
    print(f"bands of {BAND}: the first 8 programs need {found}")
launches[0].plot.tiling("out_ptr")

# %% [markdown]
# The matrix product of `triton_lab.examples` does that. In the tab *Grid*, `shared` says how many bytes of input a
# program has in common with the one that you pick:

# %%
from triton_lab.examples.matmul import matmul as grouped

with lab.record() as launches:
    grouped(torch.randn(256, 64), torch.randn(64, 256), block_m=32, block_n=32, group_m=2)
launches[0].plot.grid("shared", program=5)

# %% [markdown]
# ## Exercise 3: which tile does program 5 compute?
#
# The result has 4 by 4 tiles, in bands of two rows. Which tile, (row, column), does program 5 compute?

# %%
# BEGIN SOLUTION: a tuple, (row of tiles, column of tiles)
tile_of_program = (1, 2)
# END SOLUTION

# %%
exercise("tile_of_program").check(tile_of_program)

# %% [markdown]
# ## Exercise 4: a layer in one kernel
#
# `relu(x @ weight.T + bias)`: bias and relu are applied while the tile is still in registers, and cost no memory
# traffic. Write the launch yourself.


# %%
@triton.jit
def layer_kernel(x_ptr, w_ptr, bias_ptr, y_ptr, M, N, K, xm, xk, wn, wk, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: the product with the transposed weight, then the bias, then relu
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    accumulator = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        x_mask = (i < M)[:, None] & (k < K)[None, :]
        w_mask = (k < K)[:, None] & (j < N)[None, :]
        x = tl.load(x_ptr + i[:, None] * xm + k[None, :] * xk, mask=x_mask, other=0.0)
        w = tl.load(w_ptr + k[:, None] * wk + j[None, :] * wn, mask=w_mask, other=0.0)
        accumulator = tl.dot(x, w, accumulator, input_precision="ieee")
    bias = tl.load(bias_ptr + j, mask=j < N, other=0.0)
    y = tl.maximum(accumulator + bias[None, :], 0.0)
    tl.store(y_ptr + i[:, None] * N + j[None, :], y, mask=(i < M)[:, None] & (j < N)[None, :])
    # END SOLUTION


def layer(x, weight, bias):
    """relu(x @ weight.T + bias), for x (rows, inputs) and weight (outputs, inputs)."""
    (M, K), N = x.shape, weight.shape[0]
    y = torch.empty((M, N))
    # BEGIN SOLUTION: launch layer_kernel
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    layer_kernel[grid](x, weight, bias, y, M, N, K, *x.stride(), *weight.stride(), BLOCK=32)
    # END SOLUTION
    return y


# %%
exercise("layer").check(layer)

# %% [markdown]
# ## Exercise 5: many small products
#
# A batch: `c[n] = a[n] @ b[n]`. The third dimension of the grid counts the products.


# %%
@triton.jit
def batched_kernel(a_ptr, b_ptr, c_ptr, M, N, K, an, am, ak, bn, bk, bj, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: find this program's matrices, then multiply as before
    product = tl.program_id(2)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    accumulator = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a_at = a_ptr + product * an + i[:, None] * am + k[None, :] * ak
        b_at = b_ptr + product * bn + k[:, None] * bk + j[None, :] * bj
        a = tl.load(a_at, mask=(i < M)[:, None] & (k < K)[None, :], other=0.0)
        b = tl.load(b_at, mask=(k < K)[:, None] & (j < N)[None, :], other=0.0)
        accumulator = tl.dot(a, b, accumulator, input_precision="ieee")
    c_at = c_ptr + product * M * N + i[:, None] * N + j[None, :]
    tl.store(c_at, accumulator, mask=(i < M)[:, None] & (j < N)[None, :])
    # END SOLUTION


def batched(a, b):
    """a @ b for (products, M, K) and (products, K, N), contiguous."""
    (products, M, K), N = a.shape, b.shape[2]
    c = torch.empty((products, M, N))
    # BEGIN SOLUTION: launch batched_kernel on a grid of three dimensions
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32), products)
    batched_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), BLOCK=32)
    # END SOLUTION
    return c


# %%
exercise("batched").check(batched)

# %% [markdown]
# ## Exercise 6: 8-bit weights
#
# Large models store weights as 8-bit integers, with a scale for each column: a quarter of the bytes. The kernel
# converts them to floats.


# %%
@triton.jit
def quantised_kernel(a_ptr, b_ptr, scale_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: multiply by b as it is, by its scale in the end; all are contiguous
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    accumulator = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(
            a_ptr + i[:, None] * K + k[None, :], mask=(i < M)[:, None] & (k < K)[None, :], other=0.0
        )
        b = tl.load(
            b_ptr + k[:, None] * N + j[None, :], mask=(k < K)[:, None] & (j < N)[None, :], other=0
        )
        accumulator = tl.dot(a, b.to(tl.float32), accumulator, input_precision="ieee")
    scale = tl.load(scale_ptr + j, mask=j < N, other=0.0)
    c = accumulator * scale[None, :]
    tl.store(c_ptr + i[:, None] * N + j[None, :], c, mask=(i < M)[:, None] & (j < N)[None, :])
    # END SOLUTION


def quantised(a, b, scale):
    """a @ (b * scale), for a in float32, b in int8 and one scale for each column of b."""
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N))
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    quantised_kernel[grid](a, b, scale, c, M, N, K, BLOCK=32)
    return c


# %%
exercise("quantised").check(quantised)

# %% [markdown]
# ## What to remember
#
# - A tile of n by n uses each loaded number n times: larger tiles load fewer bytes.
# - The accumulator is float32 and stays in registers; operations after the product are done there, too.
# - The order of programs does not change the result. It changes how much data they share while they run.
# - Strides make transposes free: a weight is never transposed in memory.

# %%
lab.course.progress("09")

# %% [markdown]
# **Where to read on.** [Chapter 19](19_machine_code.ipynb) shows when arithmetic limits a product and when memory
# does. Triton's tutorial *Matrix Multiplication* measures the order of programs on a GPU.
