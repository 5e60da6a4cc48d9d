"""Other arithmetics of the interpreter: tf32, fused products, orders of sums, by exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from tests.launch.comparison.kernels import with_ways_of_a_gpu
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.variants import arithmetic_variants
from triton_lab.interpreter.variants.thread_reductions import Shares, in_order_of
from triton_lab.ir import parse_plan
from triton_lab.ir.fma_contraction import accumulated, contracted
from triton_lab.ir.verify import verify
from triton_lab.launch.comparison.launch_results import of_launch, read
from triton_lab.launch.launch import Launch
from triton_lab.launch.replay.replay_run import replay

floats = st.floats(min_value=-(2.0**60), max_value=2.0**60, width=32)


@given(floats)
def test_tf32_is_the_nearest_of_ten_bits(x: float) -> None:
    given_, found = np.float32([x]), float(arithmetic_variants.to_tf32(np.float32([x]))[0])
    cut = float(arithmetic_variants.to_tf32(given_, nearest=False)[0])
    if abs(x) < 2.0**-100:
        return
    _, exponent = np.frexp(x)
    step = 2.0 ** (int(exponent) - 11)
    assert (Fraction(found) / Fraction(step)).denominator == 1
    assert abs(Fraction(found) - Fraction(x)) <= Fraction(step) / 2
    assert abs(cut) <= abs(x) and abs(Fraction(cut) - Fraction(x)) < Fraction(step)


def test_tf32_leaves_what_is_not_finite() -> None:
    odd = np.float32([np.inf, -np.inf, np.nan, 0.0, -0.0])
    assert np.array_equal(arithmetic_variants.to_tf32(odd), odd, equal_nan=True)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 64])
def test_an_order_of_halves_has_every_term_once(n: int) -> None:
    assert sorted(arithmetic_variants.halves(np.arange(n)).tolist()) == list(range(n))


@settings(deadline=None)
@given(st.lists(floats, min_size=1, max_size=9))
def test_every_order_adds_all_terms(terms: list[float]) -> None:
    whole = [round(term) % 1000 for term in terms]  # sums of these are exact in any order
    for table in arithmetic_variants.ORDERS.values():
        assert set(table) == {"tt.reduce", "tt.dot"}
    assert sum(arithmetic_variants.halves(np.array(whole)).tolist()) == sum(whole)


MODULE = """
"builtin.module"() ({{
  "tt.func"() <{{function_type = (f32, f32, f32) -> (), sym_name = "k", sym_visibility = "public"}}> ({{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = "arith.mulf"(%a, %b) : (f32, f32) -> f32
    %s = "arith.{op}"({operands}) : (f32, f32) -> f32
    "tt.return"() : () -> ()
  }}) : () -> ()
}}) : () -> ()
"""


@pytest.mark.parametrize(
    ("op", "operands", "names"),
    [
        ("addf", "%p, %c", ["arith.mulf", "math.fma"]),
        ("addf", "%c, %p", ["arith.mulf", "math.fma"]),
        ("subf", "%p, %c", ["arith.mulf", "arith.negf", "math.fma"]),
        ("subf", "%c, %p", ["arith.mulf", "arith.negf", "math.fma"]),
        ("addf", "%a, %c", ["arith.mulf", "arith.addf"]),
    ],
)
def test_products_are_fused_with_what_is_added(op: str, operands: str, names: list[str]) -> None:
    plan = parse_plan(MODULE.format(op=op, operands=operands))
    other = contracted(plan)
    assert [one.name for one in other.walk()][: len(names)] == names
    assert (other is plan) == ("math.fma" not in names)
    verify(other)
    Executable.of(other)


@triton.jit
def folds_kernel(x_ptr, i_ptr, a_ptr, sums_ptr, running_ptr, dot_ptr, numbers_ptr, B: tl.constexpr, S: tl.constexpr):
    lane = tl.arange(0, B)
    x, i = tl.load(x_ptr + lane), tl.load(i_ptr + lane)
    tl.store(sums_ptr, tl.sum(x, 0))
    tl.store(sums_ptr + 1, tl.max(x, 0))
    tl.store(running_ptr + lane, tl.cumsum(x, 0))
    tl.store(numbers_ptr, tl.sum(i, 0))
    tl.store(numbers_ptr + 1, tl.argmax(x, 0))
    tl.store(numbers_ptr + 2 + lane, tl.cumsum(i, 0))
    row, column = tl.arange(0, S)[:, None], tl.arange(0, S)[None, :]
    a = tl.load(a_ptr + row * S + column)
    tl.store(dot_ptr + row * S + column, tl.dot(a, a, out_dtype=a.dtype))
    whole = (a * 8).to(tl.int8)
    tl.store(numbers_ptr + 2 + B + row * S + column, tl.dot(whole, whole))


B, S = 64, 32


@pytest.fixture(scope="module", params=[torch.float16, torch.float32])
def folds(request: pytest.FixtureRequest) -> Launch:
    generator = torch.Generator().manual_seed(1)
    x = (torch.rand(B, generator=generator) * 100 - 20).to(request.param)
    a = torch.rand(S, S, generator=generator).to(request.param)
    i = torch.randint(-(2**31), 2**31, (B,), dtype=torch.int32, generator=generator)
    outs = [torch.zeros(n, dtype=request.param) for n in (2, B, S * S)]
    numbers = torch.zeros(2 + B + S * S, dtype=torch.int32)
    with lab.record() as launches:
        folds_kernel[(1,)](x, i, a, *outs, numbers, B=B, S=S)
    return launches[0]


def under(launch: Launch, table: arithmetic_variants.Table) -> dict[str, np.ndarray]:
    """What a launch's tensors hold at the end, in another arithmetic."""
    memory = replay(launch, executable=Executable.of(launch.executable.plan, table))
    return {name: read(memory, launch.argument(name)) for name in of_launch(launch).arrays}


