"""Matrix products in the style of public libraries: quantised, scaled, persistent, split, against torch."""

import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def grouped_order(tile, tiles_m, tiles_n, GROUP: tl.constexpr):
    width = GROUP * tiles_n
    first = tile // width * GROUP
    size = min(tiles_m - first, GROUP)
    return first + (tile % width) % size, (tile % width) // size


@triton.jit
def int8_matmul(a, b, scale_a, scale_b, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tile_m, tile_n = tl.swizzle2d(tl.program_id(0), tl.program_id(1), tl.num_programs(0), tl.num_programs(1), 2)
    rows, columns = tile_m * M + tl.arange(0, M), tile_n * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    total = tl.zeros((M, N), tl.int32)
    for start in tl.range(0, k, K):
        inside = start + depth < k
        x = tl.load(
            a + rows[:, None] * k + (start + depth)[None, :], mask=(rows < m)[:, None] & inside[None, :], other=0
        )
        y = tl.load(
            b + (start + depth)[:, None] * n + columns[None, :], mask=inside[:, None] & (columns < n)[None, :], other=0
        )
        total = tl.dot(x, y, total, out_dtype=tl.int32)
    left = tl.load(scale_a + rows, mask=rows < m, other=0.0)
    right = tl.load(scale_b + columns, mask=columns < n, other=0.0)
    result = total.to(tl.float32) * left[:, None] * right[None, :]
    tl.store(out + rows[:, None] * n + columns[None, :], result, mask=(rows < m)[:, None] & (columns < n)[None, :])


def test_int8_matmul_with_a_scale_for_each_row_and_column():
    torch.manual_seed(0)
    m, n, k = 70, 50, 90
    a, b = torch.randint(-128, 128, (m, k), dtype=torch.int8), torch.randint(-128, 128, (k, n), dtype=torch.int8)
    left, right = torch.rand(m), torch.rand(n)
    out = torch.empty(m, n)
    int8_matmul[(triton.cdiv(m, 32), triton.cdiv(n, 32))](a, b, left, right, out, m, n, k, M=32, N=32, K=32)
    torch.testing.assert_close(out, (a.double() @ b.double() * left[:, None] * right).float())


@triton.jit
def quantise(x, out, scales, n, BLOCK: tl.constexpr):
    """A scale for each block of a row, such that its greatest element is fp8's greatest."""
    place = tl.program_id(0) * n + tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + place)
    scale = tl.max(tl.abs(value)) / 448.0
    tl.store(out + place, (value / scale).to(out.dtype.element_ty))
    tl.store(scales + tl.program_id(0) * tl.num_programs(1) + tl.program_id(1), scale)


