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
# # From the line to the machine code
#
# *About 70 minutes. You need chapters 01 and 09.*
#
# Triton contains its whole compiler. So you can see the code for a GPU on a machine without one: nothing is guessed
# here, and nothing runs on a GPU. You will learn
#
# 1. how the compiler translates a line of Python, stage by stage and pass by pass,
# 2. what a *layout* is: which thread holds which element, and what a conversion costs,
# 3. how many *sectors* of memory a load requests, why, and how to write a copy that requests few,
# 4. what limits a kernel: memory or arithmetic, and how many programs fit at once,
# 5. to compare: another `num_warps`, and a GPU of another vendor.
#
# Six exercises are checked, by the layouts themselves and by the sectors of your own kernel.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab

# %% [markdown]
# ## Compile what you have launched: six stages
#
# A recorded launch knows its kernel, the types of its arguments and its constants: that is all a compiler needs.
# `sm_90` is an H100.


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
# Registers, shared memory, instructions: the instructions are few, and each is run by a *warp*, 32 threads at once.
#
# They are the last of six stages. TTIR is your kernel as operations on blocks. TTGIR says which thread holds which
# element. LLVM IR is one thread's program, PTX is NVIDIA's assembly language, and SASS is the machine code. Pick a
# line on either side to highlight its counterparts.

# %%
print(list(compiled.stages))
compiled.plot.stages()

# %% [markdown]
# The same as data: which lines of SASS load `x`? The number in `LDG.E.128` is the number of bits that each thread
# moves at once: four floats.

# %%
sass = compiled.stages["sass"].splitlines()
line = next(
    transfer.line for transfer in compiled.transactions.transfers if transfer.argument == "x_ptr"
)
loads = [
    sass[number - 1] for number in compiled.lines.of("sass", line) if "LDG" in sass[number - 1]
]
print("\n".join(loads))
assert loads and all("LDG.E.128" in text for text in loads)

# %% [markdown]
# ## Pass by pass
#
# Between two stages the compiler runs many passes. Most passes change nothing here. Pick one to see its changes.

# %%
passes = compiled.passes
ran, changing = passes[1:], passes[1:].changing  # the first entry is the input
print(f"{len(changing)} of {len(ran)} passes changed something")
assert 0 < len(changing) < len(ran)
compiled.plot.passes()

# %% [markdown]
# Which pass inserted conversions between layouts, and which pass removed them? One pass gives each load the best
# layout for memory and ignores the other operations. A later pass removes conversions that do not pay.

# %%
for one in passes.introduced("ttg.convert_layout"):
    print("brought in by", one.name)
assert [one.name for one in passes.introduced("ttg.convert_layout")] == ["TritonGPUCoalesce"]
assert "ttg.convert_layout" not in compiled.stages["ttgir"]

# %% [markdown]
# ## Layouts
#
# A block is distributed to threads. Here is a layout made by hand, without a kernel: each thread holds four
# neighbours, eight threads side by side hold a row of 32, and a warp holds four rows. Point at an element to see
# which thread holds it, or at a register to see its element.

# %%
rows = lab.layout(
    "blocked", (16, 32), size_per_thread=[1, 4], threads_per_warp=[4, 8], warps_per_cta=[4, 1]
)
print(rows.owner(1, 5))
print(rows.elements(warp=0, lane=9))
assert rows.owner(1, 5)[0].lane == 9 and rows.owner(1, 5)[0].register == 1
rows

# %% [markdown]
# Another layout goes down the columns. A conversion from one to the other moves elements to other threads, and here
# even to other warps: through shared memory.

# %%
columns = lab.layout(
    "blocked",
    (16, 32),
    size_per_thread=[4, 1],
    threads_per_warp=[4, 8],
    warps_per_cta=[1, 4],
    order=[0, 1],
)
moved = rows.to(columns)
print(moved)
print(moved.counts())
assert moved.way == "shared memory" and sum(moved.counts().values()) == 16 * 32
moved.plot(element=(1, 5))

# %% [markdown]
# ## Exercise 1: a row for each thread
#
# Make a layout of `(128, 32)` for four warps, in which each thread holds one whole row, in the order of the threads:
# thread 5 of warp 2 holds row 69, `[69, 0]` to `[69, 31]`. Then a sum along a row needs no other thread.

# %%
# BEGIN SOLUTION: lab.layout("blocked", (128, 32), ...)
row_of_lane = lab.layout(
    "blocked", (128, 32), size_per_thread=[1, 32], threads_per_warp=[32, 1], warps_per_cta=[4, 1]
)
# END SOLUTION

# %%
exercise("row_of_lane").check(row_of_lane)

# %% [markdown]
# ## Bank conflicts
#
# Shared memory has 32 banks of four bytes, and each serves one word at a time. A warp that reads a row of 32 floats
# uses each bank once. Down a column of the same tile all 32 threads use the *same* bank, and wait for one another. One
# word of padding after each row shifts the next row by one bank. Swizzling has the same effect without wasting a
# word.

