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
# # When two arguments are one
#
# A kernel takes addresses. Nothing stops two of its arguments from naming the same memory - the same tensor twice,
# overlapping slices, one storage seen through two dtypes. A simulator that copies each *argument* to the host, runs,
# and copies each back gets this wrong: the copy that nobody wrote to may be written back last, over the one that
# holds the result. triton-lab never copies an argument. On the CPU a kernel works in the tensors' own memory; for a
# tensor on another device there is one mirror for each connected run of *memory*, and only what the kernel stored
# goes back.

# %%
import numpy as np
import torch
import triton
import triton.language as tl

import triton_lab as lab

# %load_ext triton_lab

# %% [markdown]
# ## The same buffer twice
#
# The kernel stores 1 through its first argument and does not touch the second. It must print 1.


# %%
# %%triton cpu --show storage
@triton.jit
def store_one(buffer, buffer2):
    tl.store(buffer, 1)


buffer = torch.zeros(1)
store_one[(1,)](buffer, buffer)
print(buffer)

# %% [markdown]
# ## Overlapping slices
#
# Two slices of one vector: elements 0-5 and 3-8. The kernel reads the first and writes the second, so three
# elements are read through one name and written through the other. That is legal, and it is nearly always a
# mistake, so the card says it.


# %%
# %%triton cpu --show storage
@triton.jit
def shift(source, target, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(target + i, tl.load(source + i, mask=i < n) * 10, mask=i < n)


whole = torch.arange(9, dtype=torch.float32)
shift[(1,)](whole[:6], whole[3:], 6, BLOCK=8)
print(whole)

# %% [markdown]
# All six values were loaded before the first was stored, so the result is that of torch with a copy in between:

# %%
expected = torch.arange(9, dtype=torch.float32)
expected[3:] = expected[:6].clone() * 10
print(torch.equal(whole, expected))

# %% [markdown]
# ## One storage, two dtypes
#
# `view(torch.uint8)` looks at the same bytes as numbers from 0 to 255. Writing a float through one argument changes
# four elements of the other.


# %%
# %%triton cpu --show storage
@triton.jit
def float_to_bytes(numbers, octets, out, BLOCK: tl.constexpr):
    tl.store(numbers, 1.0)
    tl.debug_barrier()
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(octets + i))


numbers = torch.zeros(2)
out = torch.zeros(8, dtype=torch.uint8)
float_to_bytes[(1,)](numbers, numbers.view(torch.uint8), out, BLOCK=8)
print(out.tolist())

# %%
print(list(np.float32([1.0, 0.0]).tobytes()))

# %% [markdown]
# ## Memory that torch does not know to be shared
#
# Arrays of NumPy may overlap too. Wrapped by `torch.from_numpy` they become tensors with storages of their own, at
# addresses that meet. Torch does not know that they share bytes; the addresses do.

# %%
array = np.arange(10, dtype=np.float32)
first, second = torch.from_numpy(array[:6]), torch.from_numpy(array[4:])
print("same torch storage:", first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr())
lab.storage(first, second)

# %%
# %%triton cpu --show none
shift[(1,)](first, second, 6, BLOCK=8)
print(array)

# %% [markdown]
# ## What is and is not found
#
# - Tensors of the CPU: all sharing is right by construction, since nothing is copied.
# - Tensors of another device: storages are joined where their address ranges meet, whoever made them.
# - The finding *alias* compares bytes that were really read and written, so it is never a guess; it is a note, not an
#   error.
# - What a pointer that was loaded from memory reaches is followed to the live tensor at that address.
