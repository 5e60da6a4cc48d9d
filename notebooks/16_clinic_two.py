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
# # Debugging clinic, second half
#
# *About 60 minutes. You need chapters 07 to 13, and the first half, chapter 15.*
#
# Eight kernels of the kind that models use today. You get what a user reports, and no tool is named: you choose it.
# Some kernels have one fault, some have two. The report does not say which. In this chapter you will
#
# 1. choose a tool from a symptom, without help,
# 2. tell apart two faults in one kernel, and prove that each of them was one,
# 3. see the common mistakes in grouped products, online softmax, split-K, dropout, persistent loops and autotuners.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab
_ = torch.manual_seed(0)

# %% [markdown]
# ## When two faults meet
#
# This kernel computes the variance of each row. With `MEAN` and `DEVIATION` you can mend two faults, each by itself:
# the mean divides by the number of lanes, and the masked-off lanes have a deviation, too. How wrong is the result
# after each change? Guess first: does the first change make it better?


# %%
@triton.jit
def variance_kernel(
    x_ptr, out_ptr, columns, MEAN: tl.constexpr, DEVIATION: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + j, mask=j < columns, other=0.0)
    mean = tl.sum(x, axis=0) / (columns if MEAN else BLOCK)
    deviation = x - mean
    if DEVIATION:
        deviation = tl.where(j < columns, deviation, 0.0)
    tl.store(out_ptr + row, tl.sum(deviation * deviation, axis=0) / columns)


x = 10 + torch.randn(4, 40)
expected = x.var(1, correction=0)
with lab.record() as launches:
    for mean, deviation in ((False, False), (True, False), (False, True), (True, True)):
        out = torch.empty(4)
        variance_kernel[(4,)](x, out, 40, MEAN=mean, DEVIATION=deviation, BLOCK=64)
        off = (out - expected).abs().max().item()
        print(f"mean mended: {mean!s:5}  deviation mended: {deviation!s:5}  off by {off:.4f}")

# %% [markdown]
# One of the two correct changes makes the error *larger*. So a result that is still wrong does not prove that a change
# was wrong. Keep a change if you can say why the old line was wrong. Then check again, and read the new message as if
# it were the first. This is the launch with one fault left. Lanes 40 to 63 load 0, so each of them has a deviation of
# about -10:

# %%
launches[1].plot.values("deviation", line=9)

# %% [markdown]
# ## 1. The product in bands
#
# "All our matrices have multiples of 64, and all is well. Yesterday a customer came with 80 rows: some tiles of the
# result are garbage. With 40 columns in `a` it stops altogether." The programs go through the tiles in bands of 4
# rows, as in chapter 10.