@triton.jit
def fp8_block_matmul(a, b, sa, sb, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """a (m, k) with a scale for each row and K elements, b (n, k) with one for each N by K block."""
    tile_m, tile_n = grouped_order(tl.program_id(0), tl.cdiv(m, M), tl.cdiv(n, N), 4)
    rows = (tile_m * M + tl.arange(0, M)) % m
    columns = (tile_n * N + tl.arange(0, N)) % n
    depth = tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for step in range(tl.cdiv(k, K)):
        x = tl.load(a + rows[:, None] * k + (step * K + depth)[None, :])
        y = tl.load(b + columns[None, :] * k + (step * K + depth)[:, None])
        left = tl.load(sa + rows * tl.cdiv(k, K) + step)
        right = tl.load(sb + tile_n * tl.cdiv(k, K) + step)
        total += tl.dot(x, y) * left[:, None] * right
    row, column = tile_m * M + tl.arange(0, M), tile_n * N + tl.arange(0, N)
    tl.store(
        out + row[:, None] * n + column[None, :],
        total.to(out.dtype.element_ty),
        mask=(row < m)[:, None] & (column < n)[None, :],
    )


def test_fp8_matmul_with_block_scales():
    torch.manual_seed(0)
    m, n, k = 45, 64, 128
    x, b = torch.randn(m, k), torch.randn(n, k).to(torch.float8_e4m3fn)
    a, sa = torch.empty(m, k, dtype=torch.float8_e4m3fn), torch.empty(m, k // 32)
    quantise[(m, k // 32)](x, a, sa, k, BLOCK=32)
    whole = a.double() * sa.double().repeat_interleave(32, 1)
    torch.testing.assert_close(whole, x.double(), rtol=0.07, atol=0.01)
    sb = torch.rand(n // 32, k // 32)
    out = torch.empty(m, n, dtype=torch.bfloat16)
    fp8_block_matmul[(triton.cdiv(m, 32) * 2,)](a, b, sa, sb, out, m, n, k, M=32, N=32, K=32)
    right = b.double() * sb.double().repeat_interleave(32, 0).repeat_interleave(32, 1)
    torch.testing.assert_close(out.double(), whole @ right.T, rtol=1e-2, atol=1e-2)


@triton.jit
def mxfp_matmul(a, sa, b, sb, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, A: tl.constexpr, B: tl.constexpr):
    pack_a: tl.constexpr = 2 if A == "e2m1" else 1
    pack_b: tl.constexpr = 2 if B == "e2m1" else 1
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(a + rows[:, None] * (K // pack_a) + tl.arange(0, K // pack_a)[None, :])
    y = tl.load(b + tl.arange(0, K // pack_b)[:, None] * N + columns[None, :])
    left = tl.load(sa + rows[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :])
    right = tl.load(sb + columns[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :])
    total = tl.dot_scaled(x, left, A, y, right, B)
    tl.store(out + rows[:, None] * N + columns[None, :], total)


FP4 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def operand(kind, rows, k):
    """Bytes (rows, k) or, of two elements a byte, (rows, k / 2), and the numbers that they stand for."""
    if kind == "e2m1":
        octets = torch.randint(0, 256, (rows, k // 2), dtype=torch.uint8)
        return octets, torch.stack([FP4[(octets & 15).long()], FP4[(octets >> 4).long()]], -1).reshape(rows, k)
    dtype = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}[kind]
    octets = torch.randn(rows, k).to(dtype)
    return octets.view(torch.uint8), octets.float()


@pytest.mark.parametrize("kinds", [("e2m1", "e2m1"), ("e4m3", "e2m1"), ("e2m1", "e5m2"), ("e5m2", "e4m3")])
def test_mxfp_matmul(kinds):
    torch.manual_seed(0)
    m, n, k = 32, 16, 128
    a, x = operand(kinds[0], m, k)
    b, y = operand(kinds[1], n, k)
    sa, sb = (torch.randint(120, 134, (size, k // 32), dtype=torch.uint8) for size in (m, n))
    out = torch.empty(m, n)
    mxfp_matmul[(1,)](a, sa, b.T.contiguous(), sb, out, M=m, N=n, K=k, A=kinds[0], B=kinds[1])
    scale_a, scale_b = (2.0 ** (s.double() - 127).repeat_interleave(32, 1) for s in (sa, sb))
    left, right = x * scale_a, (y * scale_b).T
    # A sum of k numbers in float32, in whatever order.
    assert ((out - left @ right).abs() <= k * 2.0**-24 * (left.abs() @ right.abs())).all()


@triton.jit
def persistent_matmul(
    a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, GROUP: tl.constexpr, SUBTILE: tl.constexpr
):
    """Tensor descriptors; each program takes every so many tiles, and stores a tile in two halves."""
    tiles_m, tiles_n = tl.cdiv(m, M), tl.cdiv(n, N)
    for tile in tl.range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0), flatten=True):
        tile_m, tile_n = grouped_order(tile, tiles_m, tiles_n, GROUP)
        total = tl.zeros((M, N), tl.float32)
        for step in range(tl.cdiv(k, K)):
            x = a.load([tile_m * M, step * K])
            y = b.load([tile_n * N, step * K])
            total = tl.dot(x, y.T, total)
        if SUBTILE:
            halves = tl.permute(tl.reshape(total, (M, 2, N // 2)), (0, 2, 1))
            left, right = tl.split(halves)
            c.store([tile_m * M, tile_n * N], left.to(c.dtype))
            c.store([tile_m * M, tile_n * N + N // 2], right.to(c.dtype))
        else:
            c.store([tile_m * M, tile_n * N], total.to(c.dtype))


@pytest.mark.parametrize("subtile", [False, True])
def test_persistent_matmul_with_descriptors(subtile):
    torch.manual_seed(0)
    m, n, k = 100, 72, 80
    a, b = torch.randn(m, k).half(), torch.randn(n, k).half()
    out = torch.empty(m, n, dtype=torch.float16)
    descriptors = [
        TensorDescriptor.from_tensor(x, block)
        for x, block in ((a, [32, 16]), (b, [32, 16]), (out, [32, 16 if subtile else 32]))
    ]
    persistent_matmul[(3,)](*descriptors, m, n, k, M=32, N=32, K=16, GROUP=2, SUBTILE=subtile)
    torch.testing.assert_close(out.double(), a.double() @ b.double().T, rtol=1e-2, atol=2e-2)


@triton.jit
def stream_k(a, b, c, partial, locks, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The steps of all tiles are shared out evenly; who begins a tile waits for those who go on with it."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    steps = tl.cdiv(k, K)
    all_steps = tl.cdiv(m, M) * tl.cdiv(n, N) * steps
    share = tl.cdiv(all_steps, programs)
    at, end = program * share, tl.minimum((program + 1) * share, all_steps)
    while at < end:
        tile = at // steps
        stop = tl.minimum((tile + 1) * steps, end)
        rows = tile // tl.cdiv(n, N) * M + tl.arange(0, M)
        columns = tile % tl.cdiv(n, N) * N + tl.arange(0, N)
        total = tl.zeros((M, N), tl.float32)
        for step in range(at - tile * steps, stop - tile * steps):
            depth = step * K + tl.arange(0, K)
            x = tl.load(
                a + rows[:, None] * k + depth[None, :], mask=(rows < m)[:, None] & (depth < k)[None, :], other=0.0
            )
            y = tl.load(
                b + depth[:, None] * n + columns[None, :], mask=(depth < k)[:, None] & (columns < n)[None, :], other=0.0
            )
            total = tl.dot(x, y, total, input_precision="ieee")
        place = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
        if at != tile * steps:
            tl.store(partial + program * M * N + place, total)
            tl.debug_barrier()
            tl.atomic_xchg(locks + program, 1, sem="release")
        else:
            other = program + 1
            covered = stop
            while covered < (tile + 1) * steps:
                while tl.atomic_cas(locks + other, 1, 1, sem="acquire") != 1:
                    pass
                total += tl.load(partial + other * M * N + place)
                covered += share
                other += 1
            tl.store(c + rows[:, None] * n + columns[None, :], total, mask=(rows < m)[:, None] & (columns < n)[None, :])
        at = stop


@pytest.mark.parametrize("programs", [1, 5, 7])
def test_stream_k_matmul(programs):
    torch.manual_seed(0)
    m, n, k = 50, 40, 100
    a, b = torch.randn(m, k), torch.randn(k, n)
    out = torch.empty(m, n)
    partial, locks = torch.zeros(programs, 32, 32), torch.zeros(programs, dtype=torch.int32)
    stream_k[(programs,)](a, b, out, partial, locks, m, n, k, M=32, N=32, K=16)
    torch.testing.assert_close(out, a @ b, rtol=1e-4, atol=1e-4)


@triton.jit
def batched_matmul(
    a, b, bias, out, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACTIVATION: tl.constexpr
):
    """Descriptors made on the device; what follows the product is a function that the launch names."""
    batch = tl.program_id(2).to(tl.int64)
    x = tl.make_tensor_descriptor(a + batch * m * k, [m, k], [k, 1], [M, K])
    y = tl.make_tensor_descriptor(b + batch * k * n, [k, n], [n, 1], [K, N])
    z = tl.make_tensor_descriptor(out + batch * m * n, [m, n], [n, 1], [M, N])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    total = tl.zeros((M, N), tl.float32)
    for step in range(0, k, K):
        total += tl.dot(x.load([row, step]), y.load([step, column]), input_precision="ieee")
    columns = column + tl.arange(0, N)
    total += tl.load(bias + columns, mask=columns < n, other=0.0)[None, :]
    z.store([row, column], ACTIVATION(total))


@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def clamped(x):
    return tl.clamp(x, 0.0, 6.0)


@pytest.mark.parametrize(
    ("epilogue", "oracle"), [(leaky, torch.nn.functional.leaky_relu), (clamped, torch.nn.functional.relu6)]
)
def test_batched_matmul_with_an_epilogue_that_is_an_argument(epilogue, oracle):
    torch.manual_seed(0)
    a, b, bias = torch.randn(3, 40, 36), torch.randn(3, 36, 44), torch.randn(44)
    out = torch.empty(3, 40, 44)
    batched_matmul[(3, 2, 3)](a, b, bias, out, 40, 44, 36, M=16, N=32, K=16, ACTIVATION=epilogue)
    torch.testing.assert_close(out, oracle(a @ b + bias), rtol=1e-4, atol=1e-4)
