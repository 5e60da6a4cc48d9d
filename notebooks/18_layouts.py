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
# # From TTIR to layouts
#
# *About 55 minutes. You need chapter 17.*
#
# An operation of TTIR is for a whole block of elements. A GPU computes with threads, and each thread has registers of
# its own. The next stage, TTGIR, says which thread holds which element. You will learn
#
# 1. which passes bring layouts in, and which take conversions away,
# 2. what a *layout* is, how the compiler chooses one for a load, and how to make one by hand,
# 3. what a sum costs when the elements of a row lie with several threads,
# 4. what a conversion costs, and when shared memory makes a warp wait.
#
# Three exercises are checked by the layouts themselves.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise, predict

# %load_ext triton_lab


# %%
@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def launch_add(dtype=torch.float32, n=4096, BLOCK=1024, **options):
    """One launch of `add`, recorded."""
    x, y, out = (torch.zeros(n, dtype=dtype) for _ in range(3))
    with lab.record() as launches:
        add[(triton.cdiv(n, BLOCK),)](x, y, out, n, BLOCK=BLOCK, **options)
    return launches[0]


compiled = launch_add().compile("sm_90")

# %% [markdown]
# ## Pass by pass
#
# Between two stages the compiler runs many passes. Most passes change nothing here. Pick one to see its changes.

# %%
passes = compiled.passes
ran, changing = passes[1:], passes[1:].changing  # the first entry is the input
print(f"{len(changing)} of {len(ran)} passes changed something")
assert 0 < len(changing) < len(ran)
compiled.plot.passes()

# %% [markdown]
# Which pass inserted conversions between layouts, and which pass removed them? One pass gives each load the best
# layout for memory and ignores the other operations. A later pass removes conversions that do not pay.

# %%
for one in passes.introduced("ttg.convert_layout"):
    print("brought in by", one.name)
assert [one.name for one in passes.introduced("ttg.convert_layout")] == ["TritonGPUCoalesce"]
assert "ttg.convert_layout" not in compiled.stages["ttgir"]

# %% [markdown]
# ## Layouts
#
# A block is distributed to threads. Here is a layout made by hand, without a kernel: each thread holds four
# neighbours, eight threads side by side hold a row of 32, and a warp holds four rows. Point at an element to see
# which thread holds it, or at a register to see its element.

# %%
rows = lab.layout(
    "blocked", (16, 32), size_per_thread=[1, 4], threads_per_warp=[4, 8], warps_per_cta=[4, 1]
)
print(rows.owner(1, 5))
print(rows.elements(warp=0, lane=9))
assert rows.owner(1, 5)[0].lane == 9 and rows.owner(1, 5)[0].register == 1
rows

# %% [markdown]
# Below, the same layout stands as a *bit matrix*. It has a column for each bit of the register's number, the thread's
# and the warp's. A 1 in a column says how far this bit moves the element. Take thread 9 of warp 0, and 9 is 8 + 1. The
# column of 8 has its 1 at *index 0: 1*: one row down. The column of 1 has its 1 at *index 1: 4*: four columns to the
# right. So the thread's first element is `[1, 4]`. In a swizzled layout, which comes below, two bits can move the same
# index by the same distance. Then the two cancel.
#
# ## Exercise 1: a row for each thread
#
# Make a layout of `(128, 32)` for four warps, in which each thread holds one whole row, in the order of the threads:
# thread 5 of warp 2 holds row 69, `[69, 0]` to `[69, 31]`. Then a sum along a row needs no other thread.

# %%
# BEGIN SOLUTION: lab.layout("blocked", (128, 32), ...)
row_of_lane = lab.layout(
    "blocked", (128, 32), size_per_thread=[1, 32], threads_per_warp=[32, 1], warps_per_cta=[4, 1]
)
# END SOLUTION

# %%
exercise("row_of_lane").check(row_of_lane)

# %% [markdown]
# ## Which layout the compiler chooses
#
# A thread can move 16 bytes with one instruction: four float32 numbers. So the pass `TritonGPUCoalesce` gives each
# thread as many neighbours as fill 16 bytes, if the block has so many elements for each thread. This is the first line
# of TTGIR:

# %%
print(compiled.stages["ttgir"].splitlines()[0])
loaded = next(one for one in compiled.layouts if one.operation == "tt.load").layout
assert [len(loaded.elements(warp=0, lane=lane)) for lane in (0, 31)] == [8, 8]

# %% [markdown]
# A block has 1,024 elements and a program 128 threads, so each thread holds eight elements: twice four neighbours. Now
# the numbers are float16, of two bytes.


# %%
def neighbours(launch):
    """How many neighbouring elements a thread moves at once, by the layout of the first load."""
    found = next(
        one for one in launch.compile("sm_90").layouts if one.operation == "tt.load"
    ).layout
    held = sorted(place[0] for place in found.elements(warp=0, lane=0))
    return next((k for k, place in enumerate(held) if place != k), len(held))


