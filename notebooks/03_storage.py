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
# # Tensors are storage: offset, stride, views
#
# *About 45 minutes. You need chapter 02.*
#
# A kernel gets an address, and no shape. The place of an element is computed from the address, and most beginners'
# bugs are in this computation. In this chapter you will
#
# 1. see where the elements of a tensor really lie, and what a *view* is,
# 2. run one kernel on all kinds of views, by passing their strides,
# 3. follow a pointer that was loaded from memory.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise, predict

# %load_ext triton_lab

# %% [markdown]
# ## Views of one storage
#
# A torch tensor is a *view*: a shape, strides and an offset over a *storage*, which is a flat run of
# memory. The element `[i, j]` lies at `offset + i * stride[0] + j * stride[1]`. Splitting a tensor copies nothing:
# both halves are views of the same storage.

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
        layout = f"{tuple(tensor.shape)!s:>10}{tensor.stride()!s:>10}"
        print(f"{name:14}{layout}{pointer:>16}{tensor.is_contiguous()!s:>12}")


describe(original=original, left=left, right=right)

# %% [markdown]
# Both halves keep the stride 6 of the original, and `right` begins 8 bytes - two floats - later. Neither is
# contiguous: a row of `left` has two elements, but its next row begins six elements later. Answer first, then look:

# %%
last = sum((size - 1) * stride for size, stride in zip(left.shape, left.stride(), strict=True))
predict(
    "left has 8 elements, in 4 rows of 2, and its first element lies at place 0. Where does its last element lie?",
    [7, 9, 19, 23],
    right=last,
    picture=lab.storage(original, left, right),
    why="Its row is 3 and its column 1: 3 rows of 6 places, and one place more.",
)

# %% [markdown]
# ## Exercise 1: at which place in storage?
#
# A view of some storage has the offset 1, the shape `(3, 4)` and the strides `(7, 2)`. At which place of the storage is
# its element `[2, 2]`?

# %%
# BEGIN SOLUTION: a number, counted in elements from the start of the storage
place_of_an_element = 1 + 2 * 7 + 2 * 2
# END SOLUTION

# %%
exercise("place_of_an_element").check(place_of_an_element)

# %% [markdown]
# ## Stage 1: a kernel on the views
#
# A kernel that gets the strides as arguments works on any view. This one adds 1 to each element.


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
print(original)
torch.equal(original, torch.arange(24.0).reshape(4, 6) + 1)

# %% [markdown]
# ## Stage 2: contiguous copies
#
# `contiguous()` copies the tensor if needed, so that rows follow each other without gaps. The copies have storages of
# their own, and strides (2, 1) and (4, 1).

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
# Each copy now has the first values plus 2, and the original still has the first values plus 1: the kernel wrote only
# to the copies' memory.

# %%
started = torch.arange(24.0).reshape(4, 6)
print("original is +1:", torch.equal(original, started + 1))
print("copies are +2: ", torch.equal(torch.cat([left_copy, right_copy], dim=1), started + 2))

# %% [markdown]
# ## Exercise 2: a copy of any view
#
# Write what `contiguous()` does. The check uses many different strides, so pass the strides of `x`.


# %%
@triton.jit
def copy_any_kernel(
    x_ptr, out_ptr, rows, columns, stride_0, stride_1, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    # BEGIN SOLUTION: load a tile by the strides of x, and store it to out, which is contiguous
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    x = tl.load(x_ptr + i[:, None] * stride_0 + j[None, :] * stride_1, mask=mask)
    tl.store(out_ptr + i[:, None] * columns + j[None, :], x, mask=mask)
    # END SOLUTION


def copy_any(x):
    """A contiguous copy of a matrix with any strides."""
    rows, columns = x.shape
    out = torch.empty((rows, columns), dtype=x.dtype)
    grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 32))
    copy_any_kernel[grid](x, out, rows, columns, x.stride(0), x.stride(1), ROWS=16, COLUMNS=32)
    return out


# %%
exercise("copy_any").check(copy_any)

# %% [markdown]
# ## Every kind of view
#
# A transpose swaps strides; `expand` has a stride of 0, many elements at one place; a step leaves gaps. A kernel sees
# only strides, so one kernel works for all of them.


# %%
@triton.jit
def copy(source, target, rows, columns, si, sj, ti, tj, BLOCK: tl.constexpr):
    """target[i, j] = source[i, j], whatever the strides of either are."""
    i = tl.arange(0, BLOCK)[:, None]
    j = tl.arange(0, BLOCK)[None, :]
    mask = (i < rows) & (j < columns)
    tl.store(target + i * ti + j * tj, tl.load(source + i * si + j * sj, mask=mask), mask=mask)


def copied(source):
    """A contiguous copy of a 2-D tensor, made by the kernel."""
    target = torch.empty(source.shape, dtype=source.dtype)
    copy[(1,)](source, target, *source.shape, *source.stride(), *target.stride(), BLOCK=8)
    return target


base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
views = {
    "transposed": base.t(),
    "expanded": base[1].expand(3, 6),
    "every other": base[:, ::2],
    "offset": base[1:, 3:],
    "odd strides": torch.as_strided(base, (3, 3), (7, 2), 1),
    "empty": base[:0],
}
for name, view in views.items():
    print(f"{name:12} stride {view.stride()!s:8} {torch.equal(copied(view), view)}")

