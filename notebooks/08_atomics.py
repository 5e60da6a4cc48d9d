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
# # Atomics, races, locks
#
# So far every element belonged to one program. A sum of all elements does not: programs must meet. In this chapter you
# will
#
# 1. see what is lost when programs meet without care,
# 2. let them meet by *atomic* operations, which nobody can come between,
# 3. build a lock for what no atomic operation does, and find out what can go wrong with it.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab
_ = torch.manual_seed(0)

# %% [markdown]
# ## Load, add, store: and lose
#
# Eight programs add one to a counter, each in three steps. What is the result?


# %%
# %%triton cpu --show findings,tiling
@triton.jit
def count(out_ptr):
    tl.store(out_ptr, tl.load(out_ptr) + 1)


counter = torch.zeros(1, dtype=torch.int32)
count[(8,)](counter)
print(counter)

# %% [markdown]
# ## Exercise 1: what is the smallest possible result?
#
# The finding says that the programs race. On a GPU the result may differ from run to run. Which is the least number
# that eight programs may leave?

# %%
# BEGIN SOLUTION: a number
lost_updates = 1
# END SOLUTION

# %%
exercise("lost_updates").check(lost_updates)

# %% [markdown]
# ## One step that nobody can come between
#
# `tl.atomic_add` loads, adds and stores in one step, and gives back what was there before.


# %%
# %%triton cpu --show findings,tiling
@triton.jit
def count_atomically(out_ptr, before_ptr):
    before = tl.atomic_add(out_ptr, 1)
    tl.store(before_ptr + tl.program_id(0), before)


counter, before = torch.zeros(1, dtype=torch.int32), torch.empty(8, dtype=torch.int32)
count_atomically[(8,)](counter, before)
print(counter, before)

# %% [markdown]
# No finding, and 8 each time. Who came when is another matter: `before` is in order here, and on a GPU it need not be.
#
# ## Exercise 2: one sum of all
#
# Add up a vector of any length. An atomic step has its price, since programs queue for it: one for each program is
# enough.


# %%
@triton.jit
def total_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: add up this program's block, then add that to the result
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(x, axis=0))
    # END SOLUTION


def total(x):
    """The sum of all elements, as a tensor of one element."""
    out = torch.zeros(1)
    n = x.numel()
    total_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


# %%
exercise("total").check(total)

# %% [markdown]
# A float sum hangs on its order, and here nobody sets one: two runs on a GPU may differ in the last digits. All orders
# of four numbers, in float32:

# %%
import itertools

shares = torch.tensor([1e8, 1.0, -1e8, 1.0])
print({float(((a + b) + c) + d) for a, b, c, d in itertools.permutations(shares)})

# %% [markdown]
# ## Exercise 3: how many are above zero?


# %%
@triton.jit
def count_positive_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: count in this program's block, then add that to the result
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum((x > 0).to(tl.int32), axis=0))
    # END SOLUTION


def count_positive(x):
    """How many elements are above zero, as an int32 tensor of one element."""
    out = torch.zeros(1, dtype=torch.int32)
    n = x.numel()
    # BEGIN SOLUTION: launch count_positive_kernel
    count_positive_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    # END SOLUTION
    return out


# %%
exercise("count_positive").check(count_positive)

# %% [markdown]
# ## Exercise 4: how many of each?
#
# A block of lanes may add atomically at once, each at an address of its own - or at the same. Each element of `x` is
# the number of a bin.


# %%
@triton.jit
def histogram_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: add one at the address of each element's bin
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask, other=0)
    tl.atomic_add(out_ptr + x, 1, mask=mask)
    # END SOLUTION


def histogram(x, bins):
    """How often each number from 0 to bins - 1 stands in x, as int32."""
    out = torch.zeros(bins, dtype=torch.int32)
    n = x.numel()
    histogram_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


# %%
exercise("histogram").check(histogram)

# %% [markdown]
# Where do the programs meet? Each bin, by how many of them have touched it:

# %%
with lab.record() as launches:
    histogram((torch.randn(500) * 4 + 16).clamp(0, 31).int(), 32)