halves = launch_add(torch.float16)
predict(
    "How many neighbouring float16 elements does a thread hold, if it holds four of float32?",
    [2, 4, 8, 16],
    right=neighbours(halves),
    picture=halves.compile("sm_90").plot.layouts(),
    why="Sixteen bytes are eight elements of two bytes. There are eight elements for each of the 128 threads.",
)

# %% [markdown]
# ## Exercise 2: how many neighbours
#
# How many neighbouring elements does the layout give each thread for a block of 1,024 float16 elements and 8 warps, for
# a block of 1,024 int8 elements and 4 warps, and for a block of 4,096 int8 elements and 4 warps?

# %%
# BEGIN SOLUTION: a tuple of three numbers
neighbours_of_thread = (4, 8, 16)
# END SOLUTION

# %%
exercise("neighbours_of_thread").check(neighbours_of_thread)

# %% [markdown]
# If there are more threads than elements, several threads hold the same element. All of them load it, and one stores
# it:

# %%
few = next(
    one for one in launch_add(BLOCK=64).compile("sm_90").layouts if one.operation == "tt.load"
)
print(few.layout.owner(5))
assert few.layout.copies == 2 and len(few.layout.owner(5)) == 2

# %% [markdown]
# ## A sum across threads
#
# The elements of one row can be held by one thread, by several threads of a warp, or by several warps. A thread adds
# its own elements. Threads of one warp exchange their sums with *shuffles*, from register to register. Warps exchange
# them through shared memory.


# %%
@triton.jit
def row_sums(x_ptr, out_ptr, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + i[:, None] * columns + j[None, :], mask=j[None, :] < columns, other=0.0)
    tl.store(out_ptr + i, tl.sum(x, axis=1))


