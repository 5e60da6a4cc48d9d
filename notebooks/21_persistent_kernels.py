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
# # Persistent kernels and descriptors
#
# *About 40 minutes. You need chapters 01, 10 and 19.*
#
# So far a program computed one tile and ended. The fastest kernels of today do it in another way: they start only as
# many programs as the GPU runs at once, and each works through many tiles. And they do not compute addresses any more:
# a unit of the GPU does that. In this chapter you will
#
# 1. see what the last programs of a launch cost,
# 2. write kernels whose grid is the machine and not the data,
# 3. load and store tiles through *descriptors*, without a single mask,
# 4. put both together into a matrix product.

# %%
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab
_ = torch.manual_seed(0)

# %% [markdown]
# ## The last wave
#
# Suppose that a GPU runs 16 programs at once, and a launch has 36, all equally long. **Guess first:** how much of the
# machine is idle, on average? In the picture of the grid the first number of a program goes across, so a row of the
# grid is a column of the matrix.


# %%
@triton.jit
def double_tile(x_ptr, out_ptr, M, N, T: tl.constexpr):
    i = tl.program_id(0) * T + tl.arange(0, T)
    j = tl.program_id(1) * T + tl.arange(0, T)
    at = i[:, None] * N + j[None, :]
    mask = (i < M)[:, None] & (j < N)[None, :]
    tl.store(out_ptr + at, 2 * tl.load(x_ptr + at, mask=mask), mask=mask)


x = torch.randn(96, 96)
with lab.record() as launches:
    double_tile[(6, 6)](x, torch.empty(96, 96), 96, 96, T=16)
launches[0].plot.grid("wave", sms=16)

# %% [markdown]
# Waves 0 and 1 are full. Wave 2 has 4 programs, so 12 places are idle while it runs. That is a quarter of all places
# of three waves. The fewer waves a launch has, the more its last wave counts.
#
# ## Exercise 1: 200 tiles
#
# A launch has 200 programs, each for one tile, and an H100 runs 132 of them at once. How many waves are there, and how
# many places are idle in the last one?

# %%
# BEGIN SOLUTION: a tuple, (waves, idle places)
last_wave = (2, 2 * 132 - 200)
# END SOLUTION

# %%
exercise("last_wave").check(last_wave)

# %% [markdown]
# ## A grid like the machine
#
# A *persistent* kernel has one program for each place, and a loop over tiles in it. You have written one in chapter 02:
# four programs, whatever the length. The number of tiles is as before, and so is the last round. What is gained?
#
# - A program starts once and not for each tile. What it computes at its start, it computes once.
# - The next tile's loads can start while the last tile is still being stored. Between two programs that is impossible.
# - The number of programs is known, so they can share out the last tiles.
#
# ## Exercise 2: four programs for any matrix
#
# Double a matrix with tiles, by exactly four programs. Tile `t` of a row-by-row order has the row `t // across` and the
# column `t % across`, if `across` tiles are side by side. For a matrix with any strides.


# %%
@triton.jit
def double_tiles_kernel(x_ptr, out_ptr, M, N, stride_0, stride_1, T: tl.constexpr):
    # BEGIN SOLUTION: a loop over the tiles of this program
    across = tl.cdiv(N, T)
    for tile in range(tl.program_id(0), tl.cdiv(M, T) * across, tl.num_programs(0)):
        i = tile // across * T + tl.arange(0, T)
        j = tile % across * T + tl.arange(0, T)
        mask = (i < M)[:, None] & (j < N)[None, :]
        x = tl.load(x_ptr + i[:, None] * stride_0 + j[None, :] * stride_1, mask=mask)
        tl.store(out_ptr + i[:, None] * N + j[None, :], 2 * x, mask=mask)
    # END SOLUTION


def double_tiles(x):
    """2 * x, contiguous, by four programs."""
    out = torch.empty(x.shape, dtype=x.dtype)
    double_tiles_kernel[(4,)](x, out, *x.shape, *x.stride(), T=32)
    return out


# %%
exercise("double_tiles").check(double_tiles)

# %% [markdown]
# Which tiles did each of your programs compute?

# %%
with lab.record() as launches:
    double_tiles(torch.randn(150, 200))
launches[0].plot.tiling("out_ptr")

# %% [markdown]
# ## Descriptors
#
# Look at the kernel above: most of it is about addresses and masks. A *descriptor* says it once: where a tensor is,
# its shape, its strides, and the shape of a tile. Then `load([i, j])` loads the tile whose first element is there.
# What is outside of the tensor is loaded as 0 and not stored. There is no mask, and none can be forgotten:


# %%
@triton.jit
def double_by_descriptor(x, out, T: tl.constexpr):
    at = [tl.program_id(0) * T, tl.program_id(1) * T]
    out.store(at, 2 * x.load(at))


x, out = torch.randn(50, 72), torch.empty(50, 72)
with lab.record() as launches:
    described = (TensorDescriptor.from_tensor(one, [32, 32]) for one in (x, out))
    double_by_descriptor[(2, 3)](*described, T=32)
print(torch.equal(out, 2 * x), launches[0].findings)

