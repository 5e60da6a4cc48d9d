"""Reductions and scans: the known combine functions, the user's own, ties, tuples, directions."""

from __future__ import annotations

import numpy as np
import pytest
import triton
import triton.language as tl

import triton_lab as lab
from tests.interpreter.support import array, bf16, kernel_from, same, tensor
from tests.interpreter.test_floats import patterns
from triton_lab.interpreter.ops import combine_functions

F16, F32, F64, I32 = (np.dtype(t) for t in (np.float16, np.float32, np.float64, np.int32))


def over_block(statement, x, out_shape, out_dtype, *more, prelude=""):
    """Run ``statement``, which makes ``z`` of the block ``x`` (and ``y``), and give ``z`` back."""

    def offsets(shape):
        terms = []
        for axis in range(len(shape)):
            index = ", ".join(":" if k == axis else "None" for k in range(len(shape)))
            terms.append(f"tl.arange(0, {shape[axis]})[{index}] * {int(np.prod(shape[axis + 1 :]))}")
        return " + ".join(terms) or "0"

    names = "xyw"[: 1 + len(more)]
    loads = "".join(
        f"    {name} = tl.load({name.upper()} + {offsets(value.shape)})\n"
        for name, value in zip(names, (x, *more), strict=True)
    )
    kernel = kernel_from(
        f"{prelude}\n@triton.jit\ndef kernel(OUT, {', '.join(name.upper() for name in names)}):\n{loads}"
        f"    {statement}\n    tl.store(OUT + {offsets(out_shape)}, z)\n"
    )
    result = tensor(np.zeros(out_shape, out_dtype))
    kernel[(1,)](result, *(tensor(value) for value in (x, *more)))
    return array(result, np.dtype(out_dtype))


def block(*shape, dtype=F32, seed=0):
    if np.dtype(dtype).kind in "iu":
        return np.random.default_rng(seed).integers(-100 if dtype.kind == "i" else 0, 100, shape).astype(dtype)
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("shape", [(16,), (4, 8), (2, 8, 4)])
def test_each_axis_and_all_of_them(shape):
    x = block(*shape, dtype=I32)
    for axis in (*range(len(shape)), None):
        expected = x.sum(axis=axis, dtype=np.int32)
        same(over_block(f"z = tl.sum(x, axis={axis})", x, expected.shape, I32), np.asarray(expected))
        kept = x.sum(axis=axis, keepdims=True, dtype=np.int32)
        same(over_block(f"z = tl.sum(x, axis={axis}, keep_dims=True)", x, kept.shape, I32), kept)


@pytest.mark.parametrize(
    "dtype", [np.dtype(f"{k}{b}") for k in ("int", "uint") for b in (8, 16, 32, 64)] + [F16, F32, F64, bf16]
)
def test_extremes_and_sums_of_every_type(dtype):
    x = patterns(dtype, 64).reshape(8, 8) if dtype.kind in "iu" else block(8, 8, dtype=dtype)
    wide = x if dtype.kind in "iu" else x.astype(F64)
    same(over_block("z = tl.max(x, 1)", x, (8,), dtype), wide.max(axis=1).astype(dtype))
    same(over_block("z = tl.min(x, 0)", x, (8,), dtype), wide.min(axis=0).astype(dtype))
    total = over_block(
        "z = tl.sum(x, 1)", x, (8,), F64 if dtype.kind not in "iu" else np.int64 if dtype.kind == "i" else np.uint64
    )
    if dtype.kind in "iu":
        # Sums of narrow integers are taken in 32 bits.
        carrier = dtype if dtype.itemsize >= 4 else np.dtype(f"{dtype.kind}4")
        same(total, x.sum(axis=1, dtype=carrier).astype(total.dtype))
    else:
        np.testing.assert_allclose(total, wide.sum(axis=1), atol=0.05 if dtype.itemsize == 2 else 1e-5)


