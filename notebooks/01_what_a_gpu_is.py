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
# # What a GPU is, for those who know NumPy
#
# *About 40 minutes. You need chapter 00.*
#
# NumPy hides the machine: `x + y` is one call, and you do not ask where the numbers are. A kernel is written for a
# machine, and a GPU is a simple one: many small processors, and a memory that is far away. In this chapter you will
#
# 1. learn the parts of a GPU, with the sizes and the speeds of one, an H100,
# 2. see which hardware thread holds which element of a block,
# 3. count bytes and operations of a kernel, and find out which of the two limits it,
# 4. make three kernels into one, and say in advance what this saves.
#
# Nothing here runs on a GPU. The lab compiles your kernels for one and counts. What a GPU really does was measured
# on an H100, and the figures come with the course.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise, predict

# %load_ext triton_lab

# %% [markdown]
# ## Where numbers are
#
# An H100 has 132 *multiprocessors*. Each runs programs of your kernel, several at once. All of them share one memory,
# which is on other chips beside the processor. The nearer to the arithmetic, the faster a memory is, and the smaller:
#
# | memory | whose | size | speed |
# |---|---|---|---|
# | registers | one thread's | 256 KiB in each multiprocessor | as fast as the arithmetic |
# | shared memory and first cache (L1) | one multiprocessor's | 256 KiB in each | 128 bytes a clock cycle, each |
# | second cache (L2) | all multiprocessors' | 50 MB | about 8 TB a second (measured below) |
# | global memory | the whole GPU's | 80 GB | 3.35 TB a second |
# | the computer's own memory | the processor's | as much as you buy | 0.064 TB a second, through PCIe |
#
# A *register* is where a thread keeps a number while it computes with it. A *cache* keeps copies of what was read from
# the memory behind it: if the same bytes are asked for again soon, they need not come from there. *Global memory* is
# where your tensors are. Its speed, 3.35 terabytes in a second, is the GPU's *bandwidth*.
#
# So a number from global memory costs much, and a number in a register almost nothing. A kernel is written to load
# each number once, to do all that can be done with it, and to store the result once. (The figures are those of
# NVIDIA's *H100 Tensor Core GPU Architecture* and of the H100's data sheet.)
#
# Is the cache real? On an H100, a kernel read a set of numbers again and again, 4 GiB in all. **Guess first:** how does
# the speed change as the set grows from 128 KiB to 1 GiB? Then look. The axis below has the size of the set in bytes.
# 100 % of the speed is that of a copy through global memory, 2.95 TB a second on this H100.

# %%
lab.examples.measurement("again").plot()

# %% [markdown]
# Up to 32 MiB the set fits into the second cache, and hardly any read needs global memory. Beyond 50 MB more and more
# must come from global memory. For a very large set nothing is left of the cache.
#
# ## Programs, warps, threads
#
# You write a kernel for one *program*. The GPU gives each program to one multiprocessor, where it stays until it ends.
# There the program is run by *threads*, in groups of 32. Such a group is called a *warp*: its 32 threads execute an
# instruction together, each on its own registers. Threads that a branch leaves out wait. `num_warps` says how many
# warps a program has. If you do not say it, Triton takes 4.
#
# You never write what a thread does. You write what happens to a *block*, and the compiler shares the elements of the
# block out among the threads. In this course a *lane* is one place in a block: a block of 1,024 has 1,024 lanes,
# however many threads there are.
#
# Here is the kernel of chapter 00 again. The lab compiles it for an H100. This needs the compiler, not the GPU:


# %%
@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def launch_add(n=1 << 14, BLOCK=512, **options):
    """One launch of `add`, recorded."""
    x, y, out = torch.rand(n), torch.rand(n), torch.empty(n)
    with lab.record() as launches:
        add[(triton.cdiv(n, BLOCK),)](x, y, out, n, BLOCK=BLOCK, **options)
    return launches[0]


compiled = launch_add().compile("sm_90")
print(compiled.metadata.warps, "warps of", compiled.metadata.lanes, "threads")

# %% [markdown]
# 512 elements, 128 threads: four elements for each. The left picture behind the question shows the block, with a colour
# for each warp, and a stronger tone for later threads. Point at an element to see its thread. (In code, Triton's
# layouts call the number of a thread in its warp `lane`. The bits below are for chapter 18.)

# %%
held = [place[0] for place in compiled.layouts[0].layout.elements(warp=0, lane=0)]
predict(
    "Which four of the 512 elements does the first of the 128 threads hold?",
    ["0, 1, 2, 3", "0, 32, 64, 96", "0, 128, 256, 384"],
    right=", ".join(map(str, held)),
    picture=compiled.plot.layouts(),
    why="One instruction can load the 16 bytes of four neighbours.",
)

# %% [markdown]
# Four neighbours: a thread can load 16 bytes with one instruction, and four floats are 16 bytes. The next thread holds
# the next four, so a warp asks for 512 bytes that lie in one piece. Memory is read in *sectors* of 32 bytes, and here
# every byte of every sector is used:

