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
# # GPU and interpreter, side by side
#
# *About 60 minutes. You need chapters 05 and 07.*
#
# The same kernel on a GPU and in the interpreter: are the results the same? Often the last bits differ, and that is
# right. Sometimes the results differ more, and that is a bug. This notebook shows how to distinguish the two. No GPU
# is needed: eight launches were recorded on one, and you can open them here. You will learn
#
# 1. what a recorded launch contains, and what its time means,
# 2. to compare two results, in units in the last place (*ulp*), and to read the verdict,
# 3. to find the *cause* of a difference by experiment: approximate functions, tf32, order of summation,
# 4. to find a wrong mask or stride by the first store that differs,
# 5. to save a launch to a file, and to read a sweep.

# %%
import itertools
import tempfile
from pathlib import Path

import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab

# %% [markdown]
# ## A launch that a GPU made
#
# A recording is one launch in one file: the kernel, its arguments, and the GPU's results. Here are the recordings of
# triton-lab, and the GPU that made them.

# %%
for name in lab.examples.recordings():
    made = lab.examples.recording(name)
    print(f"{name:22}{made.kernel:18}{made.programs:3} programs {made.time.median * 1e6:6.1f} µs")
print(made.remark)

# %%
on_gpu = lab.examples.recording("softmax")
assert on_gpu.target == "gpu" and "H100" in on_gpu.time.device
on_gpu

# %% [markdown]
# Everything in the card is live, although the GPU is elsewhere: the interpreter has run the launch again, from the
# same bytes.
#
# ## Which time is measured?
#
# The GPU measures the time: two *events* are put into its queue, before the kernel and after it, and the GPU records
# the time of each. So neither Python nor the compiler is counted. The first run is left out, many follow, and you see
# the median with the 10th and the 90th percentile.

# %%
time = on_gpu.time
assert time.low <= time.median <= time.high and time.runs >= 100
low, median, high = (1e6 * each for each in (time.low, time.median, time.high))
print(f"{median:.1f} µs, mostly {low:.1f} to {high:.1f}, of {time.runs} runs")

# %% [markdown]
# A launch on the CPU has no such time. Its `seconds` are the interpreter's time: the time that NumPy took to execute
# the kernel. It does not depend on warps, caches or memory of a GPU. So the lab never compares the two times.

# %%
from triton_lab.examples.softmax import softmax_forward

given = lab.examples.example("softmax").inputs("small", 0, "cpu")  # the inputs of the GPU, too
with lab.record() as launches:
    softmax_forward(**given)
on_cpu = launches[0]
assert on_cpu.time is None and on_cpu.target == "cpu"
on_cpu

# %% [markdown]
# ## Compare
#
# Both sides, and the error over the elements: in ulp, the distance between neighbouring numbers. Click an element to
# see which program stored it.

# %%
comparison = lab.compare(on_gpu, on_cpu)
comparison

# %% [markdown]
# Most elements differ, yet the verdict is *equal up to rounding*. This is not a fixed tolerance: the lab follows the
# roundings of every operation to each element, and computes a bound for it. There are three verdicts:

# %%
add_gpu = lab.examples.recording("vector_add")
wrong = lab.compare(add_gpu, lambda x_ptr, y_ptr, **_: x_ptr - y_ptr)
for each in (lab.compare(add_gpu), comparison, wrong):
    print(f"{each.verdict:32}{each.titles[0]} and {each.titles[1]}")
assert [lab.compare(add_gpu).verdict, comparison.verdict, wrong.verdict] == [
    "bit-equal",
    "equal up to rounding",
    "different",
]
y = comparison["y_ptr"]
most = y.largest_ulps
print(f"{y.count} of {y.a.size} elements differ, by {most.value:g} ulp at most, at {most.index}")

# %% [markdown]
# One addition per element is rounded once, and IEEE 754 defines the result exactly: vector add is bit-equal on any
# machine. Softmax has an exponential, a sum and a division, and the result of each may vary.

# %% [markdown]
# ## Exercise 1: how many ulp?
#
# One result is `16.0`, the other `16.0 + 2**-16`, both float32. How many ulp are they apart?

# %%
# BEGIN SOLUTION: a number
ulps_apart = 8
# END SOLUTION

# %%
exercise("ulps_apart").check(ulps_apart)

