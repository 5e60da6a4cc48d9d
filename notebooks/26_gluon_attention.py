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
# # Gluon: attention on Hopper
#
# *About 60 minutes. You need chapters 13 and 25.*
#
# Chapter 13 had attention in one kernel, and left the rest to Triton's compiler. The fastest attention kernels for an
# H100 decide the rest by hand: one partition loads keys and values, others compute, and no tile goes back to shared
# memory between the two products. In this chapter you will
#
# 1. follow a tile through both products, and see which layouts make that free,
# 2. compute a softmax in the registers of a partition,
# 3. make it causal, so that both partitions end at the right step,
# 4. let two partitions compute with the same keys,
# 5. compare all of it with torch on an H100.
#
# The names are those of chapter 25.

# %%
import math

import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab
_ = torch.manual_seed(0)


def described(tensor, rows):
    """A descriptor of a (heads, tokens, dim) tensor of float16, for tiles of so many tokens of a head."""
    block = [1, rows, tensor.shape[2]]
    layout = gl.NVMMASharedLayout.get_default_for(block, gl.float16)
    return TensorDescriptor.from_tensor(tensor, block, layout)


def recorded(function, *tensors):
    """The launch that this function makes, recorded."""
    with lab.record() as launches:
        function(*tensors)
    return launches[0]


@gluon.jit
def barriers(COUNT: gl.constexpr, ARRIVALS: gl.constexpr):
    """So many barriers; a phase of each ends after ARRIVALS arrivals."""
    found = gl.allocate_shared_memory(gl.int64, [COUNT, 1], mbarrier.MBarrierLayout())
    for number in gl.static_range(COUNT):
        mbarrier.init(found.index(number), count=ARRIVALS)
    return found


@gluon.jit
def room_for(desc, COUNT: gl.constexpr):
    """So many buffers for tiles of a descriptor."""
    ROWS: gl.constexpr = desc.block_type.shape[1]
    DIM: gl.constexpr = desc.block_type.shape[2]
    return gl.allocate_shared_memory(desc.dtype, [COUNT, 1, ROWS, DIM], desc.layout)


@gluon.jit
def tile_of(buffers, number):
    """One of them as a matrix (tokens, dim)."""
    ROWS: gl.constexpr = buffers.shape[2]
    DIM: gl.constexpr = buffers.shape[3]
    return buffers.index(number).reshape([ROWS, DIM])


@gluon.jit
def load_queries(q_desc, q, head, row):
    """Load a tile of queries, and wait for it."""
    ready = barriers(1, 1).index(0)
    mbarrier.expect(ready, q_desc.block_type.nbytes)
    tma.async_load(q_desc, [head, row, 0], ready, q.index(0))
    mbarrier.wait(ready, 0)
    mbarrier.invalidate(ready)