# %%
print(compiled.transactions)
assert all(one.efficiency == 1 for one in compiled.transactions.transfers)

# %% [markdown]
# Efficiency 100% means that no byte is moved in vain. It falls if neighbouring threads want bytes that are far apart.
# That is why contiguous blocks are the usual choice. [Chapter 19](19_machine_code.ipynb) goes into the details.
#
# ## Exercise 1: elements and threads
#
# A kernel has `BLOCK=1024` and is launched with `num_warps=8`. How many threads does a program have, and how many
# elements of a block does each thread hold?

# %%
# BEGIN SOLUTION: a tuple, (threads, elements of each thread)
threads_of_a_program = (8 * 32, 1024 // (8 * 32))
# END SOLUTION

# %%
exercise("threads_of_a_program").check(threads_of_a_program)

# %% [markdown]
# ## Bytes and operations
#
# A multiprocessor can do two things at once: move bytes and compute. Think of a kitchen with a delivery van. If the
# cooks are faster than the van, the van decides when dinner is ready. If the dish takes long to cook, the cooks decide.
#
# - The van: 3.35 million million bytes in a second.
# - The cooks: 66.9 million million operations on float32 numbers in a second. (For products of whole tiles there are
#   faster units, the *tensor cores*. They are for later.)
#
# Divide the two: while one byte arrives, 20 operations can be done. For each float of four bytes these are 80
# operations. And `add`? It does one operation for twelve bytes: two floats come, one goes.

# %%
cost = compiled.cost
print(cost.arithmetic.floats, "additions,", cost.bytes.ideal, "bytes,", end=" ")
print(f"{cost.intensity:.3f} operations for each byte")
assert cost.bytes.ideal == 12 * cost.arithmetic.floats

# %% [markdown]
# So the cooks wait, nearly all the time. The same in a picture. It is called the *roofline*, and you will meet it again
# in later chapters. Across: how many operations a kernel does for each byte. Up: how many operations in a second are
# possible at best. On the slope, memory is the limit. On the flat roof, arithmetic is. They meet at the *ridge*.

# %%
compiled.plot.cost("H100")

# %% [markdown]
# The picture says what is possible at best. It is no measurement, and a kernel can always be slower than its roof. But
# it tells you what is worth trying: to save an addition in `add` would save no time at all. To save bytes would.
#
# ## More work for each byte
#
# Here is a kernel that does more with each number: a polynomial, with one multiplication and one addition for each
# degree. **Guess first:** it loads four bytes and stores four. At which degree does arithmetic become the limit? Then
# run the cell, and move the slider *DEGREE*.


# %%
@triton.jit
def polynomial(x_ptr, out_ptr, n, DEGREE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    total = x
    for _ in tl.static_range(DEGREE):
        total = total * x + 0.5
    tl.store(out_ptr + offsets, total, mask=mask)


def launch_polynomial(DEGREE: int = 8):
    x, out = torch.rand(1 << 12), torch.empty(1 << 12)
    polynomial[(8,)](x, out, 1 << 12, DEGREE=DEGREE, BLOCK=512)


lab.interact(
    launch_polynomial,
    draw=lambda made: made.compile("sm_90").plot.cost("H100"),
    DEGREE=[1, 8, 32, 64, 96, 128],
)

# %% [markdown]
# ## Exercise 2: at the ridge
#
# From which degree on is arithmetic the limit of `polynomial` on an H100? Take 20 operations for a byte as the ridge,
# and count a multiplication and an addition as two operations.

# %%
# BEGIN SOLUTION: a number, the lowest such degree
degree_at_the_ridge = 20 * (4 + 4) // 2
# END SOLUTION

# %%
exercise("degree_at_the_ridge").check(degree_at_the_ridge)

# %% [markdown]
# One degree less, and the lab still says memory:

# %%
for degree in (79, 80):
    with lab.record() as launches:
        launch_polynomial(degree)
    print(degree, launches[0].compile("sm_90").cost.roof("H100"))

# %% [markdown]
# ## One kernel for three
#
# `torch.relu(a * x) + y` is three kernels: the first stores `a * x`, the second loads it again and stores the relu, the
# third loads that, and `y`. Each is limited by memory. How many bytes do the three move? Here are three such kernels of
# our own, and the lab counts.


# %%
@triton.jit
def scale(x_ptr, out_ptr, n, a, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, a * x, mask=offsets < n)


@triton.jit
def clip(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, tl.maximum(x, 0.0), mask=offsets < n)


n, grid = 10_000, (triton.cdiv(10_000, 512),)
x, y = torch.randn(n), torch.randn(n)
scaled, clipped, out = (torch.empty(n) for _ in range(3))
with lab.record() as launches:
    scale[grid](x, scaled, n, 2.5, BLOCK=512)
    clip[grid](scaled, clipped, n, BLOCK=512)
    add[grid](clipped, y, out, n, BLOCK=512)
for launch in launches:
    print(f"{launch.kernel:6} moves {launch.compile('sm_90').cost.bytes.ideal:7,} bytes")

# %% [markdown]
# ## Exercise 3: three kernels, one kernel
#
# Calculate for a million floats: how many bytes do the three kernels move together, and how many would one kernel move
# that does all three steps?

# %%
# BEGIN SOLUTION: a tuple, (bytes of the three kernels, bytes of the one kernel)
bytes_of_three_and_one = ((8 + 8 + 12) * 1_000_000, 12 * 1_000_000)
# END SOLUTION

# %%
exercise("bytes_of_three_and_one").check(bytes_of_three_and_one)

# %% [markdown]
# So one kernel should take 12 / 28 of the time: it should be 2.33 times as fast. An H100 was asked, with torch's three
# kernels and with one kernel of ours:

# %%
chain = lab.examples.measurement("chain")
largest = {row.name: row.seconds for row in chain if row.size == 2**28}
print(f"2.33 times expected, {largest['three kernels'] / largest['one kernel']:.2f} times measured")
chain.plot()

# %% [markdown]
# For large tensors, counting bytes was enough to know the time. On the left there is another limit: to start a kernel
# takes some microseconds, however little it does. These times differ much from run to run, so do not compare the two
# ways there.

# %% [markdown]
# ## Exercise 4: write that kernel
#
# `relu(a * x) + y` in one launch. Each element is loaded once. What lies between the load and the store stays in
# registers.


# %%
@triton.jit
def fused_kernel(x_ptr, y_ptr, out_ptr, n, a, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load both blocks, do all three steps, and store once
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.maximum(a * x, 0.0) + y, mask=mask)
    # END SOLUTION


def fused(x, y, a):
    """relu(a * x) + y, in a new tensor."""
    out = torch.empty_like(x)
    # BEGIN SOLUTION: launch fused_kernel with enough programs
    n = x.numel()
    fused_kernel[(triton.cdiv(n, 512),)](x, y, out, n, a, BLOCK=512)
    # END SOLUTION
    return out


# %%
exercise("fused").check(fused)

# %% [markdown]
# ## Why so many programs?
#
# A load from global memory takes long. An H100 made 16,384 loads of which each needed the number that the one before it
# had brought, all from other places: 344 nanoseconds for each. A multiprocessor does not wait that long. It goes on
# with another warp, whose bytes have arrived. So it needs many warps, and the GPU many programs.
#
# How much must be on its way at any moment, so that the memory is never idle? As with water in a long pipe: what
# comes out in a second, times the seconds that it takes to come through.
#
# ## Exercise 5: bytes on their way
#
# The memory of an H100 delivers 3.35 TB in a second, that is 3,350 bytes in a nanosecond. A load takes 344 nanoseconds.
# How many bytes must be on their way at any moment?

# %%
# BEGIN SOLUTION: a number of bytes
bytes_on_their_way = 3350 * 344
# END SOLUTION

# %%
exercise("bytes_on_their_way").check(bytes_on_their_way)

# %% [markdown]
# That is about 8,700 bytes for each of the 132 multiprocessors. One program asks for a few thousand at once. So there
# should be several programs for each multiprocessor. An H100 copied 256 MiB with 1, 2, 4 ... programs; the axis below
# has their number. **Guess first:** how much of the bandwidth does one program reach, and how many are enough?

# %%
lab.examples.measurement("programs").plot()

# %% [markdown]
# One program reaches less than a hundredth. With 132, one for each multiprocessor, it is about a half, and four times
# as many reach nine tenths.
#
# How many programs a multiprocessor can hold at once depends on what they need: registers, shared memory, warps. The
# share of its 64 warps that it can hold is the *occupancy*.

# %%
print(compiled.cost.occupancy)
heavy = launch_add(BLOCK=8192, num_warps=4).compile("sm_90")
print(f"with {heavy.metadata.registers} registers for each thread:", heavy.cost.occupancy)
assert heavy.cost.occupancy.programs < compiled.cost.occupancy.programs

# %% [markdown]
# A block of 8,192 elements gives each thread 64 elements of `x` and 64 of `y`. They all need registers, so fewer
# programs fit. Yet more bytes are on their way for each of them. High occupancy is a means, and not an end: what counts
# is that enough bytes are on their way.
#
# ## What to remember
#
# - Global memory is large and far. Load each number once, use it while it is in a register, and store once.
# - A program runs on one multiprocessor, as warps of 32 threads. The compiler shares the lanes of a block out among
#   the threads.
# - Neighbouring threads should access neighbouring bytes: then all of each sector is used.
# - Operations for each byte decide what limits a kernel. Below 20 on an H100, in float32, it is memory.
# - One kernel for three steps moves fewer bytes than three kernels. This is called *fusion*.
# - Many programs keep the memory busy while each of them waits.

# %%
lab.course.progress("01")

# %% [markdown]
# **Where to read on.** [Chapter 02](02_programs_and_grids.ipynb) has more programs, in two dimensions, and [chapter
# 19](19_machine_code.ipynb) looks at all of this line by line. Williams, Waterman and Patterson's *Roofline: an
# insightful visual performance model* is where the picture comes from. NVIDIA's *Hopper Tuning Guide* lists the limits
# of a multiprocessor.
