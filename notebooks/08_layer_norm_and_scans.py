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
# # Layer norm and scans
#
# *About 50 minutes. You need chapters 00 to 07.*
#
# Layer norm is in every layer of a language model. It needs two numbers of each row, the mean and the variance, before
# it can compute the first result. A scan is the opposite: each result needs all elements before it. Both look as if
# they had to be computed one element after the other. In this chapter you will
#
# 1. write layer norm so that it survives numbers around 10,000,
# 2. compute mean and variance of a row of any length in a single pass, with Welford's method,
# 3. compute running sums with all lanes at once,
# 4. give the scan an operation of your own, and solve a recurrence with it.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise, predict

# %load_ext triton_lab
_ = torch.manual_seed(0)

# %% [markdown]
# ## Layer norm
#
# For each row: take away the mean, divide by the standard deviation, multiply by a weight and add a bias. Weight and
# bias have one number for each column, and a model learns them.
#
# `(x - mean) / sqrt(variance + eps) * weight + bias`
#
# The small number `eps`, here 1e-5, keeps the division alive when all elements of a row are equal. If a row fits into
# a block, this is exercise 5 of chapter 07 with two more loads.
#
# ## Exercise 1: layer norm of a row in a block
#
# For a matrix with any strides, in float32 and float16. Compute in float32. Load each element of `x` once.


# %%
@triton.jit
def layer_norm_kernel(
    x_ptr, weight_ptr, bias_ptr, out_ptr, columns, stride_0, stride_1, BLOCK: tl.constexpr
):
    # BEGIN SOLUTION: mean, differences, variance; then weight and bias
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * stride_0 + column * stride_1, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns
    weight = tl.load(weight_ptr + column, mask=mask)
    bias = tl.load(bias_ptr + column, mask=mask)
    y = centred / tl.sqrt(variance + 1e-5) * weight + bias
    tl.store(out_ptr + row * columns + column, y, mask=mask)
    # END SOLUTION


def layer_norm(x, weight, bias):
    """Layer norm of each row, contiguous, of the dtype of x; weight and bias are contiguous."""
    rows, columns = x.shape
    out = torch.empty((rows, columns), dtype=x.dtype)
    BLOCK = triton.next_power_of_2(columns)
    layer_norm_kernel[(rows,)](x, weight, bias, out, columns, *x.stride(), BLOCK=BLOCK)
    return out


# %%
exercise("layer_norm").check(layer_norm)

# %% [markdown]
# What limits it? Each element is loaded once and stored once, and there are about seven operations for each. The
# roofline of [chapter 01](01_what_a_gpu_is.ipynb) answers:

# %%
with lab.record() as launches:
    layer_norm(torch.randn(8, 1024), torch.ones(1024), torch.zeros(1024))
launches[0].compile("sm_90").plot.cost("H100")

# %% [markdown]
# It is far on the left. So only one thing makes layer norm fast: to load each element once.
#
# ## A row that does not fit
#
# A block is held in registers. A thread has at most 255 of them, so a program of 4 warps holds at most 32,640 numbers.
# More warps hold more, up to the 65,536 registers of a multiprocessor. A longer row is read in steps, and after each
# step the numbers are gone. The obvious kernel has three loops: one for the mean, one for the variance, one for the
# result. In the picture behind the question, time runs down.


# %%
@triton.jit
def three_loops(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    base = tl.program_id(0) * columns
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + base + j, mask=j < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + j, mask=j < columns, other=0.0)
        centred = tl.where(j < columns, x - mean, 0.0)
        squares += centred * centred
    deviation = tl.sqrt(tl.sum(squares, axis=0) / columns + 1e-5)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + j, mask=j < columns, other=0.0)
        tl.store(out_ptr + base + j, (x - mean) / deviation, mask=j < columns)


with lab.record() as launches:
    three_loops[(1,)](torch.randn(1, 256), torch.empty(1, 256), 256, BLOCK=64)