def test_wide_sums_are_those_of_float64_rounded_once_and_whole_numbers_stay(folds: Launch) -> None:
    plain, found = of_launch(folds).arrays, under(folds, arithmetic_variants.WIDE_SUMS)
    x, a = plain["x_ptr"], plain["a_ptr"].astype(np.float64)
    assert found["sums_ptr"].tolist() == [x.dtype.type(x.astype(np.float64).sum()), x.max()]
    assert np.array_equal(found["running_ptr"], np.cumsum(x.astype(np.float64)).astype(x.dtype))
    assert np.array_equal(found["dot_ptr"], (a.reshape(S, S) @ a.reshape(S, S)).astype(x.dtype).reshape(-1))
    assert np.array_equal(found["numbers_ptr"], plain["numbers_ptr"])


@pytest.mark.parametrize("name", arithmetic_variants.ORDERS)
def test_an_order_of_terms_is_kept_by_sums_and_dots(folds: Launch, name: str) -> None:
    plain, found = of_launch(folds).arrays, under(folds, arithmetic_variants.ORDERS[name])
    orders = {
        "one after the other": lambda n: np.arange(n),
        "last to first": lambda n: np.arange(n)[::-1],
        # 0, n/2, n/4, 3n/4, ...: the bits of a place, read backwards.
        "in halves": lambda n: np.array([int(f"{k:0{n.bit_length() - 1}b}"[::-1], 2) for k in range(n)]),
    }
    x, a = plain["x_ptr"], plain["a_ptr"].reshape(S, S).astype(np.float32)
    total, product = None, np.zeros((S, S), np.float32)
    for k in orders[name](B):
        term = np.float32(x[k])  # in which a narrow sum is carried
        total = term if total is None else total + term
    for k in orders[name](S):
        product = product + a[:, k, None] * a[None, k, :]
    assert found["sums_ptr"].tolist() == [x.dtype.type(total), x.max()]
    assert np.array_equal(found["dot_ptr"], product.astype(x.dtype).reshape(-1))
    assert np.array_equal(found["numbers_ptr"], plain["numbers_ptr"])
    assert np.array_equal(found["running_ptr"], plain["running_ptr"]), "a running sum has an order of its own"


