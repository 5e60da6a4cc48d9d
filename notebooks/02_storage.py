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
# # Views, number types, and looking inside
#
# `00_first_kernel` ran one kernel on two views of a storage. Here are the other views that torch has, the number
# types that interpreters tend to leave out, pointers to pointers - and three ways of seeing a value while the kernel
# runs.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab

# %load_ext triton_lab


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


# %% [markdown]
# ## Every kind of view
#
# A transpose swaps strides; `expand` has a stride of 0, many elements at one place; a step leaves gaps. The kernel
# sees strides only, so one kernel serves them all.

# %%
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
# ## bf16 and fp8
#
# Both are number types like any other here: loaded, computed with, and stored with one rounding.


# %%
# %%triton cpu --show none
@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, (tl.load(x + i, mask=i < n).to(tl.float32) * 1.5).to(y.dtype.element_ty), mask=i < n)


for dtype in (torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.float16):
    x = torch.linspace(-4, 4, 16).to(dtype)
    y = torch.empty_like(x)
    scale[(1,)](x, y, 16, BLOCK=16)
    print(f"{dtype!s:20} equals torch: {torch.equal(y.float(), (x.float() * 1.5).to(dtype).float())}")

# %% [markdown]
# ## Pointers to pointers
#
# A table of addresses: each program loads a pointer, and then loads through it.


# %%
# %%triton cpu --show none
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
# ## Looking inside
#
# **Print.** In a `%%triton` cell a kernel may print with an f-string; each program's line carries its program id.


# %%
# %%triton cpu --show none
@triton.jit
def halves(x, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    data = tl.load(x + i) / 2
    print(f"data = {data:.2f}")
    tl.store(x + i, data)


halves[(2,)](torch.arange(8, dtype=torch.float32), BLOCK=4)

# %% [markdown]
# **Ask afterwards.** A recorded launch can be asked for any variable, in any program, without changing the kernel.

# %%
with lab.record() as launches:
    halves[(2,)](torch.arange(8, dtype=torch.float32), BLOCK=4)
launch = launches[0]
print(launch.values("data").at())
launch.plot.values("i", program=1)

# %% [markdown]
# **Follow a value back.** Which elements fed what program 1 stored in its lane 2?

# %%
launch.plot.origins(program=1, lane=2)

# %% [markdown]
# Every tab of a card is a picture of its own under `launch.plot`: `accesses`, `tiling`, `storage`, `grid`, `values`,
# `steps` and `origins`. The launch itself, as the last value of a cell, is the card.

# %%
launch
