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
# # Order of programs and autotuning
#
# *About 45 minutes. You need chapters 00 to 09, above all the matrix product of 09.*
#
# Two people write the same matrix product, and one is twice as fast. Both compute the same numbers from the same
# tiles. What differs is a handful of decisions: in which order programs take their tiles, how large tiles are, how
# many warps share one, and how far loads run ahead. In this chapter you will
#
# 1. see which tiles are computed at the same time, and how little memory they can do with,
# 2. number programs so that neighbours in time are neighbours in the matrix,
# 3. learn what `num_warps` and `num_stages` cost,
# 4. let `triton.autotune` choose, and meet the trap in it.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise, predict
from triton_lab.examples.matmul import matmul

# %load_ext triton_lab
_ = torch.manual_seed(0)

# %% [markdown]
# ## Which programs run at the same time?
#
# An H100 has 132 multiprocessors. Each of them holds one or a few programs of such a kernel, and programs start in the
# order of their numbers. So at any moment some hundred programs run, all with numbers close to each other. Such a group
# is called a *wave*. What one program of a wave loads stays for a while in the second cache. If another program of the
# wave needs the same bytes, they come from there, and not from global memory.
#
# To see it in small: 256 tiles, and a machine that runs 16 programs at once. The product comes from
# `triton_lab.examples`; with `group_m=1` it goes through the tiles row by row. Each colour is one wave:


# %%
a, b = torch.randn(512, 64), torch.randn(64, 512)


def launch_product(group_m: int = 2):
    matmul(a, b, block_m=32, block_n=32, group_m=group_m)


with lab.record() as launches:
    launch_product(group_m=1)
launches[0].plot.grid("wave", sms=16)

# %% [markdown]
# A wave is a row of 16 tiles. For that it needs one strip of `a`, 32 rows high, but all 16 strips of `b`: 17 strips.
# The programs can also be numbered in bands: `group_m` is the height of a band.


