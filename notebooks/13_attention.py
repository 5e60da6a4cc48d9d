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
# # Attention, from the formula to the kernel
#
# *About 50 minutes. You need chapters 07 and 09.*
#
# Each token's result is a weighted mean over all tokens. The formula is one line. The art of the kernel is never to
# store the matrix of weights. In this chapter you will
#
# 1. read the formula as two products with a softmax between them,
# 2. compute a softmax in one pass, without ever having the whole row,
# 3. put the three together into one kernel, first for all keys and then with a causal mask.

# %%
import math

import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab
_ = torch.manual_seed(0)

# %% [markdown]
# ## The formula
#
# A text is a row of *tokens*, which are words or parts of words. Each token has three vectors: its *query*, its *key*
# and its *value*. They are the rows of `q`, `k` and `v`, and `dim` is their length. One such attention is a *head*, and
# a layer of a model has several heads side by side. The result of a head is
#
# `softmax(q @ k.T / sqrt(dim)) @ v`. The scores say how well a query fits a key, softmax turns them into weights, and
# the result is a weighted mean of values. Here with three tokens, in torch:

# %%
q, k, v = (torch.randn(3, 4) for _ in range(3))
shares = torch.softmax(q @ k.T / math.sqrt(4), dim=1)
print("each row adds up to", shares.sum(1).tolist())
expected = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None])[0]
torch.allclose(shares @ v, expected, atol=1e-6)

# %% [markdown]
# Three steps, three kernels: each stores a whole matrix and the next one loads it. How large is the matrix of
# weights?

# %%
for tokens in (256, 1024, 4096, 16384):
    print(f"{tokens:6} tokens: q, k and v of a head {3 * tokens * 64 * 2 / 2**20:5.1f} MiB, "
          f"its scores {tokens * tokens * 2 / 2**20:6.1f} MiB")  # fmt: skip

# %% [markdown]
# ## Exercise 1: the matrix that is never stored
#
# 16 heads, 4,096 tokens, float16: how many bytes do all scores have together?

# %%
# BEGIN SOLUTION: a number of bytes
bytes_of_scores = 16 * 4096 * 4096 * 2
# END SOLUTION

# %%
exercise("bytes_of_scores").check(bytes_of_scores)

# %% [markdown]
# ## A softmax in one pass
#
# Softmax needs the maximum of a row. A program that loops over the row in blocks does not know it yet. The solution:
# use the maximum *so far*, and when a greater number comes, scale down the sum. One row, four blocks:

# %%
row = torch.tensor([1.0, 3.0, 2.0, 0.0, 7.0, 1.0, 2.0, 5.0])
high, total = float("-inf"), 0.0
for block in row.split(2):
    new = max(high, block.max().item())
    total = total * math.exp(high - new) + (block - new).exp().sum().item()
    high = new
    print(f"greatest so far {high:.0f}, sum of exp(x - {high:.0f}) so far {total:.4f}")
print(high + math.log(total), row.logsumexp(0).item())

# %% [markdown]
# ## Exercise 2: softmax in one pass
#
# The logarithm of the sum of exponentials of each row, with blocks of 32 lanes. Each element is loaded once.


