"""Differences that were planted, and whether their cause is named: the GPU's side is what the interpreter made of a
switch, so that no GPU is needed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.launch.comparison.kernels import (
    added_up,
    as_of_a_gpu,
    copied,
    exponential,
    overlapping,
    quotient,
    recorded,
    row_sum,
    scale_and_shift,
    tile_product,
    with_ways_of_a_gpu,
)
from tests.wordings import Wording
from triton_lab.examples import example
from triton_lab.examples.layer_norm import layer_norm_backward_kernel
from triton_lab.interpreter.bound_plan import Executable
from triton_lab.interpreter.op_registry import Implementation
from triton_lab.interpreter.variants import arithmetic_variants
from triton_lab.launch.comparison import numerics
from triton_lab.launch.comparison.argument_difference import EQUAL, NEAR
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.experiment import Experiment
from triton_lab.launch.comparison.gpu_ways import emulations
from triton_lab.launch.comparison.launch_results import of_launch, read
from triton_lab.launch.comparison.numerics import in_threads
from triton_lab.launch.launch import Launch
from triton_lab.launch.replay.replay_run import replay
from triton_lab.views.launch.gallery import launches_of


def randn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def product(seed: int, acc: Any = tl.float32, dtype: torch.dtype = torch.float32) -> Launch:
    a, b = randn(16, 64, seed=seed).to(dtype), randn(64, 16, seed=seed + 100).to(dtype)
    return recorded(lambda: tile_product[(1,)](a, b, torch.empty(16, 16), 64, N=16, BLOCK_K=16, ACC=acc))


def fma(seed: int) -> Launch:
    x, y = randn(256, seed=seed), randn(256, seed=seed + 100)
    return recorded(lambda: scale_and_shift[(2,)](x, y, torch.empty(256), 256, BLOCK=128))


def exp(seed: int) -> Launch:
    x = randn(256, seed=seed) * 10
    return recorded(lambda: exponential[(2,)](x, torch.empty(256), BLOCK=128))


def sums(seed: int) -> Launch:
    x = randn(8, 128, seed=seed)
    return recorded(lambda: row_sum[(8,)](x, torch.empty(8), 128, BLOCK=128))


def ratio(seed: int) -> Launch:
    x, y = randn(256, seed=seed), randn(256, seed=seed + 100)
    return recorded(lambda: quotient[(2,)](x, y, torch.empty(256), BLOCK=128))


def by_table(table: arithmetic_variants.Table) -> Callable[[Launch], Launch]:
    return lambda launch: as_of_a_gpu(launch, table)


def by_ways(*names: str) -> Callable[[Launch], Launch]:
    return lambda launch: with_ways_of_a_gpu(launch, *names)


PLANTED: dict[str, tuple[Callable[[int], Launch], Callable[[Launch], Launch]]] = {
    "tf32 inputs of tl.dot": (product, by_table(arithmetic_variants.tf32(nearest=True))),
    "tf32 inputs of tl.dot, cut and added up as tensor cores do": (product, by_ways("dots of the GPU")),
    "fused multiply-add": (fma, by_ways("fused multiply-add")),
    "the GPU's exp": (exp, by_ways("exp of the GPU")),
    "the GPU's division": (ratio, by_ways("division of the GPU")),
    "the order of summation": (sums, by_table(arithmetic_variants.ORDERS["last to first"])),
    "the rounding of sums": (sums, by_table(arithmetic_variants.WIDE_SUMS)),
}


IN_THREADS = "sums as threads of a GPU do"


@pytest.mark.parametrize("pairs", [False, True])
def test_the_order_in_which_threads_sum_is_named(pairs: bool) -> None:
    launch = recorded(lambda: row_sum[(8,)](randn(8, 1024, seed=0), torch.empty(8), 1024, BLOCK=1024))
    assert [switch.name for switch in in_threads(sums(0))] == [IN_THREADS]
    named = {switch.name: switch for switch in in_threads(launch)}
    switch = named[f"{IN_THREADS}, in pairs" if pairs else IN_THREADS]
    comparison = lab.compare(as_of_a_gpu(launch, switch.table))
    assert comparison.verdict == NEAR
    assert any(one.removes and one.name.startswith(IN_THREADS) for one in comparison.causes().experiments)


def test_where_the_layout_is_not_known_that_is_said(monkeypatch: pytest.MonkeyPatch, wording: Wording) -> None:
    reason = "row_sum: no such layout"

    def fails(*_: Any) -> Any:
        raise RuntimeError(reason)

    monkeypatch.setattr("triton_lab.compiled.sm90_kernels.reduced_of", fails)
    comparison = lab.compare(as_of_a_gpu(sums(0), arithmetic_variants.ORDERS["last to first"]))
    wording(comparison.cause.partition(":")[0])
    assert reason in [one.failed for one in comparison.causes().experiments]


@pytest.mark.parametrize("cause", PLANTED)
def test_the_cause_of_a_planted_difference_is_named(cause: str) -> None:
    make, planted = PLANTED[cause]
    right, made = 0, 0
    for seed in range(5):
        launch = planted(make(seed))
        comparison = lab.compare(launch)
        if comparison.verdict == EQUAL:
            continue  # nothing was planted
        made += 1
        assert comparison.verdict == NEAR
        right += comparison.cause.startswith(f"{cause}: ")
    assert made >= 2 and right == made, (right, made)


@pytest.fixture
def unknown_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Triton compiles no function for sm_90, so its bits there are not known."""

    def refused(*_: Any) -> Any:
        raise RuntimeError("it does not compile for sm_90")

    monkeypatch.setattr("triton_lab.compiled.sm90_kernels.ptx_of", refused)