# %%
transposed, expanded = views["transposed"], views["expanded"]
lab.storage(base, transposed, expanded)

# %% [markdown]
# ## Exercise 3: add 1, only in the view
#
# Add 1 to each element of a view, and to no other element. The check also looks at the elements around it.


# %%
@triton.jit
def add_one_in_place_kernel(
    x_ptr, rows, columns, stride_0, stride_1, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    # BEGIN SOLUTION: load a tile of the view, and store it one greater to where it came from
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    places = x_ptr + i[:, None] * stride_0 + j[None, :] * stride_1
    tl.store(places, tl.load(places, mask=mask) + 1, mask=mask)
    # END SOLUTION


def add_one_in_place(x):
    """Each element of x, a matrix with any strides, becomes one greater."""
    # BEGIN SOLUTION: launch the kernel with the strides of x
    rows, columns = x.shape
    grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 32))
    add_one_in_place_kernel[grid](x, rows, columns, x.stride(0), x.stride(1), ROWS=16, COLUMNS=32)
    # END SOLUTION


# %%
exercise("add_one_in_place").check(add_one_in_place)

# %% [markdown]
# ## Exercise 4: rows become columns
#
# `x.t()` copies nothing. Here the transpose must be contiguous: `out[j, i] = x[i, j]`, for any strides of `x`.


# %%
@triton.jit
def transpose_kernel(
    x_ptr, out_ptr, rows, columns, stride_0, stride_1, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    # BEGIN SOLUTION: load a tile of x by its strides, and store it to the places [j, i] of out
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    x = tl.load(x_ptr + i[:, None] * stride_0 + j[None, :] * stride_1, mask=mask)
    tl.store(out_ptr + j[None, :] * rows + i[:, None], x, mask=mask)
    # END SOLUTION


def transpose(x):
    """The transpose of a matrix with any strides, contiguous."""
    rows, columns = x.shape
    out = torch.empty((columns, rows), dtype=x.dtype)
    grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 16))
    transpose_kernel[grid](x, out, rows, columns, x.stride(0), x.stride(1), ROWS=16, COLUMNS=16)
    return out


# %%
exercise("transpose").check(transpose)

# %% [markdown]
# Which element goes where? Pick one in the result of a small transpose:

# %%
with lab.record() as launches:
    transpose(torch.arange(24.0).reshape(4, 6))
launches[0].plot.origins(program=0, lane=18)

# %% [markdown]
# ## Exercise 5: the diagonal
#
# The elements `[0, 0]`, `[1, 1]`, ... of a matrix with any strides lie at equal distances in memory. How far is it from
# each of them to the next?


# %%
@triton.jit
def diagonal_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load elements that are `stride` apart, and store them side by side
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i * stride, mask=i < n), mask=i < n)
    # END SOLUTION


def diagonal(x):
    """The diagonal of a matrix with any strides, in a new vector."""
    # BEGIN SOLUTION: how many elements has it, and how far are they apart?
    n = min(x.shape)
    out = torch.empty(n, dtype=x.dtype)
    diagonal_kernel[(triton.cdiv(n, 64),)](x, out, n, x.stride(0) + x.stride(1), BLOCK=64)
    # END SOLUTION
    return out


# %%
exercise("diagonal").check(diagonal)

# %% [markdown]
# ## Pointers to pointers
#
# An address is a number, so it can be stored in memory as well. Here is a table of addresses: each program loads a
# pointer, and then loads through it. The rows can be anywhere in memory.


# %%
# %%triton cpu --show tiling
@triton.jit
def sums(table, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    start = tl.load(table + row).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, BLOCK)
    tl.store(out + row, tl.sum(tl.load(start + i, mask=i < n, other=0.0)))


rows = [torch.full((5,), float(k)) for k in range(4)]
table = torch.tensor([row.data_ptr() for row in rows])
totals = torch.empty(4)
sums[(4,)](table, totals, 5, BLOCK=8)
print(totals)

# %% [markdown]
# ## Exercise 6: windows without a copy
#
# `torch.as_strided(row, shape, strides)` makes a view of any shape and strides. Choose them so that the view of
# `row = torch.arange(8.0)` has all windows of three as its rows: `[0, 1, 2]`, `[1, 2, 3]`, ... to `[5, 6, 7]`.

# %%
# BEGIN SOLUTION: a tuple (shape, strides), each of two numbers
windows_by_strides = ((6, 3), (1, 1))
# END SOLUTION

# %%
exercise("windows_by_strides").check(windows_by_strides)

# %% [markdown]
# ## What to remember
#
# - A tensor is an offset and strides over a storage; views share it.
# - A kernel sees addresses, not tensors: pass strides, and it works on any view.
# - The memory around a view holds other elements. A mask that is right for a contiguous tensor may be wrong for a
#   view.
# - Two elements may lie at one place (`expand`, windows). Reading them is fine; storing to them is a race.

# %%
lab.course.progress("03")

# %% [markdown]
# **Where to read on.** [Chapter 06](06_aliasing.ipynb) is about arguments that share memory. Edward Yang's *PyTorch
# internals* shows how torch stores a tensor.
