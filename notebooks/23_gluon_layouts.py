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
# # Gluon: layouts and shared memory
#
# *About 60 minutes. You need chapters 01 and 18.*
#
# A Triton kernel says what happens to a block. The compiler then decides which thread holds which element, what goes
# through shared memory, and when a copy starts. Mostly it decides well. *Gluon* is the same language one level lower:
# here you decide. In this chapter you will
#
# 1. write your first Gluon kernels,
# 2. say for each element which thread holds it, and choose layouts that read memory well,
# 3. convert a block from one layout to another, and know what that costs,
# 4. put a tile into shared memory, and read it back without bank conflicts,
# 5. write a transpose in which all four accesses are fast.
#
# The kernels run here without a GPU. What a GPU does with them was measured on an H100.

# %%
import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab
_ = torch.manual_seed(0)

# %% [markdown]
# ## One level lower
#
# [Chapter 18](18_layouts.ipynb) showed the stages of the compiler. In the first one, TTIR, a block has no layout.
# The compiler chooses layouts when it makes the second one, TTGIR. A Gluon kernel *begins* there.
#
# | what | Triton | Gluon |
# |---|---|---|
# | programs, pointers, masks, arithmetic | you | you |
# | which thread holds which element | the compiler | you |
# | what lies in shared memory, and how | the compiler | you |
# | when copies start, and who waits for them | the compiler (`num_stages`) | you |
# | which warps do which work | the compiler | you |
#
# When is this worth it? If you know what the machine should do, and the compiler does something else. Write in Triton
# first, measure, and read what the compiler made. Only then go lower: a Gluon kernel is longer, and more can go wrong.
#
# ## A first kernel
#
# You know each line but one. `gl` has most names of `tl`. New is `layout`: `gl.arange` makes a block, so you say which
# thread holds which element. All that is computed from this block has the same layout.


# %%
@gluon.jit
def double(x_ptr, out_ptr, n, BLOCK: gl.constexpr, layout: gl.constexpr):
    i = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    x = gl.load(x_ptr + i, mask=i < n)
    gl.store(out_ptr + i, 2 * x, mask=i < n)


def launch_double(layout, n=8000, BLOCK=1024):
    """One launch of `double`, recorded."""
    x, out = torch.randn(n), torch.empty(n)
    with lab.record() as launches:
        double[(triton.cdiv(n, BLOCK),)](x, out, n, BLOCK=BLOCK, layout=layout)
    assert torch.equal(out, 2 * x)
    return launches[0]


one_each = gl.BlockedLayout([1], [32], [4], [0])
print(launch_double(one_each).findings)

# %% [markdown]
# A `BlockedLayout` has four lists, each with an entry for each axis:
#
# - `size_per_thread`: how many neighbours a thread holds, here 1;
# - `threads_per_warp`: how many threads are side by side in a warp, here 32;
# - `warps_per_cta`: how many warps are side by side in a program, here 4 (NVIDIA calls a program a *CTA*);
# - `order`: the axes, the fastest first. There is only one here.
#
# Multiply the first three: 1 * 32 * 4 = 128 elements. If the block is larger, the pattern repeats, and each thread
# holds more. **Guess first:** the block has 256 elements. Which thread holds element 37, and which other element does
# it hold? Then ask the lab:

# %%
line = lab.layout(one_each, (256,))
print(line.owner(37))
print(line.elements(warp=1, lane=5))
line

# %% [markdown]
# Thread 5 of warp 1, with elements 37 and 165: the pattern repeats after 128. (In code, Triton's layouts call the
# number of a thread in its warp `lane`. In this course a lane is a place in a block.)
#
# A layout does not change the result, only the work. **Guess first:** with `size_per_thread` 1, 2, 4 or 8, which
# kernel needs the fewest requests to memory? And does one of them move bytes in vain?

# %%
for neighbours in (1, 2, 4, 8):
    compiled = launch_double(gl.BlockedLayout([neighbours], [32], [4], [0])).compile("sm_90")
    load = compiled.transactions.transfers[0]
    print(f"[{neighbours}]: {load.requests} requests, {load.sectors:,} sectors,", end=" ")
    print(f"{load.efficiency:.0%} of the bytes used")

# %% [markdown]
# A thread can load at most 16 bytes at once: four floats. With four neighbours, the warp's 32 threads load 512 bytes in
# one piece, in one request. With eight, each thread needs two requests, and each request takes every second piece of 16
# bytes. A sector has 32 bytes, so half of each sector is not used by that request. Four is best here.
#
# ## Two axes
#
# A tile has rows and columns, and each list has two entries. **Guess first:** each thread holds `[1, 4]`, the threads
# are `[4, 8]` and the warps `[4, 1]`. How many rows does a warp hold? Then point at elements and at registers:

# %%
tile_layout = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
lab.layout(tile_layout, (16, 32))

# %% [markdown]
# Four rows: 4 threads down, 8 across, and 8 * 4 columns. The warps are one below the other.
#
# ## Exercise 1: two rows at once
#
# Make a layout for a tile of `(16, 64)` floats with four warps. Each thread holds four neighbours of a row, and the
# first request of each warp covers two whole rows. No element is held twice.

# %%
# BEGIN SOLUTION: lab.layout(gl.BlockedLayout(...), (16, 64))
whole_rows = lab.layout(gl.BlockedLayout([1, 4], [2, 16], [4, 1], [1, 0]), (16, 64))
# END SOLUTION

# %%
exercise("whole_rows").check(whole_rows)

# %% [markdown]
# ## Rows and columns of a tile
#
# Triton's idiom for a tile is `i[:, None] * stride + j[None, :]`. Here `i` needs a layout, too: the one that, after
# `[:, None]`, is the layout of the tile. It is called a *slice*. `gl.SliceLayout(1, tile_layout)` is what is left of
# `tile_layout` when axis 1 is taken away. So:
#
# - `i = gl.arange(0, 16, gl.SliceLayout(1, tile_layout))` and `i[:, None]`: axis 1 is away, and comes back;
# - `j = gl.arange(0, 32, gl.SliceLayout(0, tile_layout))` and `j[None, :]`: axis 0 is away, and comes back.
#
# The number is that of the axis where `None` will be. **Guess first:** the tile above is 16 x 32, held by 128 threads.
# How many of them hold column number 5?

# %%
columns_of_tile = lab.layout(gl.SliceLayout(0, tile_layout), (32,))
print(len(columns_of_tile.owner(5)), "threads hold element 5")
columns_of_tile

# %% [markdown]
# Sixteen: one in each row. Each of them needs this number to compute its own addresses, and no thread has to ask
# another one for it. If you mix layouts up, the compiler refuses the kernel:


# %%
@gluon.jit
def mixed_up(x_ptr, out_ptr, layout: gl.constexpr):
    i = gl.arange(0, 16, gl.SliceLayout(1, layout))
    j = gl.arange(0, 32, gl.SliceLayout(1, layout))
    at = i[:, None] * 32 + j[None, :]
    gl.store(out_ptr + at, gl.load(x_ptr + at))


try:
    mixed_up[(1,)](torch.randn(16, 32), torch.empty(16, 32), layout=tile_layout)
except Exception as error:
    print(str(error).splitlines()[-1][:160])

# %% [markdown]
# ## Exercise 2: add a bias
#
# `x + bias`, for a matrix with any strides and a contiguous vector. The bias has one number for each column. Write the
# kernel in Gluon. `TILE` is the layout of a tile: a kernel may use a variable of the notebook if it is a
# `gl.constexpr`.

# %%
TILE = gl.constexpr(gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))


@gluon.jit
def bias_kernel(x_ptr, bias_ptr, out_ptr, rows, columns, stride_0, stride_1, T: gl.constexpr):
    # BEGIN SOLUTION: i and j with slices of TILE; load x and the bias, store their sum
    i = gl.program_id(0) * T + gl.arange(0, T, gl.SliceLayout(1, TILE))
    j = gl.program_id(1) * T + gl.arange(0, T, gl.SliceLayout(0, TILE))
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    x = gl.load(x_ptr + i[:, None] * stride_0 + j[None, :] * stride_1, mask=mask)
    bias = gl.load(bias_ptr + j, mask=j < columns)
    gl.store(out_ptr + i[:, None] * columns + j[None, :], x + bias[None, :], mask=mask)
    # END SOLUTION


def bias_in_gluon(x, bias):
    """x + bias, contiguous."""
    out = torch.empty(x.shape)
    grid = (triton.cdiv(x.shape[0], 32), triton.cdiv(x.shape[1], 32))
    bias_kernel[grid](x, bias, out, *x.shape, *x.stride(), T=32)
    return out


# %%
exercise("bias_in_gluon").check(bias_in_gluon)

# %% [markdown]
# ## From one layout to another
#
# Suppose that a tile is loaded by rows, but the next step needs it by columns. `gl.convert_layout(tile, other)` gives
# every element to its new thread. What that costs depends on how far the elements move. Here are three
# conversions from the layout of above. **Guess first:** which of them can be done without shared memory?

