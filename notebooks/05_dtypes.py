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
# # Number types, promotion, Python scalars
#
# *About 40 minutes. You need chapter 04.*
#
# Every number of a kernel has a type that is known before it runs. In this chapter you will
#
# 1. learn which type a Python number has in a kernel, and which type two types give together,
# 2. use narrow types, from bytes to fp8, without losing what you need,
# 3. print from a kernel.
#
# ## Python scalars in a kernel
#
# `value = 0.0` looks like a Python float. In a kernel it is a constant of Triton's compiler, so it has a shape and a
# type, as a tensor has. On the CPU these types are the same as on a GPU, since both run what Triton's front end makes
# of the kernel.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise, predict

# %load_ext triton_lab

# %% [markdown]
# Two examples. The first asks the number 0.0 for its shape and type:


# %%
# %%triton cpu --show steps
@triton.jit
def full_like_a_scalar(out):
    value = 0.0
    value_tensor = tl.full(value.shape, 0, value.dtype)
    tl.store(out, value_tensor)


out = torch.ones(1)
full_like_a_scalar[(1,)](out)
print(out)

# %% [markdown]
# Converting the sum of two Python integers:


# %%
# %%triton cpu --show none
@triton.jit
def convert_a_sum(out):
    t0 = 0
    t1 = 1
    result = t0 + t1
    tl.store(out, result.to(tl.float32))


out = torch.zeros(1)
convert_a_sum[(1,)](out)
print(out)

# %% [markdown]
# ## Scalar arguments and constants
#
# An argument is a tensor without dimensions and has `.to()`; a `tl.constexpr` is evaluated at compile time.


# %%
# %%triton cpu --show steps
@triton.jit
def scalars(out, count, factor, SIZE: tl.constexpr):
    HALF: tl.constexpr = SIZE // 2
    tl.store(out, count.to(tl.float32) * factor)
    tl.store(out + 1, HALF)


out = torch.zeros(2)
scalars[(1,)](out, 3, 0.5, SIZE=10)
print(out)

# %% [markdown]
# ## What each expression becomes
#
# The table asks the compiler: every row is a variable of a kernel, and its type is what Triton's front end inferred -
# for a GPU and for the CPU target alike, since it is the same front end. The last column shows plain Python's type.


# %%
@triton.jit
def inferred(x, n):
    integer = 3
    real = 0.5
    truth = 1 < 2
    quotient = 7 / 2
    floor = 7 // 2
    wide = 2147483648
    count = n
    count_and_real = n + 0.5
    element = tl.load(x)
    element_and_integer = tl.load(x) + 1
    element_and_real = tl.load(x) * 0.5
    tl.store(x, element + integer + real + truth + quotient + floor + wide + count + count_and_real)
    tl.store(x, element_and_integer + element_and_real)


with lab.record() as launches:
    inferred[(1,)](torch.ones(1, dtype=torch.float16), 4)

# %%
python = {
    "integer": 3,
    "real": 0.5,
    "truth": 1 < 2,
    "quotient": 7 / 2,
    "floor": 7 // 2,
    "wide": 2147483648,
    "count": 4,
    "count_and_real": 4 + 0.5,
}
print(f"{'variable':22}{'compiled':12}{'value':>14}   Python")
for variable in launches[0].variables[2:]:
    values = launches[0].values(variable.name)
    plain = type(python[variable.name]).__name__ if variable.name in python else ""
    print(f"{variable.name:22}{values.dtype:12}{values.at()[0]!s:>14}   {plain}")

# %% [markdown]
# Combined with a tensor, a Python number takes the tensor's type if both are of one kind, or if an integer meets a
# float. So `element_and_real` stays float16. A float beside an integer gives a float: `n + 0.5` becomes float32. And
# `wide` is too large for int32, so it becomes uint32.
#
# ## Exercise 1: what is it?
#
# `n` is an integer argument. Which type does `n + 0.5` have in a kernel?

# %%
# BEGIN SOLUTION: a string, such as "int32"
type_of_a_sum = "float32"
# END SOLUTION

# %%
exercise("type_of_a_sum").check(type_of_a_sum)

# %% [markdown]
# ## Exercise 2: the mean of two bytes
#
# `(a + b) // 2` for bytes. Both are loaded as bytes here, so their sum is a byte, too. Answer first, then look:


# %%
@triton.jit
def add_bytes(a_ptr, b_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.load(a_ptr + i) + tl.load(b_ptr + i)
    tl.store(out_ptr + i, total)


a, b = torch.tensor([200, 20], dtype=torch.uint8), torch.tensor([100, 10], dtype=torch.uint8)
total = torch.empty_like(a)
with lab.record() as launches:
    add_bytes[(1,)](a, b, total, BLOCK=2)
predict(
    "A byte holds the numbers from 0 to 255. What is 200 + 100 in a byte?",
    [44, 45, 255, 300],
    right=total[0].item(),
    picture=launches[0].plot.values("total"),
    why="The sum is 300, and 256 of it do not fit: the byte wraps around and keeps 300 - 256.",
)


# %%
@triton.jit
def average_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: widen, add, halve, and store a byte again
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n).to(tl.int32)
    b = tl.load(b_ptr + i, mask=i < n).to(tl.int32)
    tl.store(out_ptr + i, ((a + b) // 2).to(tl.uint8), mask=i < n)
    # END SOLUTION


def average(a, b):
    """The mean of two vectors of bytes, rounded down, in a new one."""
    out = torch.empty_like(a)
    average_kernel[(triton.cdiv(a.numel(), 64),)](a, b, out, a.numel(), BLOCK=64)
    return out


# %%
exercise("average").check(average)

# %% [markdown]
# ## bf16 and fp8
#
# Both are number types like any other here: loaded, computed with, and stored with one rounding.


# %%
@triton.jit
def scale(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    y = (x * 1.5).to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + i, y, mask=i < n)


for dtype in (torch.bfloat16, torch.float16, torch.float8_e5m2, torch.float8_e4m3fn):
    x = torch.linspace(-4, 4, 20).to(dtype)
    y = torch.empty_like(x)
    with lab.record() as launches:
        scale[(1,)](x, y, 20, BLOCK=32)
    print(f"{dtype!s:20} equals torch: {torch.equal(y, (x.float() * 1.5).to(dtype))}")
launches[0].plot.values("y")

# %% [markdown]
# ## Exercise 3: one rounding
#
# `x * factor + 1`, for any float type of `x`: computed in float32, rounded once at the end.


# %%
@triton.jit
def scale_any_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: compute in float32, store in the type of out
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n).to(tl.float32)
    tl.store(out_ptr + i, (x * factor + 1.0).to(out_ptr.dtype.element_ty), mask=i < n)
    # END SOLUTION


def scale_any(x, factor):
    """x * factor + 1, of the dtype of x, in a new tensor."""
    out = torch.empty_like(x)
    scale_any_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), factor, BLOCK=64)
    return out


# %%
exercise("scale_any").check(scale_any)

# %% [markdown]
# ## Exercise 4: a product of small numbers
#
# The sum of all `a[i] * b[i]`, for 8-bit numbers, as an int32. Each program has a sum of its own, and all must be added
# up in one element: `tl.atomic_add(out_ptr, number)` adds to memory, and no addition of another program gets lost.
# [Chapter 11](11_atomics.ipynb) is about it.


# %%
@triton.jit
def dot_of_bytes_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: multiply in 32 bits, add up, and add to the result
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + i, mask=i < n, other=0).to(tl.int32)
    b = tl.load(b_ptr + i, mask=i < n, other=0).to(tl.int32)
    tl.atomic_add(out_ptr, tl.sum(a * b, axis=0))
    # END SOLUTION


def dot_of_bytes(a, b):
    """The sum of all products, as an int32 tensor of one element."""
    out = torch.zeros(1, dtype=torch.int32)
    dot_of_bytes_kernel[(triton.cdiv(a.numel(), 64),)](a, b, out, a.numel(), BLOCK=64)
    return out


# %%
exercise("dot_of_bytes").check(dot_of_bytes)

# %% [markdown]
# ## Printing from a kernel
#
# In a `%%triton` cell a kernel may print with an f-string. Each line begins with the number of its program. Only the
# lab can do this: in plain Triton write `tl.device_print("data", data)`.


# %%
# %%triton cpu --show steps
@triton.jit
def halves(x, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    data = tl.load(x + i) / 2
    print(f"data = {data:.2f}")
    tl.store(x + i, data)


halves[(2,)](torch.arange(8, dtype=torch.float32), BLOCK=4)

# %% [markdown]
# ## Exercise 5: down, not towards zero
#
# The greatest integer that is not above `x`, as an int32.


# %%
@triton.jit
def floor_to_int_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: round down, then convert
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.floor(x).to(tl.int32), mask=i < n)
    # END SOLUTION


def floor_to_int(x):
    """Each element rounded down, as int32, in a new tensor."""
    out = torch.empty(x.shape, dtype=torch.int32)
    floor_to_int_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


# %%
exercise("floor_to_int").check(floor_to_int)

# %% [markdown]
# ## What to remember
#
# - Types are inferred when the kernel is compiled. A Python number takes the type of a tensor of the same kind. A float
#   beside an integer tensor gives float32.
# - Narrow integers wrap around without a warning: widen before you add or multiply.
# - Compute in float32, and round once, when you store.

# %%
lab.course.progress("05")

# %% [markdown]
# **Where to read on.** [Chapter 07](07_reductions.ipynb) shows what half precision does to sums. The OCP's *8-bit
# Floating Point Specification* defines fp8; Triton's *Semantics* page has its rules of promotion.
