"""Products of tiles in every precision, attention and convolutions."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.gpu.agreement.case import Case, normal


@triton.jit
def tiles(a, b, c, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr, PRECISION: tl.constexpr,
          ACC: tl.constexpr):  # fmt: skip
    i, j = tl.arange(0, M), tl.arange(0, N)
    acc = tl.zeros((M, N), ACC)
    for start in range(0, K, STEP):
        k = start + tl.arange(0, STEP)
        x, y = tl.load(a + i[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + j[None, :])
        acc = tl.dot(x, y, acc, input_precision=PRECISION, out_dtype=ACC)
    tl.store(c + i[:, None] * N + j[None, :], acc)


@triton.jit
def apart(a, b, c, K, N: tl.constexpr, STEP: tl.constexpr):
    i = tl.arange(0, N)
    acc = tl.zeros((N, N), tl.float32)
    for start in range(0, K, STEP):
        k = start + tl.arange(0, STEP)
        acc += tl.dot(tl.load(a + i[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + i[None, :]))
    tl.store(c + i[:, None] * N + i[None, :], acc)


@triton.jit
def batched(a, b, c, B: tl.constexpr, N: tl.constexpr):
    z, i, k = tl.arange(0, B)[:, None, None], tl.arange(0, N)[None, :, None], tl.arange(0, N)[None, None, :]
    at = z * N * N + i * N + k
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


@triton.jit
def scaled(a, sa, b, sb, c, N: tl.constexpr, K: tl.constexpr):
    i, k, s = tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    x, y = tl.load(a + i[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + i[None, :])
    u, v = tl.load(sa + i[:, None] * (K // 32) + s[None, :]), tl.load(sb + i[:, None] * (K // 32) + s[None, :])
    tl.store(c + i[:, None] * N + i[None, :], tl.dot_scaled(x, u, "e4m3", y, v, "e4m3"))


@triton.jit
def attention(q, k, v, o, n, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr):
    i, d = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, D)
    query = tl.load(q + i[:, None] * D + d[None, :], mask=i[:, None] < n, other=0.0)
    top = tl.full((M,), -float("inf"), tl.float32)
    weight = tl.zeros((M,), tl.float32)
    acc = tl.zeros((M, D), tl.float32)
    for start in range(0, n, N):
        j = start + tl.arange(0, N)
        key = tl.load(k + j[None, :] * D + d[:, None], mask=j[None, :] < n, other=0.0)
        s = tl.dot(query, key) * 0.18033688
        keep = (j[None, :] < n) & ((i[:, None] >= j[None, :]) | (not CAUSAL))
        s = tl.where(keep, s, -1.0e6)
        most = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - most[:, None])
        back = tl.exp2(top - most)
        weight = weight * back + tl.sum(p, 1)
        value = tl.load(v + j[:, None] * D + d[None, :], mask=j[:, None] < n, other=0.0)
        acc = tl.dot(p.to(value.dtype), value, acc * back[:, None])
        top = most
    tl.store(o + i[:, None] * D + d[None, :], (acc / weight[:, None]).to(o.dtype.element_ty), mask=i[:, None] < n)


@triton.jit
def matrix_times_vector(a, x, y, n, ROWS: tl.constexpr, N: tl.constexpr):
    i, k = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, N)
    m = k < n
    block = tl.load(a + i[:, None] * n + k[None, :], mask=m[None, :], other=0.0)
    tl.store(y + i, tl.sum(block * tl.load(x + k, mask=m, other=0.0)[None, :], 1))


@triton.jit
def depthwise(x, w, y, n, TAPS: tl.constexpr, BLOCK: tl.constexpr):
    row, k = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for tap in tl.static_range(TAPS):
        at = k + tap - TAPS // 2
        acc += tl.load(x + row * n + at, mask=(at >= 0) & (at < n), other=0.0) * tl.load(w + row * TAPS + tap)
    tl.store(y + row * n + k, acc, mask=k < n)


@triton.jit
def image(x, w, y, SIZE: tl.constexpr, CHANNELS: tl.constexpr, OUT: tl.constexpr):
    at, c, o = tl.arange(0, SIZE * SIZE), tl.arange(0, CHANNELS), tl.arange(0, OUT)
    row, column = at // SIZE, at % SIZE
    acc = tl.zeros((SIZE * SIZE, OUT), tl.float32)
    for tap in range(9):
        r, s = row + tap // 3 - 1, column + tap % 3 - 1
        inside = (r >= 0) & (r < SIZE) & (s >= 0) & (s < SIZE)
        pixels = tl.load(x + (r * SIZE + s)[:, None] * CHANNELS + c[None, :], mask=inside[:, None], other=0.0)
        acc = tl.dot(pixels, tl.load(w + tap * CHANNELS * OUT + c[:, None] * OUT + o[None, :]), acc)
    tl.store(y + at[:, None] * OUT + o[None, :], acc.to(y.dtype.element_ty))


def _tiles(name: str, m: int, n: int, k: int, step: int, dtype: torch.dtype = torch.float32, precision: str = "tf32",
           acc: tl.dtype = tl.float32, out: torch.dtype = torch.float32, warps: int = 4, whole: bool = False,
           ) -> Case:  # fmt: skip
    def run(device: str) -> None:
        if whole:
            generator = torch.Generator().manual_seed(m + n + k)
            a, b = (torch.randint(0, 9, shape, generator=generator).to(dtype) for shape in ((m, k), (k, n)))
        else:
            a, b = normal(m, k, seed=m + n + k, dtype=dtype), normal(k, n, seed=m + n + k + 1, dtype=dtype)
        c = torch.zeros(m, n, dtype=out, device=device)
        tiles[(1,)](
            a.to(device), b.to(device), c, k, M=m, N=n, STEP=step, PRECISION=precision, ACC=acc, num_warps=warps
        )

    return Case(name, run)


def _apart(device: str) -> None:
    a, b = normal(32, 128, seed=130, dtype=torch.float16), normal(128, 32, seed=131, dtype=torch.float16)
    apart[(1,)](a.to(device), b.to(device), torch.zeros(32, 32, device=device), 128, N=32, STEP=32)


def _batched(device: str) -> None:
    a, b = (normal(4, 16, 16, seed=seed, dtype=torch.float16).to(device) for seed in (132, 133))
    batched[(1,)](a, b, torch.zeros(4, 16, 16, device=device), B=4, N=16)


def _scaled(device: str) -> None:
    a, b = (normal(*shape, seed=134).to(torch.float8_e4m3fn).to(device) for shape in ((32, 64), (64, 32)))
    generator = torch.Generator().manual_seed(135)
    sa, sb = (torch.randint(120, 135, (32, 2), generator=generator).to(torch.uint8).to(device) for _ in range(2))
    scaled[(1,)](a, sa, b, sb, torch.zeros(32, 32, device=device), N=32, K=64)


def _attention(dtype: torch.dtype, n: int, causal: bool) -> Case:
    def run(device: str) -> None:
        q, k, v = (normal(n, 64, seed=seed, dtype=dtype).to(device) for seed in (140, 141, 142))
        attention[(triton.cdiv(n, 64),)](q, k, v, torch.zeros_like(q), n, D=64, M=64, N=32, CAUSAL=causal)

    words = "causal attention" if causal else "attention"
    return Case(f"{words} of {str(dtype).removeprefix('torch.')}, {n} rows", run)


def _vector(device: str) -> None:
    a, x = normal(64, 300, seed=143).to(device), normal(300, seed=144).to(device)
    matrix_times_vector[(16,)](a, x, torch.zeros(64, device=device), 300, ROWS=4, N=512)


def _depthwise(device: str) -> None:
    x, w = normal(8, 500, seed=145).to(device), normal(8, 7, seed=146).to(device)
    depthwise[(8, 4)](x, w, torch.zeros_like(x), 500, TAPS=7, BLOCK=128)


def _image(device: str) -> None:
    x, w = normal(64, 16, seed=147, dtype=torch.bfloat16), normal(9, 16, 32, seed=148, dtype=torch.bfloat16)
    image[(1,)](x.to(device), w.to(device), torch.zeros(64, 32, dtype=torch.bfloat16, device=device), 8, 16, 32)


_HALF, _E4M3, _E5M2 = torch.float16, torch.float8_e4m3fn, torch.float8_e5m2

CASES = [
    _tiles("float16, 64 x 64 x 256", 64, 64, 256, 64, torch.float16),
    _tiles("float16, 128 x 64 x 128, 8 warps", 128, 64, 128, 64, torch.float16, warps=8),
    _tiles("bfloat16, 16 x 16 x 128", 16, 16, 128, 32, torch.bfloat16),
    _tiles("tf32, 64 x 64 x 128", 64, 64, 128, 32),
    _tiles("tf32, 16 x 32 x 64", 16, 32, 64, 32),
    _tiles("tf32x3, 32 x 32 x 128", 32, 32, 128, 32, precision="tf32x3"),
    _tiles("tf32x3, 64 x 32 x 64", 64, 32, 64, 32, precision="tf32x3"),
    _tiles("float32 by ieee, 32 x 32 x 96", 32, 32, 96, 32, precision="ieee"),
    _tiles("bf16x3, 32 x 32 x 64", 32, 32, 64, 32, precision="bf16x3"),
    _tiles("fp8 e4m3, 64 x 64 x 512", 64, 64, 512, 64, _E4M3),
    _tiles("fp8 e4m3 of whole numbers", 64, 64, 1024, 64, _E4M3, whole=True),
    _tiles("fp8 e5m2, 64 x 32 x 128", 64, 32, 128, 64, _E5M2),
    _tiles("fp8 e4m3, 16 x 16 x 128", 16, 16, 128, 32, _E4M3),
    _tiles("float16 added in float16, 64 x 64 x 128", 64, 64, 128, 64, _HALF, acc=tl.float16, out=_HALF),
    _tiles("float16 added in float16, 16 x 16 x 128", 16, 16, 128, 32, _HALF, acc=tl.float16, out=_HALF),
    _tiles("int8, 32 x 32 x 128", 32, 32, 128, 64, torch.int8, acc=tl.int32, out=torch.int32, whole=True),
    _tiles("float64, 16 x 16 x 64", 16, 16, 64, 16, torch.float64, "ieee", tl.float64, torch.float64),
    Case("float16, added after each product", _apart),
    Case("a batch of float16 tiles", _batched),
    Case("scaled fp8", _scaled),
    _attention(torch.float16, 150, False),
    _attention(torch.float16, 128, True),
    _attention(torch.bfloat16, 100, True),
    _attention(torch.float32, 96, False),
    Case("a matrix times a vector", _vector),
    Case("depthwise convolution", _depthwise),
    Case("convolution of an image, bfloat16", _image),
]  # fmt: skip
