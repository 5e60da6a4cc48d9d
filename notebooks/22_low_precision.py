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
# # Eight bits, four bits, and many small products
#
# *About 70 minutes. You need chapters 05, 09 and 20.*
#
# A language model is mostly matrices, and for each word that it writes it loads all of them. Half as many bits are
# half as many bytes. So numbers have become narrower: 16 bits, then 8, now 4. In this chapter you will
#
# 1. see which numbers fp8 and fp4 have, and which they do not have,
# 2. give numbers a *scale*: one for a tensor, for a row, or for 32 numbers,
# 3. multiply scaled matrices with `tl.dot_scaled`, and measure the error beside float16,
# 4. see when the sum itself becomes too narrow,
# 5. compute many small products in one launch, as a model with *experts* does.

# %%
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.course import exercise

# %load_ext triton_lab
_ = torch.manual_seed(0)

# %% [markdown]
# ## All numbers of a format
#
# A float has a sign, an exponent and a fraction. The bits of the exponent decide how large and how small a number can
# be. The bits of the fraction decide how many numbers there are from one power of two to the next. The names say it:
# `e4m3` has 4 bits of exponent and 3 of fraction (m for *mantissa*, an old word for it), and one for the sign.
#
# With so few bits you can list all numbers. These are all of `e2m1`, which is fp4, without their signs:

# %%
E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6])
print("e2m1:", *E2M1.tolist())

# %% [markdown]
# Eight numbers, and the largest is 6. **Guess first:** how many numbers of e4m3 lie from 1 up to 2, without 2? And
# how many from 256 to its largest number?

# %%
every = torch.arange(256).to(torch.uint8)
for name, dtype in {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}.items():
    numbers = every.view(dtype).float()
    numbers = numbers[numbers.isfinite() & (numbers > 0)]
    from_1 = numbers[(numbers >= 1) & (numbers < 2)]
    print(
        f"{name}: from {numbers.min():.3g} to {numbers.max():g};", "from 1 to 2:", *from_1.tolist()
    )
e4m3 = every.view(torch.float8_e4m3fn).float()
print("e4m3 from 256 on:", *e4m3[e4m3 >= 256].tolist())
print("float16:", 2**10, "numbers from 1 to 2, the largest is", torch.finfo(torch.float16).max)

# %% [markdown]
# | format | bits | numbers from 1 to 2 | largest | smallest above 0 | greatest error of rounding |
# |---|---|---|---|---|---|
# | float16 | 16 | 1,024 | 65,504 | 6e-8 | 0.05 % |
# | bfloat16 | 16 | 128 | 3.4e38 | 9e-41 | 0.4 % |
# | e5m2 | 8 | 4 | 57,344 | 1.5e-5 | 12.5 % |
# | e4m3 | 8 | 8 | 448 | 0.002 | 6 % |
# | e2m1 | 4 | 2 | 6 | 0.5 | 25 % |
#
# (The error is relative, for numbers that are neither too large nor too small. The formats are those of the OCP's
# *8-bit Floating Point Specification* and *Microscaling Formats Specification*.)
#
# The e4m3 of NVIDIA and of Triton, `tl.float8e4nv`, has no infinity: the pattern is used for numbers, so that the
# largest is 448 and not 240. In torch it is `torch.float8_e4m3fn`.
#
# ## Exercise 1: steps of e4m3
#
# How far apart are neighbours of e4m3 between 16 and 32? And how large is the error at most if a number there is
# rounded to the nearest?

# %%
# BEGIN SOLUTION: a tuple of whole numbers, (distance, greatest error)
e4m3_steps = (2, 1)
# END SOLUTION

# %%
exercise("e4m3_steps").check(e4m3_steps)

# %% [markdown]
# ## A scale
#
# The numbers of a tensor need not fit into 0.002 to 448: they may be around 0.00001, or reach 100,000. So divide all
# of them by one number, the *scale*, and remember it. To get the numbers back, multiply by it. This is called
# *quantising*.
#
# The usual scale is the greatest absolute value, divided by the largest number of the format. Then the greatest value
# just fits. The question is: the greatest of *which* numbers? Here is a matrix with two difficulties: most numbers are
# around 1, but one row is a hundred times smaller, and in one column all numbers are a thousand times larger. **Guess
# first:** one scale for the whole matrix, one for each row, one for each 32 numbers of a row: where is the error large
# with each of them?


