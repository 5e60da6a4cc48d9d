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
# # From layouts to machine code
#
# *About 65 minutes. You need chapter 18.*
#
# A layout says which elements a thread holds. So the rest of the way is one thread's program: LLVM IR, PTX and SASS.
# Here you look at the instructions, and at what they cost. Nothing runs on a GPU. You will learn
#
# 1. what becomes of a load, stage by stage, and what makes it wide or narrow,
# 2. how many *sectors* of memory a load requests, why, and how to write a copy that requests few,
# 3. what limits a kernel: memory or arithmetic, and how many programs fit at once,
# 4. to compare: another `num_warps`, and a GPU of another vendor.
#
# Four exercises are checked, the second one by the sectors of your own kernel.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise, predict

# %load_ext triton_lab


# %%
@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets * stride, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def launch_add(stride=1, n=4096, BLOCK=1024, **options):
    """One launch of `add`, recorded: x is read with `stride`, y and out lie close."""
    x, y, out = torch.rand(n * stride), torch.rand(n), torch.empty(n)
    with lab.record() as launches:
        add[(triton.cdiv(n, BLOCK),)](x, y, out, n, stride, BLOCK=BLOCK, **options)
    return launches[0]


launch = launch_add()
compiled = launch.compile("sm_90")
print(compiled)

# %% [markdown]
# ## One thread's program
#
# In the layout of `add` each of 128 threads holds eight of 1,024 elements, twice four neighbours. So the line that
# loads `x` becomes two loads of 16 bytes. These are its lines in each stage that is one thread's program:


# %%
def loads_of_x(compiled):
    """By stage the lines that load x, without what prepares them."""
    line = next(
        transfer.line
        for transfer in compiled.transactions.transfers
        if transfer.argument == "x_ptr"
    )
    found = {}
    for stage, word in {"llir": "ld.global", "ptx": "ld.global", "sass": "LDG"}.items():
        text = compiled.stages[stage].splitlines()
        numbers = compiled.lines.of(stage, line)
        found[stage] = [text[number - 1].strip() for number in numbers if word in text[number - 1]]
    return found


for stage, lines in loads_of_x(compiled).items():
    print(stage)
    for line in lines:
        print("   ", line[:110])
assert [len(lines) for lines in loads_of_x(compiled).values()] == [2, 2, 2]

# %% [markdown]
# In LLVM IR the load is PTX already, as a text: Triton writes its loads itself, and LLVM translates the rest. In PTX
# `v4.b32` are four numbers of 32 bits, and `@%p1` is the mask: the instruction does nothing if `%p1` is false. Such a
# truth value is called a *predicate*. SASS has the opposite one here: `@!P0` executes the instruction if `P0` is false.
# In SASS the number in `LDG.E.128` counts the bits that each thread moves at once. Pick the line in the picture to see
# all that it becomes.

# %%
assert all("LDG.E.128" in line for line in loads_of_x(compiled)["sass"])
compiled.plot.stages("ptx", "sass")

# %% [markdown]
# ## One element fewer
#
# Now `n` is 4,095, and no longer a multiple of 16. Layout and blocks stay the same: only the last lane of the last
# program has nothing to do.

# %%
uneven = launch_add(n=4095).compile("sm_90")
assert "LDG.E.128" not in uneven.metadata.opcodes
predict(
    "With n = 4096 a thread loads its eight elements of x with two instructions. With how many if n is 4095?",
    [2, 3, 8],
    right=len(loads_of_x(uneven)["sass"]),
    picture=uneven.plot.stages("ptx", "sass"),
    why="The compiler knows nothing of n now: the mask may end between any two elements. Each needs its own load.",
)

# %% [markdown]
# Chapter 17 showed the fact that is missing: `tt.divisibility = 16` of `n`. With it, four neighbours have the same
# mask.
#
# ## Transactions: the memory traffic of a load
#
# Memory moves in *sectors* of 32 bytes. A warp's instruction is a *request* for the sectors that its 32 threads
# touch. The lab knows the addresses from the record and the threads from the layout, so it can count the sectors.
#
# First compute it yourself: 4,096 floats, four per thread, 32 threads per request, and eight floats per sector.

# %%
x_load = compiled.transactions.transfers[0]
print(compiled.transactions)
assert (
    x_load.requests == 4096 // (4 * 32)
    and x_load.sectors == 4096 * 4 // 32
    and x_load.efficiency == 1
)

# %% [markdown]
# With 4,095 elements each element has an instruction of its own. So there are four times as many requests, and each
# sector is requested four times:

# %%
print(uneven.transactions)
x_uneven = uneven.transactions.transfers[0]
assert (x_uneven.requests, x_uneven.sectors) == (4 * x_load.requests, 4 * x_load.sectors)

