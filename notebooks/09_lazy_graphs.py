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
# and able to make the same mistake.

# %%
import torch

import triton_lab as lab

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
    print("hit" if step.hit else "miss", step.key[:16], f"{step.seconds * 1e3:.2f} ms")

# %% [markdown]
# But a number written in the program is a constant of the graph. A learning rate that changes compiles at every step,
# a classic way to make a lazy library slow. The remedy is to keep it in a tensor.

# %%
for rate in (0.1, 0.05, 0.025):
    weights.sub_(speed * rate)
    step = mark_step()
    print("number:", "hit " if step.hit else "miss", [name for name, *_ in step.nearest.differences])

for rate in (0.1, 0.05, 0.025):
    weights.sub_(speed * lab.lazy.tensor(rate))
    step = mark_step()
    print("tensor:", "hit" if step.hit else "miss")

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
# ## Exercise
#
# Which inputs does each step donate? Write your guesses into the cell, as tuples of names, and run it. So far it
# guesses that nothing is ever donated, and is wrong about some.

# %%
guesses = {
    "a = a + b": (),
    "c = a + b": (),
    "a, b = b, a": (),
    "a.add_(b); del b": (),
}


def donated(step):
    """The names of the inputs that a step donated."""
    return () if step is None else tuple(step.before[donor].name for donor in step.donors)


def check(guesses):
    for program, guess in guesses.items():
        names = {"a": lab.lazy.tensor([1.0], name="a"), "b": lab.lazy.tensor([2.0], name="b")}
        exec(program, names)
        right = sorted(guess) == sorted(donated(mark_step()))
        print("right  " if right else "not yet", program)


check(guesses)

# %% [markdown]
# <details><summary>The answers, and why</summary>
#
# - `a = a + b` donates `a`: nobody can name the old `a` after the step.
# - `c = a + b` donates nothing: both inputs still have their names.
# - `a, b = b, a` trades two names. That is no operation at all, so there is no step.
# - `a.add_(b); del b` donates both. One output needs only one of them, so the other is free for nothing.
#
# </details>