# %%
@triton.jit
def log_sum_exp_kernel(x_ptr, out_ptr, columns, stride_0, stride_1, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: keep the greatest so far and the sum of exp(x - greatest)
    row = tl.program_id(0)
    high = float("-inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride_0 + j * stride_1, mask=j < columns, other=float("-inf"))
        new = tl.maximum(high, tl.max(x, axis=0))
        total = total * tl.exp(high - new) + tl.sum(tl.exp(x - new), axis=0)
        high = new
    tl.store(out_ptr + row, high + tl.log(total))
    # END SOLUTION


def log_sum_exp(x):
    """log(sum(exp(x))) of each row of a matrix with any strides."""
    rows, columns = x.shape
    out = torch.empty(rows)
    log_sum_exp_kernel[(rows,)](x, out, columns, x.stride(0), x.stride(1), BLOCK=32)
    return out


# %%
exercise("log_sum_exp").check(log_sum_exp)

# %% [markdown]
# Watch `high` and `total` change, step by step:

# %%
with lab.record() as launches:
    log_sum_exp(torch.randn(2, 100) * 3)
launches[0].plot.steps(program=0)

# %% [markdown]
# ## Exercise 3: attention in one kernel
#
# `q`, `k` and `v` have the shape (heads, tokens, dim); the last stride is 1, `dim` is 16 or 32. A program has 32
# queries of one head. Scores and weights exist only as blocks of 32 by 32.


# %%
@triton.jit
def attention_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    tokens,
    scale,
    qh,
    qt,
    kh,
    kt,
    vh,
    vt,
    DIM: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # BEGIN SOLUTION: walk over the keys; keep each query's greatest score, sum, weighted values
    head = tl.program_id(1)
    query = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, DIM)
    q_at = q_ptr + head * qh + query[:, None] * qt + d[None, :]
    q = tl.load(q_at, mask=(query < tokens)[:, None], other=0.0)
    high = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    result = tl.zeros((BLOCK, DIM), tl.float32)
    for start in range(0, tokens, BLOCK):
        key = start + tl.arange(0, BLOCK)
        there = (key < tokens)[:, None]
        k = tl.load(k_ptr + head * kh + key[:, None] * kt + d[None, :], mask=there, other=0.0)
        v = tl.load(v_ptr + head * vh + key[:, None] * vt + d[None, :], mask=there, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where((key < tokens)[None, :], scores, float("-inf"))
        new = tl.maximum(high, tl.max(scores, axis=1))
        shrink = tl.exp(high - new)
        weights = tl.exp(scores - new[:, None])
        total = total * shrink + tl.sum(weights, axis=1)
        result = result * shrink[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
        high = new
    out_at = out_ptr + head * tokens * DIM + query[:, None] * DIM + d[None, :]
    tl.store(out_at, result / total[:, None], mask=(query < tokens)[:, None])
    # END SOLUTION


def attention(q, k, v):
    """softmax(q @ k.T / sqrt(dim)) @ v, for each head."""
    heads, tokens, dim = q.shape
    out = torch.empty((heads, tokens, dim), dtype=q.dtype)
    strides = (*q.stride()[:2], *k.stride()[:2], *v.stride()[:2])
    grid = (triton.cdiv(tokens, 32), heads)
    attention_kernel[grid](q, k, v, out, tokens, 1 / math.sqrt(dim), *strides, DIM=dim, BLOCK=32)
    return out


# %%
exercise("attention").check(attention)

# %% [markdown]
# How much memory traffic does it need? And how often is each element of `k` loaded?

# %%
with lab.record() as launches:
    attention(*(torch.randn(1, 512, 32) for _ in range(3)))
together, scores = 4 * 512 * 32 * 4, 512 * 512 * 4
print(f"q, k, v and the result: {together:,} bytes; the scores alone would be {scores:,}")
launches[0].plot.accesses("k_ptr", by="reuse")

# %% [markdown]
# Each block of queries loads all keys once more. Larger blocks of queries, fewer loads: as in
# [chapter 09](09_matmul.ipynb).
#
# ## Exercise 4: no look ahead
#
# A language model must not use later tokens: query `i` uses the keys up to `i`. Then half of the blocks are empty,
# and a good kernel skips them.


# %%
@triton.jit
def causal_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    tokens,
    scale,
    qh,
    qt,
    kh,
    kt,
    vh,
    vt,
    DIM: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # BEGIN SOLUTION: as before, with a mask on the scores and an earlier end
    head = tl.program_id(1)
    query = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, DIM)
    q_at = q_ptr + head * qh + query[:, None] * qt + d[None, :]
    q = tl.load(q_at, mask=(query < tokens)[:, None], other=0.0)
    high = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    result = tl.zeros((BLOCK, DIM), tl.float32)
    end = tl.minimum(tokens, (tl.program_id(0) + 1) * BLOCK)
    for start in range(0, end, BLOCK):
        key = start + tl.arange(0, BLOCK)
        there = (key < tokens)[:, None]
        k = tl.load(k_ptr + head * kh + key[:, None] * kt + d[None, :], mask=there, other=0.0)
        v = tl.load(v_ptr + head * vh + key[:, None] * vt + d[None, :], mask=there, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        scores = tl.where(key[None, :] <= query[:, None], scores, float("-inf"))
        new = tl.maximum(high, tl.max(scores, axis=1))
        shrink = tl.exp(high - new)
        weights = tl.exp(scores - new[:, None])
        total = total * shrink + tl.sum(weights, axis=1)
        result = result * shrink[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")
        high = new
    out_at = out_ptr + head * tokens * DIM + query[:, None] * DIM + d[None, :]
    tl.store(out_at, result / total[:, None], mask=(query < tokens)[:, None])
    # END SOLUTION


def causal_attention(q, k, v):
    """Attention in which a query sees no key after itself."""
    heads, tokens, dim = q.shape
    out = torch.empty((heads, tokens, dim), dtype=q.dtype)
    strides = (*q.stride()[:2], *k.stride()[:2], *v.stride()[:2])
    grid = (triton.cdiv(tokens, 32), heads)
    causal_kernel[grid](q, k, v, out, tokens, 1 / math.sqrt(dim), *strides, DIM=dim, BLOCK=32)
    return out


# %%
exercise("causal_attention").check(causal_attention)

# %% [markdown]
# Now programs run different numbers of steps. The grid shows which have the most work:

# %%
with lab.record() as launches:
    causal_attention(*(torch.randn(2, 200, 16) for _ in range(3)))
launches[0].plot.grid("iterations")

# %% [markdown]
# ## What to remember
#
# - Attention is two products with a softmax in between. The matrix between them would be the largest of all.
# - With a running maximum and a running sum, softmax needs a single pass. Each new maximum scales the sum down.
# - A causal mask saves work only if the loop ends earlier.

# %%
lab.course.progress("13")

# %% [markdown]
# **Where to read on.** `triton_lab.examples.attention` is the same kernel with `exp2` and larger blocks. Milakov and
# Gimelshein's *Online normalizer calculation for softmax*, and Dao's *FlashAttention-2*, are where the ideas come from.
# The [next step](14_attention_backward.ipynb) is the backward pass, and attention with one query and a long cache.