# %% [markdown]
# ## Exercise 2: bit for bit
#
# Which recording is bit-equal to the interpreter, and which differs in the fewest elements without being bit-equal?
# Write a cell that finds out, with `lab.compare(...)` and the `.count` of its arguments.

# %%
# BEGIN SOLUTION: two names of recordings, as ("one", "another")
bit_for_bit = ("vector_add", "matmul_float16")
# END SOLUTION

# %%
exercise("bit_for_bit").check(bit_for_bit)

# %% [markdown]
# ## The cause, by experiment
#
# Is the cause the exponential, the sum or the division? The picture above names it. The lab found it by experiment:
# it ran the launch again, and changed one thing each time to the GPU's method.

# %%
causes = comparison.causes()
print(f"{'tried':66}{'bit-equal':>16}{'ulp left':>10}   answer")
for tried, _, equal, left, answer in causes.table():
    print(f"{tried:66}{equal:>16}{left:>10}   {answer}")
print()
print(causes.cause)
assert "the GPU's exp" in causes.cause

# %% [markdown]
# The cause is all three: the GPU's exponential, its division and the order of its sum together give exactly the same
# bits. One alone does not. NVIDIA documents the maximum error of `ex2.approx`, but not its bits. The lab knows those
# of an H100.
#
# ## tf32: ten bits of mantissa
#
# A tensor core that multiplies float32 reads ten bits of mantissa of each operand and cuts off the rest, unless the
# kernel says `input_precision="ieee"`. The recorded product uses it, and its error is small. The same numbers in tf32
# are less exact: here the other side does the tensor core's truncation in torch.


# %%
def tf32(x):
    """float32 cut to ten bits of mantissa."""
    return (x.view(torch.int32) & ~0x1FFF).view(torch.float32)


def in_tf32(a_ptr, b_ptr, **_):
    """The product as a tensor core makes it of float32, if it may."""
    return {"c_ptr": tf32(a_ptr) @ tf32(b_ptr)}


product = lab.examples.recording("matmul_float32")
for each in (lab.compare(product), lab.compare(product, in_tf32)):
    print(each["c_ptr"].told())
assert lab.compare(product).verdict == "equal up to rounding"
assert lab.compare(product, in_tf32).verdict == "different"


# %% [markdown]
# Look at the distances, too. Thousands of ulp can still be a small error: if a sum almost cancels, the result is
# small, its ulp is tiny, and a small error is many ulp. The bound takes the added numbers into account.
#
# The next kernel does not say `"ieee"`. Then tf32 is allowed, and the same error gets another verdict: equal up to
# rounding. The experiment finds the cause, too. On some processors tf32 inputs then give exactly the same bits in every
# row, on others only in some rows.


# %%
@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    at = i[:, None] * SIZE + i[None, :]
    tl.store(c_ptr + at, tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at)))


torch.manual_seed(0)
with lab.record() as launches:
    product_kernel[(1,)](torch.randn(32, 32), torch.randn(32, 32), torch.empty(32, 32), SIZE=32)
cut = lab.compare(launches[0], in_tf32)
cut

# %%
print(cut.verdict)
print(cut.cause)
# The last bits of a sum depend on the processor: there the cause may be "for the most part tf32 inputs of tl.dot".
assert cut.verdict == "equal up to rounding" and "tf32 inputs of tl.dot" in cut.cause

# %% [markdown]
# ## The order of summation
#
# Float addition does not associate. In a split-K product four programs add their shares to one element with
# `tl.atomic_add`, in an undefined order. Which results are possible? There are 24 orders of four numbers:

# %%
halves = lab.examples.example("split_k_matmul").inputs("small", 0, "cpu")
left, right = halves["a"].float(), halves["b"].float()
k = torch.arange(left.shape[1]) // 32 % 4  # which program takes which columns of A
shares = [left[:, k == program] @ right[k == program] for program in range(4)]
results = torch.stack(
    [
        sum((shares[p] for p in order[1:]), shares[order[0]])
        for order in itertools.permutations(range(4))
    ]
)
different = torch.tensor([len(set(column)) for column in results.reshape(24, -1).T.tolist()])
for count, elements in zip(
    *(each.tolist() for each in different.unique(return_counts=True)), strict=True
):
    print(f"possible results: {count}, of {elements} elements")
assert different.max() > 1