def launch_sums(ROWS, COLUMNS):
    """One launch of `row_sums` with 64 rows, recorded."""
    with lab.record() as launches:
        row_sums[(64 // ROWS,)](
            torch.rand(64, COLUMNS), torch.empty(64), COLUMNS, ROWS=ROWS, COLUMNS=COLUMNS
        )
    return launches[0].compile("sm_90")


def holders(layout):
    """How many threads of a warp, and how many warps, hold elements of the first row."""
    row = [place for column in range(layout.shape[1]) for place in layout.owner(0, column)]
    return len({one.lane for one in row}), len({one.warp for one in row})


tall, long = launch_sums(16, 128), launch_sums(1, 1024)
for sums in (tall, long):
    loaded = next(one for one in sums.layouts if one.operation == "tt.load").layout
    print(loaded.shape, "threads and warps of a row:", holders(loaded))
tall.plot.layouts()

# %% [markdown]
# With 16 rows of 128 a warp holds whole rows, four of them. Each row takes five steps of shuffles, since each step
# halves the number of sums that are left: 32, 16, 8, 4, 2, 1. A single row of 1,024 is held by all four warps. Each
# warp takes five steps, the four sums meet in shared memory, and two more steps add them. In the machine code `SHFL` is
# a shuffle, `STS` and `LDS` store to and load from shared memory, and at `BAR` the warps wait for each other.

# %%
for sums in (tall, long):
    found = {
        name: sum(n for opcode, n in sums.metadata.opcodes.items() if opcode.startswith(name))
        for name in ("SHFL", "STS", "LDS", "BAR")
    }
    print(found)
assert found["SHFL"] == 5 + 2

# %% [markdown]
# The 20 shuffles of the first are four rows of five steps. But why does it use shared memory, if no sum leaves its
# warp? The result of a sum has a layout of its own, a *slice*: that of `x` without the axis that was added up. All
# threads of a row hold it. The store wants another layout, so a conversion stands before it.

# %%
for one in tall.layouts.conversions:
    print(f"line {one.line}: {one.cost}")
assert len(tall.layouts.conversions) == 1

# %% [markdown]
# ## Conversions
#
# A conversion costs nothing if each thread keeps its elements. If the elements stay in their warp, shuffles can move
# them. Otherwise they go through shared memory. (`wavefronts` counts the turns of shared memory, and one turn moves up
# to 32 words of four bytes.) In the layout `rows` above a thread has four neighbours of a row. In the next layout it
# has four neighbours of a column:

# %%
columns = lab.layout(
    "blocked",
    (16, 32),
    size_per_thread=[4, 1],
    threads_per_warp=[4, 8],
    warps_per_cta=[1, 4],
    order=[0, 1],
)
moved = rows.to(columns)
predict(
    "A block of 512 elements goes from rows to columns. How many of them change their warp?",
    [0, 128, 384, 512],
    right=moved.counts()["same block"],
    picture=moved.plot(element=(1, 5)),
    why="A warp had 4 rows and has 8 columns: of its 128 elements it keeps 32. The others go through shared memory.",
)

# %%
print(moved.counts())
assert moved.way == "shared memory" and sum(moved.counts().values()) == 16 * 32

# %% [markdown]
# Here `same block` counts the elements that come from another warp of the same program.
#
# In the next layout a thread has four elements of a column, too. But each warp has the elements that it has in `rows`,
# so shuffles are enough:

# %%
upright = lab.layout(
    "blocked", (16, 32), size_per_thread=[4, 1], threads_per_warp=[1, 32], warps_per_cta=[4, 1]
)
shuffled = rows.to(upright)
print(shuffled.counts())
assert shuffled.counts()["same block"] == 0
shuffled.plot(element=(1, 5))

# %% [markdown]
# ## Bank conflicts
#
# Shared memory has 32 banks of four bytes, and each serves one word at a time. A warp that reads a row of 32 floats
# uses each bank once. Down a column of the same tile all 32 threads use the *same* bank, and wait for one another. One
# word of padding after each row shifts the next row by one bank. Swizzling has the same effect without wasting a
# word.

# %%
across = lab.layout(
    "blocked", (32, 32), size_per_thread=[1, 1], threads_per_warp=[1, 32], warps_per_cta=[32, 1]
)
down = lab.layout(
    "blocked", (32, 32), size_per_thread=[1, 1], threads_per_warp=[32, 1], warps_per_cta=[1, 32]
)
plain = lab.layout("swizzled_shared", (32, 32), vec=1, per_phase=1, max_phase=1)
padded = lab.layout("padded_shared", (32, 32), pairs=[(32, 1)])
swizzled = lab.layout("swizzled_shared", (32, 32), vec=1, per_phase=1, max_phase=32)
for name, memory in {"plain": plain, "padded": padded, "swizzled": swizzled}.items():
    print(f"{name:9} rows:    {memory.access(across)}")
    print(f"{'':9} columns: {memory.access(down)}")
assert plain.access(across).conflicts == 0 and plain.access(down).ways == 32
assert padded.access(down).conflicts == swizzled.access(down).conflicts == 0

# %% [markdown]
# A swizzled row keeps its words and changes their order. `vec` words stay together, `per_phase` rows have the same
# order, and after `max_phase` orders the pattern repeats. Point at an element of the second row: it is in another
# bank.

# %%
swizzled

# %% [markdown]
# ## Exercise 3: a tile that is 16 wide
#
# A tile of `(64, 16)` floats: swizzle it so that no warp waits, neither one that reads two rows nor one that reads 32
# elements of a column. A new order for each row does not work:

# %%
narrow = lab.layout("swizzled_shared", (64, 16), vec=1, per_phase=1, max_phase=16)
narrow_column = lab.layout(
    "blocked", (64, 16), size_per_thread=[1, 1], threads_per_warp=[32, 1], warps_per_cta=[1, 4]
)
print(narrow.access(narrow_column))
assert narrow.access(narrow_column).ways == 2

# %%
# BEGIN SOLUTION: lab.layout("swizzled_shared", (64, 16), ...)
swizzle_of_16 = lab.layout("swizzled_shared", (64, 16), vec=1, per_phase=2, max_phase=16)
# END SOLUTION

# %%
exercise("swizzle_of_16").check(swizzle_of_16)

# %% [markdown]
# ## The layouts of a product
#
# On an H100 the tensor cores read the tiles from shared memory, and they produce the result in a layout of their own.
# So a matrix product has several layouts, and a conversion before it stores. Pick one.

# %%
from triton_lab.examples.matmul import matmul

with lab.record() as launches:
    matmul(*(torch.randn(128, 128, dtype=torch.float16) for _ in range(2)))
product = launches[0].compile("sm_90")
for one in product.layouts.conversions:
    print(f"line {one.line}: {one.cost}")
assert len(product.layouts.conversions) == 1
assert "tt.dot" in product.stages["ttir"] and "ttng.warp_group_dot" in product.stages["ttgir"]
product.plot.layouts()

# %% [markdown]
# ## What to remember
#
# - A layout says which thread holds which element. Several threads may hold the same element.
# - For a load the compiler gives each thread as many neighbours as fill 16 bytes.
# - A sum is cheap inside a thread, needs shuffles inside a warp, and needs shared memory and a barrier between warps.
# - A conversion costs nothing, shuffles, or a way through shared memory.
# - Shared memory has 32 banks. Padding or swizzling keeps the threads of a warp apart.

# %%
lab.course.progress("18")

# %% [markdown]
# **Where to read on.** [Chapter 19](19_machine_code.ipynb) follows the layouts into machine code, and [chapter
# 23](23_gluon_layouts.ipynb) lets you choose the layouts of a kernel. *Linear Layouts* by Zhou and others describes how
# Triton calculates with them.
