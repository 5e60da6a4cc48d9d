"""Predicted times: traffic and cycles against counts by hand, and what must be faster than what."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.compiled.cost.gpu_timing import TIMINGS, timing
from triton_lab.compiled.cost.predicted_time import TimeModel, footprint
from triton_lab.compiled.cost.warp_timeline import critical_cycles
from triton_lab.compiled.transactions.ptx_parser import Ptx
from triton_lab.examples.matmul import matmul
from triton_lab.ir import effects
from triton_lab.launch.launch import Launch

N = 1 << 18


@triton.jit
def strided(x_ptr, y_ptr, STEP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets * STEP))


@triton.jit
def shared_weights(x_ptr, w_ptr, y_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    offsets = tl.program_id(0) * BLOCK + lanes
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets) * tl.load(w_ptr + lanes))


@triton.jit
def one_total(x_ptr, total_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total_ptr, tl.sum(tl.load(x_ptr + offsets)))


def recorded(run) -> Launch:
    with lab.record() as launches:
        run()
    return launches[-1]


def model(launch: Launch, **options) -> TimeModel:
    writing = {op.index for op in launch.executable.plan.walk() if effects.writes(op)}
    return TimeModel(launch.compile("sm_90", **options).cost, footprint(launch.accesses, writing))


def strided_model(step: int) -> TimeModel:
    x, y = torch.zeros(N * step), torch.zeros(N)
    return model(recorded(lambda: strided[(N // 1024,)](x, y, STEP=step, BLOCK=1024)))


@pytest.mark.parametrize(("step", "sectors"), [(1, N * 4 // 32), (2, N * 8 // 32), (8, N), (32, N)])
def test_dram_moves_the_sectors_of_each_element_once(step, sectors):
    found = strided_model(step)
    assert found.footprint.read == sectors * 32 and found.footprint.written == N * 4
    assert found._dram == found.footprint.bytes
    assert found.predicted().parts["dram"] == pytest.approx(found.footprint.bytes / 3350e9)


def test_the_wider_the_stride_the_longer_it_takes():
    seconds = [strided_model(step).predicted().seconds for step in (1, 2, 8)]
    assert seconds == sorted(seconds) and seconds[2] > 1.5 * seconds[0]


def test_programs_of_a_multiprocessor_load_what_they_share_once():
    x, w, y = torch.zeros(N), torch.zeros(1024), torch.zeros(N)
    found = model(recorded(lambda: shared_weights[(N // 1024,)](x, w, y, BLOCK=1024)))
    per_program, shared = 4096, 4096
    assert found._at_once == 2  # 256 programs on 132 multiprocessors
    assert found._l2 == (per_program + shared / 2 + 4096) * (N // 1024)


def test_atomics_on_one_element_wait_for_each_other():
    x, total = torch.zeros(N), torch.zeros(1)
    few, many = (
        model(recorded(lambda block=block: one_total[(N // block,)](x, total, BLOCK=block)))._atomics
        for block in (4096, 128)
    )
    # An H100 adds 2^18 numbers to one element in 464 microseconds.
    assert many == 32 * few == pytest.approx(N // 128 * 464e-6 / 2**18 * timing("sm_90").clock, rel=0.02)


@triton.jit
def spread(out_ptr, COUNT: tl.constexpr, RUN: tl.constexpr, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + lanes // RUN % COUNT, tl.full((BLOCK,), 1.0, tl.float32))


@pytest.mark.parametrize(
    ("count", "run", "measured"), [(1, 1, 7364e-6), (4, 32, 7365e-6), (32, 1, 322e-6), (256, 1, 158e-6)]
)
def test_atomics_wait_about_as_long_as_on_an_h100(count, run, measured):
    """The times of 2^22 atomics, of which a sixteenth runs here; lines of memory share more or less of their way."""
    out = torch.zeros(count)
    found = model(recorded(lambda: spread[(N // 1024,)](out, COUNT=count, RUN=run, BLOCK=1024)))
    assert found._atomics / timing("sm_90").clock * 16 == pytest.approx(measured, rel=2.0)


def test_atomics_on_elements_that_no_two_programs_share_do_not_wait_for_the_grid():
    out = torch.zeros(N)
    found = model(recorded(lambda: spread[(N // 1024,)](out, COUNT=N, RUN=1, BLOCK=1024)))
    assert found._atomics <= 8 * timing("sm_90").atomic  # a line has four sectors, and two blocks may meet in it


@pytest.mark.parametrize("warps", [1, 4])
def test_small_programs_start_one_after_the_other(warps):
    """An H100 takes 162 microseconds for 2^18 programs of one warp or of four that do next to nothing."""
    x, y = torch.zeros(1 << 15), torch.zeros(1 << 15)
    found = model(recorded(lambda: strided[(1 << 10,)](x, y, STEP=1, BLOCK=32, num_warps=warps)), num_warps=warps)
    assert found.predicted().parts["starts"] * 2**8 == pytest.approx(162e-6, rel=0.05)


def test_a_product_takes_at_least_the_time_of_the_tensor_cores():
    a, b = torch.zeros(256, 128, dtype=torch.float16), torch.zeros(128, 192, dtype=torch.float16)
    found = model(recorded(lambda: matmul(a, b)))
    parts = found.predicted().parts
    assert parts["products"] >= 2 * 256 * 192 * 128 / 989.4e12
    assert found.predicted().seconds > max(parts.values())


def test_no_prediction_is_under_the_roof():
    found = strided_model(1)
    assert found.predicted().seconds > found.cost.roof("H100").seconds


PTX = """.visible .entry kernel()
{
	ld.global.b32 %r1, [%rd1];
	ld.global.b32 %r2, [%rd2];
	add.s32 %r3, %r1, %r2;
	st.global.b32 [%rd3], %r3;
	ret;
}
"""
CHAIN = PTX.replace("%rd2", "%r1")


def test_loads_that_are_issued_together_wait_together():
    together, chained = (critical_cycles(Ptx(text), lambda one: 1.0, 600.0) for text in (PTX, CHAIN))
    assert 600 < together < 700
    assert 1200 < chained < 1300


LOOP = """.visible .entry kernel()
{
$L1:
	ld.global.b32 %r1, [%rd1];
	add.s32 %r3, %r3, %r1;
	@%p1 bra $L1;
	ret;
}
"""


def test_a_loop_waits_in_each_round():
    cycles = critical_cycles(Ptx(LOOP), lambda one: 1.0 if one.opcode == "ret" else 100.0, 500.0)
    assert 100 * 500 < cycles < 100 * 520


@pytest.mark.parametrize(("target", "products"), [("sm_80", 1024), ("sm_90", 2048), ("sm_100", 4096)])
def test_multiprocessors_and_clock_are_those_of_the_peak_rate(target, products):
    """``products``: multiply-adds of float16 that a multiprocessor's tensor cores make in a cycle."""
    gpu = timing(target)
    assert gpu.multiprocessors * gpu.clock * products * 2 == pytest.approx(gpu.peaks.rate("float16"), rel=0.05)


def test_a_target_has_figures_or_is_refused():
    for target in TIMINGS:
        assert timing(target).peaks.target == target
    with pytest.raises(ValueError, match="gfx942"):
        timing("gfx942")