# %% [markdown]
# One GPU ran the kernel twice. The results are the same to the last bit - this time: four programs that start
# together may well arrive in the same order twice. This proves nothing about the third run. The lab says what the
# kernel allows:

# %%
once, again = (lab.examples.recording(name) for name in ("split_k_matmul", "split_k_matmul_again"))
print("GPU and GPU:", lab.compare(once, again).verdict)
atomics = lab.compare(once)
print("GPU and CPU:", atomics.verdict)
print(atomics.cause)
assert "atomic additions of floats" in atomics.cause
atomics

# %% [markdown]
# A race or a read of unwritten memory would be named here, too: both make two runs on one GPU differ.

# %% [markdown]
# ## Exercise 3: three numbers, three sums
#
# Find three numbers whose sum in float32 is another one for each of the three orders `(a + b) + c`, `(a + c) + b` and
# `(b + c) + a`. None of the sums may be infinite.

# %%
# BEGIN SOLUTION: three numbers, as (1.0, 2.0, 3.0)
three_orders = (1.0, 2.0**24, -(2.0**24) - 2.0)
# END SOLUTION

# %%
exercise("three_orders").check(three_orders)

# %% [markdown]
# ## NaN and infinity
#
# NaN is not a number, so it has no distance in ulp: the *patterns* of NaN are compared. This softmax leaves out the
# maximum, and from `x = 89` on `exp` overflows.