@gluon.jit
def load_keys(k_desc, v_desc, keys, values, full, empty, head, steps, BUFFERS: gl.constexpr):
    """The loader: tile k of keys and of values, into the buffers in turns."""
    KEYS: gl.constexpr = k_desc.block_type.shape[1]
    for k in range(steps):
        at = k % BUFFERS
        mbarrier.wait(empty.index(at), k // BUFFERS & 1 ^ 1)
        mbarrier.expect(full.index(at), k_desc.block_type.nbytes + v_desc.block_type.nbytes)
        tma.async_load(k_desc, [head, k * KEYS, 0], full.index(at), keys.index(at))
        tma.async_load(v_desc, [head, k * KEYS, 0], full.index(at), values.index(at))


@gluon.jit
def store_result(o_desc, result, head, row):
    """Store a tile of the result, through shared memory and by TMA."""
    o = room_for(o_desc, 1)
    tile_of(o, 0).store(result.to(o_desc.dtype))
    fence_async_shared()
    tma.async_store(o_desc, [head, row, 0], o.index(0))
    tma.store_wait(0)


# %% [markdown]
# ## The online softmax, once more
#
# A program has 64 queries and goes over the keys in tiles. For each query it keeps three things: `high`, the highest
# score so far; `total`, the sum of `exp(score - high)`; and `result`, the sum of the values with these weights. A new
# tile may have a higher score. Then the old sums are too large by `exp(new - high)`, so both are multiplied by
# `shrink = exp(high - new)`. At the end `result / total` is the answer.
#
# ## One tile through two products
#
# In each step there are two products: `scores = q @ k.T`, and `result += weights @ v`. Their operands:
#
# - `q` is loaded once, and stays in shared memory.
# - `k` is needed transposed. `permute((1, 0))` is another view of the same bytes: the tensor core can read a tile of
#   16-bit numbers in both directions.
# - `scores` come in registers, in the layout of chapter 25. There the weights are computed.
# - `weights` is the left operand of the second product. It may come from registers, in a layout for that:
#   `DotOperandLayout`.
#
# **Guess first:** the scores were written by one product and are read by the next. How many elements must move to
# another thread in between?

# %%
SCORES = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
held = lab.layout(SCORES, (64, 64))
wanted = lab.layout(gl.DotOperandLayout(operand_index=0, parent=SCORES, k_width=2), (64, 64))
moved = held.to(wanted)
print(moved)
print(moved.counts())
assert moved.counts()["same register"] == 64 * 64

# %% [markdown]
# None. Both layouts give an element to the same register of the same thread. So the weights never leave the
# registers, and that is why this kernel has no third buffer.
#
# What about a row? Its maximum is needed, and a row of scores lies in several threads. `gl.max(scores, 1)` gives one
# number for each row, in a slice layout: `gl.SliceLayout(1, SCORES)`, that of the scores without their columns.
# **Guess first:** 64 numbers and 128 threads. How many of the numbers does a thread hold?

# %%
rows = lab.layout(gl.SliceLayout(1, SCORES), (64,))
print("row 0 lies in threads", [place.lane for place in rows.owner(0)])
print("thread 0 holds rows", rows.elements(warp=0, lane=0))
rows

# %% [markdown]
# Two: it takes part in two rows. And each row is held by four threads. They have each a quarter of its scores, and must
# exchange what they found: twice for a maximum, twice for a sum, without shared memory. (In code, layouts call the
# number of a thread in its warp `lane`.)
#
# ## Exercise 1: room for keys and values
#
# A program on an H100 may use 227 KiB of shared memory, 232,448 bytes (*CUDA programming guide*, compute capability
# 9.0). Take 128 queries, and tiles of 128 keys and 128 values; each row has 128 numbers of float16. How many bytes are
# the keys and the values of one step? And how many steps fit into shared memory beside the queries?

# %%
# BEGIN SOLUTION: a tuple, (bytes of a step, steps)
keys_in_shared = (2 * 128 * 128 * 2, (232_448 - 128 * 128 * 2) // (2 * 128 * 128 * 2))
# END SOLUTION

# %%
exercise("keys_in_shared").check(keys_in_shared)

# %% [markdown]
# ## Exercise 2: the softmax between the products
#
# Here are two partitions: `load_keys` from above, and `attend`. Write the part of `attend` between its two products.
# From `scores` make `weights`, and bring `high`, `total` and `result` up to date. `scores` have the layout `SCORES`,
# `high` and `total` have `gl.SliceLayout(1, SCORES)`, and `result` has `SUM`. If you combine numbers of two layouts,
# convert one first: `gl.convert_layout(shrink, gl.SliceLayout(1, SUM))`.
#
# The tensors are (heads, tokens, dim), contiguous, in float16; dim is 32 or 64. Scores of keys after the last one are
# minus infinity already.


# %%
@gluon.jit
def attend(
    q, o_desc, keys, values, full, empty, head, row, tokens, steps, scale, BUFFERS: gl.constexpr
):
    ROWS: gl.constexpr = q.shape[2]
    DIM: gl.constexpr = q.shape[3]
    KEYS: gl.constexpr = keys.shape[2]
    SCORES: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, KEYS, 16])
    SUM: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, DIM, 16])
    WEIGHTS: gl.constexpr = gl.DotOperandLayout(0, SUM, 2)
    high = gl.full((ROWS,), float("-inf"), gl.float32, gl.SliceLayout(1, SCORES))
    total = gl.zeros((ROWS,), gl.float32, gl.SliceLayout(1, SCORES))
    result = gl.zeros((ROWS, DIM), gl.float32, SUM)
    for k in range(steps):
        at = k % BUFFERS
        mbarrier.wait(full.index(at), k // BUFFERS & 1)
        start = gl.zeros((ROWS, KEYS), gl.float32, SCORES)
        scores = warpgroup_mma(
            tile_of(q, 0), tile_of(keys, at).permute((1, 0)), start, is_async=True
        )
        scores = warpgroup_mma_wait(num_outstanding=0, deps=(scores,)) * scale
        key = k * KEYS + gl.arange(0, KEYS, gl.SliceLayout(0, SCORES))
        scores = gl.where((key < tokens)[None, :], scores, float("-inf"))
        # BEGIN SOLUTION: the new maximum, the weights, and old sums scaled down
        new = gl.maximum(high, gl.max(scores, 1))
        shrink = gl.exp(high - new)
        weights = gl.exp(scores - new[:, None])
        total = total * shrink + gl.sum(weights, 1)
        result = result * gl.convert_layout(shrink, gl.SliceLayout(1, SUM))[:, None]
        high = new
        # END SOLUTION
        weights = gl.convert_layout(weights.to(gl.float16), WEIGHTS)
        result = warpgroup_mma(weights, tile_of(values, at), result, is_async=True)
        result = warpgroup_mma_wait(num_outstanding=0, deps=(result,))
        mbarrier.arrive(empty.index(at), count=1)
    result = result / gl.convert_layout(total, gl.SliceLayout(1, SUM))[:, None]
    store_result(o_desc, result, head, row)


@gluon.jit
def attention_kernel(q_desc, k_desc, v_desc, o_desc, tokens, scale, BUFFERS: gl.constexpr):
    q = room_for(q_desc, 1)
    keys = room_for(k_desc, BUFFERS)
    values = room_for(v_desc, BUFFERS)
    full = barriers(BUFFERS, 1)
    empty = barriers(BUFFERS, 1)
    row, head = gl.program_id(0) * q_desc.block_type.shape[1], gl.program_id(1)
    steps = gl.cdiv(tokens, k_desc.block_type.shape[1])
    load_queries(q_desc, q, head, row)
    gl.warp_specialize(
        [
            (attend, (q, o_desc, keys, values, full, empty, head, row, tokens, steps, scale, BUFFERS)),
            (load_keys, (k_desc, v_desc, keys, values, full, empty, head, steps, BUFFERS)),
        ],
        [1],
        [24],
    )  # fmt: skip


def gluon_attention(q, k, v):
    """softmax(q @ k.T / sqrt(dim)) @ v, for each head."""
    heads, tokens, dim = q.shape
    o = torch.empty_like(q)
    tensors = (described(one, 64) for one in (q, k, v, o))
    grid = (triton.cdiv(tokens, 64), heads)
    attention_kernel[grid](*tensors, tokens, 1 / math.sqrt(dim), BUFFERS=2)
    return o


# %%
exercise("gluon_attention").check(gluon_attention)

# %% [markdown]
# Look at a program with six tiles of keys. **Guess first:** the loader is two steps ahead at most. When does it wait?

# %%
q, k, v = (torch.randn(1, 384, 64).half() for _ in range(3))
recorded(gluon_attention, q, k, v).plot.pipeline()

# %% [markdown]
# While the softmax of a step is computed, the tiles of the next one are already there or on their way. *Partition 1*,
# the loader, waits for `empty`: its buffers are full.
#
# And all programs together? Each needs all keys. **Guess first:** here are six programs. In which order do they read
# the tiles? Time runs down.

# %%
recorded(gluon_attention, q, k, v).plot.timeline("k_desc")

# %% [markdown]
# All of them at the same time, in the same order (stripes are for several programs). So a tile that one program has
# asked for is in the cache for the others. Here is what is moved on an H100, from its machine code and this launch:

# %%
print(recorded(gluon_attention, q, k, v).compile("sm_90").transactions)

# %% [markdown]
# The descriptors move whole tiles. No score and no weight is among the accesses: they stay in registers. (Warps access
# shared memory for the tile of the result, and for the arguments that `warp_specialize` passes to a partition.)
#
# The machine code confirms what the layouts promised. For its 32 weights a thread computes 32 exponentials, and two
# more for `shrink` of its two rows. It exchanges two numbers for each maximum and each sum of two rows:

# %%
compiled = recorded(gluon_attention, q, k, v).compile("sm_90")
sass = compiled.stages["sass"]
for name, what in (("HGMMA", "products"), ("MUFU.EX2", "exponentials"), ("SHFL", "exchanges")):
    print(f"{sass.count(name):3} {what} ({name})")
print(
    compiled.metadata.registers,
    "registers,",
    f"{compiled.metadata.shared:,} bytes of shared memory",
)
assert (sass.count("MUFU.EX2"), sass.count("SHFL")) == (32 + 2, 2 * 2 + 2 * 2)
compiled.plot.stages()

# %% [markdown]
# ## Exercise 3: no look ahead
#
# Query `i` may use the keys up to `i`. Then the tiles after the last query of a program are not needed. Both partitions
# must know this: a loader that loads more tiles than are used waits in the end for an `empty` that never comes. Write
# two parts.
# In `causal_kernel`: how many steps a program has. In `attend_causal`: which scores are minus infinity. Tiles of
# queries and of keys have 64 rows each.


# %%
@gluon.jit
def attend_causal(
    q, o_desc, keys, values, full, empty, head, row, tokens, steps, scale, BUFFERS: gl.constexpr
):
    ROWS: gl.constexpr = q.shape[2]
    DIM: gl.constexpr = q.shape[3]
    KEYS: gl.constexpr = keys.shape[2]
    SCORES: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, KEYS, 16])
    SUM: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, DIM, 16])
    WEIGHTS: gl.constexpr = gl.DotOperandLayout(0, SUM, 2)
    high = gl.full((ROWS,), float("-inf"), gl.float32, gl.SliceLayout(1, SCORES))
    total = gl.zeros((ROWS,), gl.float32, gl.SliceLayout(1, SCORES))
    result = gl.zeros((ROWS, DIM), gl.float32, SUM)
    query = row + gl.arange(0, ROWS, gl.SliceLayout(1, SCORES))
    for k in range(steps):
        at = k % BUFFERS
        mbarrier.wait(full.index(at), k // BUFFERS & 1)
        start = gl.zeros((ROWS, KEYS), gl.float32, SCORES)
        scores = warpgroup_mma(
            tile_of(q, 0), tile_of(keys, at).permute((1, 0)), start, is_async=True
        )
        scores = warpgroup_mma_wait(num_outstanding=0, deps=(scores,)) * scale
        key = k * KEYS + gl.arange(0, KEYS, gl.SliceLayout(0, SCORES))
        # BEGIN SOLUTION: scores of keys that a query must not use are minus infinity
        scores = gl.where(key[None, :] <= query[:, None], scores, float("-inf"))
        # END SOLUTION
        new = gl.maximum(high, gl.max(scores, 1))
        shrink = gl.exp(high - new)
        weights = gl.exp(scores - new[:, None])
        total = total * shrink + gl.sum(weights, 1)
        high = new
        result = result * gl.convert_layout(shrink, gl.SliceLayout(1, SUM))[:, None]
        weights = gl.convert_layout(weights.to(gl.float16), WEIGHTS)
        result = warpgroup_mma(weights, tile_of(values, at), result, is_async=True)
        result = warpgroup_mma_wait(num_outstanding=0, deps=(result,))
        mbarrier.arrive(empty.index(at), count=1)
    result = result / gl.convert_layout(total, gl.SliceLayout(1, SUM))[:, None]
    store_result(o_desc, result, head, row)


@gluon.jit
def causal_kernel(q_desc, k_desc, v_desc, o_desc, tokens, scale, BUFFERS: gl.constexpr):
    q = room_for(q_desc, 1)
    keys = room_for(k_desc, BUFFERS)
    values = room_for(v_desc, BUFFERS)
    full = barriers(BUFFERS, 1)
    empty = barriers(BUFFERS, 1)
    row, head = gl.program_id(0) * 64, gl.program_id(1)
    # BEGIN SOLUTION: steps, the number of tiles of keys that this program needs
    steps = gl.program_id(0) + 1
    # END SOLUTION
    load_queries(q_desc, q, head, row)
    gl.warp_specialize(
        [
            (attend_causal, (q, o_desc, keys, values, full, empty, head, row, tokens, steps, scale, BUFFERS)),
            (load_keys, (k_desc, v_desc, keys, values, full, empty, head, steps, BUFFERS)),
        ],
        [1],
        [24],
    )  # fmt: skip


def gluon_causal(q, k, v):
    """Attention in which a query sees no key after itself."""
    heads, tokens, dim = q.shape
    o = torch.empty_like(q)
    tensors = (described(one, 64) for one in (q, k, v, o))
    grid = (triton.cdiv(tokens, 64), heads)
    causal_kernel[grid](*tensors, tokens, 1 / math.sqrt(dim), BUFFERS=2)
    return o


# %%
exercise("gluon_causal").check(gluon_causal)

# %% [markdown]
# ## Two that compute
#
# In this kernel the tensor core is idle while a softmax is computed, and the exponentials wait while it multiplies.
# A second computing partition fills the gaps: it has the next 64 queries, and uses the same keys. Now two partitions
# read each buffer. So `empty` needs *two* arrivals before the loader may write to it.
#
# Two kernels: one with two arrivals, and one that forgets this. **Guess first:** what goes wrong in the second one?


# %%
@gluon.jit
def two_kernel(
    q_desc, k_desc, v_desc, o_desc, tokens, scale, BUFFERS: gl.constexpr, ARRIVALS: gl.constexpr
):
    upper = room_for(q_desc, 1)
    lower = room_for(q_desc, 1)
    keys = room_for(k_desc, BUFFERS)
    values = room_for(v_desc, BUFFERS)
    full = barriers(BUFFERS, 1)
    empty = barriers(BUFFERS, ARRIVALS)
    row, head = gl.program_id(0) * 128, gl.program_id(1)
    steps = gl.cdiv(tokens, k_desc.block_type.shape[1])
    load_queries(q_desc, upper, head, row)
    load_queries(q_desc, lower, head, row + 64)
    gl.warp_specialize(
        [
            (attend, (upper, o_desc, keys, values, full, empty, head, row, tokens, steps, scale, BUFFERS)),
            (attend, (lower, o_desc, keys, values, full, empty, head, row + 64, tokens, steps, scale, BUFFERS)),
            (load_keys, (k_desc, v_desc, keys, values, full, empty, head, steps, BUFFERS)),
        ],
        [4, 1],
        [240, 24],
    )  # fmt: skip


def attend_by_two(q, k, v, arrivals):
    o = torch.empty_like(q)
    tensors = (described(one, 64) for one in (q, k, v, o))
    grid = (triton.cdiv(q.shape[1], 128), q.shape[0])
    two_kernel[grid](*tensors, q.shape[1], 1 / math.sqrt(q.shape[2]), BUFFERS=2, ARRIVALS=arrivals)
    return o


with lab.record() as launches:
    o = attend_by_two(q, k, v, arrivals=2)
    try:
        attend_by_two(q, k, v, arrivals=1)
    except lab.KernelError as error:
        print(type(error).__name__)
expected = torch.nn.functional.scaled_dot_product_attention(q, k, v)
print("right:", torch.allclose(o, expected, atol=2e-3))
launches[1].findings

# %% [markdown]
# Each step ends two phases of `empty` now. If the loader looks after the first arrival, it writes while the other
# partition still reads. If it looks after the second one, it has missed a phase and waits for ever. This is what
# happened here.
#
# ## On an H100
#
# An H100 computed attention of 16 heads with `dim` 128 in float16: one computing partition of eight warps and 128
# queries, two of four warps and 64 queries each, Triton's kernel from `triton_lab.examples`, and torch. **Guess
# first:** which is faster, one large partition or two small ones? Who wins?

# %%
attentions = lab.examples.measurement("gluon_attention")
for row in attentions:
    if row.size == 4096:
        print(f"{row.name:28}{4 * 16 * 128 * row.size**2 / row.seconds / 1e12:5.0f} Tflop/s")
attentions.plot()

# %% [markdown]
# At 4,096 tokens the second buffer brings most: from 380 to 501 Tflop/s with one computing partition, and from 370 to
# 544 with two. With one buffer two partitions are of no use, since both wait for the same load. With two buffers they
# are 9 % faster than one. That is 1.6 times as fast as the example, which is written to be read, and 14 % slower than
# torch, 633. At 8,192 tokens torch is only 4 % ahead.
#
# ## What to remember
#
# - A product's result has the layout of the next product's left operand: weights never leave the registers.
# - `permute` makes the transposed keys without a copy.
# - A row of scores lies in four threads. Statistics of rows have `gl.SliceLayout(1, SCORES)`.
# - Loader and computers must agree on the number of steps, and `empty` counts one arrival for each computer.
# - With two computing partitions, one multiplies while the other computes its softmax.

# %%
lab.course.progress("26")

# %% [markdown]
# **Where to read on.** Shah and others, *FlashAttention-3* (2024), have the ideas of this chapter and more: within one
# partition, the softmax of one tile overlaps with the product of the next, too. Triton's repository has an attention in
# Gluon for Blackwell, `python/examples/gluon/01-attention-forward.py`.
