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
# # Your first kernel
#
# A Triton kernel is a program that is started many times at once. Each copy - a *program* - works on its
# own block of the data, and finds out which one from its program id. This notebook runs such kernels on
# whatever machine you have: no GPU is needed. On the way you will see
#
# 1. which program touches which element (*tiling*), and
# 2. where elements really lie in memory (*strides and storage*), which is where most first bugs come from.
#
# Run the cells from top to bottom: Shift+Enter.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab

# %load_ext triton_lab
# %triton

# %% [markdown]
# ## Adding two vectors
#
# `%%triton cpu` on the first line runs the cell on the CPU and shows each launch. The kernel is plain
# Triton: the same text compiles for a GPU.


# %%
# %%triton cpu --show tiling
@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


x = torch.arange(100, dtype=torch.float32)
y = torch.ones(100)
out = torch.empty(100)
add[(triton.cdiv(100, 16),)](x, y, out, 100, BLOCK=16)

# %% [markdown]
# Seven programs of 16 lanes each: 112 lanes for 100 elements. The last program's mask turns 12 lanes off;
# they hang over the end in the picture. Click an element to pick its program.
#
# Was the sum right? Torch says so:

# %%
torch.equal(out, x + y)

# %% [markdown]
# **Try it.** Take `mask=mask` out of the store, run the cell again, and read what it says. Which program did
# it, and at which element?
#
# ## Views of one storage
#
# A torch tensor is a *view*: a shape, strides and an offset over a *storage*, which is a flat run of
# memory. The element `[i, j]` lies at `offset + i * stride[0] + j * stride[1]`. Splitting a tensor copies
# nothing: both halves look into the same storage.

# %%
original = torch.arange(24, dtype=torch.float32).reshape(4, 6)
left, right = torch.split(original, [2, 4], dim=1)


def describe(**tensors):
    """The facts about each tensor that a kernel depends on; pointers relative to `original`'s."""
    print(f"{'':14}{'shape':>10}{'stride':>10}{'pointer':>16}{'contiguous':>12}")
    for name, tensor in tensors.items():
        place = tensor.data_ptr() - original.data_ptr()
        same = tensor.untyped_storage().data_ptr() == original.untyped_storage().data_ptr()
        pointer = f"original + {place} B" if same else "a new storage"
        print(f"{name:14}{tuple(tensor.shape)!s:>10}{tensor.stride()!s:>10}{pointer:>16}{tensor.is_contiguous()!s:>12}")


describe(original=original, left=left, right=right)

# %% [markdown]
# Both halves keep the stride 6 of the original, and `right` begins 8 bytes - two floats - further on.
# Neither is contiguous: a row of `left` ends after two elements, but its next row begins six further.

# %%
lab.storage(original, left, right)

# %% [markdown]
# ## Stage 1: a kernel on the views
#
# A kernel that is told the strides can work on any view. This one adds one to each element.


# %%
# %%triton cpu --show tiling,storage
@triton.jit
def add_one(ptr, stride_0, stride_1, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.arange(0, COLUMNS)
    offsets = i[:, None] * stride_0 + j[None, :] * stride_1
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    data = tl.load(ptr + offsets, mask=mask)
    tl.store(ptr + offsets, data + 1.0, mask=mask)


def add_one_to(tensor, ROWS, COLUMNS):
    grid = (triton.cdiv(tensor.shape[0], ROWS),)
    add_one[grid](tensor, *tensor.stride(), *tensor.shape, ROWS=ROWS, COLUMNS=COLUMNS)


add_one_to(left, ROWS=4, COLUMNS=2)
add_one_to(right, ROWS=4, COLUMNS=4)

# %% [markdown]
# The two launches share no element, and together they touch all of `original`: each of its elements is now
# one greater than it was.

# %%
original

# %%
torch.equal(original, torch.arange(24.0).reshape(4, 6) + 1)

# %% [markdown]
# ## Stage 2: contiguous copies
#
# `contiguous()` copies what it must, so that rows follow each other without gaps. The copies have storages
# of their own, and strides (2, 1) and (4, 1).

# %%
left_copy, right_copy = left.contiguous(), right.contiguous()
describe(left=left, right=right, left_copy=left_copy, right_copy=right_copy)

# %%
lab.storage(left, left_copy)

# %% [markdown]
# ## Stage 3: the same kernel on the copies

# %%
# %%triton cpu --show storage
add_one_to(left_copy, ROWS=4, COLUMNS=2)
add_one_to(right_copy, ROWS=4, COLUMNS=4)

# %% [markdown]
# The copies are now two greater than the data we began with, and the original stays at one greater: the
# kernel wrote to the copies' memory alone.

# %%
started = torch.arange(24.0).reshape(4, 6)
print("original is +1:", torch.equal(original, started + 1))
print("copies are +2: ", torch.equal(torch.cat([left_copy, right_copy], dim=1), started + 2))

# %% [markdown]
# Outside of a `%%triton` cell, `lab.record()` keeps what is launched. A launch is its card, the list of all of them a
# table, and `launch.plot` makes any picture of it by itself.

# %%
with lab.record() as launches:
    add_one_to(original, ROWS=2, COLUMNS=8)
launches[0].plot.tiling("ptr", program=1)

# %% [markdown]
# ## What to take along
#
# - A program's share of the data is set by its program id, the block size and the mask.
# - A kernel sees addresses, not tensors: pass strides, and any view will do.
# - Two tensors may share memory. The storage picture shows when they do.