# %%
best = min([1, 2, 4, 8, 16], key=lambda band: band + 16 // band)
with lab.record() as launches:
    launch_product(best)
predict(
    "A wave has 16 tiles. How many tiles high must a band be, so that a wave needs the fewest strips?",
    [1, 2, 4, 8, 16],
    right=best,
    picture=launches[0].plot.grid("wave", sms=16),
    why="A band of 4 makes a wave a square: 4 strips of a and 4 of b.",
)

# %% [markdown]
# Run the cell, then move the slider *group_m* to see the others:

# %%
lab.interact(
    launch_product, draw=lambda made: made.plot.grid("wave", sms=16), group_m=[1, 2, 4, 8, 16]
)

# %% [markdown]
# The square needs 8 strips, less than half of 17. In bytes:

# %%
for band in (1, 2, 4, 8, 16):
    with lab.record() as launches:
        launch_product(band)
    told = str(launches[0].plot.grid("wave", sms=16)).splitlines()
    print(f"bands of {band:2}:", next(line for line in told if line.startswith("wave 0")))

# %% [markdown]
# Every wave loads 256 KiB, whatever the order. With bands of 4, only 64 KiB of them are different. The rest comes from
# the cache.
#
# ## Exercise 1: strips of a wave
#
# A result has 32 by 32 tiles, and 64 programs run at once. How many strips, of `a` and `b` together, does the first
# wave need row by row? And how many in bands of 8 rows of tiles?

# %%
# BEGIN SOLUTION: a tuple, (row by row, in bands of 8)
strips_of_a_wave = (64 // 32 + 32, 8 + 64 // 8)
# END SOLUTION

# %%
exercise("strips_of_a_wave").check(strips_of_a_wave)

# %% [markdown]
# ## Exercise 2: number the tiles in bands
#
# Write the numbering yourself. Program `p` stores its number where its tile is: in a matrix with one element for each
# tile. In a band, programs go down first, then to the right. The last band may be lower than the others: 7 rows in
# bands of 3 are bands of 3, 3 and 1.


# %%
@triton.jit
def bands_kernel(out_ptr, rows, columns, BAND: tl.constexpr):
    # BEGIN SOLUTION: the row and the column of this program's tile
    program = tl.program_id(0)
    first_row = program // (BAND * columns) * BAND
    height = tl.minimum(rows - first_row, BAND)
    within = program % (BAND * columns)
    row, column = first_row + within % height, within // height
    tl.store(out_ptr + row * columns + column, program)
    # END SOLUTION


def bands(rows, columns, band):
    """The number of the program of each tile, an int32 matrix."""
    out = torch.empty((rows, columns), dtype=torch.int32)
    bands_kernel[(rows * columns,)](out, rows, columns, BAND=band)
    return out


# %%
exercise("bands").check(bands)

# %% [markdown]
# Does it matter? Measured on an H100: products of float16 matrices with tiles of 128 by 128, in bands of four heights.
# In the figure `GROUP_M` is the height of a band.

# %%
order = lab.examples.measurement("order")
at = {(row.config["GROUP_M"], row.size): row.seconds for row in order}
for size in (4096, 8192, 16384):
    print(f"{size:6}: bands of 8 take {at[8, size] / at[1, size]:.0%} of the time of row by row")
order.plot()

# %% [markdown]
# For the largest matrices, bands save a fifth of the time. For 4,096 they save none: such a matrix has 32 MiB, so most
# of what a wave needs is in the cache in any order. There the plain order was even a little faster. A choice that is
# right for one size need not be right for another. Remember this when you come to autotuning.
#
# Your numbering as a picture. Follow the numbers in a band:

# %%
with lab.record() as launches:
    bands(7, 6, 3)
launches[0].plot.tiling("out_ptr")

# %% [markdown]
# ## Warps: how many threads share a tile
#
# You do not write `num_warps` in the kernel. You give it with the launch, like the grid. The tile stays the same, and
# so do the bytes. But more threads share it, so each of them holds fewer elements and needs fewer registers. Here is a
# float16 product with tiles of 128 by 128, compiled for an H100:


# %%
x, y = torch.randn(256, 256).half(), torch.randn(256, 256).half()
with lab.record() as launches:
    matmul(x, y, block_m=128, block_n=128, block_k=64)
product = launches[0]
for warps in (4, 8, 16):
    made = product.compile("sm_90", num_warps=warps)
    print(f"{warps:2} warps: {made.metadata.registers:3} registers for each thread")

# %% [markdown]
# The accumulator has 128 * 128 numbers. Shared by 4 warps, 128 threads, each thread holds 128 of them: half of the 255
# registers that a thread can have at most. If a kernel needs more, the compiler moves numbers out to memory, which is
# called *spilling* and is slow. With 8 warps it is 64 numbers. A small block is the opposite case: 4 warps are 128
# threads, and a block of 64 has nothing to do for half of them.
#
# ## Stages: how far loads run ahead
#
# A matrix product is a loop: load two tiles, multiply, load the next two. A load takes hundreds of nanoseconds, and the
# tensor cores would wait for each. So the compiler starts the loads of later steps early, into buffers in shared
# memory. `num_stages` is the number of such buffers. With one, nothing runs ahead. In the machine code, `LDGSTS` is a
# load that goes to shared memory on its own, while the program goes on:

# %%
for stages in (1, 2, 3, 4):
    made = product.compile("sm_90", num_warps=8, num_stages=stages)
    ahead = made.stages["sass"].count("LDGSTS")
    shared = made.metadata.shared // 1024
    fit = made.cost.occupancy.programs
    print(
        f"{stages} stages: {ahead:2} loads on their own, {shared:3} KiB shared, {fit} fit at once"
    )

# %% [markdown]
# Each stage costs shared memory. With four, only one program fits on a multiprocessor and no longer two. More is not
# always better: this is a trade.
#
# ## Exercise 3: stages that fit
#
# A step of this loop loads a tile of `a`, 128 by 64, and one of `b`, 64 by 128, in float16. How many bytes does a stage
# need? And how many stages fit at most, if a program may use 227 KiB of shared memory?

# %%
# BEGIN SOLUTION: a tuple, (bytes of a stage, stages that fit)
stages_that_fit = (2 * 128 * 64 * 2, 227 * 1024 // (2 * 128 * 64 * 2))
# END SOLUTION

# %%
exercise("stages_that_fit").check(stages_that_fit)

# %% [markdown]
# The compiler agrees:

# %%
for stages in (7, 8):
    made = product.compile("sm_90", num_warps=8, num_stages=stages)
    print(stages, "stages:", *(made.problems or ["no problem"]))

# %% [markdown]
# ## Let the machine choose
#
# Tile, warps, stages, bands: there are hundreds of combinations. Twelve of them were measured on an H100, for three
# sizes. The fastest and the slowest of each:

# %%
found = lab.examples.measurement("configurations")
for size in (1024, 4096, 8192):
    rows = sorted((row for row in found if row.size == size), key=lambda row: row.seconds)
    for name, row in (("fastest", rows[0]), ("slowest", rows[-1])):
        chosen = {key: row.config[key] for key in ("tile", "num_warps", "num_stages")}
        print(f"{size:5} {name}: {row.seconds * 1e6:7.1f} µs {chosen}")

# %% [markdown]
# The slowest takes twice as long as the fastest, and the fastest is not the same for all sizes. It also depends on the
# type and on the GPU.
#
# `triton.autotune` takes a list of configurations. When the kernel is launched, it runs each of them on your tensors,
# measures, and keeps the fastest. `key` names the arguments for which it must choose anew. Here the key is `n`, so a
# vector of another length is tuned again.


# %%
@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 256}, num_warps=2),
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 4096}, num_warps=8),
    ],
    key=["n"],
)
@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, 2 * tl.load(x_ptr + at, mask=at < n), mask=at < n)