loads = [access for access in launches[0].accesses if access.kind == "load"]
lanes = sum(int(access.mask(step).sum()) for access in loads for step in range(access.iterations))
predict(
    "How often is each of the 256 elements loaded?",
    [1, 2, 3, 4],
    right=lanes // 256,
    picture=launches[0].plot.timeline("x_ptr", program=0),
    why="Each loop loads the whole row again, four blocks of 64.",
)

# %% [markdown]
# Three times. Can one loop compute both numbers, mean and variance? The textbook has a formula for that: the mean of
# the squares minus the square of the mean. [Chapter 07](07_reductions.ipynb) has shown that it loses digits. How bad
# is that for numbers around 10,000? **Guess first:** the true variance is 0.08.


# %%
@triton.jit
def one_loop(x_ptr, variance_ptr, columns, BLOCK: tl.constexpr):
    base = tl.program_id(0) * columns
    total = tl.zeros((BLOCK,), tl.float32)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + j, mask=j < columns, other=0.0)
        total += x
        squares += x * x
    mean = tl.sum(total, axis=0) / columns
    tl.store(variance_ptr + tl.program_id(0), tl.sum(squares, axis=0) / columns - mean * mean)


around = 10_000 + torch.rand(4, 200)
variances = torch.empty(4)
one_loop[(4,)](around, variances, 200, BLOCK=64)
print("by the textbook:", variances.tolist())
print("in float64:     ", around.double().var(1, correction=0).tolist())

# %% [markdown]
# A variance may not be negative, and its root would be NaN. A float32 number has 24 significant bits, which are about
# seven digits. The squares are around 100,000,000, and there the distance between neighbouring numbers is 8. What we
# look for is a hundred times smaller.
#
# ## Welford's method
#
# Keep three numbers of what you have seen: the *count*, the *mean*, and the sum of the squared differences from that
# mean, often called M2. Two such triples, of two parts of a row, can be made into the triple of both:
#
# - count: the sum of both counts,
# - mean: the first mean, moved towards the second by the second's share,
# - M2: the sum of both, and something for the distance of the means.
#
# No step squares a large number. Only differences are squared.


# %%
def together(count_a, mean_a, m2_a, count_b, mean_b, m2_b):
    count = count_a + count_b
    apart = mean_b - mean_a
    mean = mean_a + apart * count_b / count
    m2 = m2_a + m2_b + apart * apart * count_a * count_b / count
    return count, mean, m2


def triple(part):
    return len(part), part.mean(), (part - part.mean()).square().sum()


row = around[0]
count, mean, m2 = together(*triple(row[:70]), *triple(row[70:]))
print(f"variance {m2 / count:.5f}, in float64 {row.double().var(correction=0):.5f}")

# %% [markdown]
# In a kernel, each step of the loop makes the triple of its block, and puts it together with the triple so far. Lanes
# past the end of the row need care: the last block has fewer elements than lanes.
#
# ## Exercise 2: mean and variance in one pass
#
# For rows of any length, with a block of 64 lanes. Load each element once. The checks have rows around 10,000.


# %%
@triton.jit
def moments_kernel(x_ptr, mean_ptr, variance_ptr, columns, stride_0, stride_1, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: a loop that keeps count, mean and M2
    row = tl.program_id(0)
    count, mean, m2 = 0.0, 0.0, 0.0
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride_0 + j * stride_1, mask=j < columns, other=0.0)
        here = tl.minimum(columns - start, BLOCK).to(tl.float32)
        middle = tl.sum(x, axis=0) / here
        centred = tl.where(j < columns, x - middle, 0.0)
        apart = middle - mean
        both = count + here
        m2 += tl.sum(centred * centred, axis=0) + apart * apart * count * here / both
        mean += apart * here / both
        count = both
    tl.store(mean_ptr + row, mean)
    tl.store(variance_ptr + row, m2 / columns)
    # END SOLUTION


def moments(x):
    """Mean and variance (divided by the number of columns) of each row, as two vectors."""
    rows, columns = x.shape
    mean, variance = torch.empty(rows), torch.empty(rows)
    moments_kernel[(rows,)](x, mean, variance, columns, *x.stride(), BLOCK=64)
    return mean, variance