def test_all_in_float64_rounds_at_stores_alone(folds: Launch) -> None:
    plain, found = of_launch(folds).arrays, under(folds, arithmetic_variants.THROUGHOUT)
    x, a = (plain[name].astype(np.float64) for name in ("x_ptr", "a_ptr"))
    kind = plain["x_ptr"].dtype
    assert np.allclose(found["sums_ptr"].astype(float), [x.sum(), x.max()], rtol=np.finfo(kind).eps)
    assert np.array_equal(found["dot_ptr"], (a.reshape(S, S) @ a.reshape(S, S)).astype(kind).reshape(-1))
    assert np.array_equal(found["running_ptr"], np.cumsum(x).astype(kind))
    assert np.array_equal(found["numbers_ptr"], plain["numbers_ptr"])


def test_reductions_are_made_in_the_order_of_threads_where_it_is_known_who_holds_what(folds: Launch) -> None:
    shares = Shares.along(0, (B,), [[1]], [[2], [4], [8], [16], [32]], [])
    assert shares is not None
    reductions = [op for op in folds.executable.plan.walk() if op.name == "tt.reduce"]
    assert {len(op.operands) for op in reductions} == {1, 2}
    plain = of_launch(folds).arrays
    x = plain["x_ptr"]
    found = under(folds, in_order_of({op.index: shares for op in reductions}, False))
    terms = x.astype(np.float32)[shares.places()].reshape(-1, 2)  # a thread has two neighbours
    threads = terms[:, 0] + terms[:, 1]
    while len(threads) > 1:
        threads = threads[: len(threads) // 2] + threads[len(threads) // 2 :]
    assert found["sums_ptr"].tolist() == [x.dtype.type(threads[0]), x.max()]
    assert np.array_equal(found["numbers_ptr"], plain["numbers_ptr"])
    same = under(folds, in_order_of({}, False))
    assert all(np.array_equal(same[name], array) for name, array in plain.items())


@triton.jit
def greatest_kernel(x_ptr, out_ptr, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, B))
    tl.store(out_ptr, tl.argmax(x, 0))


def test_beside_a_nan_the_second_is_taken_as_threads_come_by_it() -> None:
    """Two warps of 32 lanes as PTX for sm_90 has it: butterflies of 16, 8, 4, 2, 1, then one of the two warps."""
    shares = Shares.along(0, (64,), [], [[1], [2], [4], [8], [16]], [[32]])
    assert shares is not None
    generator, seen = np.random.default_rng(0), 0
    for _ in range(20):
        x = generator.standard_normal(64).astype(np.float32)
        x[generator.permutation(64)[:6]] = np.nan
        with lab.record() as launches:
            greatest_kernel[(1,)](torch.from_numpy(x), torch.zeros(1, dtype=torch.int32), B=64)
        (launch,) = launches
        (op,) = (op for op in launch.executable.plan.walk() if op.name == "tt.reduce")
        found = under(launch, in_order_of({op.index: shares}, False))["out_ptr"][0]
        lanes = list(zip(x.tolist(), range(64), strict=True))

        def butterfly(held: list[tuple[float, int]]) -> tuple[float, int]:
            while half := len(held) // 2:
                both = zip(held[:half], held[half:], strict=True)
                held = [a if a[0] > b[0] or (a[0] == b[0] and a[1] < b[1]) else b for a, b in both]
            return held[0]

        assert found == butterfly([butterfly(lanes[:32]), butterfly(lanes[32:])])[1]
        seen += found != of_launch(launch).arrays["out_ptr"][0]
    assert seen