# %%
rows_of_warps = lab.layout(tile_layout, (16, 32))
others = {
    "itself": tile_layout,
    "four rows a thread": gl.BlockedLayout([4, 1], [1, 32], [4, 1], [1, 0]),
    "columns": gl.BlockedLayout([1, 1], [16, 2], [1, 4], [0, 1]),
}
for name, other in others.items():
    moved = rows_of_warps.to(lab.layout(other, (16, 32)))
    print(f"to {name}, by {moved.way}:", moved.counts())

# %% [markdown]
# There are three prices. If each element stays in its thread, the conversion is free. If it stays in its warp, the
# threads exchange registers with instructions called *shuffles*. If it must go to another warp, there is only one way:
# through shared memory, with a barrier between the stores and the loads. Here is the last of the three, in pictures.
# Where does one element go?

# %%
moved.plot(element=(1, 6))

# %% [markdown]
# In Triton the compiler inserts such conversions by itself. In Gluon none happens that you did not write, so you see
# each price. If two layouts are exactly the same, `gl.convert_layout(x, other, assert_trivial=True)` makes the compiler
# refuse anything that would cost.
#
# ## Shared memory
#
# A conversion through shared memory can also be written out: allocate a buffer, store the tile, load it with another
# layout. Then the tile can also be used twice, or be filled by a copy that runs while the program goes on: that is the
# next chapter. Here is a transpose of one tile of 32 x 32, in this way:

# %%
DOWN = gl.constexpr(gl.BlockedLayout([1, 1], [32, 1], [1, 4], [0, 1]))


@gluon.jit
def turn_one(x_ptr, out_ptr, shared: gl.constexpr):
    i = gl.arange(0, 32, gl.SliceLayout(1, TILE))
    j = gl.arange(0, 32, gl.SliceLayout(0, TILE))
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], shared)
    tile.store(gl.load(x_ptr + i[:, None] * 32 + j[None, :]))
    turned = tile.load(DOWN)
    i = gl.arange(0, 32, gl.SliceLayout(1, DOWN))
    j = gl.arange(0, 32, gl.SliceLayout(0, DOWN))
    gl.store(out_ptr + j[None, :] * 32 + i[:, None], turned)


def launch_turn_one(phases=1):
    """One launch of `turn_one`, recorded; the tile is swizzled with this many phases."""
    x, out = torch.randn(32, 32), torch.empty(32, 32)
    shared = gl.SwizzledSharedLayout(vec=1, per_phase=1, max_phase=phases, order=[1, 0])
    with lab.record() as launches:
        turn_one[(1,)](x, out, shared)
    assert torch.equal(out, x.t())
    return launches[0]


launch = launch_turn_one()
found = launch.findings[0]
print(found.message)
print(found.hint)
sass = launch.compile("sm_90").stages["sass"].splitlines()
order = [word for line in sass for word in ("STS", "BAR.SYNC", "LDS") if word in line]
print(*dict.fromkeys(order), sep=", ")

# %% [markdown]
# The result is right, and yet there is a finding. (The last line is from the machine code: stores to shared memory, a
# barrier for all warps, loads. The compiler puts this barrier there by itself: you need not write one between a
# program's own stores and loads.)
#
# ## Bank conflicts, and how to avoid them
#
# Shared memory has 32 *banks*. Word `w`, of four bytes, is in bank `w % 32`, and each bank gives one word at a time. A
# row of the tile has 32 words. **Guess first:** when the 32 threads of a warp read a column, how many banks give
# something? Then look at what one warp reads at once. Run the cell, and move the slider *phases*: with 32 phases the
# conflicts are gone.

# %%
lab.interact(
    launch_turn_one,
    draw=lambda launch: launch.plot.shared_memory("tile", line=found.line),
    phases=[1, 2, 4, 8, 16, 32],
)

# %% [markdown]
# One bank! All 32 threads wait for it, so the read takes 32 times as long. A *swizzle* changes where the words of a row
# are: with 32 phases, element `[i, j]` is in bank `i ^ j` (the bits of both, by exclusive or). Each row uses each bank
# once, as before, but now each column does so, too. No byte is wasted.
#
# Is it 32 times slower on a GPU? An H100 read columns again and again. **Guess first:** what does the time do if twice
# as many threads meet in a bank?

# %%
conflicts = lab.examples.measurement("conflicts")
for row in conflicts:
    print(f"{row.size:2} threads in a bank: {row.bytes / row.time.median / 1e12:5.2f} TB/s")