def nudged(launch: Launch, ops: tuple[str, ...], ulps: int) -> Launch:
    """The launch as if a GPU had run it whose functions ``ops`` are off by up to ``ulps``, nobody knows where."""
    generator = np.random.default_rng(0)

    def nudging(name: str) -> Implementation:
        def run(frame: Any, op: Any, *operands: Any) -> Any:
            found = np.ascontiguousarray(arithmetic_variants.ordinary(name)(frame, op, *operands))
            return (found.view(np.int32) + generator.integers(-ulps, ulps + 1, found.shape, np.int32)).view(np.float32)

        return run

    return as_of_a_gpu(launch, {name: nudging(name) for name in ops})


@pytest.mark.parametrize(("make", "op", "name"), [(ratio, "arith.divf", "division"), (exp, "math.exp", "exp2")])
def test_a_documented_error_that_covers_the_difference_is_named(
    wording: Wording, make: Any, op: str, name: str, unknown_functions: None
) -> None:
    comparison = lab.compare(nudged(make(0), (op,), 2))
    last = comparison.causes().experiments[-1]
    assert last.documented and last.explains and (last.within, last.total) == (256, 256)
    equal = f"{last.equal} {'is' if last.equal == 1 else 'are'}"
    every = "256 of 256 elements"
    wording(comparison.cause, function=name, error="2 ulp", elements=every, side=last.side, equal=equal)


def test_a_documented_error_does_not_cover_more(unknown_functions: None) -> None:
    causes = lab.compare(nudged(ratio(0), ("arith.divf",), 9)).causes()
    assert not any(one.explains for one in causes.experiments) and "documented" not in causes.cause


def test_a_documented_error_explains_what_exact_emulations_leave(unknown_functions: None) -> None:
    launch = launches_of(example("layer_norm"))[0]
    kept = nudged(launch, ("math.sqrt", "tt.precise_sqrt", "math.rsqrt"), 1)
    causes = lab.compare(kept).causes()
    assert "approximate square root" in causes.cause and "(2 ulp)" in causes.cause
    assert any(one.documented and one.explains for one in causes.experiments)


