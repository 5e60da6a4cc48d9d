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
# # Reading a profiler's report
#
# *About 60 minutes. You need chapters 01, 10 and 19.*
#
# A kernel is slow. Why? There are few possible answers: it moves too many bytes, it waits, it computes, or most of
# the machine has nothing to do. A *profiler* measures which of them it is. Its report has a hundred figures, and five
# or six of them decide. In this chapter you will
#
# 1. calculate the least time of a kernel before anything is measured,
# 2. read the figures that the lab can predict without a GPU,
# 3. read a report of Proton, which says how long kernels take,
# 4. read a report of Nsight Compute, which says why,
# 5. find three faults in four reports, and mend two of them.
#
# You need no GPU: the reports were recorded. This is the machine, with the versions and the day:

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise
from triton_lab.examples.profiled_kernels import PROFILED

# %load_ext triton_lab
_ = torch.manual_seed(0)
for what, value in lab.examples.proton().machine.items():
    print(f"{what:7}{value}")

# %% [markdown]
# ## The least time
#
# Measuring comes second. First calculate what a kernel must do in any case: which bytes it must load and store, and
# how many operations it must compute. An H100 moves 3.35 TB in a second, and its tensor cores compute 989 Tflop/s
# with float16. So there are two least times, one for the bytes and one for the operations. The kernel cannot be
# faster than the longer of the two.
#
# The chapter begins with three kernels. The first copies 32 million floats. The second multiplies two float16 matrices
# of 4,096 by 4,096. The third follows a chain: it loads a number, and that number says where to load the next one. It
# does so 64 times for each of 16,384 starts.

# %%
for name in ("copy", "product", "follow"):
    one = PROFILED[name]
    by_bytes, by_operations = one.bytes / 3.35e12, one.flops / 989e12
    print(f"{name:8} bytes: {by_bytes * 1e6:6.1f} µs   operations: {by_operations * 1e6:6.1f} µs")

# %% [markdown]
# The copy is limited by its bytes, and the product by its operations. For the chain both times are very short.
#
# You know the picture of this: the roofline of [chapter 01](01_what_a_gpu_is.ipynb). This is the product, smaller,
# with 1,024 by 1,024. The roof of the tensor cores is far higher than that of float32, so its ridge is far to the
# right: at 295 operations for each byte. The mark is the launch at best: it was not measured.


# %%
def small_launch(name):
    """A small launch of one of the chapter's kernels, recorded."""
    with lab.record() as launches:
        PROFILED[name].prepare("cpu", True)()
    return launches[0]


launched = {name: small_launch(name) for name in ("copy", "product", "follow")}
compiled = {name: launch.compile("sm_90") for name, launch in launched.items()}
compiled["product"].plot.cost("H100")

# %% [markdown]
# ## Exercise 1: the least time
#
# A softmax reads 1,024 rows of 32,768 floats, each element once, and stores as many. How many bytes are that, and
# what is the least time in whole microseconds, rounded down? Take 3,350 bytes in a nanosecond.

