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
# # Attention backward, and decoding
#
# *About 70 minutes. You need chapters 11 (atomics) and 13 (attention).*
#
# To train a model you need the backward pass of attention. To write an answer, a model needs attention of another form:
# one query and thousands of keys. Both use one number for each query, `lse`. In this chapter you will
#
# 1. compute all three gradients without having stored a matrix of weights,
# 2. compare two loops with one loop and atomic additions, and count what each costs,
# 3. split the keys of one query among many programs, and merge their results exactly,
# 4. read keys from pages that lie anywhere in memory.

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
# ## What the forward pass leaves behind
#
# The weights are as large as the scores, so they are not stored. But they can be computed again. For one query, the
# softmax divides `exp(score)` by the sum of all `exp(score)`. The logarithm of this sum is `lse`, the *log-sum-exp* of
# chapter 13. So `weight = exp(score - lse)`: one stored number for each query is enough.

# %%
q, k, v, dout = (torch.randn(2, 50, 16, dtype=torch.float64) for _ in range(4))
scores = q @ k.transpose(1, 2) / math.sqrt(16)
lse = scores.logsumexp(2)
weights = (scores - lse[:, :, None]).exp()
print("equal to softmax:", torch.allclose(weights, scores.softmax(2)))
print(f"stored: {lse.numel()} numbers instead of {weights.numel():,}")

# %% [markdown]
# ## Three gradients in five lines
#
# `dout` is the gradient of the result: it says how the loss changes with each element of the result. From it follow
# the gradients of `v`, `k` and `q`:
#
# 1. `dv = weights.T @ dout`, as the result is `weights @ v`.
# 2. `dweights = dout @ v.T` is the gradient of the weights.
# 3. `delta` is the sum of `weights * dweights` over a row: one number for each query.
# 4. `dscores = weights * (dweights - delta)`. A softmax subtracts the weighted mean of its row.
# 5. `dq = dscores @ k * scale` and `dk = dscores.T @ q * scale`.
#
# torch computes the same three gradients by itself:

# %%
asked = [one.clone().requires_grad_() for one in (q, k, v)]
out = torch.nn.functional.scaled_dot_product_attention(*asked)
expected_q, expected_k, expected_v = torch.autograd.grad(out, asked, dout)
out = out.detach()

dweights = dout @ v.transpose(1, 2)
delta = (weights * dweights).sum(2)
dscores = weights * (dweights - delta[:, :, None])
print("dv:", torch.allclose(weights.transpose(1, 2) @ dout, expected_v))
print("dq:", torch.allclose(dscores @ k / math.sqrt(16), expected_q))
print("dk:", torch.allclose(dscores.transpose(1, 2) @ q / math.sqrt(16), expected_k))

# %% [markdown]
# Line 3 needs a whole row of weights. **Guess first:** can `delta` be had without them? The result is
# `out = weights @ v`, and `dweights = dout @ v.T`. Put both into the sum, and the weights disappear:
# `delta = (dout * out).sum()`.

# %%
torch.allclose(delta, (dout * out).sum(2))

# %% [markdown]
# ## Exercise 1: delta
#
# `delta` of each query, float32, for tensors of shape (heads, tokens, dim) with any strides, `dim` 16 or 32. Such
# strides do occur: the gradient of `out.sum()` is a single 1 that is read with strides of 0. Load each element once.


