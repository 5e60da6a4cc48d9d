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
# # Scheduling languages and blocks
#
# [Chapter 10](10_polyhedra.ipynb) took a loop nest for a set of points and asked which orders are legal. Here is what
# people write such orders in: a *scheduling language*, which keeps the algorithm apart from its order, and the *blocks*
# of Triton. You will see
#
# 1. a matrix product in a scheduling language, line by line, proved legal and run,
# 2. the irregular nest, at which both methods stop,
# 3. the three ways side by side on one problem,
# 4. a schedule that becomes a Triton kernel.

# %%
import numpy as np

import triton_lab as lab
from triton_lab.polyhedral.page import examples

# %% [markdown]
# ## A scheduling language
#
# Halide keeps the algorithm apart from its schedule. This is the page's matmul in our language, line by line.
# (Halide names loops from the innermost, we from the outermost.) It is legal, and it visits every point once.
# %%
from triton_lab.polyhedral.page.halide import halide_matmul

halide = halide_matmul(32, block_size=16)
print(halide.program("c"))
print(halide.legality)
print("visits:", len(halide.order()), "different:", len(set(halide.order().pairs)), "expected:", 32**2 + 32**3)

# %%
rng = np.random.default_rng(0)
arrays = {name: rng.random((32, 32), dtype=np.float32) for name in "ABC"}
np.abs(halide.run(arrays)["C"] - arrays["A"] @ arrays["B"]).max()

# %% [markdown]
# ## The irregular nest
#
# Here both stop: the bound of `k` is read from memory. What is left are ragged rows.
# (The page writes `B[k][j]`; it must be `B[col[i, k]][j]`.)

# %%
from triton_lab.polyhedral.page.ragged import PAGE_RAGGED

PAGE_RAGGED

# %% [markdown]
# ## Three ways, one problem
#
# The same matrices, three programs. First where all three can speak:

# %%
from triton_lab.polyhedral.page.three_ways import matmul_ways, ragged_ways

matmul_ways()

# %% [markdown]
# Then the irregular nest: refused, padded, and as it is.

# %%
ragged_ways()

# %% [markdown]
# ## From schedule to kernel
#
# Where a schedule's tiles make blocks, it can be written down as a Triton kernel. The kernel below was written from
# the steps above it; it runs here on the CPU, and would compile for a GPU.

# %%
matmul = lab.polyhedral.scop(examples.MATMUL, n=40)
tiled = lab.schedule(matmul).distribute("x").distribute("y")
for loop in ("y", "x", "k"):
    tiled = tiled.split(loop, 16, statement="S1")
tiled = tiled.reorder("yo", "xo", "ko", "yi", "xi", "ki")
kernel = tiled.to_triton()
print(kernel)

# %%
arrays = {name: rng.random((40, 40), dtype=np.float32) for name in "ABC"}
np.allclose(kernel.run(arrays)["C"], tiled.run(arrays)["C"], rtol=1e-5), kernel.grid(matmul)

# %% [markdown]
# What cannot be a block program says why:

# %%
wavefront = lab.polyhedral.scop(examples.WAVEFRONT, n=6)
try:
    lab.schedule(wavefront).tile({"i": 4, "j": 4}).to_triton()
except ValueError as reason:
    print(reason)

# %% [markdown]
# ## What you take with you
#
# - A scheduling language changes the order of a nest and keeps its meaning; the dependences say whether it may.
# - Where bounds are read from memory both stop, and blocks with masks go on.
# - A schedule whose tiles are blocks is a Triton kernel in other words.
#
# **Where to read on.** Ragan-Kelley and others, *Halide*; the related-work page of Triton's documentation, which this
# chapter is about. [Chapter 12](12_gpu_and_interpreter.ipynb) goes back to kernels, and to a GPU.