@pytest.mark.parametrize("dtype", [F16, bf16, F32, F64])
@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("length", [2, 8, 64])
def test_extremes_keep_zeros_in_order_and_put_numbers_before_any_nan(dtype, name, length):
    """-0.0 is below 0.0, wherever it is, and a NaN yields, whether it is quiet or signals: an H100 does so."""
    bits = f"u{dtype.itemsize}"
    infinity = int(np.array(np.inf).astype(dtype).view(bits))
    nans = np.array([infinity + 1, infinity + 2, -1], f"i{dtype.itemsize}").view(dtype)
    rng = np.random.default_rng(length)
    zeros = np.array([0.0, -0.0]).astype(dtype)[rng.integers(0, 2, (32, length))]
    numbers = np.where(
        rng.random((32, length)) < 0.7, nans[rng.integers(0, 3, (32, length))], block(32, length, dtype=dtype)
    )
    for x in (zeros, numbers.astype(dtype), zeros.T.copy(), np.where(rng.random(zeros.shape) < 0.5, nans[0], zeros)):
        axis = int(x.shape[0] == 32)
        wide = np.moveaxis(x.astype(F64), axis, 0)
        key = np.where(np.isnan(wide), -np.inf if name == "max" else np.inf, wide)
        best = getattr(key, name)(0)
        positive = ((wide == 0) & ~np.signbit(wide)).any(0)
        negative = ((wide == 0) & np.signbit(wide)).any(0)
        zero = np.where(positive if name == "max" else ~negative, 0.0, -0.0)
        expected = np.where(np.isnan(wide).all(0), np.nan, np.where(best == 0, zero, best)).astype(dtype)
        same(over_block(f"z = tl.{name}(x, {axis})", x, expected.shape, dtype), expected)
        if dtype == F32:
            running = over_block(
                f"z = tl.associative_scan(x, {axis}, tl.standard._elementwise_{name})", x, x.shape, F32
            )
            same(np.moveaxis(running, axis, 0)[-1], expected)


@pytest.mark.parametrize(("shape", "axis"), [((4096,), 0), ((4096, 4), 0), ((2, 2048, 4), 1), ((8, 1024), 1)])
def test_the_error_of_a_sum_grows_as_the_logarithm_of_its_length(shape, axis):
    """As that of a GPU's tree does. Numbers added one after another are off by ten times as much."""
    x = block(*shape)
    exact = x.astype(F64).sum(axis=axis)
    total = over_block(f"z = tl.sum(x, {axis})", x, exact.shape, F32)
    bound = 0.4 * np.log2(shape[axis]) * np.finfo(F32).eps * np.sqrt((x.astype(F64) ** 2).sum(axis=axis))
    assert (np.abs(total - exact) <= bound).all()


@pytest.mark.parametrize("dtype", [F16, F32, F64])
@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_sum_of_nothing_but_negative_zeros_is_one(engine, dtype):
    """As IEEE addition has it, and so a GPU: only with a positive zero among them it is positive."""
    x = np.full((4, 8, 2), -0.0, dtype)
    x[1, 3] = 0.0
    with lab.limits(engine=engine):
        for axis in range(3):
            shape = tuple(np.delete(x.shape, axis))
            found = over_block(f"z = tl.sum(x, {axis})", x, shape, dtype)
            assert not found.any() and (np.signbit(found) == np.signbit(x).all(axis)).all()


def test_bits_are_reduced_by_logic():
    x = block(8, 8, dtype=I32)
    same(over_block("z = tl.xor_sum(x, 1)", x, (8,), I32), np.bitwise_xor.reduce(x, axis=1))
    flags = x > 50
    same(over_block("z = tl.xor_sum(x, 1)", flags, (8,), np.bool_), np.logical_xor.reduce(flags, axis=1))
    same(over_block("z = tl.reduce_or(x, 1)", x, (8,), I32), np.bitwise_or.reduce(x, axis=1))
    same(over_block("z = tl.sum(x, 1)", flags, (8,), I32), flags.sum(axis=1, dtype=np.int32))


@pytest.mark.parametrize("dtype", [I32, F32, F16, bf16])
@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_of_equal_elements_the_leftmost_wins(name, dtype):
    x = np.random.default_rng(0).integers(0, 3, (16, 32)).astype(dtype)
    for axis in (0, 1):
        expected = getattr(np, name)(x.astype(F64), axis=axis).astype(np.int32)
        same(over_block(f"z = tl.{name}(x, {axis})", x, expected.shape, I32), expected)
        anywhere = over_block(f"z = tl.{name}(x, {axis}, tie_break_left=False)", x, expected.shape, I32)
        picked, best = (np.take_along_axis(x, np.expand_dims(i, axis), axis) for i in (anywhere, expected))
        assert (picked == best).all()


def test_extremes_with_their_indices():
    x = block(8, 16)
    value = over_block("z, i = tl.max(x, 1, return_indices=True)", x, (8,), F32)
    index = over_block("v, z = tl.min(x, 1, return_indices=True)", x, (8,), I32)
    same(value, x.max(axis=1))
    same(index, x.argmin(axis=1).astype(np.int32))


def test_max_ignores_nan_and_knows_infinity():
    x = np.array([[np.nan, 1, -np.inf, 3], [np.inf, np.nan, 0, -1]], np.float32)
    same(over_block("z = tl.max(x, 1)", x, (2,), F32), np.array([3, np.inf], np.float32))
    same(over_block("z = tl.min(x, 1)", x, (2,), F32), np.array([-np.inf, -1], np.float32))