# %%
exercise("moments").check(moments)

# %% [markdown]
# With this loop, layer norm of a long row loads each element twice and no longer three times: once for mean and
# variance, once for the result. What does that bring? Count the bytes for each element: a row in a block moves 8, two
# reads and a store move 12, three reads and a store 16. **Guess first:** how fast are they, if the row in a block
# reaches the full bandwidth? An H100 was asked, with 64 million numbers. The axis below has the length of a row:

# %%
lab.examples.measurement("norms").plot()

# %% [markdown]
# Two thirds and a half, as counted: 8 / 12 and 8 / 16. Short rows are still in a cache when they are read again, so
# there all ways are equal. And the row in a block is best until it is too long. At 65,536 the registers no longer
# suffice: the compiler stores a part of them in memory, and the advantage is gone.
#
# The order in which triples are put together is free. So `tl.reduce` can do it within a block, too: it takes a block
# of triples and the function that makes one of two.
#
# ## Running sums
#
# A *scan* keeps what a reduction throws away: all the sums on the way. `tl.cumsum` of a block has in lane i the sum of
# lanes 0 to i. **Guess first:** which elements does element 5 of the result come from? Then look, and point at others.


# %%
# %%triton cpu --show origins,values
@triton.jit
def running_sum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    so_far = tl.cumsum(x, axis=0)
    tl.store(out_ptr + i, so_far, mask=i < n)


steps = torch.tensor([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0])
sums = torch.empty(10)
running_sum[(1,)](steps, sums, 10, BLOCK=16)
print(sums.tolist())

# %% [markdown]
# How can lanes do this at once? First each lane adds what its left neighbour has. Then each adds what the lane two
# places to the left has, then four, then eight. After four steps, all 16 lanes have their sums. Here in torch:

# %%
sums, distance = steps.clone(), 1
while distance < len(sums):
    sums = torch.cat([sums[:distance], sums[distance:] + sums[:-distance]])
    print(f"after distance {distance}: {sums.tolist()}")
    distance *= 2

# %% [markdown]
# So a scan of 1,024 elements takes ten steps and not 1,023. The additions are in another order than in a loop, so the
# last digits may differ, as with a sum.
#
# ## Exercise 3: running sums of long rows
#
# For rows of any length, with a block of 64 lanes: a loop that carries the sum of all blocks before. The result has
# the dtype of `x`, float32 or int32.


# %%
@triton.jit
def running_sums_kernel(x_ptr, out_ptr, columns, stride_0, stride_1, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: scan each block, add the sum of the blocks before it, and carry on
    row = tl.program_id(0)
    before = tl.zeros((1,), out_ptr.dtype.element_ty)
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride_0 + j * stride_1, mask=j < columns, other=0)
        tl.store(out_ptr + row * columns + j, before + tl.cumsum(x, axis=0), mask=j < columns)
        before += tl.sum(x, axis=0)
    # END SOLUTION


def running_sums(x):
    """The running sums of each row, contiguous, of the dtype of x."""
    rows, columns = x.shape
    out = torch.empty((rows, columns), dtype=x.dtype)
    running_sums_kernel[(rows,)](x, out, columns, *x.stride(), BLOCK=64)
    return out


# %%
exercise("running_sums").check(running_sums)

# %% [markdown]
# ## An operation of your own
#
# `tl.associative_scan(block, axis, combine)` scans with any function of two arguments, if it is *associative*: for
# `combine(combine(a, b), c)` and `combine(a, combine(b, c))` must be the same. Only then may the lanes put neighbours
# together in any order. Here is a running maximum:


# %%
# %%triton cpu --show values
@triton.jit
def greater(a, b):
    return tl.maximum(a, b)


@triton.jit
def running_maximum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=float("-inf"))
    so_far = tl.associative_scan(x, 0, greater)
    tl.store(out_ptr + i, so_far, mask=i < n)


highest = torch.empty(10)
running_maximum[(1,)](steps, highest, 10, BLOCK=16)
print(highest.tolist())

