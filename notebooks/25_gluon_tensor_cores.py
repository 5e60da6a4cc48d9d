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
# # Gluon: tensor cores and partitions
#
# *About 70 minutes. You need chapters 09, 23 and 24.*
#
# You can place tiles in shared memory, let TMA copy them, and wait at a barrier. Now something is computed from them.
# An H100 has a unit for products of small matrices, the *tensor core*, and it too works while the warps do something
# else. In this chapter you will
#
# 1. give a tensor core its operands, and read which thread holds the result,
# 2. start a product, and wait for it at the right place,
# 3. load the next tiles while a product is computed,
# 4. divide the warps of a program into *partitions*: one loads, the others multiply,
# 5. see what each step brings on an H100.
#
# This cell has the names of Gluon, and four functions that every kernel here uses.

# %%
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


def described(tensor, block):
    """A descriptor of a float16 tensor, for tiles of this shape."""
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
def load_tiles(a_desc, b_desc, a, b, full, i, j, k, pred=True):
    """Start the loads of step k into a and b; the barrier `full` gets their bytes. Nothing if not pred."""
    STEP: gl.constexpr = a_desc.block_type.shape[1]
    mbarrier.expect(full, a_desc.block_type.nbytes + b_desc.block_type.nbytes, pred=pred)
    tma.async_load(a_desc, [i, k * STEP], full, a, pred=pred)
    tma.async_load(b_desc, [k * STEP, j], full, b, pred=pred)


@gluon.jit
def store_tile(c_desc, total, i, j):
    """Store the sum, through shared memory and by TMA."""
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_type.shape, c_desc.layout)
    c.store(total.to(c_desc.dtype))
    fence_async_shared()
    tma.async_store(c_desc, [i, j], c)
    tma.store_wait(0)


# %% [markdown]
# ## A product by four warps
#
# Since chapter 09, `tl.dot` has hidden the tensor core. Gluon shows its instruction, `wgmma`. Four warps together, a
# *warpgroup*, ask for one product: 64 rows and 16 columns of `a`, times 16 rows and up to 256 columns of `b`
# (NVIDIA's *PTX ISA*, section *wgmma*). `b` must lie in shared memory. `a` may lie there, too, or in registers. The
# sum is always in registers.
#
# For operands in shared memory there is a layout that TMA writes and the tensor core reads: `NVMMASharedLayout`. It is
# a swizzle, as in chapter 23: eight neighbours stay together, and each row has them in another order. Point at a
# column, and see how its elements are spread over the banks:

# %%
lab.layout(gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16), (64, 64))

# %% [markdown]
# The sum has a layout, too. You cannot choose it freely: the hardware says which thread gets which element.
# `NVMMADistributedLayout` names it by the version of the instruction (`[3, 0]` is Hopper's), the warps down and across
# the tile, and the shape that one warp gets from one instruction. **Guess first:** a sum of 64 by 64 and four warps.
# Which rows does warp 1 hold? How many registers does a thread need for it?

# %%
SUM = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16])
held = lab.layout(SUM, (64, 64))
print(
    "rows of warp 1:",
    sorted({row for lane in range(32) for row, _ in held.elements(warp=1, lane=lane)}),
)
print("elements of a thread:", len(held.elements(warp=0, lane=0)))
held

# %% [markdown]
# A warp holds 16 whole rows. A thread holds 32 of the 4,096 elements, in 32 registers: two neighbours of a row, two
# more eight rows below, and the same again every eight columns. The sum stays in these registers from the first step to
# the last one. Therefore it is called the *accumulator*.
#
# ## Exercise 1: room for the sum
#
# Large tiles need fewer loads, as in chapter 09. But a thread has at most 255 registers (*CUDA programming guide*,
# table of technical specifications). A tile of 128 by 256 is computed in float32. How many registers of a thread does
# the sum need with four warps, and how many with eight? The layouts can be asked.

