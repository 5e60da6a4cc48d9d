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
# # Gluon: asynchronous copies and barriers
#
# *About 70 minutes. You need chapters 21 and 23.*
#
# A load takes hundreds of nanoseconds, and a program that waits for it does nothing. So fast kernels start a copy, do
# something else, and wait as late as they can. In Triton `num_stages` makes such a pipeline for you. In Gluon you write
# it: you start copies, and you say who waits for what. A wait that is missing is a race. A wait for the wrong thing
# never ends. In this chapter you will
#
# 1. say how many bytes must be on their way, so that memory is never idle,
# 2. copy into shared memory in *groups*, with one, two and three buffers, and see the pipeline of each,
# 3. use *barriers* with phases, and load and store tiles by TMA,
# 4. plant five mistakes, and read what each of them does,
# 5. write a pipeline with two loads ahead.

# %%
import torch
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from triton.experimental.gluon.nvidia import hopper

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab
_ = torch.manual_seed(0)

LINE = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
TILE = gl.constexpr(gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))
PLAIN = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))

# %% [markdown]
# (The names of the copies are those of Triton 3.7 and later. Before, `async_load` was called
# `async_copy_global_to_shared`.)
#
# ## How many bytes must be on their way?
#
# A pipe that is 100 metres long must be full of water before the tap gives any. Memory is the same: bytes that are
# asked for now arrive later, and until then others must arrive. So at each moment there must be
#
# `bandwidth * latency`
#
# bytes on their way. An H100 was asked: 132 programs, one for each multiprocessor, copied 256 MiB in steps of 4 KiB.
# Each step loaded 4 KiB, waited until they were there, and stored them. **Guess first:** how much of the GPU's
# bandwidth did this copy use?

# %%
buffers = lab.examples.measurement("buffers")
alone = buffers.rows[0]
step = alone.time.median / (alone.bytes / (132 * 2 * 4096))
loaded = (
    buffers.peaks.bytes_per_second / 2 * step
)  # half of a copy's bytes are loaded, half are stored
print(f"{buffers.share(alone):.0%} of the bandwidth; a step took {step * 1e9:.0f} ns.")
print(f"In this time memory can load {loaded:,.0f} bytes; on their way were {132 * 4096:,}.")

# %% [markdown]
# So more than twice as many bytes must be on their way.
#
# There are two ways to have more bytes on their way. Many programs can run side by side, and each waits for its own
# load. Or one program has several copies on their way. A kernel that needs much shared memory, such as a product, has
# only the second way.
#
# ## Copies in groups
#
# `async_copy.async_load(buffer, pointers)` starts a copy from global memory to shared memory, and the program goes on.
# The bytes do not pass through registers. (The instruction is `cp.async`, on GPUs since the A100.) Three steps belong
# to each copy:
#
# 1. `async_load` starts it, as often as you like,
# 2. `commit_group()` makes all that was started since the last time into a *group*,
# 3. `wait_group(n)` waits until at most `n` groups are still running. Groups end in the order in which they were made.
#
# First with one buffer:


# %%
@gluon.jit
def one_buffer(x_ptr, out_ptr, steps, BLOCK: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [BLOCK], PLAIN)
    i = gl.arange(0, BLOCK, layout=LINE)
    for k in range(steps):
        async_copy.async_load(buffer, x_ptr + k * BLOCK + i)
        async_copy.commit_group()
        async_copy.wait_group(0)
        gl.store(out_ptr + k * BLOCK + i, 2 * buffer.load(LINE))


x, out = torch.randn(512), torch.empty(512)
with lab.record() as launches:
    one_buffer[(1,)](x, out, 4, 128)
print(torch.equal(out, 2 * x), launches[0].findings)
launches[0].plot.pipeline()

# %% [markdown]
# This picture shows the *pipeline* of a program. Time runs to the right. Above you see who works, and below what is in
# each buffer. Copies and warps take turns: the warps go on when the copy has ended, and the next copy starts when they
# have read. Nothing overlaps, so nothing is gained.
#
# What if the wait is forgotten? **Guess first:** are the numbers wrong?


# %%
@gluon.jit
def no_wait(x_ptr, out_ptr, steps, BLOCK: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [BLOCK], PLAIN)
    i = gl.arange(0, BLOCK, layout=LINE)
    for k in range(steps):
        async_copy.async_load(buffer, x_ptr + k * BLOCK + i)
        async_copy.commit_group()
        gl.store(out_ptr + k * BLOCK + i, 2 * buffer.load(LINE))


