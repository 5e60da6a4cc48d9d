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
# # From Python to TTIR
#
# *About 45 minutes. You need chapters 01 and 09.*
#
# Triton contains its whole compiler. So you can see the code for a GPU on a machine without one. In this chapter and
# the next two nothing is guessed, and nothing runs on a GPU. This chapter follows a kernel to *TTIR*, the first form
# that the compiler gives it. You will learn
#
# 1. which stages lie between a line of Python and the machine code, and how to find a line in each of them,
# 2. to read TTIR: which operation a line of Python becomes, and what the operation does to a block,
# 3. what the compiler decides, so that it costs nothing when the kernel runs,
# 4. for which arguments Triton compiles a kernel once more.
#
# Three exercises are checked.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise, predict

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
# The table counts registers, shared memory and instructions. A *warp* runs each instruction with 32 threads at once,
# which the table calls lanes. The row *stages* is `num_stages` of chapter 10.
#
# The machine code is the last of six stages. TTIR is your kernel as operations on blocks. TTGIR says which thread holds
# which element ([chapter 18](18_layouts.ipynb)). LLVM IR is one thread's program, PTX is NVIDIA's assembly language,
# and SASS is the machine code ([chapter 19](19_machine_code.ipynb)). The cubin is the same machine code as bytes.

# %%
print(list(compiled.stages))

# %% [markdown]
# Now predict. The line `mask = offsets < n` compares a block of 1,024 offsets with one number. Behind the question the
# source stands beside the stages: pick a line on either side to highlight its counterparts.


# %%
def line_of(compiled, words):
    """The number of the line of the kernel that contains `words`."""
    source = compiled.lines.sources[0]
    return source.first + next(k for k, line in enumerate(source.lines) if words in line)


def operations(compiled, *words):
    """The TTIR operations of the lines of the kernel that contain `words`, in their order."""
    ttir = compiled.stages["ttir"].splitlines()
    lines = [line_of(compiled, each) for each in words]
    numbers = sorted(number for line in lines for number in compiled.lines.of("ttir", line))
    return [ttir[number - 1].partition(" loc(")[0].removeprefix("    ") for number in numbers]


predict(
    "How many operations of TTIR does the line that computes mask become?",
    [1, 2, 1024],
    right=len(operations(compiled, "mask = ")),
    picture=compiled.plot.stages("ttir"),
    why="tt.splat makes a block of the number n, and arith.cmpi compares two blocks. Each is for all 1,024 elements.",
)

# %% [markdown]
# ## Read TTIR
#
# Each operation stands in a line of its own, with the value that it makes on the left and the types on the right. A
# value gets its name once and never changes. `tensor<1024xf32>` is the type of a block: 1,024 numbers of type float32.

# %%
for words in ("offsets = ", "mask = ", "x = tl.load", "tl.store"):
    print(words.strip(" ="))
    for operation in operations(compiled, words):
        print("   ", operation)

# %% [markdown]
# Few operations are enough for most kernels:
#
# | Python | TTIR |
# |---|---|
# | `tl.program_id(0)` | `tt.get_program_id x` |
# | `tl.arange(0, 1024)` | `tt.make_range` |
# | a number beside a block | `tt.splat` |
# | `x[:, None]`, and then a larger block | `tt.expand_dims`, `tt.broadcast` |
# | `x_ptr + offsets` | `tt.addptr`: a block of pointers |
# | `+`, `*`, `<` on whole numbers | `arith.addi`, `arith.muli`, `arith.cmpi` |
# | `+`, `*`, `<` on floats | `arith.addf`, `arith.mulf`, `arith.cmpf` |
# | `tl.where` | `arith.select` |
# | `tl.sum` | `tt.reduce`, with the addition inside |
#
# A word behind `cmpi` or `cmpf` says which comparison it is: `slt` is *less than* for signed numbers, and `ogt` is
# *greater than*, false where one side is NaN.
#
# Two things are not there: threads, and the stride. No operation says which thread computes what. And `stride` was 1 in
# this launch: you will soon see why it has left no multiplication.
#
# ## A loop hands its values on
#
# A value never changes. What becomes of a sum that grows in a loop?


# %%
@triton.jit
def relu(x):
    return tl.maximum(x, 0.0)