# %%
@triton.jit
def delta_kernel(
    out_ptr, dout_ptr, delta_ptr, rows, tokens,
    o_head, o_token, o_dim, g_head, g_token, g_dim, DIM: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    # BEGIN SOLUTION: a program has BLOCK queries: multiply, and sum along the row in float32
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    head, token, d = row // tokens, row % tokens, tl.arange(0, DIM)
    mask = (row < rows)[:, None]
    o_at = head[:, None] * o_head + token[:, None] * o_token + d[None, :] * o_dim
    g_at = head[:, None] * g_head + token[:, None] * g_token + d[None, :] * g_dim
    o = tl.load(out_ptr + o_at, mask=mask, other=0.0).to(tl.float32)
    g = tl.load(dout_ptr + g_at, mask=mask, other=0.0).to(tl.float32)
    tl.store(delta_ptr + row, tl.sum(o * g, axis=1), mask=row < rows)
    # END SOLUTION


def delta_of(out, dout):
    """The sum of out * dout along the last axis: (heads, tokens), float32."""
    heads, tokens, dim = out.shape
    delta = torch.empty((heads, tokens))
    rows = heads * tokens
    delta_kernel[(triton.cdiv(rows, 32),)](
        out, dout, delta, rows, tokens, *out.stride(), *dout.stride(), DIM=dim, BLOCK=32
    )
    return delta


# %%
exercise("delta_of").check(delta_of)

# %% [markdown]
# ## Exercise 2: the gradient of the values
#
# `dv = weights.T @ dout`, for contiguous tensors. A row of `dv` belongs to a key. So a program has 32 *keys*, and loops
# over the queries. It computes the weights again, 32 by 32 at a time.


# %%
@triton.jit
def gradient_of_v_kernel(
    q_ptr, k_ptr, lse_ptr, dout_ptr, dv_ptr, tokens, scale, DIM: tl.constexpr, BLOCK: tl.constexpr
):
    # BEGIN SOLUTION: make a block's weights again, and add up their transposed product with dout
    base = tl.program_id(1) * tokens * DIM
    key = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, DIM)
    k = tl.load(
        k_ptr + base + key[:, None] * DIM + d[None, :], mask=(key < tokens)[:, None], other=0.0
    )
    dv = tl.zeros((BLOCK, DIM), tl.float32)
    for start in range(0, tokens, BLOCK):
        query = start + tl.arange(0, BLOCK)
        there = query < tokens
        at = base + query[:, None] * DIM + d[None, :]
        q = tl.load(q_ptr + at, mask=there[:, None], other=0.0)
        dout = tl.load(dout_ptr + at, mask=there[:, None], other=0.0)
        lse = tl.load(lse_ptr + tl.program_id(1) * tokens + query, mask=there, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        weights = tl.where(there[:, None], tl.exp(scores - lse[:, None]), 0.0)
        dv += tl.dot(tl.trans(weights), dout, input_precision="ieee")
    tl.store(dv_ptr + base + key[:, None] * DIM + d[None, :], dv, mask=(key < tokens)[:, None])
    # END SOLUTION


def gradient_of_v(q, k, lse, dout):
    """The gradient of v; lse (heads, tokens) is from the forward pass."""
    heads, tokens, dim = q.shape
    dv = torch.empty((heads, tokens, dim))
    grid = (triton.cdiv(tokens, 32), heads)
    gradient_of_v_kernel[grid](q, k, lse, dout, dv, tokens, 1 / math.sqrt(dim), DIM=dim, BLOCK=32)
    return dv


# %%
exercise("gradient_of_v").check(gradient_of_v)

# %% [markdown]
# ## The gradient of the keys
#
# The same loop with one more product gives `dk`, so real kernels compute `dk` and `dv` together: the weights are
# computed once for both. Lanes beyond the last query must have weight 0. They load `lse` as infinity, and
# `exp(-inf)` is 0.


# %%
@triton.jit
def keys_kernel(
    q_ptr, k_ptr, v_ptr, lse_ptr, delta_ptr, dout_ptr, dq_ptr, dk_ptr, dv_ptr, tokens, scale,
    ADD_DQ: tl.constexpr, DIM: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    base = tl.program_id(1) * tokens
    d = tl.arange(0, DIM)
    key = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = (key < tokens)[:, None]
    k_at = (base + key)[:, None] * DIM + d[None, :]
    k = tl.load(k_ptr + k_at, mask=there, other=0.0)
    v = tl.load(v_ptr + k_at, mask=there, other=0.0)
    dk = tl.zeros((BLOCK, DIM), tl.float32)
    dv = tl.zeros((BLOCK, DIM), tl.float32)
    for start in range(0, tokens, BLOCK):
        query = start + tl.arange(0, BLOCK)
        mask = query < tokens
        q_at = (base + query)[:, None] * DIM + d[None, :]
        q = tl.load(q_ptr + q_at, mask=mask[:, None], other=0.0)
        dout = tl.load(dout_ptr + q_at, mask=mask[:, None], other=0.0)
        lse = tl.load(lse_ptr + base + query, mask=mask, other=float("inf"))
        delta = tl.load(delta_ptr + base + query, mask=mask, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        weights = tl.exp(scores - lse[:, None])
        dv += tl.dot(tl.trans(weights), dout, input_precision="ieee")
        dweights = tl.dot(dout, tl.trans(v), input_precision="ieee")
        dscores = weights * (dweights - delta[:, None])
        dk += tl.dot(tl.trans(dscores), q, input_precision="ieee")
        if ADD_DQ:
            dq = tl.dot(dscores, k, input_precision="ieee") * scale
            tl.atomic_add(dq_ptr + q_at, dq, mask=mask[:, None], sem="relaxed")
    tl.store(dk_ptr + k_at, dk * scale, mask=there)
    tl.store(dv_ptr + k_at, dv, mask=there)


def gradients_of_keys(q, k, v, lse, delta, dout, dq=None):
    """The gradients of k and v. With ``dq``, a tensor of zeros, the gradient of q is added to it."""
    heads, tokens, dim = k.shape
    dk, dv = torch.empty_like(k), torch.empty_like(v)
    grid = (triton.cdiv(tokens, 32), heads)
    keys_kernel[grid](
        q, k, v, lse, delta, dout, q if dq is None else dq, dk, dv, tokens, 1 / math.sqrt(dim),
        ADD_DQ=dq is not None, DIM=dim, BLOCK=32,
    )  # fmt: skip
    return dk, dv


# %% [markdown]
# `ADD_DQ` comes later. Who reads which block? Point at an element of `dk`: it comes from one row of `k` and `v`, and
# from all queries of its head, block by block.

# %%
given = [one.float() for one in (q, k, v, lse, delta, dout)]
with lab.record() as launches:
    dk, dv = gradients_of_keys(*given)
assert torch.allclose(dk.double(), expected_k, atol=1e-5)
assert torch.allclose(dv.double(), expected_v, atol=1e-5)
(store,) = (one for one in launches[0].accesses if one.argument == "dk_ptr")
launches[0].plot.origins(store)

# %% [markdown]
# ## Exercise 3: the gradient of the queries
#
# A row of `dq` belongs to a query. So a program has 32 *queries*, and loops over the keys. Then no two programs add to
# the same memory, and you need no atomic operation. All tensors are contiguous.


# %%
@triton.jit
def gradient_of_q_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    lse_ptr,
    delta_ptr,
    dout_ptr,
    dq_ptr,
    tokens,
    scale,
    DIM: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # BEGIN SOLUTION: make the change of a block of scores, and add up its product with k
    base = tl.program_id(1) * tokens
    d = tl.arange(0, DIM)
    query = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    there = query < tokens
    q_at = (base + query)[:, None] * DIM + d[None, :]
    q = tl.load(q_ptr + q_at, mask=there[:, None], other=0.0)
    dout = tl.load(dout_ptr + q_at, mask=there[:, None], other=0.0)
    lse = tl.load(lse_ptr + base + query, mask=there, other=0.0)
    delta = tl.load(delta_ptr + base + query, mask=there, other=0.0)
    dq = tl.zeros((BLOCK, DIM), tl.float32)
    for start in range(0, tokens, BLOCK):
        key = start + tl.arange(0, BLOCK)
        mask = (key < tokens)[:, None]
        k_at = (base + key)[:, None] * DIM + d[None, :]
        k = tl.load(k_ptr + k_at, mask=mask, other=0.0)
        v = tl.load(v_ptr + k_at, mask=mask, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        shares = tl.exp(scores - lse[:, None])
        change = shares * (tl.dot(dout, tl.trans(v), input_precision="ieee") - delta[:, None])
        dq += tl.dot(change, k, input_precision="ieee")
    tl.store(dq_ptr + q_at, dq * scale, mask=there[:, None])
    # END SOLUTION


def gradient_of_q(q, k, v, lse, delta, dout):
    """The gradient of q; lse and delta are (heads, tokens)."""
    heads, tokens, dim = q.shape
    dq = torch.empty((heads, tokens, dim))
    grid = (triton.cdiv(tokens, 32), heads)
    gradient_of_q_kernel[grid](
        q, k, v, lse, delta, dout, dq, tokens, 1 / math.sqrt(dim), DIM=dim, BLOCK=32
    )
    return dq


# %%
exercise("gradient_of_q").check(gradient_of_q)

# %% [markdown]
# ## Two loops, or one with atomics
#
# You now have two kernels, and both compute the weights: each block of scores is computed twice. With `ADD_DQ`, the
# kernel of the keys also has all that `dq` needs. But then many programs add to the same row of `dq`, one for each
# block of keys. That needs atomic additions. **Guess first:** 200 tokens, blocks of 32. How many programs add to each
# element of `dq`?

# %%
long = [torch.randn(1, 200, 16) for _ in range(4)]
wanted = [one.clone().requires_grad_() for one in long[:3]]
result = torch.nn.functional.scaled_dot_product_attention(*wanted)
(wanted_q,) = torch.autograd.grad(result, wanted[:1], long[3])
kept = (long[0] @ long[1].transpose(1, 2) / 4).logsumexp(2), (result.detach() * long[3]).sum(2)

dq = torch.zeros(1, 200, 16)
with lab.record() as together:
    gradients_of_keys(*long[:3], *kept, long[3], dq)
print("the gradient of torch:", torch.allclose(dq, wanted_q, atol=1e-5))
together[0].plot.timeline("dq_ptr")

# %% [markdown]
# Seven programs for each element: 200 / 32, rounded up. Time goes down in this picture: in each of seven steps, all
# programs add to the same rows. On a GPU, additions to one element wait for each other. Now count what each way costs,
# in this launch and for 4,096 tokens and blocks of 128. A product is one `tl.dot` of a block:


# %%
def moved(launches, kind):
    """Bytes that the accesses of this kind move, of all launches."""
    return sum(
        access.mask(step).sum() * access.itemsize
        for launch in launches
        for access in launch.accesses
        if access.kind.startswith(kind)
        for step in range(access.iterations)
    )


with lab.record() as apart:
    gradients_of_keys(*long[:3], *kept, long[3])
    gradient_of_q(*long[:3], *kept, long[3])
for name, launches in (("two loops", apart), ("atomics", together)):
    print(f"{name:10} loads {moved(launches, 'load'):7,} bytes,", end=" ")
    print(f"stores {moved(launches, 'store'):6,}, adds {moved(launches, 'atomic'):6,} atomically")
blocks, size = 4096 // 128, 4096 * 64 * 4
print("for 4,096 tokens:")
print(f"two loops: 7 products for each block of scores, dq is stored once: {size:10,} bytes")
print(
    f"atomics:   5 products for each block, {blocks} additions to each dq: {blocks * size:10,} bytes"
)

# %% [markdown]
# - **Two loops** do 7 products: the scores and `dweights` twice, and `dv`, `dk` and `dq`. Each result is stored once.
# - **One loop with atomics** does 5 products. But `dq` must be float32, begin with zeros, and take `tokens / BLOCK`
#   additions for each element. And floating-point addition is not associative: on a GPU the order of the additions
#   changes from run to run, so the last bits of `dq` change as well.
#
# Dao's FlashAttention-2 takes the atomics. Triton's tutorial takes two loops. Libraries have a switch for a
# *deterministic* backward pass, which is slower and has the same bits in each run.
#
# ## Exercise 4: count the products
#
# A causal mask leaves only the blocks on and below the diagonal. How many `tl.dot` does the backward pass of one head
# need, with 4,096 tokens and square blocks of 128, in both ways? Blocks above the diagonal are skipped.

# %%
# BEGIN SOLUTION: a tuple, (products of two loops, products with atomics)
causal_products = (7 * 32 * 33 // 2, 5 * 32 * 33 // 2)
# END SOLUTION

# %%
exercise("causal_products").check(causal_products)

# %% [markdown]
# ## All three in autograd
#
# The parts together are an operation that torch can differentiate. `torch.autograd.gradcheck` would compare with finite
# differences; here torch's own attention is the reference.


# %%
class Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[2])  # a kernel would not store this
        lse = scores.logsumexp(2)
        out = (scores - lse[:, :, None]).exp() @ v
        ctx.save_for_backward(q, k, v, out, lse)
        return out

    @staticmethod
    def backward(ctx, dout):
        q, k, v, out, lse = ctx.saved_tensors
        delta, dout = delta_of(out, dout), dout.contiguous()
        dk, dv = gradients_of_keys(q, k, v, lse, delta, dout)
        return gradient_of_q(q, k, v, lse, delta, dout), dk, dv


asked = [torch.randn(2, 70, 16, requires_grad=True) for _ in range(3)]
ours = torch.autograd.grad(Attention.apply(*asked).sin().sum(), asked)
reference = torch.nn.functional.scaled_dot_product_attention(*asked)
theirs = torch.autograd.grad(reference.sin().sum(), asked)
for name, a, b in zip("qkv", ours, theirs, strict=True):
    print(f"gradient of {name}: at most {(a - b).abs().max().item():.1e} away from torch's")
    assert torch.allclose(a, b, atol=1e-5)

# %% [markdown]
# ## Decoding: one query
#
# A language model writes one token after the other. Each new token has *one* query, and the keys and values of all
# earlier tokens lie in memory: the *cache*. The kernel of chapter 13 gives a program to each 32 queries. **Guess
# first:** with 8 heads and one query each, how many of an H100's 132 multiprocessors work?
#
# Eight. All others are idle, while eight programs walk through the whole cache. The query cannot be split, so split
# the *keys*: each program gets a part of them.


# %%
@triton.jit
def split_kernel(
    q_ptr, k_ptr, v_ptr, part_ptr, lse_ptr, tokens, scale, length,
    DIM: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    split, head = tl.program_id(0), tl.program_id(1)
    d = tl.arange(0, DIM)
    q = tl.load(q_ptr + head * DIM + d)
    high, total = float("-inf"), 0.0
    result = tl.zeros((DIM,), tl.float32)
    end = tl.minimum(tokens, (split + 1) * length)
    for start in range(split * length, end, BLOCK):
        key = start + tl.arange(0, BLOCK)
        at = (head * tokens + key)[:, None] * DIM + d[None, :]
        k = tl.load(k_ptr + at, mask=(key < end)[:, None], other=0.0)
        v = tl.load(v_ptr + at, mask=(key < end)[:, None], other=0.0)
        scores = tl.where(key < end, tl.sum(k * q[None, :], axis=1) * scale, float("-inf"))
        new = tl.maximum(high, tl.max(scores, axis=0))
        weights = tl.exp(scores - new)
        shrink = tl.exp(high - new)
        total = total * shrink + tl.sum(weights, axis=0)
        result = result * shrink + tl.sum(weights[:, None] * v, axis=0)
        high = new
    at = head * tl.num_programs(0) + split
    tl.store(part_ptr + at * DIM + d, result / total)
    tl.store(lse_ptr + at, high + tl.log(total))


def split_decode(q, k, v, splits):
    """A result for each part of the keys, (heads, splits, dim), and its lse, (heads, splits)."""
    heads, tokens, dim = k.shape
    length = triton.cdiv(tokens, splits)
    splits = triton.cdiv(tokens, length)
    parts, lse = torch.empty(heads, splits, dim), torch.empty(heads, splits)
    split_kernel[(splits, heads)](
        q, k, v, parts, lse, tokens, 1 / math.sqrt(dim), length, DIM=dim, BLOCK=32
    )
    return parts, lse


q_one, cache_k, cache_v = torch.randn(2, 16), torch.randn(2, 96, 16), torch.randn(2, 96, 16)
with lab.record() as launches:
    parts, part_lse = split_decode(q_one, cache_k, cache_v, splits=4)
launches[0].plot.tiling("k_ptr")

# %% [markdown]
# Each colour is a program: four for each head, and each reads its own quarter of the keys, once.
#
# ## Exercise 5: merge the parts
#
# Each part is a softmax over its own keys. `lse` says how much its keys weigh: `exp(lse)` is the sum of their
# `exp(score)`. So the parts are merged as values are: with a softmax over the `lse`. Here is the definition in torch:

# %%
merged = (part_lse.softmax(1)[:, :, None] * parts).sum(1)
whole = torch.nn.functional.scaled_dot_product_attention(q_one[:, None], cache_k, cache_v)[:, 0]
torch.allclose(merged, whole, atol=1e-6)

# %% [markdown]
# Write it as one kernel. The number of splits may be any, `dim` is 16 or 32, all tensors are contiguous. An `lse` may
# be large, so that `exp(lse)` overflows. A split that had no keys has an `lse` of minus infinity and parts of 0; at
# least one split of a head has keys.


# %%
@triton.jit
def merge_kernel(parts_ptr, lse_ptr, out_ptr, splits, DIM: tl.constexpr, SPLITS: tl.constexpr):
    # BEGIN SOLUTION: weights are exp(lse - greatest), divided by their sum
    head = tl.program_id(0)
    s, d = tl.arange(0, SPLITS), tl.arange(0, DIM)
    lse = tl.load(lse_ptr + head * splits + s, mask=s < splits, other=float("-inf"))
    weights = tl.exp(lse - tl.max(lse, axis=0))
    at = (head * splits + s)[:, None] * DIM + d[None, :]
    parts = tl.load(parts_ptr + at, mask=(s < splits)[:, None], other=0.0)
    total = tl.sum(weights[:, None] * parts, axis=0)
    tl.store(out_ptr + head * DIM + d, total / tl.sum(weights, axis=0))
    # END SOLUTION


def merge(parts, lse):
    """One result for each head, (heads, dim), from (heads, splits, dim) and (heads, splits)."""
    heads, splits, dim = parts.shape
    out = torch.empty((heads, dim))
    # BEGIN SOLUTION: launch merge_kernel
    merge_kernel[(heads,)](parts, lse, out, splits, DIM=dim, SPLITS=triton.next_power_of_2(splits))
    # END SOLUTION
    return out


# %%
exercise("merge").check(merge)

# %% [markdown]
# Point at an element of the result: it needs one column of all parts of its head, and their `lse`.

# %%
with lab.record() as launches:
    merge(parts, part_lse)
launches[0].plot.origins()

# %% [markdown]
# ## Pages
#
# A server answers many users at once, and the length of an answer is not known before. So the cache is cut into *pages*
# of, say, 16 tokens, which are handed out as they are needed. A *table* says for each sequence where its pages are.
# The kernel loads a page's number from the table before it loads the page:


# %%
@triton.jit
def paged_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lengths_ptr, out_ptr, most, scale,
    CHECKED: tl.constexpr, DIM: tl.constexpr, PAGE: tl.constexpr,
):  # fmt: skip
    sequence = tl.program_id(0)
    d, slot = tl.arange(0, DIM), tl.arange(0, PAGE)
    q = tl.load(q_ptr + sequence * DIM + d)
    length = tl.load(lengths_ptr + sequence)
    high, total = float("-inf"), 0.0
    result = tl.zeros((DIM,), tl.float32)
    for number in range(0, tl.cdiv(length, PAGE)):
        page = tl.load(table_ptr + sequence * most + number)
        there = slot < (length - number * PAGE if CHECKED else PAGE)
        at = (page * PAGE + slot)[:, None] * DIM + d[None, :]
        k = tl.load(k_ptr + at, mask=there[:, None], other=0.0)
        v = tl.load(v_ptr + at, mask=there[:, None], other=0.0)
        scores = tl.where(there, tl.sum(k * q[None, :], axis=1) * scale, float("-inf"))
        new = tl.maximum(high, tl.max(scores, axis=0))
        weights, shrink = tl.exp(scores - new), tl.exp(high - new)
        total = total * shrink + tl.sum(weights, axis=0)
        result = result * shrink + tl.sum(weights[:, None] * v, axis=0)
        high = new
    tl.store(out_ptr + sequence * DIM + d, result / total)


lengths = torch.tensor([40, 9, 25], dtype=torch.int32)
table = torch.tensor([[5, 0, 3], [2, 0, 0], [6, 1, 0]], dtype=torch.int32)
rows = [(torch.randn(n, 16), torch.randn(n, 16)) for n in lengths.tolist()]


def filled(which):
    """The pages with the keys (0) or the values (1) of all sequences."""
    pages = torch.empty(7, 16, 16)
    for sequence, row in enumerate(rows):
        for number, piece in enumerate(row[which].split(16)):
            pages[table[sequence, number], : len(piece)] = piece
    return pages


def paged_decode(q, checked=True):
    out = torch.empty_like(q)
    keys, values = filled(0), filled(1)
    paged_kernel[(3,)](
        q, keys, values, table, lengths, out, 3, 0.25, CHECKED=checked, DIM=16, PAGE=16
    )
    return out


queries = torch.randn(3, 16)
with lab.record() as launches:
    found = paged_decode(queries)
for query, (keys, values), one in zip(queries, rows, found, strict=True):
    assert torch.allclose(one, (query @ keys.T / 4).softmax(0) @ values, atol=1e-5)
launches[0].plot.tiling("k_ptr")

# %% [markdown]
# The pages of a sequence are not beside each other, and no program reads page 4, which is free. In the last page of a
# sequence only some rows are read. **Guess first:** what happens without this mask, if the kernel takes the whole last
# page? The lab knows which memory was never written:

# %%
with lab.record() as launches:
    paged_decode(queries, checked=False)
launches[0].findings

# %% [markdown]
# On a GPU this mistake is hard to find. The rest of a page may still hold the keys of another user's answer that has
# ended, and the numbers look plausible.
#
# ## What to remember
#
# - The forward pass stores `lse`, one number for each query. The backward pass computes the weights again.
# - `delta`, the sum of `dout * out`, stands for a whole row of the softmax's gradient.
# - Programs with keys give `dk` and `dv`, programs with queries give `dq`: 7 products, no atomics, the same bits in
#   each run. With atomics it is one kernel and 5 products.
# - Decoding has one query, so its keys are split. The parts are merged with a softmax over their `lse`.
# - A paged cache needs one more load, of a table, and a mask for the last page.

# %%
lab.course.progress("14")

# %% [markdown]
# **Where to read on.** Dao's *FlashAttention-2* has the backward pass with atomics, and Triton's tutorial *Fused
# Attention* the one with two loops. The parts and their merge are *Flash-Decoding* (Dao, Haziza, Massa, Sizov), and
# pages come from Kwon and others, *Efficient memory management for large language model serving with PagedAttention*.