# %% [markdown]
# From two threads on, it is as counted: twice as many threads in a bank, half the speed. (With one thread in each bank
# the reads are so fast that something else in the loop is the limit.) 32 threads in a bank are 20 times slower than
# none that meet.
#
# ## Exercise 3: rows of 48 words
#
# The older cure is *padding*: after each row, leave a few words unused. A tile has rows of 48 words, without a swizzle
# or padding. A warp's 32 threads read a column, one element each. How many threads meet in the same bank? And how many
# words of padding, as few as possible, must follow each row so that no two threads meet?

# %%
# BEGIN SOLUTION: a tuple, (threads that meet in a bank, words of padding)
rows_of_48 = (16, 1)
# END SOLUTION

# %%
exercise("rows_of_48").check(rows_of_48)

# %% [markdown]
# ## Exercise 4: a transpose
#
# The transpose of a contiguous float32 matrix of any shape, in Gluon. Four accesses must be fast: the load and the
# store in global memory (few sectors, so neighbouring threads access neighbouring addresses), and the two in shared
# memory (no bank conflicts). `TILE` and `DOWN` are the layouts of above.

# %%
TILE = gl.constexpr(gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))
DOWN = gl.constexpr(gl.BlockedLayout([1, 1], [32, 1], [1, 4], [0, 1]))


@gluon.jit
def turn_kernel(x_ptr, out_ptr, rows, columns, T: gl.constexpr):
    # BEGIN SOLUTION: load with TILE, go through shared memory, store with DOWN
    shared: gl.constexpr = gl.SwizzledSharedLayout(vec=1, per_phase=1, max_phase=32, order=[1, 0])
    i = gl.program_id(0) * T + gl.arange(0, T, gl.SliceLayout(1, TILE))
    j = gl.program_id(1) * T + gl.arange(0, T, gl.SliceLayout(0, TILE))
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    tile = gl.allocate_shared_memory(gl.float32, [T, T], shared)
    tile.store(gl.load(x_ptr + i[:, None] * columns + j[None, :], mask=mask))
    i = gl.program_id(0) * T + gl.arange(0, T, gl.SliceLayout(1, DOWN))
    j = gl.program_id(1) * T + gl.arange(0, T, gl.SliceLayout(0, DOWN))
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    gl.store(out_ptr + j[None, :] * rows + i[:, None], tile.load(DOWN), mask=mask)
    # END SOLUTION


def turn_in_gluon(x):
    """The transpose of x, contiguous."""
    rows, columns = x.shape
    out = torch.empty((columns, rows))
    grid = (triton.cdiv(rows, 32), triton.cdiv(columns, 32))
    turn_kernel[grid](x, out, rows, columns, T=32)
    return out


# %%
exercise("turn_in_gluon").check(turn_in_gluon)

# %% [markdown]
# Why go through shared memory at all? Without it, either the load or the store touches a column of global memory: 32
# sectors for 32 floats. An H100 was asked, with float32 matrices. **Guess first:** order four ways by their speed:
# registers alone; a buffer with conflicts; a swizzled buffer; `gl.convert_layout`. The axis has the rows of a matrix.

# %%
transposes = lab.examples.measurement("transposes")
transposes.plot()

# %% [markdown]
# For the largest matrix, registers alone reach 15 % of the speed of a copy, the buffer with conflicts 58 %, and the
# swizzled one 94 %. `gl.convert_layout` is as fast: the compiler also goes through shared memory, and swizzles.
#
# So here the conflicts make the transpose 1.6 times slower, and not 20 times. While some programs wait for shared
# memory, others wait for global memory, and a transpose needs both. A transpose that goes to global memory by columns
# loses most.
#
# ## What to remember
#
# - A Gluon kernel begins where the compiler would choose layouts. Every block has a layout, and you choose it.
# - `BlockedLayout(size_per_thread, threads_per_warp, warps_per_cta, order)`: multiply the first three to see what is
#   held at once; then the pattern repeats.
# - 16 bytes for each thread, and a warp's pieces side by side: so memory is read best.
# - `SliceLayout(axis, parent)` is the layout of a row or column, where `axis` is that of the `None`.
# - A conversion is free within a thread, cheap within a warp, and goes through shared memory between warps.
# - 32 words of different banks are one access. A swizzle makes rows and columns of a tile free of conflicts.

# %%
lab.course.progress("23")

# %% [markdown]
# **Where to read on.** Triton's repository has tutorials about Gluon in `python/tutorials/gluon`; the second is about
# layouts and measures copies with many of them. NVIDIA's *CUDA C++ programming guide* says how the banks of shared
# memory work. [Chapter 24](24_gluon_barriers.ipynb) fills shared memory while the program does something else.