@triton.jit
def sum_of_rows(x_ptr, out_ptr, n, rows, RELU: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(rows):
        total += tl.load(x_ptr + k * n + at, mask=mask)
    if RELU:
        total = relu(total)
    tl.load(x_ptr + at, mask=mask)  # nobody uses this value
    tl.store(out_ptr + at, total, mask=mask)


def launch_sum(rows=4, RELU=True, n=100):
    """One launch of `sum_of_rows`, recorded."""
    with lab.record() as launches:
        sum_of_rows[(triton.cdiv(n, 32),)](
            torch.rand(rows, n), torch.empty(n), n, rows, RELU=RELU, BLOCK=32
        )
    return launches[0]


summed = launch_sum().compile("sm_90")
print("\n".join(operations(summed, "for k in range", "total += ")))
assert "scf.for" in summed.stages["ttir"] and "iter_args" in summed.stages["ttir"]

# %% [markdown]
# `scf.for` has a region of operations. `iter_args(... = ...)` names the value that the loop hands on: it begins with
# the zeros, and `scf.yield` at the end of each turn gives the value for the next turn. After the last turn it is the
# result of the loop.
#
# ## What is decided before the kernel runs
#
# Three things of this kernel have left nothing in TTIR. Triton's front end, which reads the Python, has decided the
# `if` on a `tl.constexpr`: one side is there, without a branch. The function `relu` stands in the place of its call.
# And the last load is gone, since nobody uses its value. Which of the compiler's *passes* did the last two? The
# first passes work on TTIR. Pick one to see its changes.

# %%
passes = summed.passes
inlined = next(one for one in passes if one.name == "InlinerPass")
print({name: counts for name, counts in inlined.ops.items() if name in ("tt.call", "tt.load")})
assert inlined.ops["tt.call"][1] == 0 and inlined.ops["tt.load"] == (2, 1)
summed.plot.passes()

# %% [markdown]
# `range` makes a loop that runs. `tl.static_range` makes copies of its body, one for each turn, and no loop is left.
# The number of turns must be known then, as a `tl.constexpr`.
#
# ## Exercise 1: how many loads are left
#
# ```python
# @triton.jit
# def mean_of_rows(x_ptr, bias_ptr, out_ptr, n, ROWS: tl.constexpr, BIAS: tl.constexpr, BLOCK: tl.constexpr):
#     at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#     mask = at < n
#     total = tl.zeros((BLOCK,), tl.float32)
#     for k in tl.static_range(ROWS):
#         total += tl.load(x_ptr + k * n + at, mask=mask)
#     if BIAS:
#         total += tl.load(bias_ptr + at, mask=mask)
#     tl.store(out_ptr + at, total / ROWS, mask=mask)
# ```
#
# How many operations `tt.load` does the TTIR of this kernel have with `ROWS=6` and `BIAS=False`? And how many with
# `BIAS=True`, if `tl.static_range` is replaced by `range`?

# %%
# BEGIN SOLUTION: a tuple, (with static_range and no bias, with range and a bias)
loads_left = (6, 2)
# END SOLUTION

# %%
exercise("loads_left").check(loads_left)

# %% [markdown]
# ## What Triton knows of an argument
#
# A kernel is compiled at its first launch, and perhaps again at a later one: at each launch Triton looks at the
# arguments. Of a whole number it asks two things: is it 1, and is it a multiple of 16? Of a pointer it asks whether its
# address is a multiple of 16. The line of TTIR with the kernel's name has the answers:


# %%
def arguments(launch):
    """The arguments in the first line of the launch's TTIR, one in a line."""
    text = launch.compile("sm_90").stages["ttir"]
    head = next(line for line in text.splitlines() if "tt.func" in line)
    return [part.partition(" loc(")[0] for part in head.partition("(")[2].split("%")[1:]]


for stride in (1, 2, 16):
    print("stride", stride)
    for argument in arguments(launch_add(stride=stride)):
        print("   ", argument)

# %% [markdown]
# `tt.divisibility = 16` stands for a multiple of 16. A 1 is no argument at all: it is a constant in the kernel, and a
# multiplication by it is gone. With one row the loop of `sum_of_rows` is gone, too:

# %%
single = launch_sum(rows=1).compile("sm_90")
print("scf.for" in summed.stages["ttir"], "scf.for" in single.stages["ttir"])
assert "scf.for" in summed.stages["ttir"] and "scf.for" not in single.stages["ttir"]

# %% [markdown]
# The compiler needs such facts: chapter 19 shows loads that need four times as many requests without them. The
# price is a compilation for each combination, and a compilation can take a second. Triton keeps the results, so only
# the first launch of a combination is slow.

# %%
kinds = {n: arguments(launch_add(n=n)) for n in (1000, 1001, 1008, 2000, 4096)}
for n, found in kinds.items():
    print(f"{n:5}", found[3])
assert len({tuple(found) for found in kinds.values()}) == 2

# %% [markdown]
# If an argument takes many values and the facts do not matter, forbid the question:
# `@triton.jit(do_not_specialize=["n"])`. Then one compilation is for all values.

# %%
steady = triton.jit(do_not_specialize=["n"])(add.fn)
with lab.record() as launches:
    for n in (1, 16, 17):
        steady[(1,)](torch.rand(n), torch.rand(n), torch.empty(n), n, 1, BLOCK=32)
assert len({one.compile("sm_90").stages["ttir"] for one in launches}) == 1

# %% [markdown]
# ## Exercise 2: how many times is it compiled
#
# `scale[grid](x, out, n, BLOCK=256)` is launched with new tensors of `n` elements, for `n` = 1, 16, 17, 32, 100, 4096
# and 5001. A new tensor begins at a multiple of 16. Then it is launched with `x[1:]` in the place of `x`, for a float32
# tensor of 17 elements: `n` is 16, and the view begins 4 bytes later. How many times is the kernel compiled?

# %%
# BEGIN SOLUTION: a number
compilations_of_scale = 4
# END SOLUTION

# %%
exercise("compilations_of_scale").check(compilations_of_scale)

# %% [markdown]
# ## Exercise 3: back to Python
#
# Here is the TTIR of a kernel, without the places in the source. Write a kernel that does the same, and launch it for a
# contiguous `x` of any length. `%n` is the number of elements, and a program has 256 of them.
#
# ```text
# tt.func public @mystery(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32},
#                         %out_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
#   %0 = arith.constant dense<1.000000e+00> : tensor<256xf32>
#   %1 = arith.constant dense<0.000000e+00> : tensor<256xf32>
#   %2 = arith.constant 1 : i32
#   %3 = arith.constant 256 : i32
#   %4 = tt.get_program_id x : i32
#   %5 = arith.muli %4, %3 : i32
#   %6 = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
#   %7 = tt.splat %5 : i32 -> tensor<256xi32>
#   %8 = arith.addi %7, %6 : tensor<256xi32>
#   %9 = tt.splat %n : i32 -> tensor<256xi32>
#   %10 = arith.cmpi slt, %8, %9 : tensor<256xi32>
#   %11 = arith.subi %n, %2 : i32
#   %12 = tt.splat %11 : i32 -> tensor<256xi32>
#   %13 = arith.subi %12, %8 : tensor<256xi32>
#   %14 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
#   %15 = tt.addptr %14, %13 : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
#   %16 = tt.load %15, %10 : tensor<256x!tt.ptr<f32>>
#   %17 = tt.splat %out_ptr : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>
#   %18 = tt.addptr %17, %8 : tensor<256x!tt.ptr<f32>>, tensor<256xi32>
#   %19 = arith.cmpf ogt, %16, %1 : tensor<256xf32>
#   %20 = math.exp %16 : tensor<256xf32>
#   %21 = arith.subf %20, %0 : tensor<256xf32>
#   %22 = arith.select %19, %16, %21 : tensor<256xi1>, tensor<256xf32>
#   tt.store %18, %22, %10 : tensor<256x!tt.ptr<f32>>
#   tt.return
# }
# ```


# %%
@triton.jit
def from_ttir_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: line by line, what TTIR says
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + (n - 1 - at), mask=mask)
    tl.store(out_ptr + at, tl.where(x > 0, x, tl.exp(x) - 1), mask=mask)
    # END SOLUTION


def from_ttir(x):
    """What the kernel behind this TTIR makes of x."""
    out = torch.empty_like(x)
    # BEGIN SOLUTION: launch from_ttir_kernel
    from_ttir_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    # END SOLUTION
    return out


# %%
exercise("from_ttir").check(from_ttir)

# %% [markdown]
# ## What to remember
#
# - You can look at every step from your line to SASS, on any machine.
# - An operation of TTIR is for a whole block. It does not say which thread does what.
# - Branches on `tl.constexpr`, loops over `tl.static_range`, calls of functions and unused loads are settled when the
#   kernel is compiled.
# - `scf.for` hands values from turn to turn.
# - Triton compiles a kernel again if a whole number becomes 1, or becomes a multiple of 16 or stops being one, or if
#   the alignment of a pointer changes.

# %%
lab.course.progress("17")

# %% [markdown]
# **Where to read on.** [Chapter 18](18_layouts.ipynb) gives the elements of a block to threads. MLIR's documentation
# describes the dialects *arith* and *scf*, and Triton's the dialect *tt*.
