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
# # Debugging clinic
#
# *About 60 minutes. You need chapters 00 to 12.*
#
# Twelve kernels, each broken in one place. You get the symptom; the lab shows the rest. Correct each with as few
# changes as you can. In this chapter you will
#
# 1. find the line from the symptom, each time with another tool,
# 2. see common mistakes, so that you recognise them later.
#
# A good method: run the check and read its message. Look at its picture. Only then look at the code.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab
_ = torch.manual_seed(0)

# %% [markdown]
# ## 1. The last program
#
# "With 64 elements it works, with 65 it stops." Tool: the card, and its finding.


# %%
@triton.jit
def negated_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # BEGIN SOLUTION
    x = tl.load(x_ptr + i, mask=i < n)
    # INSTEAD
    # x = tl.load(x_ptr + i)
    # END SOLUTION
    tl.store(out_ptr + i, -x, mask=i < n)


def negated(x):
    """-x, in a new tensor."""
    out = torch.empty_like(x)
    negated_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


# %%
exercise("negated").check(negated)

# %% [markdown]
# ## 2. The last elements
#
# "Most of it is right, but the end is strange." Tool: *Tiling*. Which elements belong to no program?


# %%
@triton.jit
def halved_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) / 2, mask=i < n)


def halved(x):
    """x / 2, in a new tensor."""
    out = torch.empty_like(x)
    n = x.numel()
    # BEGIN SOLUTION
    programs = triton.cdiv(n, 64)
    # INSTEAD
    # programs = max(1, n // 64)
    # END SOLUTION
    halved_kernel[(programs,)](x, out, n, BLOCK=64)
    return out


# %%
exercise("halved").check(halved)

# %% [markdown]
# ## 3. Right in the tests only
#
# "My tests pass. In the model it gives nonsense." Tool: *Storage*. How is the model's tensor stored?


