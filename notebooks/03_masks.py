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
# # Grids and masks
#
# Blocks have sizes that are powers of two, tensors have not. The grid must reach the last element, and the mask must
# keep the lanes beyond it away from memory. Each of the two can be wrong on its own, and the result often looks right.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab

# %load_ext triton_lab

# %% [markdown]
# ## A grid that is too small
#
# `100 // 32` programs for 100 elements: what nobody stores to keeps what was there before. In a fresh tensor that is
# whatever the memory held, often zeros, and a test that looks at the first elements passes.


# %%
# %%triton cpu --show tiling,findings
@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets, mask=mask), mask=mask)


x, out = torch.arange(100.0), torch.empty(100)
double[(100 // 32,)](x, out, 100, BLOCK=32)

# %% [markdown]
# The note says which elements are left. `triton.cdiv` rounds up, and the note is gone:

# %%
with lab.record() as launches:
    out = torch.empty(100)
    double[(triton.cdiv(100, 32),)](x, out, 100, BLOCK=32)
print(launches[0].findings, bool((out == 2 * x).all()))

# %% [markdown]
# ## A mask that is missing
#
# Now the grid reaches the end, and 28 lanes of the last program reach beyond it. A GPU may read a neighbour's memory
# without a word; here the launch stops before it touches anything.


# %%
@triton.jit
def double_everything(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, 2 * tl.load(x_ptr + offsets))


with lab.record() as launches:
    try:
        double_everything[(4,)](x, torch.empty(100), BLOCK=32)
    except Exception as error:
        print(type(error).__name__)
print(launches[0].findings[0])

# %% [markdown]
# The picture shows where: red places past the end of `x_ptr`, and who reaches for them.

# %%
launches[0].plot.tiling("x_ptr")

# %% [markdown]
# ## How large is a block?
#
# Every launch runs again as you choose: with larger blocks fewer programs have more lanes that the mask turns off.


# %%
def launch(BLOCK: int = 32):
    double[(triton.cdiv(100, BLOCK),)](x, torch.empty(100), 100, BLOCK=BLOCK)


lab.interact(launch, draw=lambda made: made.plot.tiling("out_ptr"), BLOCK=[8, 16, 32, 64, 128])

# %% [markdown]
# ## A loop instead of a larger block
#
# A row may be longer than any block. Then a program walks it in steps, and the mask matters in the last step only.
# RMS norm in `triton_lab.examples` walks each row twice: once for the sum of the squares, once to divide by it.

# %%
from triton_lab.examples.rms_norm import rms_norm

x, weight = torch.randn(3, 600), torch.randn(600)
with lab.record() as launches:
    y = rms_norm(x, weight, block=256)
load = launches[0].accesses[0]
print(f"{load.kind} in line {load.line}: {load.iterations} steps of {load.block[0]} lanes for 600 columns")
print(torch.allclose(y, torch.nn.functional.rms_norm(x, (600,), weight, 1e-6), atol=1e-5))

# %% [markdown]
# ## Your turn
#
# Change `BLOCK` to 128 in the first cell and launch one program: how many lanes does the mask turn off? Then leave the
# mask out of the store alone, and see which element the finding names.