# %%
# BEGIN SOLUTION: a tuple, (bytes, whole microseconds)
least_time = (8 * 1024 * 32768, 8 * 1024 * 32768 // 3350 // 1000)
# END SOLUTION

# %%
exercise("least_time").check(least_time)

# %% [markdown]
# ## What can be known without a GPU
#
# The lab compiles a launch for an H100 and counts. Four figures matter here, and each has its place in a profiler's
# report, too:
#
# - *Registers and spills.* If a thread needs more registers than it gets, the compiler moves numbers out to *local
#   memory*: that is a part of global memory. Such a register is *spilled*.
# - *Occupancy:* the share of a multiprocessor's 64 warps that it can hold at once
#   ([chapter 01](01_what_a_gpu_is.ipynb)).
# - *Sectors per request:* a warp asks once for all its 32 threads, and memory answers in sectors of 32 bytes
#   ([chapter 19](19_machine_code.ipynb)). If the threads want neighbouring bytes, their sectors are full: the load is
#   *coalesced*. If each wants bytes elsewhere, most of each sector is moved in vain: the load is *uncoalesced*.
# - *Programs.* An H100 has 132 multiprocessors. With fewer programs some of them have nothing to do.


# %%
def predicted(made):
    """What the compiler and the counted sectors say of a kernel, in one line."""
    load = next(one for one in made.transactions.transfers if one.access.kind == "load")
    return (
        f"{made.metadata.registers:4} registers, {made.metadata.spills} spilled,"
        f"{made.cost.occupancy.share:5.0%} occupancy,{load.sectors / load.requests:5.1f} sectors per request"
    )


for name, made in compiled.items():
    print(f"{name:8}{predicted(made)}")

# %% [markdown]
# The copy and the product ask for 16 sectors: 32 threads load 16 bytes each, so 512 bytes in one piece. The chain
# asks for nearly one sector for each thread: a thread wants four bytes, and they are far from those of the others.
# For a chain this is no mistake: the numbers are where they are. (In this small launch some of them share a sector.
# In the large one nearly none do.)
#
# What the lab cannot know is time. Which of these figures costs how much? That is what a profiler measures.
#
# ## Proton: how long
#
# *Proton* comes with Triton. You give names to parts of your program, say how many bytes and operations they must
# have, and Proton measures the kernels in them. On a machine with a GPU:
#
# ```python
# import triton.profiler as proton
#
# proton.start("run")
# with proton.scope("copy", {"bytes": 8 * n}):
#     copy_kernel[grid](x, out, n, BLOCK=1024)
# proton.finalize()
# ```
#
# Then `proton-viewer -m avg_time/us,tbyte/s run.hatchet` prints a tree of names with their kernels. The course has
# such a run. **Guess first:** which share of 3.35 TB/s does the copy reach, and which share of 989 Tflop/s the
# product?

# %%
tree = lab.examples.proton(["copy", "product", "follow"])
print(tree)
copy, product, follow = tree.scopes
print(f"copy:    {copy.bytes / copy.seconds / 3.35e12:4.0%} of the bandwidth")
print(f"product: {product.flops / product.seconds / 989e12:4.0%} of the tensor cores' operations")
print(f"follow:  {follow.bytes / follow.seconds / 3.35e12:4.0%} of the bandwidth")

# %% [markdown]
# Read such a tree from the right: which kernel is it, how much must it do, how fast is it? `tbyte/s` and `tflop/s`
# are *your* bytes and operations divided by the measured time. If you count wrongly, they are wrong.
#
# The copy is near its limit: there is nothing to gain. The product reaches more than half of what the tensor cores
# can do, so perhaps there is something to gain. The chain reaches nearly nothing. Proton says *that* it is slow. It
# does not say why.
#
# ## Nsight Compute: why
#
# *Nsight Compute* is NVIDIA's profiler for single kernels. It runs a kernel many times and reads other counters of
# the hardware each time. On a machine with a GPU:
#
# ```sh
# ncu --set detailed python my_program.py
# ```
#
# Its report has sections. The first is called *speed of light*: which share of what is possible the kernel reaches.
# This is the copy. (`ncu` may print other units than here.)

# %%
report = lab.examples.profile("copy")
print(report.section("GPU Speed Of Light Throughput"))

# %% [markdown]
# Line by line:
#
# - `DRAM Throughput` is the share of the bandwidth of global memory. DRAM is the chips that it is made of. **This is
#   the figure that says "bandwidth".** From about 80 % on, memory is the limit, and only fewer bytes can help.
# - `Memory Throughput` is the greatest share of any part of the way from global memory to the registers: DRAM, caches
#   and what connects them. If it is high and `DRAM Throughput` is not, a cache is the limit.
# - `Compute (SM) Throughput` is the same for the units that compute. SM is NVIDIA's word for a multiprocessor.
# - `Duration` is the time. Nsight Compute empties the caches before each run, so it can differ from Proton's.
# - The other lines are clocks and caches. L1 and L2 are the first and the second cache.
#
# **Guess first:** which of the two is high in the product, memory or compute? And in the chain?

# %%
speed = (
    "DRAM Throughput",
    "L2 Cache Throughput",
    "Memory Throughput",
    "Compute (SM) Throughput",
)
print(f"{'':26}{'copy':>10}{'product':>10}{'follow':>10}")
for figure in speed:
    values = [lab.examples.profile(name)[figure] for name in ("copy", "product", "follow")]
    print(f"{figure:26}" + "".join(f"{value:10.1f}" for value in values))

# %% [markdown]
# In the product two thirds of the possible arithmetic is done. Its DRAM is not the limit, but `Memory Throughput`
# is high: the second cache delivers the tiles, and is busy with that. Larger tiles would ask less of it.
#
# In the chain no figure is high. A kernel that uses neither memory nor arithmetic *waits*. **If both are low, the
# report says "latency"**: the time from asking for a byte until it is there. (37 % of DRAM is more than the 3 % of
# Proton. Proton counts the bytes that the kernel wants. Nsight Compute counts those that are moved, and for four
# bytes that is at least a sector of 32.)
#
# Then look at two other sections. What do the warps wait for, and how many warps are there?

# %%
waits = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"
print(f"{'':38}{'copy':>10}{'product':>10}{'follow':>10}")
for figure in (
    "Warp Cycles Per Issued Instruction",
    waits,
    "Grid Size",
    "Theoretical Occupancy",
    "Achieved Occupancy",
):
    values = [lab.examples.profile(name)[figure] for name in ("copy", "product", "follow")]
    told = "of these, waiting for a load" if figure == waits else figure
    print(f"{told:38}" + "".join(f"{value:10.1f}" for value in values))
for name, made in compiled.items():
    predicted_share = 100 * made.cost.occupancy.share
    assert predicted_share == lab.examples.profile(name)["Theoretical Occupancy"]

# %% [markdown]
# - `Warp Cycles Per Issued Instruction`: so many clock cycles pass from one instruction of a warp to its next. The line
#   below says how many of them the warp waits for a load from memory. NVIDIA calls this *stall long scoreboard*: the
#   scoreboard is the list of the registers that have not arrived.
# - `Theoretical Occupancy` is what the compiled kernel allows: the lab calculated the same. `Achieved Occupancy` is how
#   many warps there really were, on average. **These two say "occupancy".** If the second is much lower, there were not
#   enough programs, or some ended long before the others.
#
# Waiting alone is no fault. The copy's warps wait nearly as long as the chain's. But they wait because the memory is
# busy, as `DRAM Throughput` says, and 53 warps of each multiprocessor have asked for bytes. In the chain there are
# 128 programs of 4 warps for 132 multiprocessors: 4 warps on each. All of them wait, and nothing is done meanwhile.
# To help it, start more chains at once.
#
# And look at the product: it has a quarter of the warps, and yet it keeps the tensor cores busy. **Low occupancy is
# no fault.** It is one only if, at the same time, memory and arithmetic have nothing to do.
#
# ## Sectors and local memory
#
# Two more lines:
#
# - Sectors per request. **This figure says "uncoalesced".** The least is what the threads' bytes fill: 4 sectors for
#   four bytes a thread, 16 for 16 bytes. Much more than that is waste. Nsight Compute says it in words in the section
#   *Memory Workload Analysis Tables*.
# - `Local Memory Spilling Requests`. **This figure says "spilled".** It should be 0.

# %%
sectors = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"
local = "Local Memory Spilling Requests"
for name in ("copy", "follow"):
    found = lab.examples.profile(name)
    print(
        f"{name:8}{found[sectors]:5.1f} sectors per request, {found[local]:.0f} spilling requests"
    )

# %% [markdown]
# The lab predicted the sectors of both kernels above. (The product's loads do not count here: they go to shared
# memory without passing through registers, as [chapter 10](10_order_and_autotuning.ipynb) says of stages.)
#
# As a plan for any report:
#
# | look at | if it is | then |
# |---|---|---|
# | `DRAM Throughput` | about 80 % or more | bandwidth: move fewer bytes |
# | `Compute (SM) Throughput` | about 80 % or more | arithmetic: compute less, or in a narrower type |
# | both | below 50 % | latency: go on with the lines below |
# | `Grid Size` | below the number of multiprocessors | too few programs |
# | `Achieved Occupancy` | far below the theoretical one | too few programs, or unequal ones |
# | sectors per request | more than the threads' bytes fill | uncoalesced |
# | `Local Memory Spilling Requests` | not 0 | spilled registers |
#
# The limits of 80 and 50 % are rules of thumb. `Memory Throughput` near 90 % with a low `DRAM Throughput` means: a
# cache is the limit. Then look at the sectors.
#
# ## Exercise 2: three faults, four reports
#
# Here are reports of four kernels, without their names. One has an uncoalesced load, one has too few programs, and
# one spills registers. One is as it should be. **Decide before you check:** it is tempting to trust one figure alone.

# %%
lines = {
    "DRAM Throughput": "DRAM Throughput",
    "Memory Throughput": "Memory Throughput",
    "Compute (SM) Throughput": "Compute (SM) Throughput",
    "Registers Per Thread": "Registers Per Thread",
    "Block Size": "Block Size",
    "Grid Size": "Grid Size",
    "Theoretical Occupancy": "Theoretical Occupancy",
    "Achieved Occupancy": "Achieved Occupancy",
    sectors: "Sectors per request",
    local: "Spilling requests",
}
riddles = {letter: lab.examples.profile(letter) for letter in "ABCD"}
print(f"{'':26}" + "".join(f"{letter:>14}" for letter in riddles))
print(f"{'Duration in µs':26}" + "".join(f"{one.microseconds:14,.1f}" for one in riddles.values()))
for figure, told in lines.items():
    print(f"{told:26}" + "".join(f"{one[figure]:14,.1f}" for one in riddles.values()))

# %%
# BEGIN SOLUTION: a tuple of letters, (uncoalesced, too few programs, spills)
accused = ("B", "D", "C")
# END SOLUTION

# %%
exercise("accused").check(accused)

# %% [markdown]
# Now with names. Reports A and C are of one kernel, a softmax with a row of 32,768 floats in one block: A has 16
# warps, and C has 4. With 4 warps each thread needs 256 registers for the row alone, and 255 is the most that it can
# have. The lab predicts the spilling:

# %%
for name in ("softmax_4_warps", "softmax_16_warps"):
    made = small_launch(name).compile("sm_90")
    print(f"{name:18}{made.metadata.spills:4} registers spilled")
print(lab.examples.proton(["softmax_4_warps", "softmax_16_warps"]))

# %% [markdown]
# Take from the prediction *that* a kernel spills, and not how much. How registers are shared out differs from one
# version of the compiler to the next. And again, occupancy did not tell: 25 % is enough for the fast kernel.
#
# ## The uncoalesced load
#
# Report B was this kernel. It adds up the columns of a matrix, and each program has one column. The picture counts
# lines in the kernel's file, and its worst line is the one with the load:

# %%
columns = small_launch("column_sums")
print(columns.source)
columns.compile("sm_90").plot.transactions()

# %% [markdown]
# Neighbouring threads load from neighbouring *rows*, and these are far apart. Each thread gets a whole sector of 32
# bytes and needs 4 of them. Nsight Compute says the same of report B:

# %%
import textwrap

advice = [text for _, text in lab.examples.profile("B").advice if "sectors" in text]
print("\n".join(textwrap.wrap(advice[-1].split(" Check ")[0], 100)))

# %% [markdown]
# 29 of 34 million sectors are in excess: 87 %, so 7 of 8. The sectors come from the second cache mostly, since programs
# next to each other want the same ones. That is why its `Memory Throughput` is 91 %, and `DRAM Throughput` only 23 %.
#
# ## Exercise 3: sums of columns, with few sectors
#
# Write it so that neighbouring threads load neighbours. `x` is a matrix whose last stride is 1; its rows may lie
# apart. The check compiles your kernel for an H100 and counts its sectors.


# %%
@triton.jit
def sum_columns_kernel(x_ptr, out_ptr, rows, columns, stride, TI: tl.constexpr, TJ: tl.constexpr):
    # BEGIN SOLUTION: tiles of TI rows and TJ columns, from top to bottom
    j = tl.program_id(0) * TJ + tl.arange(0, TJ)
    total = tl.zeros((TI, TJ), tl.float32)
    for start in range(0, rows, TI):
        i = start + tl.arange(0, TI)
        mask = (i < rows)[:, None] & (j < columns)[None, :]
        total += tl.load(x_ptr + i[:, None] * stride + j[None, :], mask=mask, other=0.0)
    tl.store(out_ptr + j, tl.sum(total, axis=0), mask=j < columns)
    # END SOLUTION


def sum_columns(x):
    """The sum of each column of a float32 matrix, whose last stride is 1."""
    rows, columns = x.shape
    out = torch.empty(columns)
    sum_columns_kernel[(triton.cdiv(columns, 32),)](
        x, out, rows, columns, x.stride(0), TI=16, TJ=32
    )
    return out


# %%
exercise("sum_columns").check(sum_columns)

# %% [markdown]
# ## The machine that has nothing to do
#
# Report D was a sum of 8 rows of four million floats, with a program for each row: 8 of 132 multiprocessors work.
# Neither loads nor registers are wrong, and the code looks like every sum of rows. Only the shape of the data makes
# it slow.
#
# ## Exercise 4: sums of few long rows
#
# Share each row out among several programs. Each adds its part to the sum of the row with `tl.atomic_add`
# ([chapter 11](11_atomics.ipynb)). The last stride of `x` is 1.


# %%
@triton.jit
def sum_long_rows_kernel(x_ptr, out_ptr, columns, stride, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: the row is program_id(0), the part is program_id(1)
    row = tl.program_id(0)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + j, mask=j < columns, other=0.0)
    tl.atomic_add(out_ptr + row, tl.sum(x, axis=0))
    # END SOLUTION


def sum_long_rows(x):
    """The sum of each row of a float32 matrix, whose last stride is 1."""
    rows, columns = x.shape
    out = torch.zeros(rows)
    # BEGIN SOLUTION: launch it with a program for each part of each row
    grid = (rows, triton.cdiv(columns, 1024))
    sum_long_rows_kernel[grid](x, out, columns, x.stride(0), BLOCK=1024)
    # END SOLUTION
    return out


# %%
exercise("sum_long_rows").check(sum_long_rows)

# %% [markdown]
# ## What the repairs gained
#
# Both kernels were also measured in a mended form: the columns in tiles of 64 columns and 512 rows, the rows in parts
# of 32,768 floats. Both must load 128 MiB. **Guess first:** how much faster is each? Count with the plan: a sector
# has 32 bytes, of which 4 were used; 8 of 132 multiprocessors worked.

# %%
tree = lab.examples.proton()
for before, after in (
    ("column_sums", "tiles_of_columns"),
    ("row_sums", "parts_of_rows"),
    ("softmax_4_warps", "softmax_16_warps"),
):
    old, new = tree[before], tree[after]
    rates = [one.bytes / one.seconds / 3.35e12 for one in (old, new)]
    print(
        f"{before:17} {old.seconds / new.seconds:5.1f} times faster: {rates[0]:4.0%} -> {rates[1]:4.0%}"
    )

# %% [markdown]
# The columns gained less than the 8 that their sectors promise, since the second cache had caught many of the wasted
# ones. The rows gained more than 132 / 8, which is 16.5. There are 1,024 programs now, so several on each
# multiprocessor, and more bytes are on their way at any moment. All three are now near the bandwidth: there is
# nothing more to gain, unless the kernel need not load so much.
#
# ## What to remember
#
# - Calculate the least time first: bytes by bandwidth, operations by the peak. The longer one is the limit.
# - Proton says how long kernels take. Nsight Compute says why.
# - DRAM throughput is high: bandwidth. Compute is high: arithmetic. Both are low: latency.
# - Low occupancy alone is no fault, and full occupancy is no merit.
# - Uncoalesced loads show in sectors per request, spilled registers in local memory, too few programs in the grid.
#   The lab counts all three without a GPU.

# %%
lab.course.progress("20")

# %% [markdown]
# **Where to read on.** Triton's tutorials on Proton are in `third_party/proton/tutorials` of its repository. NVIDIA's
# *Nsight Compute Documentation* explains each section in its *Profiling Guide*, and its *Hopper Tuning Guide* has the
# limits of a multiprocessor. [Chapter 22](22_low_precision.ipynb) moves fewer bytes: it makes numbers narrower.
