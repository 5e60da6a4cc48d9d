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
# *About 45 minutes. You need chapters 04 and 07.*
#
# So far every element belonged to one program. For a sum of all elements, programs must update the same element. In
# this chapter you will
#
# 1. see which updates are lost if programs are not synchronized,
# 2. use *atomic* operations, which no other program can interrupt,
# 3. build a lock for updates that need more than one operation, and see what can go wrong with it.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise, predict

# %load_ext triton_lab
_ = torch.manual_seed(0)

# %% [markdown]
# ## Load, add, store: lost updates
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
# The finding says that the programs race: the result depends on who comes first. (The other finding says that no
# program asks for its number. Here none needs it.) Below you decide that for two of the programs. Answer, then click a
# program, or press ← and →, to let it take its next step. Can you lose an update?

# %%
one = lab.last
predict(
    "Two programs each add one to a counter that is 0. How many different results are possible?",
    [1, 2, 3],
    right=len(one.interleavings().outcomes),
    picture=one.plot.interleaving(),
    why="The result is 2, or 1 if both load before one of them stores: then an update is lost.",
)

# %% [markdown]
# Below the picture, *All orders* has each result with an order that leads to it.
#
# ## Exercise 1: what is the smallest possible result?
#
# On a GPU the result may differ from run to run. What is the smallest result that is possible with eight programs?

# %%
# BEGIN SOLUTION: a number
lost_updates = 1
# END SOLUTION

# %%
exercise("lost_updates").check(lost_updates)

# %% [markdown]
# ## One step that cannot be interrupted
#
# `tl.atomic_add` loads, adds and stores in one step, and returns the old value.


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
# There is no finding, and the result is 8 each time. The order of the programs is not defined: `before` is sorted
# here, but on a GPU it need not be.
#
# ## Exercise 2: one sum of all
#
# Add up a vector of any length. Atomic operations are costly, since programs wait for one another: use one for each
# program.


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
# A float sum depends on its order, and here the order is undefined: two runs on a GPU may differ in the last digits.
# These are the sums of four numbers in all orders, in float32:

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
# The lanes of a block may all add atomically, each at its own address or several at the same. Each element of `x` is
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
# Which bins do several programs update? For each bin, the picture shows the number of programs:

# %%
with lab.record() as launches:
    histogram((torch.randn(500) * 4 + 16).clamp(0, 31).int(), 32)
launches[0].plot.accesses("out_ptr", by="reuse")

# %% [markdown]
# ## Exercise 5: add where the index says
#
# The same with values: `out[index[i]] += values[i]`. This is the gradient of a table lookup.


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
# An update of several steps needs a lock: an integer that is 0 when the lock is free. `tl.atomic_cas(lock, 0, 1)`
# sets it to 1 if it was 0, and returns the old value: the program that gets 0 has the lock. Here four programs each
# multiply a number by 2 and add 1, one after the other, in some order.


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
# There are eight accesses, one after the other: each program loads and stores before the next one loads. Try to lose an
# update here, too:

# %%
launches[0].plot.interleaving()

# %% [markdown]
# As soon as one program has the lock, the other finds a 1 and can only wait. `tl.debug_barrier()` makes all threads of
# a program wait for one another, so that all have stored before one thread releases the lock. You need it if a block
# of lanes stores. If a program never releases the lock, all others wait forever. Here this is an error, and no machine
# hangs:


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
# The maximum of `x` and its index, as a tensor of two floats. Every program finds the maximum of its block, then
# compares it with the stored maximum. Both numbers must change together, so there is a lock. `best` begins with minus
# infinity.


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
# ## What to remember
#
# - Load, add, store by several programs is a race. An atomic operation is one step.
# - Reduce inside each program first, then use one atomic operation.
# - The sum of integers is the same in any order. The sum of floats is not.
# - Use a lock in four steps on every path: acquire, update, barrier, release.

# %%
lab.course.progress("11")

# %% [markdown]
# **Where to read on.** `triton_lab.examples` has a prefix scan whose programs wait for one another, and a producer with
# its consumer. Herlihy and Shavit's *The Art of Multiprocessor Programming* is the book; NVIDIA's PTX ISA says what
# `acquire` and `release` mean.