with lab.record() as launches:
    try:
        no_wait[(1,)](x, out, 4, 128)
    except lab.KernelError as error:
        print(error.message)

# %% [markdown]
# The lab stops at the line that uses the buffer too early. A GPU does not: it reads what is in the buffer now, old
# bytes or new ones, and goes on.
#
# How bad is that? An H100 did it with 256 MiB, by 132 programs, five times. Without the wait, 99.7 % of the numbers
# were wrong. With a ring of eight buffers, which comes next, but without waits, 12 % to 15 % were wrong: many copies
# had ended in time. The closer a mistake is to being right, the harder it is to see.
#
# ## Two buffers, three buffers
#
# To overlap, the copy of the next block must run while this block is used. So it needs a buffer of its own. With
# several buffers in a *ring*, step `k` uses buffer `k % BUFFERS`, and the copies run `BUFFERS - 1` steps ahead:


# %%
@gluon.jit
def ring_of_buffers(x_ptr, out_ptr, steps, BLOCK: gl.constexpr, BUFFERS: gl.constexpr):
    ring = gl.allocate_shared_memory(gl.float32, [BUFFERS, BLOCK], PLAIN)
    i = gl.arange(0, BLOCK, layout=LINE)
    for k in gl.static_range(BUFFERS - 1):
        async_copy.async_load(ring.index(k), x_ptr + k * BLOCK + i, mask=i < (steps - k) * BLOCK)
        async_copy.commit_group()
    for k in range(steps):
        ahead = k + BUFFERS - 1
        mask = i < (steps - ahead) * BLOCK
        async_copy.async_load(ring.index(ahead % BUFFERS), x_ptr + ahead * BLOCK + i, mask=mask)
        async_copy.commit_group()
        async_copy.wait_group(BUFFERS - 1)
        gl.store(out_ptr + k * BLOCK + i, 2 * ring.index(k % BUFFERS).load(LINE))


def launch_ring(buffers=2):
    """One launch of `ring_of_buffers`: six steps."""
    x, out = torch.randn(768), torch.empty(768)
    ring_of_buffers[(1,)](x, out, 6, 128, buffers)
    assert torch.equal(out, 2 * x)


lab.interact(launch_ring, draw=lambda launch: launch.plot.pipeline(), buffers=[1, 2, 3, 4])

# %% [markdown]
# With two buffers one is filled while the other is read: a copy is always running. Run the cell, and move the slider
# *buffers* to 3: now two copies are running while the warps read.
#
# Two details. The first copies, before the loop, are called the *prologue*. And near the end there is nothing left to
# copy: the mask is false everywhere. The group is made all the same, empty, so that the number of groups in
# `wait_group` stays right.
#
# What does it bring? Here is the measurement of the start of this chapter again, with more buffers, and also by TMA,
# which comes below. **Guess first:** how much faster are two buffers than one, and how many buffers are enough? The
# axis has the number of buffers.

# %%
buffers.plot()

# %% [markdown]
# One buffer reaches 44 % of the bandwidth of a copy, two 68 %, three 79 %. Six reach 95 %, and more bring nothing.
# Twice the bytes on their way are not twice the speed: the more copies there are, the longer each one takes. TMA is as
# fast as copies in groups here. What it saves is the work of the warps, which had nothing else to do.
#
# ## Exercise 1: a copy runs ahead
#
# `2 * x` for a contiguous float32 vector of any length, by exactly four programs. Program p takes the blocks p, p + 4,
# p + 8, ... Copy each block with `async_copy`, so that the copy of the next block runs while this one is used.

# %%
LINE = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
PLAIN = gl.constexpr(gl.SwizzledSharedLayout(1, 1, 1, [0]))