def grid_of(n):
    """The grid depends on the BLOCK that is chosen: it is a function of the configuration."""
    return lambda meta: (triton.cdiv(n, meta["BLOCK"]),)


with lab.record() as launches:
    double[grid_of(10_000)](torch.rand(10_000), torch.empty(10_000), 10_000)
launches[0].plot.autotune()

# %% [markdown]
# On this machine the times are those of an interpreter, and the picture says so. What you see is what was tried. On a
# GPU the same cell would measure.
#
# ## The trap
#
# The autotuner runs each configuration *on your tensors*. A kernel that only writes its result does not mind: it writes
# the same numbers again. **Guess first:** `x` is all zeros, the kernel adds 1 in place, and there are two
# configurations. What is in `x` after one launch?


# %%
@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def add_one_in_place(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1, mask=at < n)


zeros = torch.zeros(200)
with lab.record() as launches:
    add_one_in_place[grid_of(200)](zeros, 200)
print(zeros[:4].tolist())
launches[0].findings

# %% [markdown]
# Three: one for each trial, one for the launch. On a GPU each configuration is tried for many milliseconds, thousands
# of times. The second launch with the same `n` is right, since the choice is then known. So the mistake comes once in a
# program, at its start, and a test that warms up first never sees it.
#
# `restore_value=["x_ptr"]` lets the autotuner put the old contents back after each trial. `reset_to_zero=["sum_ptr"]`
# is for a tensor that must be zero before the kernel adds to it.
#
# ## Exercise 4: add in place, tuned
#
# `x` becomes `x + factor * y`, in place. Write the kernel, and give it an autotuner with at least two configurations.
# The first launch must be right, too. (`@triton.autotune(...)` above a kernel is the same as
# `triton.autotune(...)(kernel)`. `cache` makes the autotuner once, so that it remembers its choice.)

# %%
from functools import cache


@triton.jit
def axpy_kernel(x_ptr, y_ptr, n, factor, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load both blocks, and store x + factor * y to where x is
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    y = tl.load(y_ptr + at, mask=at < n)
    tl.store(x_ptr + at, x + factor * y, mask=at < n)
    # END SOLUTION


@cache
def tuned_axpy():
    """The kernel under an autotuner."""
    # BEGIN SOLUTION: return triton.autotune(...)(axpy_kernel)
    configs = [triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 256})]
    return triton.autotune(configs=configs, key=["n"], restore_value=["x_ptr"])(axpy_kernel)
    # END SOLUTION


def add_scaled(x, y, factor):
    """x becomes x + factor * y, for contiguous vectors."""
    n = x.numel()
    tuned_axpy()[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n, factor)


# %%
exercise("add_scaled").check(add_scaled)

# %% [markdown]
# ## What to remember
#
# - Programs with neighbouring numbers run at the same time. Their tiles should form a square: then a wave needs the
#   fewest bytes, and the cache serves the rest.
# - `num_warps` shares a tile out among more threads: fewer registers for each. `num_stages` lets loads run ahead, and
#   costs shared memory.
# - An autotuner chooses by measuring. Its `key` must name all that changes the choice.
# - It measures on your tensors. A kernel that changes what it reads needs `restore_value` or `reset_to_zero`.

# %%
lab.course.progress("10")

# %% [markdown]
# **Where to read on.** [Chapter 19](19_machine_code.ipynb) compares two choices in the machine code, and [chapter
# 29](29_gpu_and_interpreter.ipynb) measures with `lab.sweep`. Triton's tutorial *Matrix Multiplication* puts bands and
# autotuner into one kernel. In a terminal, `triton-lab explain tuned-in-place` and `triton-lab explain tuned-leftover`
# say more of the trap.