OWN = """
@triton.jit
def first(a, b):
    return a

@triton.jit
def last(a, b):
    return b

@triton.jit
def compose(a, b, c, d):
    return a * c, b * c + d

@triton.jit
def welford(mean_a, m2_a, n_a, mean_b, m2_b, n_b):
    n = n_a + n_b
    delta = mean_b - mean_a
    return mean_a + delta * n_b / n, m2_a + m2_b + delta * delta * n_a * n_b / n, n

@triton.jit
def branchy(a, b):
    if a > b:
        c = a * 2
    else:
        c = b
    return c - (a > b) * a
"""


@pytest.mark.parametrize("length", [1, 2, 8, 64])
def test_a_function_of_ones_own_sees_the_elements_in_order(length):
    x = block(4, length, dtype=I32)
    same(over_block("z = tl.reduce(x, 1, first)", x, (4,), I32, prelude=OWN), x[:, 0])
    same(over_block("z = tl.reduce(x, 1, last)", x, (4,), I32, prelude=OWN), x[:, -1])
    same(
        over_block("z = tl.associative_scan(x, 1, first)", x, x.shape, I32, prelude=OWN), np.repeat(x[:, :1], length, 1)
    )
    same(over_block("z = tl.reduce(x, 1, branchy)", x, (4,), I32, prelude=OWN), x.max(axis=1))


def test_tuples_are_reduced_together():
    x = block(4, 64)
    statement = "m, s, n = tl.reduce((x, tl.zeros_like(x), tl.full(x.shape, 1.0, tl.float32)), 1, welford)"
    mean = over_block(f"{statement}; z = m", x, (4,), F32, prelude=OWN)
    variance = over_block(f"{statement}; z = s / n", x, (4,), F32, prelude=OWN)
    np.testing.assert_allclose(mean, x.mean(axis=1), atol=1e-6)
    np.testing.assert_allclose(variance, x.var(axis=1), atol=1e-5)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_sums_and_products_that_run(axis, reverse):
    x = block(8, 16, dtype=I32) % 5
    flip = (lambda v: np.flip(v, axis)) if reverse else (lambda v: v)
    expected = flip(np.cumsum(flip(x), axis=axis, dtype=np.int32))
    same(over_block(f"z = tl.cumsum(x, {axis}, reverse={reverse})", x, x.shape, I32), expected)
    expected = flip(np.cumprod(flip(x), axis=axis, dtype=np.int32))
    same(over_block(f"z = tl.cumprod(x, {axis}, reverse={reverse})", x, x.shape, I32), expected)
    y = block(8, 16)
    expected = flip(np.cumsum(flip(y).astype(F64), axis=axis))
    np.testing.assert_allclose(
        over_block(f"z = tl.cumsum(x, {axis}, reverse={reverse})", y, y.shape, F32), expected, atol=1e-5
    )


@pytest.mark.parametrize("reverse", [False, True])
def test_a_linear_recurrence_scanned_from_either_end(reverse):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-1, 2, (4, 32)).astype(np.int32) for _ in range(2))
    a, b = (x[:, ::-1], y[:, ::-1]) if reverse else (x, y)
    state, rows = np.zeros(4, np.int32), []
    for k in range(32):
        state = a[:, k] * state + b[:, k]
        rows.append(state)
    expected = np.stack(rows, axis=1)
    expected = expected[:, ::-1] if reverse else expected
    statement = f"_, z = tl.associative_scan((x, y), 1, compose, reverse={reverse})"
    same(over_block(statement, x, x.shape, I32, y, prelude=OWN), np.ascontiguousarray(expected))


@pytest.mark.parametrize("dtype", [I32, F32, F16, bf16, np.dtype(np.int64)])
@pytest.mark.parametrize("descending", [False, True])
def test_sorting(dtype, descending):
    x = block(4, 32, dtype=dtype)
    expected = np.sort(x.astype(F64), axis=1)
    expected = (expected[:, ::-1] if descending else expected).astype(dtype)
    same(over_block(f"z = tl.sort(x, descending={descending})", x, x.shape, dtype), np.ascontiguousarray(expected))
    same(over_block("z = tl.flip(x, 1)", x, x.shape, dtype), np.ascontiguousarray(x[:, ::-1]))
    same(over_block("z = tl.flip(x, 0)", x, x.shape, dtype), np.ascontiguousarray(x[::-1]))


@pytest.mark.parametrize("k", [1, 4, 32])
def test_the_greatest_elements(k):
    x = block(4, 32)
    expected = np.sort(x, axis=1)[:, ::-1][:, :k]
    same(over_block(f"z = tl.topk(x, {k})", x, (4, k), F32), np.ascontiguousarray(expected))


@pytest.mark.parametrize(("length", "bins"), [(128, 8), (8, 128), (64, 2)])
def test_histograms_count_what_the_mask_lets_through(length, bins):
    x = np.random.default_rng(0).integers(0, bins, length).astype(np.int32)
    same(over_block(f"z = tl.histogram(x, {bins})", x, (bins,), I32), np.bincount(x, minlength=bins).astype(np.int32))
    expected = np.bincount(x[x % 2 == 0], minlength=bins).astype(np.int32)
    same(over_block(f"z = tl.histogram(x, {bins}, mask=x % 2 == 0)", x, (bins,), I32), expected)