# %% [markdown]
# ## Exercise 4: an operation that is not associative
#
# A subtraction, on four lanes with 9, 4, 2 and 1. What is the last result if you subtract one number after the other?
# And what is it if two lanes first put 9 and 4 together, two others 2 and 1, and then both results?

# %%
# BEGIN SOLUTION: a tuple, (one after the other, in pairs)
two_subtractions = (9 - 4 - 2 - 1, (9 - 4) - (2 - 1))
# END SOLUTION

# %%
exercise("two_subtractions").check(two_subtractions)

# %% [markdown]
# No error tells you that your operation is not associative. The result depends on the machine.
#
# ## A recurrence
#
# `h[t] = a[t] * h[t - 1] + b[t]`: a smoothed series, a decaying memory, the heart of state-space models such as Mamba.
# Each step needs the step before. This looks sequential, and yet it is a scan.
#
# A step is a function: multiply by `a`, then add `b`. Two steps, one after the other, are again such a function:
#
# `a2 * (a1 * h + b1) + b2` is `(a1 * a2) * h + (a2 * b1 + b2)`
#
# So put steps together instead of numbers. A step is a pair `(a, b)`, and `tl.associative_scan` takes a tuple of
# blocks. Try it in torch first: four steps, put together in pairs.


# %%
def then(first, second):
    (a1, b1), (a2, b2) = first, second
    return a1 * a2, a2 * b1 + b2


pairs = [(0.5, 1.0), (2.0, -1.0), (0.25, 3.0), (1.0, 1.0)]
h = 0.0
for a, b in pairs:
    h = a * h + b
_, in_pairs = then(then(pairs[0], pairs[1]), then(pairs[2], pairs[3]))
print("one after the other:", h, " in pairs:", in_pairs)

# %% [markdown]
# ## Exercise 5: solve the recurrence
#
# For two contiguous matrices `a` and `b`, along each row, from `h = 0` before the first step. A row fits into a block.
# (The lanes past the end come last, and a scan only looks back. So here they can do no harm, whatever they hold.)


# %%
@triton.jit
def composed(a1, b1, a2, b2):
    # BEGIN SOLUTION: the step that does step 1, then step 2
    return a1 * a2, a2 * b1 + b2
    # END SOLUTION


@triton.jit
def recurrence_kernel(a_ptr, b_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load the row's steps, scan them, and store the second part
    at = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < columns
    a = tl.load(a_ptr + at, mask=mask, other=0.0)
    b = tl.load(b_ptr + at, mask=mask, other=0.0)
    a, h = tl.associative_scan((a, b), 0, composed)
    tl.store(out_ptr + at, h, mask=mask)
    # END SOLUTION


def recurrence(a, b):
    """h[t] = a[t] * h[t - 1] + b[t] along the rows, in a new matrix."""
    rows, columns = a.shape
    out = torch.empty_like(a)
    recurrence_kernel[(rows,)](a, b, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


# %%
exercise("recurrence").check(recurrence)

# %% [markdown]
# Which inputs does an element of your result come from? Of `a` and of `b`, all up to its own place:

# %%
with lab.record() as launches:
    recurrence(torch.rand(3, 20), torch.rand(3, 20))
launches[0].plot.origins()

# %% [markdown]
# ## What to remember
#
# - Layer norm is limited by memory. What counts is how often each element is loaded: once if the row fits into a
#   block, twice with Welford's method, three times with three loops.
# - Never subtract the square of the mean from the mean of the squares. Square differences.
# - Count, mean and M2 of two parts can be put together exactly, in any order.
# - A scan computes all running results in a few steps. Its operation must be associative, and no one checks that.
# - If a step of a loop can be written as a function, and two such functions are again one, the loop is a scan.

# %%
lab.course.progress("08")

# %% [markdown]
# **Where to read on.** `triton_lab.examples.layer_norm` has the backward pass, in which programs add to one gradient:
# [chapter 11](11_atomics.ipynb) is about that. `triton_lab.examples.prefix_scan` scans a vector over many programs.
# Welford's *Note on a method for calculating corrected sums of squares and products* is two pages long, and Blelloch's
# *Prefix sums and their applications* says what else is a scan.