# %% [markdown]
# On an H100 this is more than a nicer notation. A unit called the *tensor memory accelerator*, TMA, takes such a
# request. One thread asks for the whole tile, and the unit computes the addresses and moves the bytes to shared memory.
# The other threads compute no addresses, and need no registers for them. In the machine code the requests are `UTMALDG`
# and `UTMASTG`:

# %%
sass = launches[0].compile("sm_90").stages["sass"]
for name in ("UTMALDG", "UTMASTG", "LDG.E"):
    print(name, sass.count(name))

# %% [markdown]
# One request for a load, one for a store, and no load by a thread. The unit has conditions: the last stride must be 1,
# the others multiples of 16 bytes, and the tensor must start at a multiple of 16 bytes. So a transposed view cannot be
# described: describe the tensor itself, and transpose the tile.
#
# ## Exercise 3: a transpose by descriptors
#
# The transpose of a contiguous matrix, whose numbers of rows and of columns are multiples of 4. Load a tile, turn it
# with `tl.trans`, store it at its new place, all through descriptors.


# %%
@triton.jit
def turn_kernel(x, out, T: tl.constexpr):
    # BEGIN SOLUTION: load at [i, j], store the turned tile at [j, i]
    i, j = tl.program_id(0) * T, tl.program_id(1) * T
    out.store([j, i], tl.trans(x.load([i, j])))
    # END SOLUTION


def turn(x):
    """The transpose of x, contiguous."""
    rows, columns = x.shape
    out = torch.empty((columns, rows), dtype=x.dtype)
    # BEGIN SOLUTION: make two descriptors, and launch turn_kernel
    described = [TensorDescriptor.from_tensor(one, [32, 32]) for one in (x, out)]
    turn_kernel[(triton.cdiv(rows, 32), triton.cdiv(columns, 32))](*described, T=32)
    # END SOLUTION
    return out


# %%
exercise("turn").check(turn)

# %% [markdown]
# ## Exercise 4: a persistent product
#
# Both ideas in one kernel: `a @ b` by four programs, each with a loop over tiles and in it a loop along K. All
# matrices are contiguous, in float16 or float32, and each row is a multiple of 16 bytes. The accumulator is float32.
# (Beyond the end of K both tiles are 0, so nothing is added there.)


# %%
@triton.jit
def product_kernel(a, b, c, M, N, K, T: tl.constexpr):
    # BEGIN SOLUTION: tiles of this program; for each, walk along K
    across = tl.cdiv(N, T)
    for tile in range(tl.program_id(0), tl.cdiv(M, T) * across, tl.num_programs(0)):
        i, j = tile // across * T, tile % across * T
        total = tl.zeros((T, T), tl.float32)
        for k in range(0, K, T):
            total = tl.dot(a.load([i, k]), b.load([k, j]), total, input_precision="ieee")
        c.store([i, j], total.to(c.dtype))
    # END SOLUTION


def persistent_product(a, b):
    """a @ b, of the dtype of a, by four programs."""
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype)
    described = [TensorDescriptor.from_tensor(one, [32, 32]) for one in (a, b, c)]
    product_kernel[(4,)](*described, M, N, K, T=32)
    return c


# %%
exercise("persistent_product").check(persistent_product)

# %% [markdown]
# In a real kernel the grid is the number of multiprocessors,
# `torch.cuda.get_device_properties(0).multi_processor_count`, times the programs that fit on one. And the outer loop is
# written `tl.range(..., flatten=True)`: the compiler makes one loop of both, so that the loads of the next tile run
# ahead while this one is finished.
#
# ## Is it faster?
#
# An H100 multiplied matrices of float16 in three ways: by pointers with a program for each tile, by descriptors with a
# program for each tile, and by descriptors with 132 programs, one for each multiprocessor. **Guess first:** which is
# fastest for 4,096 x 4,096, and which for 8,192 x 8,192?

# %%
products = lab.examples.measurement("persistent")
for size in (4096, 8192):
    for row in products:
        if row.size == size:
            print(f"{size:5}  {row.name:38}{2 * size**3 / row.seconds / 1e12:5.0f} Tflop/s")
products.plot()

# %% [markdown]
# For 512 and 1,024 the times differ so much from run to run that they decide nothing. At 4,096 the plain kernel is a
# seventh faster than the persistent one; at 8,192 the persistent one is 3 % faster. No idea is fast by itself. A kernel
# gains if what it saves, the work on addresses and the last wave, is more than what it costs. Count first, then
# measure.
#
# ## What to remember
#
# - Programs run in waves, and the last wave is seldom full. Few large tiles make it worse.
# - A persistent kernel starts once for each place of the machine and loops over tiles.
# - A descriptor knows shape, strides and tile. It needs no masks, and on an H100 one thread asks for a whole tile.
# - The last stride must be 1, the other strides multiples of 16 bytes.

# %%
lab.course.progress("21")

# %% [markdown]
# **Where to read on.** Triton's tutorial *Persistent Matmul* compares five such kernels on a GPU. NVIDIA's *CUDA
# programming guide* describes the tensor memory accelerator. [Chapter 26](26_gluon_attention.ipynb) uses descriptors
# for attention.