def test_unsigned_extremes_compare_as_unsigned():
    x = np.array([1, 2**31 + 5, 7, 2**32 - 1], np.uint32)
    same(over_block("z = tl.max(x, 0)", x, (), np.uint32), np.array(2**32 - 1, np.uint32))
    same(
        over_block("z = tl.associative_scan(x, 0, tl.standard._elementwise_max)", x, x.shape, np.uint32),
        np.maximum.accumulate(x),
    )


MAPPED = """
@triton.jit
def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps

@triton.jit
def ordered(a, b):
    if a < b:
        return a, b
    else:
        return b, a

@triton.jit
def early(a):
    if a > 3:
        return a * 2
    s = 0
    while s < a:
        s += 1
    return s + 100

@triton.jit
def crosswise(a0, a1, b0, b1):
    return a0 + b1, a1 * b0
"""


def test_a_scalar_function_on_every_lane():
    x, y = block(32, dtype=I32), block(32, dtype=I32, seed=1)
    same(over_block("z, _ = tl.map_elementwise(ordered, x, y)", x, (32,), I32, y, prelude=MAPPED), np.minimum(x, y))
    same(over_block("_, z = tl.map_elementwise(ordered, x, y)", x, (32,), I32, y, prelude=MAPPED), np.maximum(x, y))
    expected = np.empty_like(x)
    expected[::2], expected[1::2] = x[::2] + y[1::2], x[1::2] * y[::2]
    same(over_block("z = tl.map_elementwise(crosswise, x, y, pack=2)[0]", x, (32,), I32, y, prelude=MAPPED), expected)


def test_lanes_may_loop_for_different_times():
    x = np.arange(32, dtype=np.int32)

    def steps(n):
        return 0 if n <= 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    expected = np.array([steps(int(n)) for n in x], np.int32)
    same(over_block("z = tl.map_elementwise(collatz, x)", x, (32,), I32, prelude=MAPPED), expected)


def test_a_lanes_function_may_return_early():
    x = np.arange(8, dtype=np.int32)
    expected = np.array([100, 101, 102, 103, 8, 10, 12, 14], np.int32)
    same(over_block("z = tl.map_elementwise(early, x)", x, (8,), I32, prelude=MAPPED), expected)


def test_overflow_checks_run_inside_a_reduction():
    @triton.jit(debug=True)
    def total(X, Z):
        tl.store(Z, tl.sum(tl.load(X + tl.arange(0, 8))))

    z = tensor(np.zeros(1, np.int32))
    total[(1,)](tensor(np.arange(8, dtype=np.int32)), z)
    assert z.item() == 28
    with pytest.raises(Exception, match="overflow"):
        total[(1,)](tensor(np.full(8, 2**30, np.int32)), z)


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float16])
@pytest.mark.parametrize("result", ["a + a", "b + b", "a * a", "b * b", "a + b", "a * b", "a - b", "b - a"])
def test_a_function_of_one_operation_is_taken_for_a_sum_only_if_it_is_one(result, dtype):
    """Of two elements no order is left open."""
    prelude = f"@triton.jit\ndef function(a, b):\n    return {result}\n"
    x = np.array([[3, 5], [-2, 7]], dtype)
    wanted = eval(result, {"a": x[:, 0], "b": x[:, 1]}).astype(dtype)
    same(over_block("z = tl.reduce(x, 1, function)", x, (2,), dtype, prelude=prelude), wanted)
    both = np.stack([x[:, 0], wanted], axis=1)
    same(over_block("z = tl.associative_scan(x, 1, function)", x, (2, 2), dtype, prelude=prelude), both)


@pytest.mark.parametrize("name", ["sum", "max", "min", "xor_sum"])
def test_the_usual_reductions_and_sums_that_run_do_not_go_through_lanes_one_by_one(monkeypatch, name):
    """One call of NumPy's does them: a function of one's own is run on each lane as if it were a program."""

    def refuse(*_):
        raise AssertionError("lane by lane")

    monkeypatch.setattr(combine_functions, "lanes", refuse)
    x = np.array([[3, -5, 7, 1], [2, 2, -9, 4]], np.int32)
    function = {"sum": np.add, "max": np.maximum, "min": np.minimum, "xor_sum": np.bitwise_xor}[name]
    same(over_block(f"z = tl.{name}(x, 1)", x, (2,), np.int32), function.reduce(x, axis=1).astype(np.int32))
    if name == "sum":
        same(over_block("z = tl.cumsum(x, 1)", x, x.shape, np.int32), np.cumsum(x, 1, dtype=np.int32))
