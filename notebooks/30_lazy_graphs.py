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
# # Lazy graphs, donated buffers, and a wrong answer from a cache
#
# *About 45 minutes. You need chapter 06.*
#
# Some tensor libraries do not compute when you write `a + b`. They record the operation, and later, at a *step*,
# compile all recorded operations into a few kernels. Compiling is slow, so the result is cached under a *hash* of the
# graph. Memory is scarce, so an update such as `a += b` is compiled to write in place: the buffer of `a` is *donated*
# to the result.
#
# Each of the three ideas is simple. Together they contain a trap: a library computed the hash before it had decided
# about donation, and returned `4, 4` instead of `3, 4`. `lab.lazy` is a small library of this kind. You can watch it,
# and it can make the same mistake. In this chapter you will
#
# 1. watch operations become a graph, and the graph become kernels,
# 2. see which memory a step may overwrite,
# 3. find out which steps are compiled, and write a loop that is compiled once,
# 4. see a cache whose key lacks an ingredient, and set its trap yourself.

# %%
import torch

import triton_lab as lab
from triton_lab.course import exercise

mark_step, explain = lab.lazy.mark_step, lab.lazy.explain

# %% [markdown]
# ## Nothing happens until a step
#
# `lab.lazy.tensor` copies its data into a *buffer*. The line after it computes nothing; it only grows a graph.

# %%
x = lab.lazy.tensor(torch.arange(6.0).reshape(2, 3))
y = (x * 2 + 1).relu() - x.sum(1, keepdim=True)

mark_step()
explain()

# %% [markdown]
# Read the picture from the top. Ovals are buffers; a frame is one Triton kernel; each box in it is one operation, in
# registers unless its border is coloured: then its result is left in memory of that colour. The elementwise
# operations share a kernel (they are *fused*). The sum has its own kernel, since a whole row must be added before it
# can be subtracted. `view` costs nothing: it only changes the strides with which a value is read.
#
# These are the kernels. They were written by a program, for people to read; `v4` is the operation `%4`.

# %%
print(explain().source)

# %% [markdown]
# ## Writing in place
#
# Now an update in place. After the step no name refers to the old value of `t1`, so its buffer may be overwritten: it
# is a *donor*. Both values use the same memory, and the kernel below, unlike the one above, has no separate output.

# %%
t0 = lab.lazy.tensor([1])
t1 = lab.lazy.tensor([2])

t1.add_(t0)
in_place = mark_step()
explain()

# %%
print(explain().source)

# %% [markdown]
# The very same sum, but not in place. `t1` is still in use after the step, so its buffer must be kept, and `t2` gets
# new memory. The operations, shapes and types are the same. The hash differs in one ingredient, which the card shows.

# %%
t2 = t1 + t0
not_in_place = mark_step()
explain()

# %%
print(f"t1 = {t1}, t2 = {t2}")
assert (t1.item(), t2.item()) == (3, 4)

# %% [markdown]
# torch agrees. The library with the bug returned `t1=4, t2=4`, and the right result is `t1=3, t2=4`:

# %%
a0, a1 = torch.tensor([1]), torch.tensor([2])
a1.add_(a0)
print(f"a1 = {a1.item()}, a2 = {(a1 + a0).item()}")

# %% [markdown]
# ## The bug
#
# What if the hash is taken first and the donors are decided afterwards? Then the two graphs above have one hash, and
# share one executable: the one that was compiled first. The next cell simulates nothing. The donors are left out of
# the key, the cache finds the in-place kernel under this key, and the kernel overwrites its input.

# %%
with lab.lazy.hash_includes_donors(False):
    t0 = lab.lazy.tensor([1])
    t1 = lab.lazy.tensor([2])

    t1.add_(t0)
    mark_step()

    t2 = t1 + t0
    mark_step()

explain()

# %%
print(f"t1 = {t1}, t2 = {t2}")
assert (t1.item(), t2.item()) == (4, 4)

# %% [markdown]
# The program only read `t1`, but `t1` has changed. It now shares its memory with `t2`: a write to one changes the
# other. Nothing crashed, and with other numbers the error would stay hidden.
#
# This rule holds for every cache: **everything that changes the meaning of compiled code belongs in its key**. The
# buffers that a kernel may overwrite are part of its meaning.

# %% [markdown]
# ## Exercise 1: set the trap yourself
#
# Do not use `+` on one number, but another operation on tensors of any shape. Your function runs two steps, and
# returns its results. With a correct key they must be right, and without the donors in the key they must be wrong.


# %%
def trap(a, b):
    """Two steps on the lazy tensors a and b; returns the tensors that come out wrong."""
    # BEGIN SOLUTION: two steps with equal operations, of which only the first may overwrite
    b.mul_(a)
    lab.lazy.mark_step()
    c = b * a
    lab.lazy.mark_step()
    return b, c
    # END SOLUTION


# %%
exercise("trap").check(trap)

# %% [markdown]
# ## Hits and misses
#
# The same graph again, with other values, compiles nothing.

# %%
weights = lab.lazy.tensor(torch.randn(4, 4))
speed = lab.lazy.tensor(torch.zeros(4, 4))
gradient = lab.lazy.tensor(torch.randn(4, 4))

for _ in range(4):
    speed.mul_(0.9).add_(gradient)
    weights.sub_(speed * 0.1)
    step = mark_step()
    compiled, ran = 1e3 * step.compile_seconds, 1e3 * step.seconds
    print("hit " if step.hit else "miss", f"compiled in {compiled:.1f} ms, ran in {ran:.1f} ms")

# %% [markdown]
# But a number written in the program is a constant of the graph. A learning rate that changes causes a compilation at
# every step. This is a common reason for a slow lazy library. Keep the rate in a tensor instead.