@triton.jit
def remainder_kernel(x_ptr, y_ptr, out_ptr, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(out_ptr + lane, tl.load(x_ptr + lane) % tl.load(y_ptr + lane))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_remainder_of_a_gpu_is_what_the_quotient_cut_leaves(kind: type[np.floating]) -> None:
    """Against fractions; the exact remainder where the quotient is small, and an H100's numbers where it is not."""
    generator = np.random.default_rng(0)
    x, y = (generator.standard_normal(128) * 2.0 ** generator.integers(-12, 12, 128) for _ in range(2))
    known = [(5.498e4, -0.0324), (1.436406e9, 5.626656e-39), (3.0, np.inf), (np.inf, np.inf)]
    x, y = (np.append(one, [pair[k] for pair in known])[-128:].astype(kind) for k, one in enumerate((x, y)))
    with lab.record() as launches:
        remainder_kernel[(1,)](
            torch.from_numpy(x), torch.from_numpy(y), torch.zeros(128, dtype=torch.from_numpy(x).dtype), B=128
        )
    (launch,) = launches
    with np.errstate(all="ignore"):
        assert np.array_equal(of_launch(launch).arrays["out_ptr"], np.fmod(x, y), equal_nan=True)
        made = with_ways_of_a_gpu(launch, "remainder of the GPU")
        found = of_launch(made).arrays["out_ptr"]
        quotients = x / y
    for a, b, quotient, got in zip(x[:-3], y[:-3], quotients, found, strict=False):
        left = Fraction(float(a)) - Fraction(int(quotient)) * Fraction(float(b))
        assert got == kind(float(left))
    assert found[-2] == 3.0 and found[-1] == np.inf
    assert np.isneginf(found[-3]) or kind is np.float64


@triton.jit
def cast_kernel(x_ptr, out_ptr, B: tl.constexpr):
    lane = tl.arange(0, B)
    tl.store(out_ptr + lane, tl.load(x_ptr + lane).to(tl.uint8))


def test_of_two_bytes_in_one_register_the_first_spills_into_the_second() -> None:
    """As an H100 made of them: 918 is 3 * 256 + 150, and 5 | 3 is 7."""
    x = torch.tensor([918.1, 5.0, 539.0, 205.0, 256.0, 0.0, 12.0, 255.0] * 32)
    with lab.record() as launches:
        cast_kernel[(1,)](x, torch.zeros(256, dtype=torch.uint8), B=256)
    made = with_ways_of_a_gpu(launches[0], "pairs of bytes as a GPU casts them")
    assert of_launch(made).arrays["out_ptr"][:8].tolist() == [150, 7, 27, 207, 0, 1, 12, 255]
    assert "changes its neighbour" in lab.compare(made).cause
    with lab.record() as launches:  # four to a thread do not spill
        cast_kernel[(1,)](x.repeat(2), torch.zeros(512, dtype=torch.uint8), B=512)
    with pytest.raises(KeyError):
        with_ways_of_a_gpu(launches[0], "pairs of bytes as a GPU casts them")


@triton.jit
def added_tiles(a_ptr, out_ptr, S: tl.constexpr, USED: tl.constexpr):
    at = tl.arange(0, S)[:, None] * S + tl.arange(0, S)[None, :]
    a = tl.load(a_ptr + at)
    product = tl.dot(a, a)
    total = a + product
    if USED:
        total += tl.dot(a, product)
    tl.store(out_ptr + at, total)


@pytest.mark.parametrize("used", [False, True])
def test_what_the_product_of_tiles_is_added_to_becomes_its_accumulator(used: bool) -> None:
    """But not where the product is used by others, too."""
    a = torch.arange(S * S, dtype=torch.float32).reshape(S, S) % 7
    with lab.record() as launches:
        added_tiles[(1,)](a, torch.zeros(S, S), S=S, USED=used)
    plan = launches[0].executable.plan
    other = accumulated(plan)
    verify(other)
    names = [[op.name for op in one.walk()] for one in (plan, other)]
    assert names[0].count("arith.addf") - names[1].count("arith.addf") == 1
    assert names[0].count("tt.dot") == names[1].count("tt.dot") == 1 + used
    memory = replay(launches[0], executable=Executable.of(other))
    found = read(memory, launches[0].argument("out_ptr"))
    assert np.array_equal(found, of_launch(launches[0]).arrays["out_ptr"])
    assert accumulated(other) is other