# %%
# BEGIN SOLUTION: a tuple, (registers with four warps, registers with eight)
sum_registers = (128 * 256 // (4 * 32), 128 * 256 // (8 * 32))
# END SOLUTION

# %%
exercise("sum_registers").check(sum_registers)

# %% [markdown]
# So this tile needs eight warps: with four, nothing would be left for any other number.
#
# ## Start it, wait for it
#
# `warpgroup_mma(a, b, total, is_async=True)` starts `total + a @ b` and returns at once. What it returns is not the sum
# yet. `warpgroup_mma_wait(num_outstanding=0, deps=(total,))` waits until no product is running, and returns the sum.
# Until then two things are forbidden: to use the sum, and to write to the operands. Here is one product.


# %%
@gluon.jit
def one_product_kernel(a_desc, b_desc, c_desc):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], a_desc.layout)
    b = gl.allocate_shared_memory(gl.float16, [64, 64], b_desc.layout)
    full = barriers(1, 1).index(0)
    load_tiles(a_desc, b_desc, a, b, full, 0, 0, 0)
    mbarrier.wait(full, 0)
    SUM: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    total = gl.zeros((64, 64), gl.float32, SUM)
    total = warpgroup_mma(a, b, total, is_async=True)
    total = warpgroup_mma_wait(num_outstanding=0, deps=(total,))
    mbarrier.invalidate(full)
    store_tile(c_desc, total, 0, 0)


a, b, c = torch.randn(64, 64).half(), torch.randn(64, 64).half(), torch.empty(64, 64).half()
with lab.record() as launches:
    one_product_kernel[(1,)](*(described(one, [64, 64]) for one in (a, b, c)))
print(torch.allclose(c.float(), a.float() @ b.float(), atol=1e-2))
launches[0].plot.pipeline()

# %% [markdown]
# Read it from left to right. TMA fills `a` and `b`, which are light blue meanwhile. The warps wait for `full`. Then the
# tensor core works, and reads both buffers: they are purple, and must not be written.
#
# The compiler for an H100 makes four instructions of the one call, each for 16 of the 64 columns of `a`, and the wait
# is one more:

# %%
sass = launches[0].compile("sm_90").stages["sass"].splitlines()
for line in sass:
    if "HGMMA" in line or "WARPGROUP" in line:
        print(line.split("\t")[-1])
assert sum("HGMMA.64x64x16" in line for line in sass) == 4

# %% [markdown]
# There is no fence between TMA and the tensor core: both reach shared memory on the same path, the asynchronous one.
#
# What if the wait comes too late? In this loop the next load starts while the product still reads the buffers. On a
# GPU some elements would be new and some old, and each run may be different. The lab stops at the line:


# %%
@gluon.jit
def hasty_kernel(a_desc, b_desc, c_desc, steps):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], a_desc.layout)
    b = gl.allocate_shared_memory(gl.float16, [64, 64], b_desc.layout)
    full = barriers(1, 1).index(0)
    SUM: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    total = gl.zeros((64, 64), gl.float32, SUM)
    for k in range(steps):
        load_tiles(a_desc, b_desc, a, b, full, 0, 0, k)
        mbarrier.wait(full, k & 1)
        total = warpgroup_mma(a, b, total, is_async=True)
        total = warpgroup_mma_wait(num_outstanding=1, deps=(total,))  # one may still run
    total = warpgroup_mma_wait(num_outstanding=0, deps=(total,))
    mbarrier.invalidate(full)
    store_tile(c_desc, total, 0, 0)


long, tall = torch.randn(64, 256).half(), torch.randn(256, 64).half()
with lab.record() as launches:
    try:
        hasty_kernel[(1,)](*(described(one, [64, 64]) for one in (long, tall, c)), 4)
    except lab.KernelError as error:
        print(type(error).__name__)
launches[0].findings

# %% [markdown]
# ## Load ahead
#
# With one buffer and a wait for no product, that loop is right. But while TMA loads, the tensor core does nothing, and
# while it multiplies, TMA does nothing. With several buffers the load of a later step can run at the same time. Step
# `k` uses the buffer `k % BUFFERS`, and this is its use number `k // BUFFERS`: the phase to wait for is 0, then 1, then
# 0 again.
#
# ## Exercise 2: a product that loads ahead
#
# `a @ b` with tiles of 64 by 64. Before the loop start the loads of the first `BUFFERS - 1` steps. In each step start
# the load that is `BUFFERS - 1` steps ahead, wait for the tiles of this step, multiply, and wait for the product. Loads
# beyond the last step must not be started: `load_tiles` has the argument `pred` for this. All matrices are contiguous,
# in float16, and all sizes are multiples of 8. (TMA fills a tile with zeros where it is outside of the matrix, and
# stores nothing there.)