def test_rows_are_counted_where_there_are_rows(wording: Wording) -> None:
    comparison = lab.compare(as_of_a_gpu(product(0), arithmetic_variants.tf32(nearest=True)))
    assert any(one.removes and one.rows == (16, 16) for one in comparison.causes().experiments)
    wording(comparison.cause.rpartition(": ")[2], change="tf32", side="tile_product (CPU)", rows="16 of 16 rows")
    assert comparison.titles == ("tile_product (GPU)", "tile_product (CPU)")


def test_two_causes_at_once_are_found_together() -> None:
    launch = launches_of(example("layer_norm"))[0]
    ways = ["fused multiply-add", "division of the GPU", "square root of the GPU"]
    cause = lab.compare(with_ways_of_a_gpu(launch, *ways)).cause
    assert cause.startswith("fused multiply-add, and ") and "division" in cause and "bit-equal" in cause


def test_the_dtype_of_an_accumulator_is_named(wording: Wording) -> None:
    low, high = (product(1, acc, torch.float16) for acc in (tl.float16, tl.float32))
    cause = lab.compare(low, high).cause
    found = re.search(r"\bacc on line (\d+) ", cause)
    assert found
    sides = {"here": "tile_product (CPU, a)", "there": "tile_product (CPU, b)"}
    wording(cause.split("; ")[1], name="acc", line=f"line {found[1]}", low="float16", high="float32", **sides)


def test_atomics_and_races_are_named(wording: Wording) -> None:
    x = randn(256, seed=0)
    launch = recorded(lambda: added_up[(8,)](x, torch.zeros(4), BLOCK=32))
    found = of_launch(launch).arrays["out_ptr"]
    other = np.nextafter(found, np.float32(np.inf))
    (named,) = lab.compare(launch, torch.from_numpy(other)).causes().named
    wording(named, line=f"line {next(one.line for one in launch.accesses if one.kind == 'atomic')}")
    racing = recorded(lambda: overlapping[(4,)](torch.zeros(64), BLOCK=32))
    assert "a race" in lab.compare(racing, torch.full((64,), 3.5)).cause


