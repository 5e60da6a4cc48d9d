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
# Some tensor libraries do not compute when you write `a + b`. They note the operation, and later, at a *step*,
# compile everything noted into a few kernels. Compiling is slow, so the result is kept under a *hash* of the graph.
# And since memory is short, an update such as `a += b` is compiled to write where it reads: the buffer of `a` is
# *donated* to the result.
#
# Each of the three ideas is simple. Together they hold a trap: a library that computed the hash before it had
# decided about donation gave `4, 4` where `3, 4` was right. `lab.lazy` is such a library in small, made to be watched,
# and able to make the same mistake. In this chapter you will
#
# 1. watch operations become a graph, and the graph become kernels,
# 2. see whose memory a step may overwrite, and whose not,
# 3. tell which steps are compiled, and write a loop that is compiled once,
# 4. meet a cache whose key lacks an ingredient, and set its trap yourself.

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
# registers unless its border is coloured: then its result is left in memory of that colour. The elementwise operations
# share a kernel (they are *fused*), and the sum has one of its own, since all of a row must be added before
# any of it can be subtracted. `view` is no work: it says through which strides a value is read.
#
# These are the kernels. They were written by a program, for people to read; `v4` is the operation `%4`.

# %%
print(explain().source)

# %% [markdown]
# ## Writing where one reads
#
# Now an update in place. After the step nobody can see the old value of `t1`, so its buffer may be overwritten: it is a
# *donor*. Both values stand in one piece of memory, and the kernel below, unlike the one above, has no output of its
# own.

# %%
t0 = lab.lazy.tensor([1])
t1 = lab.lazy.tensor([2])

t1.add_(t0)
in_place = mark_step()
explain()

# %%
print(explain().source)

# %% [markdown]
# The very same sum, but not in place. `t1` is still there after the step, so its buffer must survive, and `t2` gets
# memory of its own. The operations, shapes and types are equal in every letter; the hash differs in one ingredient, and
# the card says which.

# %%
t2 = t1 + t0
not_in_place = mark_step()
explain()

# %%
print(f"t1 = {t1}, t2 = {t2}")
assert (t1.item(), t2.item()) == (3, 4)

# %% [markdown]
# torch agrees, and so does the report of this bug: it prints `t1=4, t2=4` as what went wrong, and `t1=3, t2=4` as
# right.

# %%
a0, a1 = torch.tensor([1]), torch.tensor([2])
a1.add_(a0)
print(f"a1 = {a1.item()}, a2 = {(a1 + a0).item()}")

# %% [markdown]
# ## The bug
#
# What if the hash is taken first and the donors are decided afterwards? Then the two graphs above have one hash, and
# share one executable: the one that was compiled first. Nothing is simulated in the next cell. The donors are left out
# of the key, the cache finds the in-place kernel under it, and that kernel does what it was compiled to do.

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
# `t1` was only read by the program, and has changed. It shares its memory with `t2` now: whatever is written to one
# shows in the other. Nothing crashed, and with other numbers nobody would have noticed.
#
# The rule behind it holds for every cache: **whatever changes the meaning of a compiled thing belongs in its key**. Who
# may be overwritten is part of what a kernel means.

# %% [markdown]
# ## Exercise 1: set the trap yourself
#
# Not with `+` on one number, but with an operation of your choice on tensors of any shape. Your function makes two
# steps, and returns what it has computed. With a sound key that is right, and without the donors in the key it is not.


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
# But a number written in the program is a constant of the graph. A learning rate that changes compiles at every step,
# a classic way to make a lazy library slow. The remedy is to keep it in a tensor.

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
# All steps of this chapter in one table: what was compiled, what was found, and where the time went.

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
# A descent whose rate changes. `rates` is a list of numbers, and there is a step for each. Only the first one may be
# compiled, and the weights stay where they are in memory.


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
# ## Who can be donated
#
# Not a buffer that anybody can still see. A view counts: it shows the same buffer.

# %%
base = lab.lazy.tensor([1.0, 2.0, 3.0, 4.0])
tail = base[2:]
base = base * 10  # a new tensor; the old one has no name any more, but `tail` looks at it
mark_step()
explain()

# %% [markdown]
# Writing *through* a view is another matter: then base and view are meant to change together. The slice below is
# updated in place, and the kernel touches only what it must.

# %%
grid = lab.lazy.tensor(torch.zeros(3, 4))
grid[:, 1:3] += 5
mark_step()
explain()

# %%
print(explain().source)
print(grid)

# %% [markdown]
# Nor can a buffer be overwritten that the same kernel reads in another order: a lane would find elements that another
# lane has replaced. The permission is there (it is a donor), but the compiler must not use it, and says why.

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
# ## What it is good for
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
old = large.clone()  # as long as this is there, the old values must stay
large.add_(1)
mark_step()
print(f"with the old values kept: {lab.lazy.meter.peak_bytes / 2**20:.0f} MB")
del old, large

# %% [markdown]
# A copy that is kept costs a buffer as large as the tensor. The card says so: of the one input, nothing is donated.

# %%
explain()

# %% [markdown]
# ## Exercise 5: no second buffer
#
# Take from each row of `x` its mean, in the memory of `x`, and return the means, of shape (rows, 1). Your function
# makes the step itself. Whatever has a name at that moment must be kept: nothing else as large as `x` may have one.


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
# ## What you take with you
#
# - A lazy tensor notes what is asked of it. A step computes all that was noted, in as few kernels as it can.
# - A buffer is donated if nobody can see it after the step. A name is enough to keep it, and so is a view.
# - Permission is one thing, use another: a kernel that reads in another order must not overwrite.
# - A step is compiled if its key is new. Numbers of Python's are in the key, values of tensors are not.
# - Whatever changes the meaning of a compiled thing belongs into its key.

# %%
lab.course.progress("09")

# %% [markdown]
# **Where to read on.** [When two arguments are one](05_aliasing.ipynb) is about the same memory from the kernel's side,
# and [chapter 10](10_polyhedra.ipynb) about a compiler that moves whole loops. JAX's documentation describes *buffer
# donation* and its compile cache, PyTorch/XLA's the steps and `mark_step`.
