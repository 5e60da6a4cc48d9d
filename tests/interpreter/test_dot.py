"""Products of tiles, against torch in float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

from tests.gpu.fidelity import values
from tests.interpreter.support import bf16, e4m3, e5m2, tensor
from triton_lab.interpreter.ops import dot

F16, F32, F64 = (np.dtype(t) for t in (np.float16, np.float32, np.float64))


@triton.jit
def product(a_ptr, b_ptr, c_ptr, out_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
            PRECISION: tl.constexpr, OUT: tl.constexpr, ACC: tl.constexpr, BATCHED: tl.constexpr):  # fmt: skip
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    if BATCHED:
        b = tl.arange(0, B)[:, None, None]
        x = tl.load(a_ptr + b * M * K + m[None, :, None] * K + k[None, None, :])
        y = tl.load(b_ptr + b * K * N + k[None, :, None] * N + n[None, None, :])
        where = b * M * N + m[None, :, None] * N + n[None, None, :]
    else:
        x = tl.load(a_ptr + m[:, None] * K + k[None, :])
        y = tl.load(b_ptr + k[:, None] * N + n[None, :])
        where = m[:, None] * N + n[None, :]
    if ACC:
        z = tl.dot(x, y, acc=tl.load(c_ptr + where), input_precision=PRECISION, out_dtype=OUT)
    else:
        z = tl.dot(x, y, input_precision=PRECISION, out_dtype=OUT)
    tl.store(out_ptr + where, z)


def run(a, b, *, out=torch.float32, precision=None, acc=None):
    batched = a.ndim == 3
    (count, m, k), n = (a.shape if batched else (1, *a.shape)), b.shape[-1]
    result = torch.zeros((count, m, n) if batched else (m, n), dtype=out)
    kind = {torch.float16: tl.float16, torch.float64: tl.float64, torch.int32: tl.int32}.get(out, tl.float32)
    product[(1,)](tensor(a), tensor(b), result if acc is None else tensor(acc), result, count, m, n, k,
                  precision, kind, acc is not None, batched)  # fmt: skip
    return result


def reference(a, b):
    return torch.from_numpy(a.astype(F64)) @ torch.from_numpy(b.astype(F64))


def normal(*shape, dtype=F32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("precision", ["ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"])
def test_input_precisions_are_at_least_what_they_say(precision):
    a, b = normal(32, 64), normal(64, 32, seed=1)
    torch.testing.assert_close(run(a, b, precision=precision).double(), reference(a, b), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [F16, bf16, e4m3, e5m2, F64])
def test_every_format_is_multiplied_exactly(dtype):
    a, b = normal(16, 32, dtype=dtype), normal(32, 16, dtype=dtype, seed=1)
    out = torch.float64 if dtype == F64 else torch.float32
    torch.testing.assert_close(run(a, b, out=out).double(), reference(a, b), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("k", [32, 2048])
def test_bytes_are_multiplied_into_int32(k):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, shape, dtype=np.int8) for shape in ((32, k), (k, 32)))
    a[0], b[:, 0] = -128, -128
    expected = a.astype(np.int64) @ b.astype(np.int64)
    assert (run(a, b, out=torch.int32).numpy() == expected).all()


def test_an_accumulator_is_added_before_the_only_rounding():
    a = np.full((16, 16), 1, F16)
    b = np.full((16, 16), 128, F16)
    acc = np.full((16, 16), 1, F16)
    # 2048 + 1 is a tie in float16; the sum of products alone is exact.
    assert (run(a, b, out=torch.float16, acc=acc) == 2048).all()
    assert (run(a, b, out=torch.float16, acc=np.full((16, 16), 3, F16)) == 2052).all()


def test_float16_results_are_accumulated_wider():
    a = np.full((16, 2048), 1, F16)
    b = np.full((2048, 16), 1.0, F16)
    b[0] = 2048
    assert (run(a, b, out=torch.float16) == 4096).all()


@pytest.mark.parametrize("dtype", [F16, F32])
def test_a_batch_of_products(dtype):
    a, b = normal(4, 16, 32, dtype=dtype), normal(4, 32, 16, dtype=dtype, seed=1)
    torch.testing.assert_close(run(a, b).double(), reference(a, b), rtol=1e-4, atol=1e-4)
    acc = normal(4, 16, 16)
    expected = reference(a, b) + torch.from_numpy(acc).double()
    torch.testing.assert_close(run(a, b, acc=acc).double(), expected, rtol=1e-4, atol=1e-4)


FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
FP4 = np.concatenate([FP4, -FP4])


@triton.jit
def scaled(a_ptr, sa_ptr, b_ptr, sb_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, KA: tl.constexpr,
           KB: tl.constexpr, S: tl.constexpr, FA: tl.constexpr, FB: tl.constexpr, MA: tl.constexpr, NB: tl.constexpr,
           PACK: tl.constexpr):  # fmt: skip
    m, n, s = tl.arange(0, M), tl.arange(0, N), tl.arange(0, S)
    a = tl.load(a_ptr + tl.arange(0, MA)[:, None] * KA + tl.arange(0, KA)[None, :])
    b = tl.load(b_ptr + tl.arange(0, KB)[:, None] * NB + tl.arange(0, NB)[None, :])
    sa = None
    if sa_ptr is not None:
        sa = tl.load(sa_ptr + m[:, None] * S + s[None, :])
    sb = None
    if sb_ptr is not None:
        sb = tl.load(sb_ptr + n[:, None] * S + s[None, :])
    z = tl.dot_scaled(a, sa, FA, b, sb, FB, lhs_k_pack=PACK, rhs_k_pack=PACK)
    tl.store(out_ptr + m[:, None] * N + n[None, :], z)


FORMATS = {"e4m3": e4m3, "e5m2": e5m2, "bf16": bf16, "fp16": F16}


def operand(format, shape, k_axis, pack_axis, rng):
    """Random numbers of a format: as the kernel takes them, and as float64."""
    if format == "e2m1":
        codes = rng.integers(0, 16, shape)
        low, high = (np.take(codes, np.arange(start, shape[pack_axis], 2), pack_axis) for start in (0, 1))
        return (low | (high << 4)).astype(np.uint8), FP4[codes]
    values = rng.standard_normal(shape).astype(FORMATS[format])
    return values, values.astype(F64)


@pytest.mark.parametrize(
    "formats",
    ["e2m1 e2m1", "e2m1 e4m3", "e4m3 e5m2", "e5m2 bf16", "e2m1 fp16", "bf16 e2m1", "fp16 e4m3", "e4m3 e4m3"],
)
@pytest.mark.parametrize("scales", ["both", "left", "right", "none"])
def test_microscaled_formats(formats, scales):
    rng = np.random.default_rng(0)
    formats = formats.split()
    m, n, k = 32, 16, 64
    a, wide_a = operand(formats[0], (m, k), 1, 1, rng)
    b, wide_b = operand(formats[1], (k, n), 0, 0, rng)
    sa, sb = (rng.integers(122, 131, (size, k // 32), dtype=np.uint8) for size in (m, n))
    use_a, use_b = scales in ("both", "left"), scales in ("both", "right")
    if use_a:
        wide_a = wide_a * np.repeat(2.0 ** (sa.astype(float) - 127), 32, axis=1)
    if use_b:
        wide_b = wide_b * np.repeat(2.0 ** (sb.astype(float) - 127), 32, axis=1).T
    out = torch.zeros(m, n)
    a, b = a.reshape(m, -1), b.reshape(-1, n)
    scaled[(1,)](tensor(a), tensor(sa) if use_a else None, tensor(b), tensor(sb) if use_b else None, out, m, n,
                 a.shape[1], b.shape[0], k // 32, *formats, m, n, True)  # fmt: skip
    np.testing.assert_allclose(out.numpy(), wide_a @ wide_b, rtol=1e-4, atol=1e-3)


def test_four_bit_numbers_may_be_packed_along_the_other_axis():
    rng = np.random.default_rng(0)
    m, n, k = 32, 32, 64
    a, wide_a = operand("e2m1", (m, k), 1, 0, rng)
    b, wide_b = operand("e2m1", (k, n), 0, 1, rng)
    one = np.full((m, k // 32), 127, np.uint8)
    out = torch.zeros(m, n)
    scaled[(1,)](tensor(a), tensor(one), tensor(b), tensor(one), out, m, n, k, k, k // 32, "e2m1", "e2m1", m // 2,
                 n // 2, False)  # fmt: skip
    np.testing.assert_allclose(out.numpy(), wide_a @ wide_b, rtol=1e-6)


def test_a_scale_of_all_ones_is_nan():
    rng = np.random.default_rng(0)
    a, b = (operand("e4m3", shape, 0, 0, rng)[0] for shape in ((32, 64), (64, 32)))
    scale = np.full((32, 2), 127, np.uint8)
    scale[3, 1] = 255
    out = torch.zeros(32, 32)
    scaled[(1,)](tensor(a), tensor(scale), tensor(b), None, out, 32, 32, 64, 64, 2, "e4m3", "e4m3", 32, 32, True)
    assert out[3].isnan().all() and out.isnan().sum() == 32


def test_scales_may_be_fp8_numbers_for_sixteen_elements_each():
    rng = np.random.default_rng(0)
    a, wide_a = operand("e2m1", (32, 64), 1, 1, rng)
    b, wide_b = operand("e2m1", (64, 32), 0, 0, rng)
    sa, sb = (rng.uniform(0.5, 2, (32, 4)).astype(e4m3) for _ in range(2))
    out = torch.zeros(32, 32)
    scaled[(1,)](tensor(a), tensor(sa), tensor(b), tensor(sb), out, 32, 32, 32, 32, 4, "e2m1", "e2m1", 32, 32, True)
    wide_a = wide_a * np.repeat(sa.astype(F64), 16, axis=1)
    wide_b = wide_b * np.repeat(sb.astype(F64), 16, axis=1).T
    np.testing.assert_allclose(out.numpy(), wide_a @ wide_b, rtol=1e-6)


@pytest.mark.parametrize(("rows", "depth", "columns"), [(64, 8, 4), (48, 2, 3), (7, 16, 16), (16, 1, 1), (1, 64, 64)])
@pytest.mark.parametrize("most", [16, 64, 1 << 20])
def test_slabs_are_as_few_as_stay_small_enough(rows, depth, columns, most, monkeypatch):
    """A tile is halved as often as its rows can be, and no oftener than it has to be."""
    monkeypatch.setattr(dot, "_IN_ONE_THREAD", most)
    cut, matmul = [], np.matmul
    monkeypatch.setattr(dot.np, "matmul", lambda x, y: cut.append(x.shape[-2]) or matmul(x, y))
    x, y = normal(3, rows, depth), normal(3, depth, columns, seed=1)
    found = dot.product(x, y)
    assert found.shape == (3, rows, columns)
    np.testing.assert_allclose(found, x @ y, rtol=1e-5, atol=1e-5)
    halves = [rows >> k for k in range(rows.bit_length()) if rows % (1 << k) == 0]
    assert cut == [next((each for each in halves if each * depth * columns <= most), halves[-1])]


@pytest.mark.parametrize(("depth", "wide"), [(1024, np.float32), (1025, np.float64)])
def test_long_rows_of_bytes_are_multiplied_exactly(depth, wide, monkeypatch):
    kinds, product = [], dot.product
    monkeypatch.setattr(dot, "product", lambda x, y: kinds.append(x.dtype) or product(x, y))
    x, y = np.full((1, 2, depth), -128, np.int8), np.full((1, depth, 2), -128, np.int8)
    x[..., 0], y[..., 0, :] = 127, 1
    assert dot.integer_product(x, y, np.dtype(np.int32)).tolist() == [[[(depth - 1) * 2**14 + 127] * 2] * 2]
    assert kinds == [np.dtype(wide)]


# --- What an H100 made of all patterns (Triton 3.6) ---------------------------------------------------

# Of the 65,536 sums of `patterns`, how many were NaN or infinite on one side alone, or infinite with other signs, when
# NumPy summed in float32 and kept e5m2's infinities and NaNs (so many sums were NaN there); and one of the sums.
MEASURED = {
    "e5m2": (np.uint8, 55596, 50096, (0, 0, 2), -239.34385681152344),
    "bf16": (np.uint16, 32216, 45845, (0, 2, 4), -np.inf),
}


def patterns(kind):
    """64 squares of all bit patterns of ``kind``, each multiplied by its transpose there."""
    return values.wild({np.uint8: "u8", np.uint16: "u16"}[kind], 64).reshape(64, 32, 32)


@triton.jit
def squares(x_ptr, out_ptr, FORMAT: tl.constexpr, SCALED: tl.constexpr):
    m, n = tl.arange(0, 32)[:, None], tl.arange(0, 32)[None, :]
    x_ptr += tl.program_id(0) * 1024
    x, y = tl.load(x_ptr + m * 32 + n), tl.load(x_ptr + m + n * 32)
    if SCALED:
        one = tl.full((32, 1), 127, tl.uint8)
        z = tl.dot_scaled(x, one, FORMAT, y, one, FORMAT)
    else:
        z = tl.dot(x.to(tl.bfloat16, bitcast=True), y.to(tl.bfloat16, bitcast=True))
    tl.store(out_ptr + tl.program_id(0) * 1024 + m * 32 + n, z)


@pytest.mark.parametrize(("format", "scales"), [("e5m2", True), ("bf16", True), ("bf16", False)])
def test_numbers_too_great_for_float32_are_infinite_where_an_h100_has_them_so(format, scales):
    kind, apart, nans, place, number = MEASURED[format]
    x = patterns(kind)
    out = torch.zeros(64, 32, 32)
    squares[(64,)](tensor(x), out, format, scales)
    np.testing.assert_array_max_ulp(out.numpy()[place], np.float32(number), 1)  # the last bit is the order's
    found = out.numpy()
    with np.errstate(all="ignore"):
        wide = x.view(FORMATS[format]).astype(F32)
        plain = np.matmul(wide, np.swapaxes(wide.copy(), 1, 2))  # of one array BLAS has another way
    if np.count_nonzero(np.isnan(plain)) != nans:
        pytest.skip("NumPy's product has another order here than where this was measured")
    same = (found == plain) | (np.isnan(found) & np.isnan(plain)) | (np.isfinite(found) & np.isfinite(plain))
    assert np.count_nonzero(~same) == apart


def test_numbers_of_bfloat16_that_cancel_are_zero_and_what_is_given_infinite_stays_so():
    great = np.array([2.0**127, 2.0**127, -(2.0**127), -(2.0**127)])
    x, y = np.zeros((2, 16, 16)), np.zeros((2, 16, 16))
    x[0, 0, :4], y[0, :4, 0] = 2.0**100, great
    x[1, 0, 0], y[1, 0, 0] = np.inf, 1
    x[1, 1, :2], y[1, :2, 1] = np.inf, [1, -1]
    found = run(x.astype(bf16), y.astype(bf16)).numpy()
    assert not found[0].any()
    assert found[1, 0, 0] == np.inf and np.isnan(found[1, 1, 1])