# %%
@triton.jit
def banded_product_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BAND: tl.constexpr, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    rows, columns = tl.cdiv(M, BLOCK), tl.cdiv(N, BLOCK)
    first = program // (BAND * columns) * BAND
    within = program % (BAND * columns)
    # BEGIN SOLUTION
    height = tl.minimum(rows - first, BAND)
    # INSTEAD
    # height = tl.minimum(rows, BAND)
    # END SOLUTION
    i = (first + within % height) * BLOCK + tl.arange(0, BLOCK)
    j = within // height * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        # BEGIN SOLUTION
        a_mask = (i < M)[:, None] & (k < K)[None, :]
        b_mask = (k < K)[:, None] & (j < N)[None, :]
        # INSTEAD
        # a_mask = (i < M)[:, None]
        # b_mask = (j < N)[None, :]
        # END SOLUTION
        a = tl.load(a_ptr + i[:, None] * K + k[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + j[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    c_mask = (i < M)[:, None] & (j < N)[None, :]
    tl.store(c_ptr + i[:, None] * N + j[None, :], total, mask=c_mask)


def banded_product(a, b):
    """a @ b, for contiguous matrices."""
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N)
    grid = (triton.cdiv(M, 16) * triton.cdiv(N, 16),)
    banded_product_kernel[grid](a, b, c, M, N, K, BAND=4, BLOCK=16)
    return c


# %%
exercise("banded_product").check(banded_product)

# %% [markdown]
# ## 2. The logarithm of a sum of exponentials
#
# "Our loss is right for 32 classes. For 100 classes it is too high. With 100 scores of about -30, it is above 4, and it
# should be about -25." The kernel goes through a row in one pass, as in chapter 13.


# %%
@triton.jit
def log_sum_kernel(x_ptr, out_ptr, columns, stride_0, stride_1, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    high, total = float("-inf"), 0.0
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        at = x_ptr + row * stride_0 + j * stride_1
        # BEGIN SOLUTION
        x = tl.load(at, mask=j < columns, other=float("-inf"))
        # INSTEAD
        # x = tl.load(at, mask=j < columns, other=0.0)
        # END SOLUTION
        new = tl.maximum(high, tl.max(x, axis=0))
        part = tl.sum(tl.exp(x - new), axis=0)
        # BEGIN SOLUTION
        total = total * tl.exp(high - new) + part
        # INSTEAD
        # total = total + part
        # END SOLUTION
        high = new
    tl.store(out_ptr + row, high + tl.log(total))


def log_sum(x):
    """log(sum(exp(x))) of each row of a matrix with any strides."""
    rows, columns = x.shape
    out = torch.empty(rows)
    log_sum_kernel[(rows,)](x, out, columns, *x.stride(), BLOCK=32)
    return out


# %%
exercise("log_sum").check(log_sum)

# %% [markdown]
# ## 3. The gradient of a layer norm's scale
#
# "With one row the gradient is right. With more rows it is far too small, and on the GPU different each time." A
# program has one row. It normalises the row again and adds its part of the gradient.


# %%
@triton.jit
def scale_gradient_kernel(x_ptr, grad_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    mask = j < columns
    x = tl.load(x_ptr + row * columns + j, mask=mask, other=0.0)
    grad = tl.load(grad_ptr + row * columns + j, mask=mask, other=0.0)
    centred = tl.where(mask, x - tl.sum(x, axis=0) / columns, 0.0)
    variance = tl.sum(centred * centred, axis=0) / columns
    part = grad * centred / tl.sqrt(variance + 1e-5)
    # BEGIN SOLUTION
    tl.atomic_add(out_ptr + j, part, mask=mask)
    # INSTEAD
    # tl.store(out_ptr + j, tl.load(out_ptr + j, mask=mask) + part, mask=mask)
    # END SOLUTION


def scale_gradient(x, grad):
    """The sum over all rows of grad times the normalised row, for contiguous matrices."""
    rows, columns = x.shape
    out = torch.zeros(columns)
    scale_gradient_kernel[(rows,)](x, grad, out, columns, BLOCK=triton.next_power_of_2(columns))
    return out


# %%
exercise("scale_gradient").check(scale_gradient)

# %% [markdown]
# ## 4. A product with K in parts
#
# "A fresh process gives good numbers, more or less. In the training loop they explode. In the tests, where the bias is
# zero, they explode as well." K is long, so 4 programs share each tile of the result: this is called split-K.


# %%
@triton.jit
def split_product_kernel(
    a_ptr, b_ptr, bias_ptr, c_ptr, M, N, K, PARTS: tl.constexpr, BLOCK: tl.constexpr
):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    part = tl.program_id(2)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(part * BLOCK, K, PARTS * BLOCK):
        k = start + tl.arange(0, BLOCK)
        a_mask = (i < M)[:, None] & (k < K)[None, :]
        b_mask = (k < K)[:, None] & (j < N)[None, :]
        a = tl.load(a_ptr + i[:, None] * K + k[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + j[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    bias = tl.load(bias_ptr + j, mask=j < N, other=0.0)
    # BEGIN SOLUTION
    if part == 0:
        total += bias[None, :]
    # INSTEAD
    # total += bias[None, :]
    # END SOLUTION
    c_mask = (i < M)[:, None] & (j < N)[None, :]
    tl.atomic_add(c_ptr + i[:, None] * N + j[None, :], total, mask=c_mask)


def split_product(a, b, bias):
    """a @ b + bias, for contiguous matrices and a bias for each column."""
    (M, K), N = a.shape, b.shape[1]
    # BEGIN SOLUTION
    c = torch.zeros(M, N)
    # INSTEAD
    # c = torch.empty(M, N)
    # END SOLUTION
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 16), 4)
    split_product_kernel[grid](a, b, bias, c, M, N, K, PARTS=4, BLOCK=16)
    return c


# %%
exercise("split_product").check(split_product)

# %% [markdown]
# ## 5. Two dropouts in one kernel
#
# "We fused two dropouts with the sum after them. The model learns worse than before. A colleague has printed the
# result: where one of the two is dropped, so is the other, and after 64 elements the pattern begins again." Number `i`
# of the seed decides about `x[i]`, and number `n + i` about `y[i]`.


# %%
@triton.jit
def dropout_sum_kernel(x_ptr, y_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    i = tl.program_id(0) * BLOCK + lanes
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    # BEGIN SOLUTION
    keep_x = tl.rand(seed, i) > p
    # INSTEAD
    # keep_x = tl.rand(seed, lanes) > p
    # END SOLUTION
    # BEGIN SOLUTION
    keep_y = tl.rand(seed, n + i) > p
    # INSTEAD
    # keep_y = tl.rand(seed, lanes) > p
    # END SOLUTION
    total = tl.where(keep_x, x, 0.0) + tl.where(keep_y, y, 0.0)
    tl.store(out_ptr + i, total / (1 - p), mask=i < n)


def dropout_sum(x, y, p, seed):
    """dropout(x) + dropout(y), for vectors of equal length."""
    out = torch.empty_like(x)
    n = x.numel()
    dropout_sum_kernel[(triton.cdiv(n, 64),)](x, y, out, n, p, seed, BLOCK=64)
    return out


# %%
exercise("dropout_sum").check(dropout_sum)

# %% [markdown]
# ## 6. The persistent norms
#
# "With 8 rows, as many as we start programs, all norms are right. With 16 rows the last 8 are too large. With 20 rows
# the last 4 are garbage." The kernel is *persistent*: a fixed number of programs goes through all rows.


# %%
@triton.jit
def row_norms_kernel(
    x_ptr, out_ptr, rows, columns, stride_0, stride_1, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr
):
    # BEGIN SOLUTION
    turns = tl.cdiv(rows - tl.program_id(0), PROGRAMS)
    # INSTEAD
    # turns = rows // PROGRAMS
    # total = tl.zeros((BLOCK,), tl.float32)
    # END SOLUTION
    for turn in range(turns):
        row = turn * PROGRAMS + tl.program_id(0)
        # BEGIN SOLUTION
        total = tl.zeros((BLOCK,), tl.float32)
        # INSTEAD
        # END SOLUTION
        for start in range(0, columns, BLOCK):
            j = start + tl.arange(0, BLOCK)
            at = x_ptr + row * stride_0 + j * stride_1
            x = tl.load(at, mask=j < columns, other=0.0)
            total += x * x
        tl.store(out_ptr + row, tl.sqrt(tl.sum(total, axis=0)))


def row_norms(x):
    """The root of the sum of squares of each row of a matrix with any strides."""
    rows, columns = x.shape
    out = torch.empty(rows)
    row_norms_kernel[(8,)](x, out, rows, columns, *x.stride(), PROGRAMS=8, BLOCK=64)
    return out


# %%
exercise("row_norms").check(row_norms)

# %% [markdown]
# ## 7. Weights of eight bits
#
# "Since we store the weights in eight bits, the answers are nonsense. The unit test passes: there all scales are 1."
# The weights are `w[k, n] * scale[n]`: each output column has its own scale.


# %%
@triton.jit
def scaled_product_kernel(x_ptr, w_ptr, scale_ptr, out_ptr, M, N, K, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        x_mask = (i < M)[:, None] & (k < K)[None, :]
        w_mask = (k < K)[:, None] & (j < N)[None, :]
        x = tl.load(x_ptr + i[:, None] * K + k[None, :], mask=x_mask, other=0.0)
        w = tl.load(w_ptr + k[:, None] * N + j[None, :], mask=w_mask, other=0)
        total = tl.dot(x, w.to(tl.float32), total, input_precision="ieee")
    # BEGIN SOLUTION
    scale = tl.load(scale_ptr + j, mask=j < N, other=0.0)[None, :]
    # INSTEAD
    # scale = tl.load(scale_ptr + i, mask=i < N, other=0.0)[:, None]
    # END SOLUTION
    out_mask = (i < M)[:, None] & (j < N)[None, :]
    tl.store(out_ptr + i[:, None] * N + j[None, :], total * scale, mask=out_mask)


def scaled_product(x, w, scale):
    """x @ (w * scale), for contiguous matrices: w is int8, scale has an element for each column of w."""
    (M, K), N = x.shape, w.shape[1]
    out = torch.empty(M, N)
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 16))
    scaled_product_kernel[grid](x, w, scale, out, M, N, K, BLOCK=16)
    return out


# %%
exercise("scaled_product").check(scaled_product)

# %% [markdown]
# ## 8. The running mean
#
# "The first step after a start is wrong, the others are right. Since we keep the state as a part of a larger tensor,
# every step is wrong, and other parts of that tensor change." The kernel works in place, and has an autotuner. Keep
# the autotuner.


# %%
from functools import cache


@triton.jit
def decay_kernel(x_ptr, y_ptr, columns, factor, x_0, x_1, y_0, y_1, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    # BEGIN SOLUTION
    at = x_ptr + row * x_0 + j * x_1
    # INSTEAD
    # at = x_ptr + row * columns + j
    # END SOLUTION
    x = tl.load(at, mask=j < columns)
    y = tl.load(y_ptr + row * y_0 + j * y_1, mask=j < columns)
    tl.store(at, factor * x + (1 - factor) * y, mask=j < columns)


@cache
def tuned_decay():
    """The kernel under an autotuner."""
    configs = [triton.Config({"BLOCK": 32}), triton.Config({"BLOCK": 128})]
    # BEGIN SOLUTION
    return triton.autotune(configs=configs, key=["columns"], restore_value=["x_ptr"])(decay_kernel)
    # INSTEAD
    # return triton.autotune(configs=configs, key=["columns"])(decay_kernel)
    # END SOLUTION


def decay(x, y, factor):
    """x becomes factor * x + (1 - factor) * y, in place, for matrices with any strides."""
    rows, columns = x.shape
    tuned_decay()[lambda meta: (rows, triton.cdiv(columns, meta["BLOCK"]))](
        x, y, columns, factor, *x.stride(), *y.stride()
    )


# %%
exercise("decay").check(decay)

# %% [markdown]
# ## Which tool would have shown it
#
# For each kernel write down the tool that you used. Then open the table.
#
# <details>
# <summary>The table: kernel, faults, and the tool that shows each of them</summary>
#
# | kernel | fault | what shows it |
# |---|---|---|
# | product in bands | the last band is not as high as the others | *Tiling* of `c`: tiles of no program |
# | | the end of K has no mask | the finding *out of bounds*: line, lane, element |
# | log of a sum | masked-off lanes count as 0 | *Values* of `x` in the last block |
# | | the sum is not scaled down | *Steps*: `high` changes, `total` only grows |
# | gradient of a scale | load, add and store are three steps | the finding *race*, then *Timeline* |
# | K in parts | the sum begins with what was in memory | the finding that the memory was never written |
# | | each part adds the bias | `lab.compare` with torch: the error is 3 times the bias in each row |
# | two dropouts | each block has the same numbers | *Values* of `keep_x` in two programs |
# | | `x` and `y` have the same numbers | *Values*: `keep_x` and `keep_y` side by side |
# | persistent norms | the last rows get no turn | *Tiling* of `out` |
# | | the sum of the row before is still there | *Steps*: `total` at the start of the second turn |
# | weights of eight bits | the scale follows the rows | *Accesses* of `scale_ptr`: which program loads which scale? |
# | running mean | each trial changes `x` | the finding about an autotuner that works in place |
# | | the strides are those of a contiguous tensor | *Storage* of `x` |
#
# </details>
#
# ## What to remember
#
# - A kernel that is still wrong after a change may have had two faults. Keep a change that you can explain.
# - Read the sizes in a report. Which size is the first one that fails, and what is special about it: a last band, the
#   end of K, a second block, a second turn?
# - Equal values hide a fault: scales of 1, a bias of 0, square matrices. Test with values that all differ.
# - "Different each time" is a race, or memory that was not set. "Wrong only in the first call" is an autotuner.
# - After you have found a fault, write the test that would have found it.

# %%
lab.course.progress("16")

# %% [markdown]
# **Where to read on.** In a terminal, `triton-lab explain` lists the kinds of findings, and `triton-lab explain race`
# says what a race means and what to do. Agans's *Debugging: The 9 Indispensable Rules* is short, and says why one
# changes one thing at a time.
