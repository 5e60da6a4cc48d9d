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
# # Random numbers and dropout
#
# *About 40 minutes. You need chapters 00 to 07, and for exercise 5 chapter 11.*
#
# NumPy's generator has a state: each number that you take changes it, so numbers come one after the other. A GPU has
# ten thousand threads that want a number now, and none of them can wait for a state. In this chapter you will
#
# 1. use random numbers that are a function of a seed and an offset, and of nothing else,
# 2. write a dropout whose result does not depend on blocks or programs,
# 3. write its backward pass without having stored a mask,
# 4. avoid two mistakes that no error message reports.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab

# %% [markdown]
# ## A function, not a stream
#
# `tl.rand(seed, offsets)` gives a number from 0 up to 1 for each offset. It has no memory: number 17 of seed 3 is
# always the same, whoever asks, and how often. Inside, an algorithm called *Philox* mixes seed and offset in ten rounds
# of multiplications, until no pattern is left.


# %%
# %%triton cpu --show values
@triton.jit
def some_numbers(out_ptr, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    numbers = tl.rand(seed, i)
    tl.store(out_ptr + i, numbers)


first = torch.empty(64)
some_numbers[(1,)](first, 3, BLOCK=64)

# %%
again, other = torch.empty(64), torch.empty(64)
some_numbers[(1,)](again, 3, BLOCK=64)
some_numbers[(1,)](other, 4, BLOCK=64)
print("the same seed:", torch.equal(first, again), " another seed:", torch.equal(first, other))

# %% [markdown]
# ## The first mistake
#
# Here eight programs fill a matrix, one row each. **Guess first:** what will the matrix look like?


# %%
@triton.jit
def fill(out_ptr, seed, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    numbers = tl.rand(seed, column)
    tl.store(out_ptr + row * BLOCK + column, numbers)


filled = torch.empty(8, 32)
with lab.record() as launches:
    fill[(8,)](filled, 3, BLOCK=32)
print("different rows:", len(filled.unique(dim=0)), "of 8")
print(filled[:, :6])
launches[0].plot.values("numbers")

# %% [markdown]
# All rows are equal, as every program asks for numbers 0 to 31. The picture shows those of program 0. No error, no
# finding: each number by itself looks random. **The offset must be different for every number that you want to be
# different.** The place of the element in the whole tensor is such an offset. It has another advantage: the result does
# not change when you choose another block size.
#
# ## Exercise 1: a matrix of random numbers
#
# Element `(i, j)` is number `i * columns + j` of the seed. Choose any blocks and any grid: the result is the same.


# %%
@triton.jit
def uniform_kernel(out_ptr, n, seed, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: the offset is the place in the whole matrix
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.rand(seed, offsets), mask=offsets < n)
    # END SOLUTION


def uniform(rows, columns, seed):
    """A float32 matrix of random numbers from 0 up to 1."""
    out = torch.empty((rows, columns))
    n = rows * columns
    uniform_kernel[(triton.cdiv(n, 256),)](out, n, seed, BLOCK=256)
    return out


# %%
exercise("uniform").check(uniform)

# %% [markdown]
# Are your numbers spread evenly? Ten thousand of them, counted in ten bins of equal width:

# %%
print(torch.histc(uniform(100, 100, 3), bins=10, min=0, max=1).int().tolist())

# %% [markdown]
# ## Dropout
#
# While a network is trained, dropout sets each element to 0 with probability `p`, so that no element can be relied on.
# The elements that stay are multiplied by `1 / (1 - p)`. **Guess first:** why? Compare the means.

# %%
ones = torch.ones(100_000)
keep = torch.rand(100_000, generator=torch.Generator().manual_seed(1)) > 0.25
print(f"without the factor {(ones * keep).mean():.3f}, with it {(ones * keep / 0.75).mean():.3f}")

# %% [markdown]
# A sum over many elements stays the same on average. So the next layer sees numbers of the usual size, in training
# and later, when dropout is turned off.
#
# ## Exercise 2: dropout
#
# For a matrix with any strides. Element `(i, j)` stays if number `i * columns + j` of the seed is greater than `p`. The
# result is contiguous and has the dtype of `x`.


# %%
@triton.jit
def dropout_kernel(x_ptr, out_ptr, n, columns, stride_0, stride_1, p, seed, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load, draw, choose, store
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at // columns * stride_0 + at % columns * stride_1, mask=mask)
    keep = tl.rand(seed, at) > p
    tl.store(out_ptr + at, tl.where(keep, x / (1 - p), 0.0), mask=mask)
    # END SOLUTION


def dropout(x, p, seed):
    """x with elements dropped with probability p, the others times 1 / (1 - p)."""
    out = torch.empty(x.shape, dtype=x.dtype)
    # BEGIN SOLUTION: launch dropout_kernel
    n = x.numel()
    grid = (triton.cdiv(n, 256),)
    dropout_kernel[grid](x, out, n, x.shape[1], *x.stride(), p, seed, BLOCK=256)
    # END SOLUTION
    return out


# %%
exercise("dropout").check(dropout)

# %% [markdown]
# Run the cell, then move the slider *p*: which lanes stay, for which `p`? Lanes that stay for a large `p` stay for a
# smaller one, too.


# %%
@triton.jit
def stay(out_ptr, p, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    tl.store(out_ptr + i, keep)


def launch_stay(p: float = 0.25):
    stay[(1,)](torch.empty(256, dtype=torch.bool), p, 3, BLOCK=256)


lab.interact(launch_stay, draw=lambda made: made.plot.values("keep"), p=[0.0, 0.1, 0.25, 0.5, 0.9])

# %% [markdown]
# ## Backward: draw again
#
# The gradient of a dropped element is 0, and that of the others is multiplied by the same factor. So the backward pass
# needs to know which elements were dropped. A mask could be stored. But number `i` of the seed is still the same
# number: draw it again. Then all that must be kept is the seed.
#
# Dropout is linear: each element is multiplied by 0 or by `1 / (1 - p)`. So its backward pass is dropout itself, of
# the gradient, with the same seed:


# %%
class Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, seed):
        ctx.p, ctx.seed = p, seed
        return dropout(x, p, seed)

    @staticmethod
    def backward(ctx, gradient):
        return dropout(gradient.contiguous(), ctx.p, ctx.seed), None, None


x = torch.randn(3, 5, requires_grad=True)
Dropout.apply(x, 0.5, 7).sum().backward()
print(x.grad)

# %% [markdown]
# Every entry is 0 or 2, as it must be.
#
# ## Exercise 3: a gradient with the mask drawn again
#
# The loss is the sum of all `dropout(x) ** 2`. What is its gradient for `x`? Write one kernel, which loads each
# element of `x` once. Here `x` is a contiguous vector, and element `i` stays if number `i` is greater than `p`.


# %%
@triton.jit
def gradient_of_squares_kernel(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: 2 * x * factor ** 2 where the element stayed
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    factor = tl.where(tl.rand(seed, at) > p, 1 / (1 - p), 0.0)
    tl.store(out_ptr + at, 2 * x * factor * factor, mask=at < n)
    # END SOLUTION


def gradient_of_squares(x, p, seed):
    """The gradient of the sum of dropout(x) ** 2, in a new vector."""
    out = torch.empty_like(x)
    n = x.numel()
    gradient_of_squares_kernel[(triton.cdiv(n, 256),)](x, out, n, p, seed, BLOCK=256)
    return out


# %%
exercise("gradient_of_squares").check(gradient_of_squares)

# %% [markdown]
# ## Exercise 4: what the mask would cost
#
# A million float32 elements, forward and backward. With a stored mask, the forward pass stores one byte for each
# element, and the backward pass loads it. With a seed, neither does. How many bytes move with a mask, and how many
# with a seed, both passes together?

# %%
# BEGIN SOLUTION: a tuple, (bytes with a mask, bytes with a seed)
bytes_of_dropout = (2 * (4 + 4 + 1) * 1_000_000, 2 * (4 + 4) * 1_000_000)
# END SOLUTION

# %%
exercise("bytes_of_dropout").check(bytes_of_dropout)

# %% [markdown]
# So a seed should be faster by a ninth. **Guess first:** is it? It also costs arithmetic: ten rounds of Philox for each
# element. An H100 was asked, for one pass:

# %%
dropouts = lab.examples.measurement("dropouts")
largest = {row.name: row.seconds for row in dropouts if row.size == 2**28}
for name, seconds in largest.items():
    print(f"{name:14}{seconds * 1e6:6.0f} µs")
dropouts.plot()

# %% [markdown]
# No: the two are about equal, and the seed is even a little slower. In this kernel, arithmetic is no longer free. What
# the seed saves for certain is the mask's memory, a quarter of the tensor's, which would have to be kept until the
# backward pass. And the mask was given here: to draw it costs the same arithmetic once. Count first, then measure.
#
# ## The second mistake
#
# A model has many layers, and each has its dropout. If all use the same seed and the same offsets, all drop the same
# places. **Guess first:** two layers with `p = 0.5`, one after the other. How many of 1,000 elements survive both?

# %%
signal = torch.ones(1, 1000)
same = dropout(dropout(signal, 0.5, 3), 0.5, 3)
different = dropout(dropout(signal, 0.5, 3), 0.5, 4)
print("same seed:", int((same != 0).sum()), " different seeds:", int((different != 0).sum()))

# %% [markdown]
# A half instead of a quarter: the second layer drops what is dropped already. And if the seed is the same in every
# step of the training, the same elements are dropped for ever. So each call needs a seed of its own, or offsets of
# its own. To be able to repeat a training run, take these seeds from one generator with a known seed.
#
# ## Exercise 5: count darts
#
# Throw `n` darts at a square. Dart `i` lands at `x = tl.rand(seed, 2 * i)`, `y = tl.rand(seed, 2 * i + 1)`. How many
# are nearer to the corner than 1, that is, for how many is `x * x + y * y < 1`? Use one atomic addition for each
# program.


# %%
@triton.jit
def darts_kernel(out_ptr, n, seed, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: two numbers for each dart, a count for each program
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.rand(seed, 2 * i), tl.rand(seed, 2 * i + 1)
    hit = (i < n) & (x * x + y * y < 1)
    tl.atomic_add(out_ptr, tl.sum(hit.to(tl.int32), axis=0))
    # END SOLUTION


def darts(n, seed):
    """The number of hits, as an int32 tensor of one element."""
    out = torch.zeros(1, dtype=torch.int32)
    darts_kernel[(triton.cdiv(n, 256),)](out, n, seed, BLOCK=256)
    return out


# %%
exercise("darts").check(darts)

# %% [markdown]
# The hits fill a quarter of a circle:

# %%
print("four times the share of hits:", 4 * darts(20_000, 3).item() / 20_000)

# %% [markdown]
# ## What to remember
#
# - `tl.rand(seed, offset)` has no state: the same seed and the same offset always give the same number.
# - Take the element's place in the whole tensor as the offset. Then numbers differ, and blocks do not matter.
# - Dropout multiplies what stays by `1 / (1 - p)`, so that the mean stays the same.
# - Backward draws again, with the same seed. No mask is stored.
# - Each layer and each step needs its own seed.

# %%
lab.course.progress("12")

# %% [markdown]
# **Where to read on.** Triton's tutorial *Low-Memory Dropout* has the same kernel, and `tl.rand4x` draws four numbers
# for the price of one. Salmon, Moraes, Dror and Shaw's *Parallel random numbers: as easy as 1, 2, 3* is where Philox
# comes from.