# %%
@gluon.jit
def ahead_kernel(a_desc, b_desc, c_desc, K, BUFFERS: gl.constexpr):
    a = gl.allocate_shared_memory(gl.float16, [BUFFERS, 64, 64], a_desc.layout)
    b = gl.allocate_shared_memory(gl.float16, [BUFFERS, 64, 64], b_desc.layout)
    full = barriers(BUFFERS, 1)
    i, j = gl.program_id(0) * 64, gl.program_id(1) * 64
    steps = gl.cdiv(K, 64)
    SUM: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    total = gl.zeros((64, 64), gl.float32, SUM)
    # BEGIN SOLUTION: the first loads; then for each step load ahead, wait, multiply, wait
    AHEAD: gl.constexpr = BUFFERS - 1
    for k in gl.static_range(AHEAD):
        load_tiles(a_desc, b_desc, a.index(k), b.index(k), full.index(k), i, j, k, k < steps)
    for k in range(steps):
        at = (k + AHEAD) % BUFFERS
        later = k + AHEAD
        load_tiles(
            a_desc, b_desc, a.index(at), b.index(at), full.index(at), i, j, later, later < steps
        )
        at = k % BUFFERS
        mbarrier.wait(full.index(at), k // BUFFERS & 1)
        total = warpgroup_mma(a.index(at), b.index(at), total, is_async=True)
        total = warpgroup_mma_wait(num_outstanding=0, deps=(total,))
    # END SOLUTION
    for number in gl.static_range(BUFFERS):
        mbarrier.invalidate(full.index(number))
    store_tile(c_desc, total, i, j)


def ahead(a, b):
    """a @ b in float16, with loads that run ahead."""
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype)
    tensors = (described(one, [64, 64]) for one in (a, b, c))
    ahead_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](*tensors, K, BUFFERS=3)
    return c


# %%
exercise("ahead").check(ahead)

# %% [markdown]
# Is a load running whenever the tensor core works? Look at your own kernel:

# %%
a, b = torch.randn(64, 384).half(), torch.randn(384, 64).half()
recorded(ahead, a, b).plot.pipeline()

# %% [markdown]
# ## Partitions
#
# The same warps start loads, wait, start products, wait. Whatever they wait for, they can do nothing else. Hopper's
# answer is to give the two kinds of work to different warps:
#
# - `gl.warp_specialize([(multiply, ...), (load, ...)], [1], [24])` runs the functions side by side. Each is a
#   *partition*. The first one has the program's own four warps. The second one has one warp, and 24 registers for each
#   thread: TMA computes its addresses.
# - What the loader does not need, the others may have. In the machine code this is `USETMAXREG`.
# - Partitions share nothing but memory. So they meet at barriers, and there must be two for each buffer: `full` says
#   "the tiles have come", `empty` says "they have been used".
#
# | in step `k` | waits for | then | and ends |
# |---|---|---|---|
# | the loader | `empty`: the use before this one is over | starts two loads | nothing: TMA ends `full` |
# | the computer | `full`: the tiles have come | multiplies, waits for the product | `empty`, by an arrival |
#
# The loader's phases are the other way round. Use 0 of a buffer is the first one: no use was before it, and nobody has
# arrived at `empty`. A new barrier is in phase 0, and a wait for phase 1 ends at once, as in chapter 24. So the loader
# waits for phase 1, then 0, then 1: `k // BUFFERS & 1 ^ 1`.
#
# Here are two partitions without a tensor core, to see it: one passes numbers, the other one adds them up.


# %%
WARP = gl.constexpr(gl.BlockedLayout([1], [32], [1], [0]))
WARPS = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))