@gluon.jit
def copy_ahead_kernel(x_ptr, out_ptr, n, BLOCK: gl.constexpr):
    # BEGIN SOLUTION: a ring of two buffers; step k starts copy k + 1, then waits for copy k
    ring = gl.allocate_shared_memory(gl.float32, [2, BLOCK], PLAIN)
    i = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=LINE)
    stride = gl.num_programs(0) * BLOCK
    async_copy.async_load(ring.index(0), x_ptr + i, mask=i < n)
    async_copy.commit_group()
    for k in range(gl.cdiv(n, stride)):
        after = i + stride
        async_copy.async_load(ring.index((k + 1) % 2), x_ptr + after, mask=after < n)
        async_copy.commit_group()
        async_copy.wait_group(1)
        gl.store(out_ptr + i, 2 * ring.index(k % 2).load(LINE), mask=i < n)
        i = after
    # END SOLUTION


def copy_ahead(x):
    """2 * x, by four programs."""
    out = torch.empty_like(x)
    copy_ahead_kernel[(4,)](x, out, x.numel(), 128)
    return out


# %%
exercise("copy_ahead").check(copy_ahead)

# %% [markdown]
# ## Barriers
#
# Groups have a limit: only the warps that started a copy can wait for it. For everything else there is the *barrier*,
# also called *mbarrier*: eight bytes in shared memory with two counters. One counts arrivals, the other bytes.
#
# - `mbarrier.init(bar, count=1)`: in each phase, one arrival must come.
# - `mbarrier.expect(bar, bytes)`: an arrival that adds: "and so many bytes must land".
# - `mbarrier.arrive(bar, count=1)`: an arrival without bytes.
# - `mbarrier.wait(bar, phase)`: wait until this phase has ended.
# - `mbarrier.invalidate(bar)`: it is a barrier no more, and its memory is free.
#
# When all arrivals have come and all bytes have landed, the *phase* ends and the next one begins, with full counters.
# Phases are numbered 0, 1, 2, ..., but the barrier keeps only the last bit of the number. So the first use waits for
# phase 0, the second for 1, the third for 0 again.


# %%
@gluon.jit
def three_uses(out_ptr):
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    for use in range(3):
        mbarrier.arrive(bar, count=1)
        mbarrier.wait(bar, use & 1)
    mbarrier.invalidate(bar)
    gl.store(out_ptr, 3)


with lab.record() as launches:
    three_uses[(1,)](torch.empty(1))
launches[0].plot.pipeline()

# %% [markdown]
# Why a bit, and not a number? A wait asks: "is the phase that runs now another one than mine?" So a wait for phase 1
# of a new barrier ends at once: phase 0 is running, so phase 1 must be the one before. This is often used on purpose,
# for buffers that are empty at the start. By mistake, it is a wait that does not wait. (The PTX manual allows 0 and 1
# as the phase of a wait. So write `k & 1`, although an H100 that was tried looked at the last bit of `k` alone.)
#
# ## Exercise 2: which phase?
#
# A ring has three buffers, and each has a barrier of its own. Step `k` uses buffer `k % 3`, and waits once for its
# barrier. Which buffer does step 7 use, and for which phase does it wait, 0 or 1?

# %%
# BEGIN SOLUTION: a tuple, (buffer, phase)
step_seven = (1, 0)
# END SOLUTION

# %%
exercise("step_seven").check(step_seven)

# %% [markdown]
# ## A tile by TMA
#
# [Chapter 21](21_persistent_kernels.ipynb) used descriptors: one thread asks for a whole tile, and a unit called TMA
# moves it. In Gluon you see how the program learns that the tile is there: TMA reports the bytes to a barrier. Here is
# all that belongs to a load and a store of one tile. The constants at the end plant mistakes; leave them for now.