@triton.jit
def scaled_and_counted(x_ptr, out_ptr, total_ptr, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.store(out_ptr + at, x * 3.0, mask=at < n)
    tl.atomic_add(total_ptr, tl.sum(x))


def test_the_order_of_atomics_is_no_cause_of_what_else_is_wrong() -> None:
    x, out, total = randn(1000, seed=0), torch.zeros(1000), torch.zeros(1)
    launch = recorded(lambda: scaled_and_counted[(16,)](x, out, total, 1000, B=64))
    expected = {"out_ptr": 2 * x, "total_ptr": x.flip(0).cumsum(0)[-1:]}
    assert not torch.equal(expected["total_ptr"], total)
    causes = lab.compare(launch, expected).causes()
    line = next(one.line for one in launch.accesses if one.kind == "store")
    assert causes.named == ()
    assert [f"line {line}" in one.tried for one in causes.experiments if one.names_it] == [True]


@pytest.mark.parametrize(("off", "named"), [(1e-6, 1), (1e-3, 0), (0.05, 0)])
def test_the_order_of_few_atomics_explains_no_more_than_their_rounding(off: float, named: int) -> None:
    x = randn(256, seed=0).abs()
    launch = recorded(lambda: added_up[(8,)](x, torch.zeros(4), BLOCK=32))
    other = of_launch(launch).arrays["out_ptr"] * np.float32(1 + off)
    assert len(lab.compare(launch, torch.from_numpy(other)).causes().named) == named


def test_sums_that_programs_add_to_under_a_lock_are_named(wording: Wording) -> None:
    """As an H100 differed: partial_dbias of 95 of 1,600 elements, by 4.77e-07 at most."""
    each = example("layer_norm_backward")
    backward = launches_of(each)[0]
    found = of_launch(backward).arrays["partial_dbias_ptr"]
    other = torch.from_numpy(np.nextafter(found, np.float32(np.inf)))
    (named, *_rest) = lab.compare(backward, {"partial_dbias_ptr": other}).causes().named
    line = layer_norm_backward_kernel.starting_line_number + 38
    wording(named, line=f"line {line}")
    alone = launches_of(example("layer_norm"))[0]
    zeros = torch.from_numpy(np.zeros_like(of_launch(alone).arrays["y_ptr"]))
    assert not lab.compare(alone, {"y_ptr": zeros}).causes().named


def test_reads_of_unwritten_memory_are_named(wording: Wording) -> None:
    def run() -> None:
        copied[(1,)](torch.empty(64), torch.zeros(64), BLOCK=64, SHIFT=0)

    launch = recorded(run)
    (named,) = lab.compare(launch, torch.zeros(64)).causes().named
    wording(named, line=f"line {launch.accesses[0].line}")


@triton.jit
def greatest_place(x_ptr, at_ptr, N: tl.constexpr):
    tl.store(at_ptr, tl.argmax(tl.load(x_ptr + tl.arange(0, N)), 0))


@pytest.mark.parametrize("strange", [float("nan"), float("inf")])
def test_a_nan_beside_which_the_order_decides_is_named(strange: float, wording: Wording) -> None:
    x = torch.tensor([0.5, strange, 2.0, 1.0])
    launch = recorded(lambda: greatest_place[(1,)](x, torch.empty(1, dtype=torch.int32), N=4))
    named = lab.compare(launch, torch.tensor([3], dtype=torch.int32)).causes().named
    assert bool(named) == (strange != strange)
    for cause in named:
        wording(cause, line=f"line {launch.accesses[-1].line}")


def test_that_nothing_was_found_is_said(wording: Wording) -> None:
    comparison = lab.compare(sums(0), torch.arange(8.0).sin())
    assert not comparison.causes().known
    wording(comparison.cause)
    assert all(row[-1] == "no" for row in comparison.causes().table())
    wording(lab.compare(sums(0), sums(0)).cause, "equal")


def test_where_rounding_explains_all_nothing_is_missing(wording: Wording) -> None:
    @triton.jit
    def softmax(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * n + tl.arange(0, BLOCK)
        inside = tl.arange(0, BLOCK) < n
        part = tl.exp(tl.load(x_ptr + at, mask=inside, other=float("-inf")))
        tl.store(out_ptr + at, part / tl.sum(part, axis=0), mask=inside)

    x = torch.randn(16, 20, generator=torch.Generator().manual_seed(1)) * 3
    comparison = lab.compare(recorded(lambda: softmax[(16,)](x, torch.zeros(16, 20), 20, BLOCK=32)), x.softmax(1))
    assert comparison.verdict == NEAR and not comparison.causes().known
    wording(comparison.cause)


def test_where_nothing_can_be_tried_that_is_said(wording: Wording) -> None:
    on_gpu = as_of_a_gpu(product(0), arithmetic_variants.tf32(nearest=True))
    large = replace(on_gpu, snapshot=replace(on_gpu.snapshot, regions=(), missing="too large"))  # type: ignore[type-var]
    causes = lab.compare(large, torch.zeros(16, 16)).causes()
    (one,) = causes.experiments
    assert one.failed == "too large" and not causes.known
    wording(causes.cause)
    # Its masks and strides can be, on the CPU.
    causes = lab.compare(on_gpu, torch.zeros(16, 16)).causes()
    assert causes.experiments and not causes.known


def test_results_of_a_gpu_need_no_memory_of_before(wording: Wording) -> None:
    kept = as_of_a_gpu(product(0), arithmetic_variants.tf32(nearest=True))
    large = replace(kept, snapshot=replace(kept.snapshot, regions=(), missing="too large"))  # type: ignore[type-var]
    comparison = lab.compare(large)
    assert comparison["out_ptr"].count == lab.compare(kept)["out_ptr"].count
    (unknown,) = [line for line in comparison.text().split("\n") if line.endswith(": too large")]
    wording(unknown, why="too large")
    assert "too large" in [one.failed for one in comparison.causes().experiments]


def test_an_experiment_that_cannot_be_made_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise ValueError("failed")

    monkeypatch.setitem(arithmetic_variants.WIDE_SUMS, "tt.reduce", fails)  # type: ignore[arg-type]
    causes = lab.compare(sums(0), torch.arange(8.0).sin()).causes()
    assert [one.failed for one in causes.experiments if one.failed] == ["tt.reduce: ValueError: failed"]


def test_the_interpreter_itself_is_left_as_it_was() -> None:
    launch = as_of_a_gpu(product(0), arithmetic_variants.tf32(nearest=True))
    before = of_launch(launch, "cpu").arrays["out_ptr"]
    lab.compare(launch).causes()
    assert np.array_equal(of_launch(launch, "cpu").arrays["out_ptr"], before)


def test_the_experiments_are_in_the_picture() -> None:
    comparison = lab.compare(as_of_a_gpu(fma(0), {}, True))
    scene = comparison.plot().scene()
    assert [row[0] for row in scene["causes"]][:1] == ["fused multiply-add"]
    assert scene["cause"].startswith("cause: fused multiply-add")


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "matmul_float32", "attention_causal", "split_k_matmul"])
def test_whatever_is_lawful_stays_within_the_bounds(name: str) -> None:
    launch = launches_of(example(name))[0]
    plan, results, bound = launch.executable.plan, of_launch(launch), bounds(launch)
    tables = [
        arithmetic_variants.tf32(True),
        *arithmetic_variants.ORDERS.values(),
        arithmetic_variants.WIDE_SUMS,
    ]
    ways = [one.executable(launch) for one in emulations(launch)]
    for executable in [*ways, *(Executable.of(plan, table) for table in tables)]:
        memory = replay(launch, executable=executable)
        for written in results.written:
            made = read(memory, launch.argument(written)).astype(np.float64)
            assert (np.abs(made - results.arrays[written].astype(np.float64)) <= bound[written].size).all()
    exact, wide = (
        replay(launch, executable=Executable.of(plan, arithmetic_variants.THROUGHOUT)),
        bounds(launch, same=False),
    )
    for written in results.written:
        made = read(exact, launch.argument(written)).astype(np.float64)
        assert (np.abs(made - results.arrays[written].astype(np.float64)) <= wide[written].size).all()


def test_what_leaves_the_same_nan_does_not_help() -> None:
    experiment = Experiment("sums", "order", "a", 480, 486, 1300, None, np.inf, ulps_before=np.inf)
    assert experiment.answer == "no"
    assert replace(experiment, ulps=66.0).answer == "most of it"
    assert replace(experiment, equal=1200).answer == "most of it"


def test_rounding_is_tried_only_where_there_are_floats() -> None:
    @triton.jit
    def counted(out_ptr, BLOCK: tl.constexpr):
        tl.store(out_ptr + tl.arange(0, BLOCK), tl.arange(0, BLOCK) * 3)

    whole = recorded(lambda: counted[(1,)](torch.zeros(8, dtype=torch.int32), BLOCK=8))
    assert [one.name for one in numerics.roundings(whole.executable.plan)] == []
    assert "all in float64" in [one.name for one in numerics.roundings(fma(0).executable.plan)]


def test_orders_of_summation_are_tried_only_where_floats_are_summed() -> None:
    def orders(launch: Launch) -> list[str]:
        return [one.name for one in numerics.roundings(launch.executable.plan) if one.name.startswith("sums ")]

    assert len(orders(sums(0))) > 1 and orders(fma(0)) == []
