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
# # Python scalars in a kernel
#
# `value = 0.0` in a kernel is a Python float to Python, and something else to Triton's compiler: a constant, ready to
# become a tensor. An interpreter that walks the Python code meets the float itself and fails on `value.shape` or
# `result.to(...)`. The CPU target runs what Triton's own front end made of the kernel, so both ways promote alike.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab

# %load_ext triton_lab

# %% [markdown]
# ## Two kernels that once failed
#
# Asking a Python float for its shape and type:


# %%
# %%triton cpu --show none
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
# An argument is a tensor of no dimensions and has `.to()`; a `tl.constexpr` is computed with when compiling.


# %%
# %%triton cpu --show none
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
# for a GPU and for the CPU target alike, since it is the same front end. Beside it, what plain Python would say.


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
# A Python number takes the type of the tensor it meets where that type can hold it: `element_and_real` stays float16,
# while `n + 0.5` becomes float32, since an integer cannot hold a half.