@gluon.jit
def give(x_ptr, box, full, empty, steps):
    for k in range(steps):
        mbarrier.wait(empty.index(k % 2), k // 2 & 1 ^ 1)
        box.index(k % 2).store(gl.load(x_ptr + k * 128 + gl.arange(0, 128, WARP)))
        mbarrier.arrive(full.index(k % 2), count=1)


@gluon.jit
def take(out_ptr, box, full, empty, steps):
    total = gl.zeros((128,), gl.float32, WARPS)
    for k in range(steps):
        mbarrier.wait(full.index(k % 2), k // 2 & 1)
        total += box.index(k % 2).load(WARPS)
        mbarrier.arrive(empty.index(k % 2), count=1)
    gl.store(out_ptr + gl.arange(0, 128, WARPS), total)


@gluon.jit
def passed_kernel(x_ptr, out_ptr, steps):
    layout: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    box = gl.allocate_shared_memory(gl.float32, [2, 128], layout)
    full = barriers(2, 1)
    empty = barriers(2, 1)
    gl.warp_specialize(
        [(take, (out_ptr, box, full, empty, steps)), (give, (x_ptr, box, full, empty, steps))],
        [1],
        [24],
    )


x, out = torch.randn(4, 128), torch.empty(128)
with lab.record() as launches:
    passed_kernel[(1,)](x, out, 4)
print(torch.allclose(out, x.sum(0)))
launches[0].plot.pipeline()

# %% [markdown]
# **Guess first:** four rows of numbers and two boxes. Which partition waits first, and for what? In the picture the row
# *the program's warps* is `take`, and *partition 1* is `give`. At the start `take` waits for `full[0]`, while `give`
# fills both boxes. Then `give` waits for `empty[0]`: nobody has taken the first box yet. At the end `give` has
# finished, while `take` still reads.
#
# And if `give` waits for the wrong phase? Then each waits for the other. The lab names both:


# %%
@gluon.jit
def give_too_late(x_ptr, box, full, empty, steps):
    for k in range(steps):
        mbarrier.wait(empty.index(k % 2), k // 2 & 1)  # the phase of `full`
        box.index(k % 2).store(gl.load(x_ptr + k * 128 + gl.arange(0, 128, WARP)))
        mbarrier.arrive(full.index(k % 2), count=1)


@gluon.jit
def stuck_kernel(x_ptr, out_ptr, steps):
    layout: gl.constexpr = gl.SwizzledSharedLayout(1, 1, 1, [0])
    box = gl.allocate_shared_memory(gl.float32, [2, 128], layout)
    full = barriers(2, 1)
    empty = barriers(2, 1)
    gl.warp_specialize(
        [
            (take, (out_ptr, box, full, empty, steps)),
            (give_too_late, (x_ptr, box, full, empty, steps)),
        ],
        [1],
        [24],
    )


with lab.record() as launches:
    try:
        stuck_kernel[(1,)](x, out, 4)
    except lab.KernelError as error:
        print(type(error).__name__)
launches[0].findings

# %% [markdown]
# ## Exercise 3: a loader and a computer
#
# The product again, with two partitions. Write both. The loader waits for an empty buffer and starts its loads. The
# computer waits for a full one, multiplies, waits for the product, and arrives at `empty`. Every buffer is used in
# turn.


# %%
@gluon.jit
def loader(a_desc, b_desc, a, b, full, empty, i, j, steps, BUFFERS: gl.constexpr):
    # BEGIN SOLUTION: for each step wait for an empty buffer, and load into it
    for k in range(steps):
        at = k % BUFFERS
        mbarrier.wait(empty.index(at), k // BUFFERS & 1 ^ 1)
        load_tiles(a_desc, b_desc, a.index(at), b.index(at), full.index(at), i, j, k)
    # END SOLUTION


@gluon.jit
def computer(c_desc, a, b, full, empty, i, j, steps, BUFFERS: gl.constexpr):
    SUM: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    total = gl.zeros((64, 64), gl.float32, SUM)
    # BEGIN SOLUTION: for each step wait for a full buffer, multiply, wait, and arrive at `empty`
    for k in range(steps):
        at = k % BUFFERS
        mbarrier.wait(full.index(at), k // BUFFERS & 1)
        total = warpgroup_mma(a.index(at), b.index(at), total, is_async=True)
        total = warpgroup_mma_wait(num_outstanding=0, deps=(total,))
        mbarrier.arrive(empty.index(at), count=1)
    # END SOLUTION
    store_tile(c_desc, total, i, j)


@gluon.jit
def parted_kernel(a_desc, b_desc, c_desc, K, BUFFERS: gl.constexpr):
    a = gl.allocate_shared_memory(gl.float16, [BUFFERS, 64, 64], a_desc.layout)
    b = gl.allocate_shared_memory(gl.float16, [BUFFERS, 64, 64], b_desc.layout)
    full = barriers(BUFFERS, 1)
    empty = barriers(BUFFERS, 1)
    i, j = gl.program_id(0) * 64, gl.program_id(1) * 64
    steps = gl.cdiv(K, 64)
    gl.warp_specialize(
        [
            (computer, (c_desc, a, b, full, empty, i, j, steps, BUFFERS)),
            (loader, (a_desc, b_desc, a, b, full, empty, i, j, steps, BUFFERS)),
        ],
        [1],
        [24],
    )


def parted(a, b):
    """a @ b in float16, by a loader and a computer."""
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype)
    tensors = (described(one, [64, 64]) for one in (a, b, c))
    parted_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](*tensors, K, BUFFERS=2)
    return c


# %%
exercise("parted").check(parted)

# %% [markdown]
# Who waits for whom in your kernel? Follow `empty[0]` and `full[0]` through six steps:

# %%
recorded(parted, a, b).plot.pipeline()

# %% [markdown]
# And what is it on an H100? Four warps compute and one loads, but registers are given to groups of four warps: so there
# are eight. One thread asks TMA for the tiles. **Guess first:** how many programs fit on a multiprocessor, of this
# kernel and of that in exercise 2?

# %%
compiled = recorded(parted, a, b).compile("sm_90")
print(f"{compiled.metadata.warps} warps, {compiled.metadata.shared:,} bytes of shared memory")
for name in ("USETMAXREG", "UTMALDG", "HGMMA", "SYNCS.PHASECHK"):
    print(f"{name:15}", compiled.stages["sass"].count(name))
print("exercise 3:", compiled.cost.occupancy)
print("exercise 2:", recorded(ahead, a, b).compile("sm_90").cost.occupancy)

# %% [markdown]
# ## A product in flight
#
# One pause is left. The computer waits for a product and only then starts the next one, so the tensor core is idle for
# a moment in each step. `num_outstanding=1` lets the newest product run on: the wait ends when all products *but one*
# have ended. The products end in their order. **Guess first:** after this wait in step `k`, which buffer is free?
#
# ## Exercise 4: leave one running
#
# Write the computer once more, such that a product is always running. After the wait of step `k`, arrive at `empty` for
# the buffer that nothing reads any more; in step 0 there is none. After the loop wait for all. The loader is that of
# exercise 3.


# %%
@gluon.jit
def busy_computer(c_desc, a, b, full, empty, i, j, steps, BUFFERS: gl.constexpr):
    SUM: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    total = gl.zeros((64, 64), gl.float32, SUM)
    # BEGIN SOLUTION: as before, but leave one product running, and free the buffer of the step before
    for k in range(steps):
        at = k % BUFFERS
        mbarrier.wait(full.index(at), k // BUFFERS & 1)
        total = warpgroup_mma(a.index(at), b.index(at), total, is_async=True)
        total = warpgroup_mma_wait(num_outstanding=1, deps=(total,))
        before = (k + BUFFERS - 1) % BUFFERS
        mbarrier.arrive(empty.index(before), count=1, pred=k > 0)
    total = warpgroup_mma_wait(num_outstanding=0, deps=(total,))
    # END SOLUTION
    store_tile(c_desc, total, i, j)


@gluon.jit
def loader_again(a_desc, b_desc, a, b, full, empty, i, j, steps, BUFFERS: gl.constexpr):
    for step in range(steps):
        slot = step % BUFFERS
        mbarrier.wait(empty.index(slot), step // BUFFERS & 1 ^ 1)
        load_tiles(a_desc, b_desc, a.index(slot), b.index(slot), full.index(slot), i, j, step)


@gluon.jit
def busy_kernel(a_desc, b_desc, c_desc, K, BUFFERS: gl.constexpr):
    a = gl.allocate_shared_memory(gl.float16, [BUFFERS, 64, 64], a_desc.layout)
    b = gl.allocate_shared_memory(gl.float16, [BUFFERS, 64, 64], b_desc.layout)
    full = barriers(BUFFERS, 1)
    empty = barriers(BUFFERS, 1)
    i, j = gl.program_id(0) * 64, gl.program_id(1) * 64
    steps = gl.cdiv(K, 64)
    gl.warp_specialize(
        [
            (busy_computer, (c_desc, a, b, full, empty, i, j, steps, BUFFERS)),
            (loader_again, (a_desc, b_desc, a, b, full, empty, i, j, steps, BUFFERS)),
        ],
        [1],
        [24],
    )


def busy(a, b):
    """a @ b in float16, with a product that is always running."""
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty((M, N), dtype=a.dtype)
    tensors = (described(one, [64, 64]) for one in (a, b, c))
    busy_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](*tensors, K, BUFFERS=3)
    return c


# %%
exercise("busy").check(busy)

# %% [markdown]
# ## On an H100
#
# These kernels multiplied matrices of float16 on an H100, with tiles of 128 by 128: with one to four buffers, without
# partitions and with two, and with a product in flight. **Guess first:** what brings most, a second buffer, a third
# one, the partitions, or the product in flight? How near is it to torch?

# %%
products = lab.examples.measurement("gluon_products")
for row in products:
    speed = 2 * 4096**3 / row.seconds / 1e12
    print(f"{row.name:36} {'' if row.name == 'torch' else row.size:1} {speed:4.0f} Tflop/s")
products.plot()

# %% [markdown]
# (The size in the picture is the number of buffers; the matrices have 4,096 rows and columns. torch has no such number,
# and its point stands at 4.)
#
# Surprised? Without partitions, one buffer is as good as two: 545 and 542 Tflop/s. With one buffer nothing overlaps
# within a program. But three such programs fit on a multiprocessor (154 registers for each of their threads), and while
# one waits, another one can multiply. With three buffers two programs fit: 608, the best of ours. With four buffers
# there is only one, and it must do all alone: 504, and 601 with a product in flight.
#
# With partitions a single program fits, since its eight warps take all registers. So one buffer is a disaster: 229.
# Each buffer more helps, to 422, 525 and 539, and the product in flight to 589. That is 2.6 times as fast.
#
# So partitions do not make a kernel faster by themselves. They let one program keep the tensor core busy *alone*. That
# is needed where only one fits, because its tiles are large: as in the next chapter. And torch, 730, shows that more is
# possible. At 8,192 rows and columns the order is another one, and the plainest kernel is the fastest of ours:
# `measurement("gluon_products_8192")`. So measure for your sizes.
#
# ## What to remember
#
# - A warpgroup, four warps, asks the tensor core for a product. `b` is in shared memory, the sum in registers, in a
#   layout that the hardware dictates.
# - A product is started, and waited for. Until then neither may its sum be used, nor may its operands be written.
# - With several buffers, loads run while products run. Use number `k // BUFFERS` of a buffer is in phase
#   `k // BUFFERS & 1`.
# - Partitions are functions that run side by side on their own warps. `full` and `empty` say who may go on. The loader
#   begins with the opposite phase.
# - With a product in flight, the buffer that is free is that of the step before.
# - If several programs fit on a multiprocessor, one computes while another one waits. A program that is alone there
#   must do both.

# %%
lab.course.progress("25")

# %% [markdown]
# **Where to read on.** Triton's tutorials on Gluon, *Warp-Group MMA* and *Warp Specialization*, measure more such
# kernels. NVIDIA's *PTX ISA* describes `wgmma` and `setmaxnreg`. In [chapter 26](26_gluon_attention.ipynb) the same two
# partitions compute attention.