# %%
def quantised(x, groups, most, rounded):
    """x as it is after rounding, with one scale for each of the groups that the last axis of ``groups`` has."""
    scale = groups(x).abs().amax(-1, keepdim=True) / most
    return (rounded(groups(x) / scale) * scale).reshape(x.shape)


def to_e4m3(x):
    return x.to(torch.float8_e4m3fn).float()


def to_e2m1(x):
    nearest = (x.abs()[..., None] - E2M1).abs().argmin(-1)
    return E2M1[nearest] * x.sign()


x = torch.randn(64, 256)
x[5] *= 0.01
x[:, 70] *= 1000
groupings = {
    "tensor": lambda x: x.reshape(1, -1),
    "row": lambda x: x,
    "32 numbers": lambda x: x.reshape(-1, 32),
}
places = {
    "most numbers": (slice(6, None), slice(0, 64)),
    "the small row": (5, slice(0, 64)),
    "beside the column": (slice(6, None), slice(71, 96)),
}
print(f"{'scale for a':22}" + "".join(f"{place:>20}" for place in places))
for name, most, rounded in (("e4m3", 448, to_e4m3), ("e2m1", 6, to_e2m1)):
    for grouping, groups in groupings.items():
        found = quantised(x, groups, most, rounded)
        errors = [((found - x)[place].norm() / x[place].norm()).item() for place in places.values()]
        print(f"{name}, {grouping:16}" + "".join(f"{error:20.1%}" for error in errors))

# %% [markdown]
# 100 % means that all of these numbers became 0. Read the lines of e2m1 first. With one scale, the large column decides
# for all, and nothing else is left. A scale for each row is no better, since the large column is in every row. With a
# scale for each 32 numbers, the column spoils only its 31 neighbours in each row.
#
# e4m3 has a range of its own, from 0.002 to 448. So e4m3 still works with a poor scale: with one scale for all only the
# small row is bad, and a scale for each row is enough. With four bits you need a scale for each small group.
#
# ## Exercise 2: a scale for each row
#
# Quantise the rows of a float32 matrix to e4m3. The scale of a row is its greatest absolute value divided by 448, or
# 1 if the row is all zeros. Return the numbers and the scales, a float32 vector.


# %%
@triton.jit
def quantise_rows_kernel(x_ptr, q_ptr, scale_ptr, columns, BLOCK: tl.constexpr):
    # BEGIN SOLUTION: load the row, find its scale, divide, store both
    row = tl.program_id(0)
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + j, mask=j < columns, other=0.0)
    most = tl.max(tl.abs(x), axis=0)
    scale = tl.where(most > 0, most / 448.0, 1.0)
    tl.store(scale_ptr + row, scale)
    tl.store(q_ptr + row * columns + j, (x / scale).to(tl.float8e4nv), mask=j < columns)
    # END SOLUTION


def quantise_rows(x):
    """The rows of a contiguous float32 matrix as e4m3, and the scale of each row."""
    rows, columns = x.shape
    q = torch.empty(rows, columns, dtype=torch.float8_e4m3fn)
    scales = torch.empty(rows)
    quantise_rows_kernel[(rows,)](x, q, scales, columns, BLOCK=triton.next_power_of_2(columns))
    return q, scales


# %%
exercise("quantise_rows").check(quantise_rows)

# %% [markdown]
# In a product, a scale for each row has an advantage: it can be applied at the end. If row `i` of `a` has the
# scale `s[i]`, then row `i` of `a @ b` has it, too. With a scale for each column of `b` it is the same. So the tensor
# cores multiply the narrow numbers, and each sum is multiplied by two scales, once.
#
# ## Scales for 32 numbers: mxfp8 and mxfp4
#
# A scale for each 32 numbers along K cannot wait for the end: the next 32 have another one. The *microscaling*
# formats are made for that. Each group of 32 numbers has a scale of 8 bits, and it is a power of two: the byte `s`
# means `2 ** (s - 127)`. This is the type `e8m0`, and a multiplication by such a scale rounds nothing.
#
# | name | numbers | bits for each, scale included |
# |---|---|---|
# | mxfp8 | e4m3 or e5m2 | 8 + 8/32 = 8.25 |
# | mxfp4 | e2m1, two in each byte | 4 + 8/32 = 4.25 |
#
# `tl.dot_scaled` multiplies tiles of such numbers. It gets the tiles with their scales, and the name of each format.
# The scales of `b` lie as if `b` were transposed: one row of scales for each *column* of `b`. Here is a product of
# bfloat16 activations, which have no scales, with weights in mxfp4. Two numbers share a byte, so a tile of `b` has
# half as many bytes along K:


# %%
@triton.jit
def mxfp4_product_kernel(
    a_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """a @ b.T: a (M, K) is bfloat16, b (N, K / 2) are bytes, each with two numbers of e2m1."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    rows, columns = (m < M)[:, None], (n < N)[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k, byte = start + tl.arange(0, BK), start // 2 + tl.arange(0, BK // 2)
        group = start // 32 + tl.arange(0, BK // 32)
        inside = k < K
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=rows & inside[None, :], other=0.0)
        b_at = b_ptr + n[None, :] * (K // 2) + byte[:, None]
        b = tl.load(b_at, mask=columns & (byte < K // 2)[:, None], other=0)
        scale_at = b_scale_ptr + n[:, None] * (K // 32) + group[None, :]
        there = (n < N)[:, None] & (group < K // 32)[None, :]
        b_scale = tl.load(scale_at, mask=there, other=127)
        total = tl.dot_scaled(a, None, "bf16", b, b_scale, "e2m1", total)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total, mask=rows & columns)


def to_mx(x, most, exponent):
    """(numbers by their scales, the scales) of groups of 32 that are not all 0. ``most`` has ``exponent``."""
    groups = x.reshape(*x.shape[:-1], -1, 32)
    power = groups.abs().amax(-1).log2().floor() - exponent
    scaled = (groups / torch.exp2(power)[..., None]).clamp(-most, most)
    return scaled.reshape(x.shape), (power + 127).to(torch.uint8)


def to_mxfp4(x):
    """(bytes with two numbers each, scales): the first number of a pair is in the low four bits."""
    scaled, scales = to_mx(x, 6, 2)
    code = (scaled.abs()[..., None] - E2M1).abs().argmin(-1) + 8 * (scaled < 0)
    return (code[..., 0::2] + 16 * code[..., 1::2]).to(torch.uint8), scales


def mxfp4_product(a, b, b_scale):
    (M, K), N = a.shape, len(b)
    c = torch.empty(M, N)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    mxfp4_product_kernel[grid](a, b, b_scale, c, M, N, K, BM=32, BN=32, BK=64)
    return c


a, w = torch.randn(64, 256).bfloat16(), torch.randn(64, 256)
with lab.record() as launches:
    product = mxfp4_product(a, *to_mxfp4(w))
print(launches[0].findings)
print(f"{w.numel() * 4:,} bytes of float32 have become {sum(one.numel() for one in to_mxfp4(w)):,}")

# %% [markdown]
# ## How large is the error?
#
# A product of two matrices, from numbers around 0, in five ways. The error is that of the whole result, compared with
# the product of the float32 matrices in float64. **Guess first:** how much worse than float16 is each?

# %%
a, b = torch.randn(128, 512), torch.randn(128, 512)
exact = a.double() @ b.double().T


def rows_in_e4m3(x):
    return quantised(x, groupings["row"], 448, to_e4m3)


def groups_in(x, most, exponent, rounded):
    scaled, scales = to_mx(x, most, exponent)
    return rounded(scaled) * torch.exp2(scales.float() - 127).repeat_interleave(32, -1)


ways = {
    "float16": lambda x: x.half(),
    "e5m2": lambda x: x.to(torch.float8_e5m2),
    "e4m3, a scale for each row": rows_in_e4m3,
    "mxfp8": lambda x: groups_in(x, 448, 8, to_e4m3),
    "mxfp4": lambda x: groups_in(x, 6, 2, to_e2m1),
}
for name, narrow in ways.items():
    error = (narrow(a).double() @ narrow(b).double().T - exact).norm() / exact.norm()
    print(f"{name:28}{error:8.3%}")

# %% [markdown]
# Each bit of fraction less doubles the error, and the sum does not make it smaller: the errors of the two inputs are
# still there, for each product. mxfp8 is a little worse than e4m3 with a scale for each row. Its scales are powers of
# two, so the greatest number of a group seldom reaches 448; it pays where the sizes of numbers differ within a row.
# With mxfp4 the error is a sixth of the result. Whether a model still works with that, only a trial of the model can
# say.
#
# ## Exercise 3: a product with scales for 32
#
# `a @ b.T` in mxfp8. `a` is (M, K) of e4m3, with scales (M, K // 32); `b` is (N, K) with scales (N, K // 32). K is a
# multiple of 32. All tensors are contiguous, and the result is float32.


# %%
@triton.jit
def mx_product_kernel(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    # BEGIN SOLUTION: walk along K, with the numbers and the scales of each step
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k, group = start + tl.arange(0, BK), start // 32 + tl.arange(0, BK // 32)
        of_k, of_group = k < K, (group < K // 32)[None, :]
        a_mask, b_mask = (m < M)[:, None] & of_k[None, :], of_k[:, None] & (n < N)[None, :]
        a = tl.load(a_ptr + m[:, None] * K + k[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + n[None, :] * K + k[:, None], mask=b_mask, other=0.0)
        a_at = a_scale_ptr + m[:, None] * (K // 32) + group[None, :]
        b_at = b_scale_ptr + n[:, None] * (K // 32) + group[None, :]
        a_scale = tl.load(a_at, mask=(m < M)[:, None] & of_group, other=127)
        b_scale = tl.load(b_at, mask=(n < N)[:, None] & of_group, other=127)
        total = tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e4m3", total)
    mask = (m < M)[:, None] & (n < N)[None, :]
    tl.store(c_ptr + m[:, None] * N + n[None, :], total, mask=mask)
    # END SOLUTION


def mx_product(a, a_scale, b, b_scale, tile=32):
    """a @ b.T of mxfp8 matrices, as float32."""
    (M, K), N = a.shape, len(b)
    c = torch.empty(M, N)
    grid = (triton.cdiv(M, tile), triton.cdiv(N, tile))
    mx_product_kernel[grid](a, a_scale, b, b_scale, c, M, N, K, BM=tile, BN=tile, BK=64)
    return c


# %%
exercise("mx_product").check(mx_product)

# %% [markdown]
# What does a GPU make of your kernel? Its compiler tells, without a GPU. `sm_90` is an H100, `sm_100` is the next
# generation, a B200. **Guess first:** does an H100 multiply numbers with scales?

# %%
numbers, scales = torch.randn(128, 128).to(torch.float8_e4m3fn), torch.full((128, 4), 127).byte()
with lab.record() as launches:
    mx_product(numbers, scales, numbers, scales, tile=128)
for target in ("sm_90", "sm_100"):
    made = launches[0].compile(target)
    print(target, sorted({name for name in made.metadata.opcodes if "MMA" in name}))

# %% [markdown]
# It does not: `HGMMA` with `BF16` is its instruction for products of bfloat16. The compiler first makes
# bfloat16 of both tiles, scales included. That is exact, unless a number leaves the range of bfloat16. So on an H100
# narrow numbers with scales save bytes, and no arithmetic. `UTCQMMA` of a B200 takes the numbers and their scales as
# they are.

# %% [markdown]
# ## When the sum is too narrow
#
# So far only the *inputs* were narrow. A product of two e4m3 numbers has up to 8 significant bits, and a sum of
# thousands of them needs many more. In this lab, and in the intermediate code of Triton, such a sum is float32. But
# the fp8 tensor cores of an H100 keep only about 14 bits of it, whatever you write. `max_num_imprecise_acc` tells
# Triton after how many products to add the sum to a real float32.
#
# An H100 multiplied numbers of e4m3, and was compared with the exact products of the same numbers. So the error below
# is that of the sum alone. **Guess first:** numbers between 0 and 1, all positive: how does the error change with the
# number of products?

# %%
found = lab.examples.sum_errors()
ways = list(dict.fromkeys(one.way for one in found))
for numbers in dict.fromkeys(one.numbers for one in found):
    print(f"{'numbers ' + numbers:24}" + "".join(f"{way:>22}" for way in ways))
    for depth in dict.fromkeys(one.depth for one in found):
        rows = [one for one in found if (one.numbers, one.depth) == (numbers, depth)]
        print(f"{depth:8,} products{'':7}" + "".join(f"{one.sums:22.5%}" for one in rows))

# %% [markdown]
# After 16,384 positive numbers, a quarter of the sum is lost. Why? The sum has about 14 bits, and it grows. Once it
# is hundreds of times as large as the next product, most bits of that product are cut off. All products are positive,
# so all errors go the same way. Numbers around 0 are kinder: the sum stays small, and errors go both ways.
#
# With `max_num_imprecise_acc=32` the error does not grow. The tensor cores add up 32 products, and then the threads
# add that to a float32. By default Triton does not do it on an H100. **So an fp8 product along a long K needs it**,
# above all if the numbers have one sign, as after a relu or a softmax.
#
# ## Is it faster?
#
# Two kinds of products were measured on an H100. First square ones, in which every number that is loaded is used
# thousands of times:

# %%
narrow = lab.examples.measurement("narrow")
for row in narrow:
    if row.size == 8192:
        print(f"{row.name:24}{2 * row.size**3 / row.seconds / 1e12:6.0f} Tflop/s")
narrow.plot()

# %% [markdown]
# fp8 is twice as fast as float16. To add up exactly after each 128 products costs a third of that speed. (With 32, as
# above, it would be done four times as often.) And the formats with scales? They are slower than float16, because an
# H100 does not have them: the threads convert each tile to bfloat16 before it is multiplied.
#
# Then 16 rows by a square matrix, as when a model writes the next word of 16 texts. **Guess first:** what is the
# limit here, and which format is the fastest?

# %%
bits = {"float16": 16, "fp8": 8, "fp8, exact after 128": 8, "mxfp8": 8.25, "bf16 by mxfp4": 4.25}
few = lab.examples.measurement("few_rows")
for row in few:
    if row.size == 16384:
        rate = row.size**2 * bits[row.name] / 8 / row.seconds
        print(f"{row.name:24}{row.seconds * 1e6:5.0f} µs, {rate / 3.35e12:4.0%} of the bandwidth")
few.plot()

# %% [markdown]
# Here each number of the matrix is used for 16 rows only, so memory is the limit. float16 and fp8 reach about 70 % of
# the bandwidth, and fp8 takes little more than half the time. mxfp4 has about a quarter of the bytes, but it does not
# reach the bandwidth: to convert takes longer than to load. It still beats float16, and not fp8. A B200 needs no
# conversion, but the course has no measurement of one.
#
# ## Many small products
#
# In a *mixture of experts* each row of `x`, a word, is multiplied by the matrix of one of many *experts*. Rows are
# sorted by their expert. So there are as many products as experts, all with other numbers of rows: some with
# hundreds, some with none. A launch for each is slow, since a small product does not fill the machine and a launch
# takes microseconds. A *grouped product* computes all of them in one launch.
#
# The new part is small: which tile does a program compute? Each expert with `n` rows has `cdiv(n, TILE)` tiles. No
# tile has rows of two experts, since it is multiplied by one matrix. Here a table says it, made on the host. Each
# program reads its expert and its first row:


# %%
@triton.jit
def grouped_product_kernel(
    x_ptr, w_ptr, out_ptr, table_ptr, ends_ptr, N, K,
    TILE: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    expert, first = (
        tl.load(table_ptr + 2 * tl.program_id(0)),
        tl.load(table_ptr + 2 * tl.program_id(0) + 1),
    )
    m, n = first + tl.arange(0, TILE), tl.program_id(1) * BN + tl.arange(0, BN)
    inside = (m < tl.load(ends_ptr + expert))[:, None]
    total = tl.zeros((TILE, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=inside & (k < K)[None, :], other=0.0)
        w_at = w_ptr + expert * K * N + k[:, None] * N + n[None, :]
        w = tl.load(w_at, mask=(k < K)[:, None] & (n < N)[None, :], other=0.0)
        total = tl.dot(x, w, total)
    tl.store(
        out_ptr + m[:, None] * N + n[None, :], total.to(tl.float16), mask=inside & (n < N)[None, :]
    )


def table_of(ends, tile):
    """For each tile its expert and its first row."""
    begins = [0, *ends[:-1].tolist()]
    both = enumerate(zip(begins, ends.tolist(), strict=True))
    rows = [(e, row) for e, (begin, end) in both for row in range(begin, end, tile)]
    return torch.tensor(rows, dtype=torch.int32)


def grouped_product(x, w, ends, tile=16):
    """Rows of x by the matrix of their expert: expert e has the rows from ends[e - 1] up to ends[e]."""
    (rows, K), N = x.shape, w.shape[2]
    out, table = torch.empty(rows, N, dtype=x.dtype), table_of(ends, tile)
    grid = (len(table), triton.cdiv(N, 32))
    grouped_product_kernel[grid](x, w, out, table, ends, N, K, TILE=tile, BN=32, BK=32)
    return out


ends = torch.tensor([21, 21, 24, 64], dtype=torch.int32)
x, w = torch.randn(64, 48).half(), torch.randn(4, 48, 64).half()
with lab.record() as launches:
    grouped_product(x, w, ends)
launches[0].plot.tiling("out_ptr")

# %% [markdown]
# The experts have 21, 0, 3 and 40 rows. Point at the tiles: the second tile has 5 rows, and after it begins the next
# expert. The other 11 rows of this tile are computed in vain. The fewer rows an expert has, the more of its tile is
# wasted. This is why tiles of 16 rows, and not of 128, are used when there are few words.
#
# Measured on an H100: 8,192 rows of 1,024 numbers, shared out unevenly among 1 to 256 experts.

# %%
grouped = lab.examples.measurement("grouped")
for size in (1, 16, 256):
    one, apart = (row for row in grouped if row.size == size)
    print(
        f"experts: {size:3}, one launch {one.seconds * 1e6:5.0f} µs, a launch each {apart.seconds * 1e6:5.0f} µs"
    )
grouped.plot()

# %% [markdown]
# For each expert a launch takes about 50 µs, which is nearly all Python's time to start it: a launch that has less
# and less to do does not become shorter. The one launch is 66 times as fast for 256 experts. It becomes slower, too,
# but for another reason: 256 matrices of 1,024 by 1,024 numbers are 537 MB, and their bytes alone take 160 µs.
#
# ## Exercise 4: the tiles of many products
#
# The table above was made on the host. On a GPU, `ends` is there and not in the computer's own memory, and to fetch
# it would stop everything until all kernels before have ended. So the table is made by a kernel, too. The number of
# tiles is not known when it is launched, but a bound is: `rows // tile + experts`. So that many programs are
# launched, and those without a tile store -1.
#
# Store for each program its expert and its first row, or -1 and -1. An expert without rows has no tile.


# %%
@triton.jit
def tile_table_kernel(ends_ptr, out_ptr, experts, tile, E: tl.constexpr):
    # BEGIN SOLUTION: count the tiles of all experts, and find the expert of this program
    program, e = tl.program_id(0), tl.arange(0, E)
    end = tl.load(ends_ptr + e, mask=e < experts, other=0)
    begin = tl.load(ends_ptr + e - 1, mask=(e > 0) & (e < experts), other=0)
    tiles = (end - begin + tile - 1) // tile
    upto = tl.cumsum(tiles, axis=0)
    expert = tl.sum((upto <= program).to(tl.int32), axis=0)
    within = program - tl.sum(tl.where(e < expert, tiles, 0), axis=0)
    first = tl.sum(tl.where(e == expert, begin, 0), axis=0) + within * tile
    there = program < tl.sum(tiles, axis=0)
    tl.store(out_ptr + 2 * program, tl.where(there, expert, -1))
    tl.store(out_ptr + 2 * program + 1, tl.where(there, first, -1))
    # END SOLUTION


def tile_table(ends, tile, programs):
    """(expert, first row) for each program, int32; expert e has the rows from ends[e - 1] up to ends[e]."""
    out = torch.empty(programs, 2, dtype=torch.int32)
    E = triton.next_power_of_2(len(ends))
    tile_table_kernel[(programs,)](ends, out, len(ends), tile, E=E)
    return out


# %%
exercise("tile_table").check(tile_table)

# %% [markdown]
# ## What to remember
#
# - e4m3 has 8 numbers for each power of two and ends at 448. e2m1 has 2 and ends at 6.
# - Narrow numbers need scales. The fewer bits, the smaller the groups that share a scale.
# - A scale for each row can wait until the end of a product. A scale for each 32 numbers cannot: `tl.dot_scaled`.
# - An H100 converts mxfp8 and mxfp4 to bfloat16: that saves bytes, and costs arithmetic. Measure whether it pays.
# - Its fp8 sums keep about 14 bits. Along a long K use `max_num_imprecise_acc`.
# - A grouped product computes many small products in one launch. A tile belongs to one of them.

# %%
lab.course.progress("22")

# %% [markdown]
# **Where to read on.** The OCP's *Microscaling Formats (MX) Specification* defines mxfp8 and mxfp4. Triton's
# tutorials *Block Scaled Matrix Multiplication* and *Group GEMM* run such kernels on a GPU. The report of
# *DeepSeek-V3* describes how a model was trained in fp8, and how its sums were kept exact.