# %%
@triton.jit
def row_means_kernel(x_ptr, out_ptr, columns, stride_0, stride_1, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    # BEGIN SOLUTION
    x = tl.load(x_ptr + row * stride_0 + j * stride_1, mask=j < columns, other=0.0)
    # INSTEAD
    # x = tl.load(x_ptr + row * columns + j, mask=j < columns, other=0.0)
    # END SOLUTION
    tl.store(out_ptr + row, tl.sum(x, axis=0) / columns)


def row_means(x):
    """The mean of each row of a matrix with any strides."""
    rows, columns = x.shape
    out = torch.empty(rows)
    row_means_kernel[(rows,)](x, out, columns, *x.stride(), BLOCK=triton.next_power_of_2(columns))
    return out


# %%
exercise("row_means").check(row_means)

# %% [markdown]
# ## 4. Never below zero
#
# "The maximum of negative numbers is 0." Tool: *Values*, of `x`.


# %%
@triton.jit
def row_maxima_kernel(x_ptr, out_ptr, columns, stride_0, stride_1, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    at = x_ptr + row * stride_0 + j * stride_1
    # BEGIN SOLUTION
    x = tl.load(at, mask=j < columns, other=float("-inf"))
    # INSTEAD
    # x = tl.load(at, mask=j < columns, other=0.0)
    # END SOLUTION
    tl.store(out_ptr + row, tl.max(x, axis=0))


def row_maxima(x):
    """The greatest element of each row of a matrix with any strides."""
    rows, columns = x.shape
    out = torch.empty(rows)
    row_maxima_kernel[(rows,)](x, out, columns, *x.stride(), BLOCK=triton.next_power_of_2(columns))
    return out


# %%
exercise("row_maxima").check(row_maxima)

# %% [markdown]
# ## 5. Sometimes too large
#
# "Rows of 64 are right, rows of 100 are not." Tool: `lab.compare`, which the check draws.


# %%
@triton.jit
def rms_kernel(x_ptr, out_ptr, columns, stride_0, stride_1, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_0 + j * stride_1, mask=j < columns, other=0.0)
    # BEGIN SOLUTION
    mean = tl.sum(x * x, axis=0) / columns
    # INSTEAD
    # mean = tl.sum(x * x, axis=0) / BLOCK
    # END SOLUTION
    tl.store(out_ptr + row * columns + j, x / tl.sqrt(mean + 1e-6), mask=j < columns)


def rms(x):
    """Each row divided by the root of the mean of its squares."""
    rows, columns = x.shape
    out = torch.empty(rows, columns)
    rms_kernel[(rows,)](x, out, columns, *x.stride(), BLOCK=triton.next_power_of_2(columns))
    return out


# %%
exercise("rms").check(rms)

# %% [markdown]
# ## 6. Not a number
#
# "Since we train longer, the loss is NaN." Tool: the finding that names the line where the NaN arises, and *Steps*.


# %%
@triton.jit
def shares_kernel(x_ptr, out_ptr, columns, stride_0, stride_1, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_0 + j * stride_1, mask=j < columns, other=float("-inf"))
    # BEGIN SOLUTION
    e = tl.exp(x - tl.max(x, axis=0))
    # INSTEAD
    # e = tl.exp(x)
    # END SOLUTION
    tl.store(out_ptr + row * columns + j, e / tl.sum(e, axis=0), mask=j < columns)


def shares(x):
    """Softmax of each row."""
    rows, columns = x.shape
    out = torch.empty(rows, columns)
    shares_kernel[(rows,)](x, out, columns, *x.stride(), BLOCK=triton.next_power_of_2(columns))
    return out


# %%
exercise("shares").check(shares)

# %% [markdown]
# ## 7. A negative sum of squares
#
# "It cannot be negative!" Tool: *Steps*, which shows the type of each variable.


# %%
@triton.jit
def energy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # BEGIN SOLUTION
    x = tl.load(x_ptr + i, mask=i < n, other=0).to(tl.int32)
    # INSTEAD
    # x = tl.load(x_ptr + i, mask=i < n, other=0)
    # END SOLUTION
    square = x * x
    tl.atomic_add(out_ptr, tl.sum(square, axis=0))


def energy(x):
    """The sum of the squares of numbers of eight bits, as int32."""
    out = torch.zeros(1, dtype=torch.int32)
    energy_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


# %%
exercise("energy").check(energy)

# %% [markdown]
# ## 8. Too few are counted
#
# "Each run counts something else." Tool: the finding *race*, and *Timeline*.


# %%
@triton.jit
def counted_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    # BEGIN SOLUTION
    tl.atomic_add(out_ptr + x, 1, mask=i < n)
    # INSTEAD
    # tl.store(out_ptr + x, tl.load(out_ptr + x, mask=i < n, other=0) + 1, mask=i < n)
    # END SOLUTION


def counted(x):
    """How often each of the numbers 0 to 7 stands in x."""
    out = torch.zeros(8, dtype=torch.int32)
    counted_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


# %%
exercise("counted").check(counted)

# %% [markdown]
# ## 9. Right for squares only
#
# "16 by 16 is fine." Tool: *Origins*. Pick a wrong element of the result.


# %%
@triton.jit
def turned_kernel(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    x = tl.load(x_ptr + i[:, None] * columns + j[None, :], mask=mask)
    # BEGIN SOLUTION
    tl.store(out_ptr + j[None, :] * rows + i[:, None], x, mask=mask)
    # INSTEAD
    # tl.store(out_ptr + j[None, :] * columns + i[:, None], x, mask=mask)
    # END SOLUTION


def turned(x):
    """The transpose of a contiguous matrix, contiguous."""
    rows, columns = x.shape
    out = torch.empty(columns, rows)
    grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 16))
    turned_kernel[grid](x, out, rows, columns, BLOCK=16)
    return out


# %%
exercise("turned").check(turned)

# %% [markdown]
# ## 10. The end of K
#
# "It is nearly right." Tool: *Accesses* of `a_ptr`. Which columns does no program load?


# %%
@triton.jit
def product_kernel(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    # BEGIN SOLUTION
    steps = tl.cdiv(K, BLOCK)
    # INSTEAD
    # steps = K // BLOCK
    # END SOLUTION
    for step in range(steps):
        k = step * BLOCK + tl.arange(0, BLOCK)
        a = tl.load(
            a_ptr + i[:, None] * K + k[None, :], mask=(i < M)[:, None] & (k < K)[None, :], other=0.0
        )
        b = tl.load(
            b_ptr + k[:, None] * N + j[None, :], mask=(k < K)[:, None] & (j < N)[None, :], other=0.0
        )
        total = tl.dot(a, b, total, input_precision="ieee")
    mask = (i < M)[:, None] & (j < N)[None, :]
    tl.store(c_ptr + i[:, None] * N + j[None, :], total, mask=mask)


def product(a, b):
    """a @ b, for contiguous matrices."""
    (M, K), N = a.shape, b.shape[1]
    c = torch.empty(M, N)
    grid = (triton.cdiv(M, 16), triton.cdiv(N, 16))
    product_kernel[grid](a, b, c, M, N, K, BLOCK=16)
    return c


# %%
exercise("product").check(product)

# %% [markdown]
# ## 11. Too late
#
# "On my machine it is right, on the GPU an element is wrong now and then." Tool: the finding *race*. Which program
# needs an element that another program changes?


# %%
@triton.jit
def ring_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = tl.load(x_ptr + i, mask=i < n)
    following = tl.load(x_ptr + (i + 1) % n, mask=i < n)
    tl.store(out_ptr + i, here + following, mask=i < n)


def ring(x):
    """Each element and the next one, added up; the first follows the last."""
    # BEGIN SOLUTION
    out = torch.empty_like(x)
    # INSTEAD
    # out = x
    # END SOLUTION
    ring_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


# %%
exercise("ring").check(ring)

# %% [markdown]
# ## 12. It never ends
#
# "The GPU hangs." Tool: the error of a deadlock, which names the line where all programs wait.


# %%
@triton.jit
def highest_kernel(x_ptr, out_ptr, lock_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.max(tl.load(x_ptr + i, mask=i < n, other=float("-inf")), axis=0)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    if value > tl.load(out_ptr):
        tl.store(out_ptr, value)
    # BEGIN SOLUTION
    tl.atomic_xchg(lock_ptr, 0)
    # INSTEAD
    #     tl.atomic_xchg(lock_ptr, 0)
    # END SOLUTION


def highest(x):
    """The greatest element, as a tensor of one element."""
    out = torch.full((1,), float("-inf"))
    highest_kernel[(triton.cdiv(x.numel(), 64),)](
        x, out, torch.zeros(1, dtype=torch.int32), x.numel(), BLOCK=64
    )
    return out


# %%
exercise("highest").check(highest)

# %% [markdown]
# ## Which tool shows what
#
# Here is one launch of a correct kernel, with all of its tabs. For each of the twelve kernels, say which tab or which
# finding you would look at first.

# %%
from triton_lab.examples.matmul import matmul

with lab.record() as launches:
    matmul(torch.randn(48, 40), torch.randn(40, 48), block_m=32, block_n=32)
launches[0]

# %% [markdown]
# ## What to remember
#
# | symptom | look at |
# |---|---|
# | it stops | the finding: lane, element, line |
# | elements are missing | Tiling: which program stores them? |
# | right only for contiguous tensors | Storage, and the strides |
# | wrong in some lanes | Values: what are the values of masked-off lanes? |
# | wrong in a pattern | `lab.compare`, then Origins of one wrong element |
# | NaN | the finding that names its origin, then Steps |
# | another result in each run | the finding *race*, then Timeline |
# | it hangs | the deadlock's line: which program has not released the lock? |

# %%
lab.course.progress("15")

# %% [markdown]
# **Where to read on.** [Chapter 04](04_masks.ipynb) explains the findings. The README lists what the lab cannot see,
# under *What may differ from a GPU*. Zeller's *Why Programs Fail* is the book about debugging.