# %% [markdown]
# The last sentence below the table names the remedy: make lengths and strides multiples of 16. Whoever makes the
# tensors can pad them.
#
# Now `x` is read with stride 8: each float is in its own sector. Of 32 moved bytes, four are used.

# %%
strided = launch_add(stride=8).compile("sm_90")
x_strided = strided.transactions.transfers[0]
assert x_strided.sectors == 4096 and x_strided.efficiency == 1 / 8
assert x_strided.requests == 4 * x_load.requests  # and no thread can move four floats at once
print(strided.transactions)

# %% [markdown]
# The worst line is named, with the reason and a remedy. How bad is a stride of 2? Run the cell, then move the slider
# *stride*.

# %%
lab.interact(
    lambda stride: launch_add(stride),
    draw=lambda made: made.compile("sm_90").plot.transactions(),
    stride=[1, 2, 4, 8, 16],
)

# %% [markdown]
# A stride of 2 is as bad as 8! The layout gives each thread four neighbours, which is good for `y`. A thread must load
# those of `x` one by one. So the 32 threads of one request load every fourth: at stride 2 they are 32 bytes apart, each
# in its own sector.

# %%
two = launch_add(stride=2).compile("sm_90").transactions.transfers[0]
print(two.requests, "requests,", two.sectors, "sectors")
assert (two.requests, two.sectors) == (x_strided.requests, x_strided.sectors)

# %% [markdown]
# ## Exercise 1: one element for each thread
#
# With 32 warps there are as many threads as elements in a block. How many requests and how many sectors do the loads
# of `x` need then, over the whole launch, at stride 2? Compute it without a program.

# %%
# BEGIN SOLUTION: a tuple, (requests, sectors)
strided_requests = (128, 1024)
# END SOLUTION

# %%
exercise("strided_requests").check(strided_requests)

# %% [markdown]
# ## A copy of a transpose
#
# `x` is a transposed view: its columns are contiguous. The copy must have contiguous rows. A program for each row
# stores efficiently and loads inefficiently, since each of its elements of `x` is in another sector:


# %%
@triton.jit
def row_by_row(x_ptr, out_ptr, columns, x0, x1, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * x0 + j * x1, mask=j < columns)
    tl.store(out_ptr + tl.program_id(0) * columns + j, x, mask=j < columns)


turned = torch.rand(96, 64).t()
with lab.record() as launches:
    row_by_row[(64,)](turned, torch.empty(64, 96), 96, *turned.stride(), BLOCK=128)
