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
# # Your first kernel
#
# *About 40 minutes. You need no chapter before it: only some NumPy.*
#
# A Triton kernel is a program that is started many times at once. Each copy - a *program* - works on its own block of
# the data. Its program id tells it which block. This course runs such kernels on any machine: you need no GPU. In
# this chapter you will
#
# 1. read and run a kernel, and see which program touches which element,
# 2. look inside: the value of each variable of a program, step by step,
# 3. write four kernels of your own, each checked on many inputs.
#
# Run the cells from top to bottom: Shift+Enter.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab
# %triton

# %% [markdown]
# ## Adding two vectors
#
# `%%triton cpu` on the first line runs the cell on the CPU and shows each launch. The kernel is plain
# Triton: the same text compiles for a GPU.


# %%
# %%triton cpu --show tiling
@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


x = torch.arange(100, dtype=torch.float32)
y = torch.ones(100)
out = torch.empty(100)
add[(triton.cdiv(100, 16),)](x, y, out, 100, BLOCK=16)

# %% [markdown]
# Seven programs of 16 *lanes* each: 112 lanes for 100 elements. The last program's mask turns 12 lanes off. In the
# picture they lie past the end. Click an element to pick its program.
#
# Was the sum right? Torch says so:

# %%
torch.equal(out, x + y)

# %% [markdown]
# **Try it.** Remove `mask=mask` from the store, run the cell again, and read the message. Which program was stopped,
# and at which element?
#
# ## What each line computes
#
# `lab.record()` records launches, also outside of a `%%triton` cell. A recorded launch can show any variable of any
# program. Here is program 6, the last one:

# %%
with lab.record() as launches:
    add[(7,)](x, y, torch.empty(100), 100, BLOCK=16)
launch = launches[0]
print("offsets:", launch.values("offsets").at()[6])
print("mask:   ", launch.values("mask").at()[6].astype(int))

# %% [markdown]
# - `tl.program_id(0)` is the program's number: 6.
# - `tl.arange(0, BLOCK)` is a *block* of 16 numbers, one for each lane; `offsets` starts at 96.
# - `mask` is a block of truth values: only the first four lanes have an element.
# - `tl.load(x_ptr + offsets, mask=mask)` reads 16 addresses at once, but skips those where the mask is false.
#
# The same, step by step. Move the slider; pick another program.

# %%
launch.plot.steps(program=6)

# %% [markdown]
# ## Exercise 1: add a constant
#
# Write the kernel: every element of `out` is that of `x`, plus `value`. The launcher is there already. The next cell
# checks your answer on seven vectors of 0 to 1,000 elements. A check says what is wrong and shows where.
#
# Stuck? `exercise("add_constant").hint()` gives a hint, and another one each time.


# %%
@triton.jit
def add_constant_kernel(x_ptr, out_ptr, n, value, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load a block of x, add value, and store it to out. Mind the mask.
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + value, mask=mask)
    # END SOLUTION


def add_constant(x, value):
    """x + value, in a new tensor."""
    out = torch.empty_like(x)
    n = x.numel()
    add_constant_kernel[(triton.cdiv(n, 128),)](x, out, n, value, BLOCK=128)
    return out


# %%
exercise("add_constant").check(add_constant)

# %% [markdown]
# ## Exercise 2: scale and shift
#
# Two vectors and a number: `a * x + y`. This time, write the launch as well: how many programs do you need?


# %%
@triton.jit
def scale_and_shift_kernel(x_ptr, y_ptr, out_ptr, n, a, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load both blocks, and store a * x + y
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, a * x + y, mask=mask)
    # END SOLUTION


def scale_and_shift(x, y, a):
    """a * x + y, in a new tensor."""
    out = torch.empty_like(x)
    # BEGIN SOLUTION: launch scale_and_shift_kernel with enough programs
    n = x.numel()
    scale_and_shift_kernel[(triton.cdiv(n, 64),)](x, y, out, n, a, BLOCK=64)
    # END SOLUTION
    return out


# %%
exercise("scale_and_shift").check(scale_and_shift)

# %% [markdown]
# ## Exercise 3: nothing below zero
#
# The lanes of a block go through the kernel together: an `if` cannot send some one way and some another. Each lane
# *chooses* instead. Here is such a choice, and the resulting block:


# %%
# %%triton cpu --show values
@triton.jit
def distance(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    negative = x < 0
    tl.store(out_ptr + i, tl.where(negative, -x, x))


signed, unsigned = torch.arange(-4.0, 4.0), torch.empty(8)
distance[(1,)](signed, unsigned, BLOCK=8)
print(unsigned)

# %% [markdown]
# Write `relu`: an element that is below zero becomes 0, and the others stay.


# %%
@triton.jit
def relu_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: store x where it is above zero, and 0 elsewhere
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.where(x > 0, x, 0.0), mask=mask)
    # END SOLUTION


def relu(x):
    """The greater of x and 0, element by element, in a new tensor."""
    out = torch.empty_like(x)
    n = x.numel()
    relu_kernel[(triton.cdiv(n, 128),)](x, out, n, BLOCK=128)
    return out


# %%
exercise("relu").check(relu)

# %% [markdown]
# ## Exercise 4: square in place
#
# A kernel gets *addresses*. It may store to the addresses that it has loaded from. Then the tensor itself changes,
# and the function returns nothing.


# %%
@triton.jit
def square_in_place_kernel(x_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load a block, and store its square to the same addresses
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(x_ptr + offsets, x * x, mask=mask)
    # END SOLUTION


def square_in_place(x):
    """Each element of x becomes its square."""
    n = x.numel()
    square_in_place_kernel[(triton.cdiv(n, 128),)](x, n, BLOCK=128)


# %%
exercise("square_in_place").check(square_in_place)

# %% [markdown]
# ## Exercise 5: lanes without work
#
# The number of lanes of a block is a power of two; vectors have any length. Run the cell, then move the slider *BLOCK*.
# What happens to the lanes past the end?


# %%
def launch_add(BLOCK: int = 32):
    add[(triton.cdiv(100, BLOCK),)](x, y, torch.empty(100), 100, BLOCK=BLOCK)


lab.interact(launch_add, draw=lambda made: made.plot.tiling("out_ptr"), BLOCK=[8, 16, 32, 64, 128])

# %% [markdown]
# 1,000 elements in blocks of 128: how many lanes does the mask turn off, over all programs?

# %%
# BEGIN SOLUTION: count the lanes that have no element
idle_lanes = 24
# END SOLUTION

# %%
exercise("idle_lanes").check(idle_lanes)

# %% [markdown]
# ## What to remember
#
# - A program's share of the data is set by its program id, the block size and the mask.
# - A kernel computes with whole blocks; lanes choose with `tl.where`, not with `if`.
# - The grid is rounded up, and the mask turns off the lanes past the end.
# - A check runs your kernel on sizes that you did not think of. Its picture shows where the result is wrong.
#
# How far are you? The file `course-progress.json` beside this notebook keeps it.

# %%
lab.course.progress("00")

# %% [markdown]
# **Where to read on.** [Chapter 02](02_programs_and_grids.ipynb) has more programs, in two dimensions. Triton's own
# first tutorial, *Vector Addition*, measures this kernel on a GPU.