# %%
@gluon.jit
def double_tile(
    x_desc,
    out_desc,
    TIMES: gl.constexpr = 1,
    PHASE: gl.constexpr = 0,
    WAITS: gl.constexpr = True,
    FENCES: gl.constexpr = True,
    ENDS: gl.constexpr = True,
):
    tile = gl.allocate_shared_memory(gl.float32, [32, 32], x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    at = [gl.program_id(0) * 32, gl.program_id(1) * 32]

    mbarrier.expect(bar, TIMES * x_desc.block_type.nbytes)  # 4,096 bytes will come
    tma.async_load(x_desc, at, bar, tile)  # and are reported to bar
    if WAITS:
        mbarrier.wait(bar, PHASE)

    tile.store(2 * tile.load(TILE))
    if FENCES:
        fence_async_shared()  # TMA shall see what the warps have stored
    tma.async_store(out_desc, at, tile)
    if ENDS:
        tma.store_wait(0)  # until the tile has been read


def described(tensor):
    """A descriptor of a float32 matrix, in tiles of 32 x 32."""
    layout = gl.NVMMASharedLayout.get_default_for([32, 32], gl.float32)
    return hopper.TensorDescriptor.from_tensor(tensor, [32, 32], layout)


def launch_double_tile(**mistake):
    """One launch of `double_tile`, recorded, even if it stops."""
    x, out = torch.randn(64, 64), torch.empty(64, 64)
    with lab.record() as launches:
        try:
            double_tile[(2, 2)](described(x), described(out), **mistake)
        except lab.KernelError as error:
            return launches[0], error.message
    return launches[0], "right" if torch.equal(out, 2 * x) else "wrong"


launch, told = launch_double_tile()
print(told, launch.findings)
launch.plot.pipeline()

# %% [markdown]
# Read the picture together with the kernel. The barrier's phase 0 ends when the bytes have landed, and that ends the
# wait. For the store there is no barrier: `tma.store_wait(0)` waits until TMA has *read* the tile, so that its memory
# may be used again.
#
# And the fence? The warps and TMA reach shared memory on two different paths, which NVIDIA calls *proxies*: the generic
# one and the asynchronous one. Without a fence, TMA may read the tile before the warps' stores are there.
#
# ## Five mistakes
#
# **Guess first**, for each: does it hang, does it give wrong numbers, or is it luck?
#
# 1. The barrier expects twice the bytes that come.
# 2. The wait names phase 1.
# 3. There is no wait.
# 4. There is no fence.
# 5. The kernel ends without a wait for the store.

# %%
mistakes = [{"TIMES": 2}, {"PHASE": 1}, {"WAITS": False}, {"FENCES": False}, {"ENDS": False}]
for mistake in mistakes:
    launch, told = launch_double_tile(**mistake)
    print(f"{mistake}: {launch.findings[0].kind}\n  {told}\n")

# %% [markdown]
# - Expecting too much is a *deadlock*: the phase never ends, and a GPU hangs until you kill the process.
# - The wrong phase is no wait at all. (If TMA is so fast that phase 0 has already ended, it is the opposite: then the
#   wait is for phase 1, which never ends, and the kernel hangs. The same mistake can do both.)
# - Without the wait, the fence, or the last wait, the result depends on who is faster. Such a kernel can be right for
#   years, until a faster GPU comes.
#
# How does a race look if you are lucky? Usually the lab lets copies end as late as the waits allow, so that a missing
# wait shows. With `schedule="eager"` they end at once. The same kernel without its wait:

# %%
x, out = torch.randn(64, 64), torch.empty(64, 64)
with lab.record(schedule="eager") as launches:
    double_tile[(2, 2)](described(x), described(out), WAITS=False)
print("right" if torch.equal(out, 2 * x) else "wrong", launches[0].findings)

# %% [markdown]
# The numbers are right, and nothing is found. That is what a test on a GPU may see. So do not trust one good run.
#
# ## Exercise 3: a tile by TMA
#
# `2 * x` for a contiguous float32 matrix whose rows are multiples of 16 bytes. Each program loads one tile by TMA, and
# stores it by TMA. (What is outside of the matrix is loaded as 0, and not stored. All bytes of the tile are reported.)

# %%
TILE = gl.constexpr(gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))


@gluon.jit
def tile_kernel(x_desc, out_desc):
    # BEGIN SOLUTION: expect, load, wait; store, fence, store by TMA, wait
    tile = gl.allocate_shared_memory(gl.float32, x_desc.block_type.shape, x_desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    at = [gl.program_id(0) * 32, gl.program_id(1) * 32]
    mbarrier.expect(bar, x_desc.block_type.nbytes)
    tma.async_load(x_desc, at, bar, tile)
    mbarrier.wait(bar, 0)
    tile.store(2 * tile.load(TILE))
    fence_async_shared()
    tma.async_store(out_desc, at, tile)
    tma.store_wait(0)
    # END SOLUTION


def tile_by_tma(x):
    """2 * x, contiguous."""
    out = torch.empty_like(x)
    layout = gl.NVMMASharedLayout.get_default_for([32, 32], gl.float32)
    x_desc, out_desc = (
        hopper.TensorDescriptor.from_tensor(one, [32, 32], layout) for one in (x, out)
    )
    grid = (triton.cdiv(x.shape[0], 32), triton.cdiv(x.shape[1], 32))
    tile_kernel[grid](x_desc, out_desc)
    return out


# %%
exercise("tile_by_tma").check(tile_by_tma)

# %% [markdown]
# ## A ring of barriers
#
# All together: TMA loads run ahead in a ring, and each buffer has a barrier of its own. Step `k` waits for barrier
# `k % BUFFERS`, and its phase changes with each round: `k // BUFFERS & 1`. One more thing is new. TMA will write a
# buffer that the warps have just read. That is again two paths, so there is a fence after the read, too.
#
# ## Exercise 4: two loads ahead
#
# `2 * x` as in exercise 3, but each program has 32 whole rows, and walks along them in steps of 32 columns. Use three
# buffers and three barriers, so that two loads are on their way while a tile is read. Store the result as you like.

# %%
TILE = gl.constexpr(gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0]))