launches[0].plot.accesses("out_ptr", by="reuse")

# %% [markdown]
# ## Exercise 5: add where the index says
#
# The same with values: `out[index[i]] += values[i]`. It is the gradient of a table that was looked up.


# %%
@triton.jit
def add_at_kernel(values_ptr, index_ptr, out_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load values and indices, and add
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(values_ptr + offsets, mask=mask, other=0.0)
    index = tl.load(index_ptr + offsets, mask=mask, other=0)
    tl.atomic_add(out_ptr + index, values, mask=mask)
    # END SOLUTION


def add_at(values, index, size):
    """A vector of `size` zeros, with each value added at its index."""
    out = torch.zeros(size)
    n = values.numel()
    add_at_kernel[(triton.cdiv(n, 64),)](values, index, out, n, BLOCK=64)
    return out


# %%
exercise("add_at").check(add_at)

# %% [markdown]
# ## A lock
#
# What takes more than one step needs a lock: an integer that is 0 when free. `tl.atomic_cas(lock, 0, 1)` makes it 1 if
# it was 0, and gives what it was: who gets 0 is in. Here four programs each multiply a number by 2 and add one, in some
# order, one after the other.


# %%
@triton.jit
def double_and_add(value_ptr, lock_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(value_ptr, tl.load(value_ptr) * 2 + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


value, lock = torch.zeros(1), torch.zeros(1, dtype=torch.int32)
with lab.record() as launches:
    double_and_add[(4,)](value, lock)
print(value, launches[0].findings)
launches[0].plot.timeline("value_ptr")

# %% [markdown]
# Eight touches, one after the other: each program loads and stores before the next one loads. `tl.debug_barrier()`
# makes all threads of a program wait for one another, so that what any of them stored is there before one gives the
# lock back: with a block of lanes it is needed. Who forgets to give it back at all makes everybody wait for ever. Here
# that is an error, and no machine hangs:


# %%
@triton.jit
def take_and_keep(value_ptr, lock_ptr):
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(value_ptr, tl.load(value_ptr) + 1)


try:
    take_and_keep[(4,)](torch.zeros(1), torch.zeros(1, dtype=torch.int32))
except lab.Deadlock as error:
    print(str(error).splitlines()[0])

# %% [markdown]
# ## Exercise 6: two numbers that belong together
#
# The greatest element of `x` and its place, as a tensor of two floats. Every program finds the best of its block, then
# compares it with what others have found. Both numbers must change together, so there is a lock. `best` begins with
# minus infinity.


# %%
@triton.jit
def best_kernel(x_ptr, best_ptr, lock_ptr, n, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: find the best of this block; with the lock, keep it if it is better
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=float("-inf"))
    value = tl.max(x, axis=0)
    place = tl.program_id(0) * BLOCK + tl.argmax(x, axis=0)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    if value > tl.load(best_ptr):
        tl.store(best_ptr, value)
        tl.store(best_ptr + 1, place.to(tl.float32))
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)
    # END SOLUTION


def best(x):
    """The greatest element and its place, as a tensor of two floats."""
    kept = torch.tensor([float("-inf"), -1.0])
    lock = torch.zeros(1, dtype=torch.int32)
    n = x.numel()
    best_kernel[(triton.cdiv(n, 64),)](x, kept, lock, n, BLOCK=64)
    return kept


# %%
exercise("best").check(best)

# %% [markdown]
# ## What you take with you
#
# - Load, add, store by several programs is a race; an atomic operation is one step.
# - Reduce inside of the program first, and meet once.
# - Integers come out the same in any order. Floats do not.
# - A lock needs: take, work, barrier, give back, on every path.

# %%
lab.course.progress("08")

# %% [markdown]
# **Where to read on.** `triton_lab.examples` has a prefix scan whose programs wait for one another, and a producer with
# its consumer. Herlihy and Shavit's *The Art of Multiprocessor Programming* is the book; NVIDIA's PTX ISA says what
# `acquire` and `release` mean.