# %%
for rate in (0.1, 0.05, 0.025):
    weights.sub_(speed * rate)
    step = mark_step()
    print(
        "number:", "hit " if step.hit else "miss", [name for name, *_ in step.nearest.differences]
    )

for rate in (0.1, 0.05, 0.025):
    weights.sub_(speed * lab.lazy.tensor(rate))
    step = mark_step()
    print("tensor:", "hit" if step.hit else "miss")

# %% [markdown]
# All steps of this chapter in one table: which were compiled, which were found in the cache, and the time of each
# part.

# %%
lab.lazy.report()

# %% [markdown]
# ## Exercise 2: how many are compiled?
#
# The cache is empty. How many of the six steps of this loop are compiled?
#
# ```python
# x = lab.lazy.tensor(torch.ones(100))
# for number, rate in enumerate((0.5, 0.25, 0.5, 0.25, 0.5, 0.25)):
#     if number == 3:
#         kept = x
#     x = x * rate
#     lab.lazy.mark_step()
# ```

# %%
# BEGIN SOLUTION: a number
compiled_steps = 3
# END SOLUTION

# %%
exercise("compiled_steps").check(compiled_steps)

# %% [markdown]
# ## Exercise 3: compile once
#
# A gradient descent whose rate changes. `rates` is a list of numbers, with one step for each. Only the first step may
# be compiled, and the weights must stay in the same memory.


# %%
def descend(weights, gradient, rates):
    """For each rate in turn, weights less rate times gradient, in place; a step for each."""
    # BEGIN SOLUTION: a loop over the rates, whose graph is always the same
    for rate in rates:
        weights.sub_(gradient * lab.lazy.tensor(rate))
        lab.lazy.mark_step()
    # END SOLUTION


# %%
exercise("descend").check(descend)

# %% [markdown]
# ## Which buffers can be donated
#
# A buffer cannot be donated while a name refers to it. A view counts: it shows the same buffer. (The picture counts all
# steps of the session, also those of the exercises' checks.)

# %%
base = lab.lazy.tensor([1.0, 2.0, 3.0, 4.0])
tail = base[2:]
base = base * 10  # a new tensor; the old one has no name now, but `tail` is a view of it
mark_step()
explain()

# %% [markdown]
# Writing *through* a view is different: then base and view must change together. The slice below is updated in place,
# and the kernel touches only its elements.

# %%
grid = lab.lazy.tensor(torch.zeros(3, 4))
grid[:, 1:3] += 5
mark_step()
explain()

# %%
print(explain().source)
print(grid)

# %% [markdown]
# A buffer that the same kernel reads in another order cannot be overwritten either: a lane could read elements that
# another lane has replaced. The buffer is a donor, but the compiler must not use it, and gives the reason.

# %%
square = lab.lazy.tensor(torch.arange(9.0).reshape(3, 3))
square.add_(square.T)
mark_step()
explain()

# %% [markdown]
# ## Exercise 4: what is donated?
#
# How many inputs does the step after each program donate? `a` and `b` are lazy tensors of one element each, computed
# before, and there are no other names. Answer with four numbers.
#
# 1. `a = a + b`
# 2. `c = a + b`
# 3. `a, b = b, a`
# 4. `a.add_(b); del b`

# %%
# BEGIN SOLUTION: four numbers in brackets, as (0, 0, 0, 0)
donated_inputs = (1, 0, 0, 2)
# END SOLUTION

# %%
exercise("donated_inputs").check(donated_inputs)

# %% [markdown]
# ## The benefit
#
# A tensor of 64 MB, ten updates: without donation each step would need a second buffer as large.

# %%
large = lab.lazy.tensor(torch.zeros(16 * 2**20))
lab.lazy.meter.reset_peak()
for _ in range(10):
    large.add_(1)
    mark_step()
print(f"in place: at most {lab.lazy.meter.peak_bytes / 2**20:.0f} MB in buffers")

lab.lazy.meter.reset_peak()
old = large.clone()  # while this name exists, the old values must be kept
large.add_(1)
mark_step()
print(f"with the old values kept: {lab.lazy.meter.peak_bytes / 2**20:.0f} MB")
del old, large

# %% [markdown]
# A copy that stays in use costs a second buffer as large as the tensor. The card shows it: the input is not donated.

# %%
explain()

# %% [markdown]
# ## Exercise 5: no second buffer
#
# Subtract from each row of `x` its mean, in the memory of `x`, and return the means, of shape (rows, 1). Your
# function runs the step itself. A value with a name must be kept then, so no other value as large as `x` may have a
# name.


# %%
def centre(x):
    """x becomes x less the mean of each row; returns the means. One step computes both."""
    # BEGIN SOLUTION: an update in place, and a step
    mean = x.mean(1, keepdim=True)
    x.sub_(mean)
    lab.lazy.mark_step()
    return mean
    # END SOLUTION


# %%
exercise("centre").check(centre)

# %% [markdown]
# ## What to remember
#
# - A lazy tensor records operations. A step computes all recorded operations, in as few kernels as possible.
# - A buffer is donated if it is not used after the step. A name or a view is enough to keep it.
# - A donor may be overwritten, but not always: a kernel that reads in another order must not overwrite it.
# - A step is compiled if its key is new. Python numbers are in the key, values of tensors are not.
# - Everything that changes the meaning of compiled code belongs in its key.

# %%
lab.course.progress("30")

# %% [markdown]
# **Where to read on.** [When two arguments are one](06_aliasing.ipynb) is about the same memory from the kernel's side,
# and [chapter 31](31_polyhedra.ipynb) about a compiler that moves whole loops. JAX's documentation describes *buffer
# donation* and its compile cache, PyTorch/XLA's the steps and `mark_step`.