# %%
@triton.jit
def softmax_naive(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    at = tl.program_id(0) * columns + column
    e = tl.exp(tl.load(x_ptr + at, mask=column < columns, other=float("-inf")))
    tl.store(y_ptr + at, e / tl.sum(e, axis=0), mask=column < columns)


large = torch.randn(13, 100) * 30
with lab.record() as launches:
    softmax_naive[(13,)](large, torch.empty_like(large), 100, BLOCK=128)
overflowed = lab.compare(launches[0], lambda x_ptr, **_: {"y_ptr": torch.softmax(x_ptr, 1)})
overflowed

# %%
rows = (large > 88.8).any(dim=1)
print(overflowed["y_ptr"].told())
print("rows with a number beyond 88.8:", rows.nonzero().flatten().tolist())
nan = torch.from_numpy(overflowed["y_ptr"].nan)
assert rows.any() and torch.equal(nan.any(dim=1), rows)

# %% [markdown]
# ## Exercise 4: log(1 + exp(x)), for every x
#
# The same trouble in another function, *softplus*. Written as the formula, it is infinite from 89 on, where the right
# result is `x`. [Chapter 07](07_reductions.ipynb) solved this for softmax. Compute in float32.


# %%
@triton.jit
def softplus_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: no exponential of a positive number
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    m = tl.maximum(x, 0.0)
    tl.store(y_ptr + i, m + tl.log(tl.exp(x - m) + tl.exp(0.0 - m)), mask=i < n)
    # END SOLUTION


def softplus(x):
    """log(1 + exp(x)) for each element of the vector x, in its dtype."""
    y = torch.empty_like(x)
    softplus_kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
    return y


# %%
exercise("softplus").check(softplus)

# %% [markdown]
# ## A bug of your own
#
# Now compare a kernel with the recording. Its launch takes a stride and a number of columns; with 100 and 100 it is
# right. Run the cell, then move the sliders *stride* and *columns*: what is the effect of a wrong stride, and of a
# wrong mask?


# %%
@triton.jit
def my_softmax(x_ptr, y_ptr, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * stride + column, mask=mask, other=float("-inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * 100 + column, e / tl.sum(e, axis=0), mask=mask)


def launch(stride: int = 99, columns: int = 100):
    my_softmax[(13,)](given["x"], torch.zeros(13, 100), columns, stride, BLOCK=128)


lab.interact(
    launch,
    draw=lambda made: lab.compare(made, on_gpu).plot(),
    stride=[98, 99, 100],
    columns=[98, 99, 100],
)

# %% [markdown]
# The verdict is *different*, and the size of the error hardly matters. Its place matters: the first store, in the
# order of the launch, whose value differs from the other side's.


# %%
def first_difference(**choices):
    """A launch of `my_softmax` against the recording, and its first store that differs."""
    with lab.record() as launches:
        launch(**choices)
    found = lab.compare(launches[0], on_gpu)
    return found.verdict, found.first


for choices in ({"stride": 99}, {"columns": 99}, {"stride": 100}):
    verdict, first = first_difference(**choices)
    where = f"line {first.line} in program {first.program}, lane {first.lanes[0]}"
    print(f"{choices}: {verdict}, first on {where}")
assert first_difference(stride=99)[1].program == 1  # row 0 begins at 0 with any stride
assert first_difference(columns=99)[1].program == 0

# %% [markdown]
# A wrong stride leaves row 0 alone, since it begins at 0 with any stride: the first store that differs is program 1's.
# A wrong mask is wrong from program 0 on: the sum lacks an element, and the last column was never stored.

# %% [markdown]
# ## Exercise 5: where does the difference begin?
#
# Choose `stride` and `columns` so that the first store that differs is program 0's, although the stride is wrong,
# too.

# %%
# BEGIN SOLUTION: both numbers, as {"stride": ..., "columns": ...}
choices = {"stride": 99, "columns": 99}
# END SOLUTION

# %%
exercise("choices").check(choices)

# %% [markdown]
# ## Keep it, and pass it on
#
# `launch.save` writes a launch to one file, which opens on any machine. The file holds data and no code, so you can
# safely open a file of a stranger. A damaged file is refused.

# %%
folder = Path(tempfile.mkdtemp())
on_cpu.save(folder / "softmax.launch")
loaded = lab.load(folder / "softmax.launch")
print(f"{(folder / 'softmax.launch').stat().st_size} bytes; {lab.compare(loaded, on_cpu).verdict}")
assert lab.compare(loaded, on_cpu).verdict == "bit-equal"

(folder / "damaged.launch").write_bytes((folder / "softmax.launch").read_bytes()[:5000])
try:
    lab.load(folder / "damaged.launch")
except lab.SavedLaunchError as refused:
    print(str(refused).removeprefix(f"{folder}/"))
loaded.plot.tiling("y_ptr")

# %% [markdown]
# This is how the recordings were made: with `lab.target("gpu")` and `lab.record(time=True)` on a machine that has one,
# by `python -m triton_lab.examples.gpu_recordings`.
#
# ## A sweep
#
# One size is not enough. `lab.sweep` measures functions over sizes and configurations: each function gets a size,
# prepares its inputs, and returns the function to time.

# %%
from triton_lab.examples.vector_add import add


def mine(n, block=1024):
    x, y = torch.rand(n), torch.rand(n)
    return lambda: add(x, y, block=block)


swept = lab.sweep(
    mine, [2**k for k in range(23, 26)], configs=[{"block": 64}, {"block": 1024}], seconds=0.5
)
for row in swept:
    print(f"{row.line:18}{row.size:12,} numbers: {row.time.low * 1e3:4.0f} ms at least")
assert swept.target == "cpu" and all(swept.rate(row) is None for row in swept)
swept

# %% [markdown]
# On the CPU, the sweep measures the interpreter, and the figure says so: it shows how the time grows with the work, and
# no rate. Compare the least times: other processes on the computer make single runs longer, never shorter. Do not
# choose a block size by this measurement.
#
# On a GPU the same cell shows bytes (or flops) a second, with torch in the same figure where you give it, and a line
# for what *that* GPU reaches with a copy and a large product. A good vector add comes near the copy from some size on.
# For smaller sizes, starting the kernel takes longer than the kernel itself. Run the cell when you have a GPU, with
# more sizes: `[4**k for k in range(5, 13)]`.

# %% [markdown]
# ## What to remember
#
# - A GPU's time comes from its events, with median and spread. The interpreter's time does not predict it.
# - *Bit-equal* is normal for integers, casts and single IEEE operations, *equal up to rounding* for the rest. A
#   result that is *different* has a cause that you should find.
# - Find the cause by experiment: change one thing, run again, count. If no change removes the difference, the lab
#   says so.
# - Two equal runs do not prove that a third run will be equal. Ask what the kernel allows.
# - Look at the first store that differs.

# %%
lab.course.progress("29")

# %% [markdown]
# **Where to read on.** [Masks, bounds and findings](04_masks.ipynb) is about those two bugs; [from the line to the
# machine code](19_machine_code.ipynb) about where a GPU's time goes; `docs/shared-gpu.md` about a class that
# shares one GPU. NVIDIA's CUDA C++ Programming Guide lists the errors of the functions, and Goldberg's *What every
# computer scientist should know about floating-point arithmetic* says why there are any.