# %%
across = lab.layout(
    "blocked", (32, 32), size_per_thread=[1, 1], threads_per_warp=[1, 32], warps_per_cta=[32, 1]
)
down = lab.layout(
    "blocked", (32, 32), size_per_thread=[1, 1], threads_per_warp=[32, 1], warps_per_cta=[1, 32]
)
plain = lab.layout("swizzled_shared", (32, 32), vec=1, per_phase=1, max_phase=1)
padded = lab.layout("padded_shared", (32, 32), pairs=[(32, 1)])
swizzled = lab.layout("swizzled_shared", (32, 32), vec=1, per_phase=1, max_phase=32)
for name, memory in {"plain": plain, "padded": padded, "swizzled": swizzled}.items():
    print(f"{name:9} rows:    {memory.access(across)}")
    print(f"{'':9} columns: {memory.access(down)}")
assert plain.access(across).conflicts == 0 and plain.access(down).ways == 32
assert padded.access(down).conflicts == swizzled.access(down).conflicts == 0

# %% [markdown]
# A swizzled row keeps its words and changes their order. `vec` words stay together, `per_phase` rows have the same
# order, and after `max_phase` orders the pattern repeats. Point at an element of the second row: it is in another
# bank.

# %%
swizzled

# %% [markdown]
# ## Exercise 2: a tile that is 16 wide
#
# A tile of `(64, 16)` floats: swizzle it so that no warp waits, neither one that reads two rows nor one that reads 32
# elements of a column. A new order for each row does not work:

# %%
narrow = lab.layout("swizzled_shared", (64, 16), vec=1, per_phase=1, max_phase=16)
narrow_column = lab.layout(
    "blocked", (64, 16), size_per_thread=[1, 1], threads_per_warp=[32, 1], warps_per_cta=[1, 4]
)
print(narrow.access(narrow_column))
assert narrow.access(narrow_column).ways == 2

# %%
# BEGIN SOLUTION: lab.layout("swizzled_shared", (64, 16), ...)
swizzle_of_16 = lab.layout("swizzled_shared", (64, 16), vec=1, per_phase=2, max_phase=16)
# END SOLUTION

# %%
exercise("swizzle_of_16").check(swizzle_of_16)

# %% [markdown]
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
# Now `x` is read with stride 8: each float is in its own sector. Of 32 moved bytes, four are used.

# %%
strided = launch_add(stride=8).compile("sm_90")
x_strided = strided.transactions.transfers[0]
assert x_strided.sectors == 4096 and x_strided.efficiency == 1 / 8
assert x_strided.requests == 4 * x_load.requests  # and no thread can move four floats at once
print(strided.transactions)

# %% [markdown]
# The worst line is named, with the reason and a remedy. Now slide the stride: how bad is 2?

# %%
lab.interact(
    lambda stride: launch_add(stride),
    draw=lambda made: made.compile("sm_90").plot.transactions(),
    stride=[1, 2, 4, 8, 16],
)

# %% [markdown]
# As bad as 8! The layout gives each thread four neighbours, which is good for `y`. A thread must load those of `x`
# one by one. So the 32 threads of one request load every fourth: at stride 2 they are 32 bytes apart, each in its own
# sector.

# %%
two = launch_add(stride=2).compile("sm_90").transactions.transfers[0]
print(two.requests, "requests,", two.sectors, "sectors")
assert (two.requests, two.sectors) == (x_strided.requests, x_strided.sectors)

# %% [markdown]
# ## Exercise 3: one element for each thread
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
# ## Exercise 4: few sectors for load and store
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
    print(f"{each.cost.intensity:6.1f} flop a byte: {each.cost.roof('H100')}")
assert small.cost.roof("H100").memory_bound and not large.cost.roof("H100").memory_bound
large.plot.cost("H100")

# %% [markdown]
# ## Exercise 5: where arithmetic becomes the limit
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
assert "tt.dot" in small.stages["ttir"] and "ttng.warp_group_dot" in small.stages["ttgir"]

# %% [markdown]
# It needs its operands in shared memory, and produces the result in its own layout. So the kernel has several
# layouts, and a conversion before it stores. Pick one.

# %%
for one in small.layouts.conversions:
    print(f"line {one.line}: {one.cost}")
assert len(small.layouts.conversions) == 1
small.plot.layouts()

# %% [markdown]
# ## Occupancy
#
# While one warp waits for memory, another computes - if there is another. A multiprocessor holds as many programs as
# registers, shared memory and warps allow. The scarcest of them is the limit. Slide the warps of a program of `add`:
# the picture says how many programs fit.

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
# ## Exercise 6: how many programs fit
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
# Only the layout has changed: more warps along the block. Which is faster? Measure it on a GPU, with `lab.sweep`.
# Here you see the choices.
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
# - You can look at every step from your line to SASS, on any machine.
# - A layout says which thread holds which element. A conversion costs nothing, shuffles, or a way through shared
#   memory.
# - Neighbouring threads should access neighbouring bytes: then each sector is used as a whole.
# - If load and store need different neighbours, use a tile: the compiler converts it through shared memory.
# - Operations per byte decide what limits a kernel. Registers, shared memory and warps decide how many programs fit.
# - Counts and bounds are not times. Measure times on a GPU: [GPU and interpreter](27_gpu_and_interpreter.ipynb).

# %%
lab.course.progress("17")

# %% [markdown]
# **Where to read on.** `%%triton cpu --compile sm_90` compiles every launch of a cell, and puts all of this in its
# card. NVIDIA's PTX ISA explains the instructions and *CUDA C++ Best Practices Guide* coalescing; Williams, Waterman
# and Patterson's *Roofline: an insightful visual performance model* the roof.