crossing = launches[0].compile("sm_90")
assert [one.sectors for one in crossing.transactions.transfers] == [64 * 96, 64 * 96 // 8]
crossing.plot.transactions()

# %% [markdown]
# ## Exercise 2: few sectors for load and store
#
# Write the copy so that load and store request at most about twice the minimum number of sectors. The check compiles
# your kernel for an H100 and counts.


# %%
@triton.jit
def straighten_kernel(x_ptr, out_ptr, rows, columns, x0, x1, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: a tile has neighbours down for the load, and neighbours across for the store
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    x = tl.load(x_ptr + i[:, None] * x0 + j[None, :] * x1, mask=mask)
    tl.store(out_ptr + i[:, None] * columns + j[None, :], x, mask=mask)
    # END SOLUTION


def straighten(x):
    """A copy of a matrix with strides (1, rows), in which rows lie close."""
    out = torch.empty(x.shape, dtype=x.dtype)
    # BEGIN SOLUTION: launch straighten_kernel
    grid = (triton.cdiv(x.shape[0], 32), triton.cdiv(x.shape[1], 32))
    straighten_kernel[grid](x, out, *x.shape, *x.stride(), BLOCK=32)
    # END SOLUTION
    return out


# %%
exercise("straighten").check(straighten)

# %% [markdown]
# How does the tile get from load to store? The compiler gave the load one layout and the store another, and converts
# the tile through swizzled shared memory. There are no bank conflicts:

# %%
with lab.record() as launches:
    straighten(turned)
print(launches[0].compile("sm_90").transactions)

# %% [markdown]
# ## What it costs, and what limits it
#
# A GPU can do two things at once: move bytes and compute. The slower of the two is the limit. Left of the roofline's
# ridge it is memory. Vector add does one addition for twelve bytes.

# %%
cost = compiled.cost
print(cost.roof("H100"))
assert cost.arithmetic.flops == 4096 and cost.bytes.ideal == 3 * 4 * 4096
assert cost.roof("H100").memory_bound

# %% [markdown]
# The time in this sentence is a lower bound, not a measurement. A launch as small as this one still takes
# microseconds, only to start.
#
# A matrix product uses each number many times. Is it right of the ridge?

# %%
from triton_lab.examples.matmul import matmul


def product(size):
    """One launch of the course's matrix product, compiled for an H100."""
    a, b = (torch.randn(size, size, dtype=torch.float16) for _ in range(2))
    with lab.record() as launches:
        matmul(a, b)
    return launches[0].compile("sm_90")


small, large = product(128), product(1024)
for each in (small, large):
    print(f"{each.cost.intensity:.1f} flop a byte:\n  {each.cost.roof('H100')}")
assert small.cost.roof("H100").memory_bound and not large.cost.roof("H100").memory_bound
large.plot.cost("H100")

# %% [markdown]
# ## Exercise 3: where arithmetic becomes the limit
#
# What is the smallest size of `product`, a multiple of 64, for which arithmetic and not memory is the limit on an
# H100? Calculate it: each of three float16 matrices is moved once, and a multiplication and an addition are two
# operations.

# %%
# BEGIN SOLUTION: a number, the rows and columns of each matrix
size_at_the_ridge = 896
# END SOLUTION

# %%
exercise("size_at_the_ridge").check(size_at_the_ridge)

# %% [markdown]
# ## The matrix units
#
# The line with `tl.dot` does almost all of the arithmetic, and the two loads move almost all of the bytes. In SASS the
# product is not a loop over numbers, but an instruction for a whole tile:

# %%
print(small.metadata.matrix)
assert any("HGMMA" in name for name in small.metadata.matrix)

# %% [markdown]
# ## Occupancy
#
# While one warp waits for memory, another computes - if there is another. A multiprocessor holds as many programs as
# registers, shared memory and warps allow. The scarcest of them is the limit. Run the cell, then move the slider
# *num_warps*, the warps of a program of `add`: the picture says how many programs fit.

# %%
for name, each in {"add": compiled, "matmul": small}.items():
    print(f"{name:7} {each.cost.occupancy}")
assert small.cost.occupancy.programs < compiled.cost.occupancy.programs
assert small.cost.occupancy.by == ("registers",)

# %%
lab.interact(
    lambda num_warps: launch_add(num_warps=num_warps),
    draw=lambda made: made.compile("sm_90").plot.cost("H100"),
    num_warps=[1, 2, 4, 8, 16],
)

# %% [markdown]
# ## Exercise 4: how many programs fit
#
# A program has 4 warps of 32 threads, 96 registers for each thread and 50 KiB of shared memory. A multiprocessor of an
# H100 has 65,536 registers and 228 KiB of shared memory, of which each program uses 1 KiB more for the system. How
# many programs would fit by registers alone, and how many by shared memory alone?

# %%
# BEGIN SOLUTION: a tuple, (by registers, by shared memory)
programs_at_once = (5, 4)
# END SOLUTION

# %%
exercise("programs_at_once").check(programs_at_once)

# %% [markdown]
# ## Compare: other warps, another vendor
#
# Twice the warps for the same block: each thread has half the elements, half the loads, fewer registers. A program
# then uses twice as many warps.

# %%
difference = compiled.compare(launch.compile("sm_90", num_warps=8))
four, eight = difference.before, difference.after
print(difference)
print(difference.opcodes())
assert eight.metadata.opcodes["LDG.E.128"] * 2 == four.metadata.opcodes["LDG.E.128"]
assert (
    four.transactions.counters() == eight.transactions.counters()
)  # the memory traffic is the same

# %%
print(difference.diff("ttgir", context=0))

# %% [markdown]
# Only the number of warps and the layout have changed: more warps along the block. Which is faster? Measure it on a
# GPU, with `lab.sweep`. Here you see the choices.
#
# And a GPU of another vendor: `gfx942` is AMD's MI300X. Its warps have 64 threads, and its matrix instructions are
# others. One product for both targets, and below it the vector add in AMD's assembler:

# %%
both = small.launch.compile(["sm_90", "gfx942"])
assert [each.metadata.lanes for each in both] == [32, 64]
assert any("mfma" in name for name in both[1].metadata.matrix)
print(both)
launch.compile("gfx942").plot.stages()

# %% [markdown]
# ## What to remember
#
# - After the layouts a kernel is one thread's program. A mask becomes a predicate of an instruction.
# - A load is wide if the compiler knows that neighbours lie together and have the same mask. A length that is a
#   multiple of 16 tells it.
# - Neighbouring threads should access neighbouring bytes: then each sector is used as a whole.
# - If load and store need different neighbours, use a tile: the compiler converts it through shared memory.
# - Operations per byte decide what limits a kernel. Registers, shared memory and warps decide how many programs fit.
# - Counts and bounds are not times. Measure times on a GPU: [GPU and interpreter](29_gpu_and_interpreter.ipynb).

# %%
lab.course.progress("19")

# %% [markdown]
# **Where to read on.** `%%triton cpu --compile sm_90` compiles every launch of a cell, and puts all of this in its
# card. NVIDIA's PTX ISA explains the instructions and *CUDA C++ Best Practices Guide* coalescing; Williams, Waterman
# and Patterson's *Roofline: an insightful visual performance model* the roof.