@gluon.jit
def ring_kernel(x_desc, out_desc, columns):
    # BEGIN SOLUTION: start loads 0 and 1; in step k start load k + 2, wait for load k, use it
    ring = gl.allocate_shared_memory(gl.float32, [3, 32, 32], x_desc.layout)
    result = gl.allocate_shared_memory(gl.float32, [32, 32], out_desc.layout)
    bars = gl.allocate_shared_memory(gl.int64, [3, 1], mbarrier.MBarrierLayout())
    for k in gl.static_range(3):
        mbarrier.init(bars.index(k), count=1)
    row = gl.program_id(0) * 32
    steps = gl.cdiv(columns, 32)
    for k in gl.static_range(2):
        mbarrier.expect(bars.index(k), x_desc.block_type.nbytes, pred=k < steps)
        tma.async_load(x_desc, [row, k * 32], bars.index(k), ring.index(k), pred=k < steps)
    for k in range(steps):
        ahead = k + 2
        free = ahead % 3
        mbarrier.expect(bars.index(free), x_desc.block_type.nbytes, pred=ahead < steps)
        tma.async_load(
            x_desc, [row, ahead * 32], bars.index(free), ring.index(free), pred=ahead < steps
        )
        mbarrier.wait(bars.index(k % 3), k // 3 & 1)
        value = 2 * ring.index(k % 3).load(TILE)
        tma.store_wait(0)  # the last tile has left `result`
        result.store(value)
        fence_async_shared()
        tma.async_store(out_desc, [row, k * 32], result)
    tma.store_wait(0)
    # END SOLUTION


def ring_of_three(x):
    """2 * x, contiguous."""
    out = torch.empty_like(x)
    layout = gl.NVMMASharedLayout.get_default_for([32, 32], gl.float32)
    x_desc, out_desc = (
        hopper.TensorDescriptor.from_tensor(one, [32, 32], layout) for one in (x, out)
    )
    ring_kernel[(triton.cdiv(x.shape[0], 32),)](x_desc, out_desc, x.shape[1])
    return out


# %%
exercise("ring_of_three").check(ring_of_three)

# %%
with lab.record() as launches:
    ring_of_three(torch.randn(32, 224))
launches[0].plot.pipeline()

# %% [markdown]
# This is your own pipeline. Two buffers are being filled while the third is read.
#
# ## What to remember
#
# - `bandwidth * latency` bytes must be on their way. Programs side by side bring them, or copies that run ahead.
# - Copies in groups: start, commit, wait until at most `n` groups are left. Empty groups count.
# - A ring of buffers lets copies run `BUFFERS - 1` steps ahead. Two overlap copy and work; more hide more latency.
# - A phase of a barrier ends with all arrivals and all expected bytes. Wait for phase 0, then 1, then 0.
# - Too many bytes or arrivals: it hangs. A wrong phase: no wait, or it hangs. A missing wait or fence: luck.
# - Fence between the warps' accesses and TMA's, and wait for stores before their buffer is used again.

# %%
lab.course.progress("24")

# %% [markdown]
# **Where to read on.** `python/tutorials/gluon` in Triton's repository has the same subjects, measured on GPUs:
# `03-async-copy.py` and `04-tma.py`. The PTX manual (*Parallel Synchronization and Communication Instructions:
# mbarrier*) says exactly when a phase ends. In the next chapter, some warps do the copies and others the work.
