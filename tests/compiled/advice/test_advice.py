"""Advice on a launch's speed: its figures against Triton's compiler and counts by hand, its results against torch."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.backend.targets.gpu_timer import Time
from triton_lab.compiled.advice import measured_edits
from triton_lab.compiled.advice.edit_search import _EditSearch
from triton_lab.compiled.advice.edited_launch import edited_launch
from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.compiled.advice.measured_edits import runner
from triton_lab.compiled.advice.result_check import ResultCheck
from triton_lab.compiled.advice.speed_advice import Advice, SpeedSuggestion, times
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, NEAR
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.shrinking.launch_case import LaunchCase

N = 1 << 20


@triton.jit
def cyclic(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid + tl.arange(0, BLOCK) * tl.num_programs(0)
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@triton.jit
def small_blocks(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2, mask=mask)


@triton.jit
def last_program_wins(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """The result depends on the size of blocks."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(y_ptr + tl.program_id(0), tl.sum(x), mask=tl.program_id(0) * BLOCK < n)


@triton.jit
def every_second(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(y_ptr + offsets, tl.load(x_ptr + 2 * offsets, mask=mask) + 1, mask=mask)


@triton.jit
def sums(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        total += tl.load(x_ptr + tl.program_id(0) * columns + start + tl.arange(0, BLOCK))
    tl.store(out_ptr + tl.program_id(0), tl.sum(total))


def recorded(run) -> Launch:
    with lab.record() as launches:
        run()
    return launches[-1]


@pytest.fixture(scope="module")
def small() -> tuple[Launch, Advice]:
    x, y = torch.randn(N), torch.empty(N)
    launch = recorded(lambda: small_blocks[(N // 32,)](x, y, N, BLOCK=32))
    return launch, launch.advise("sm_90", seconds=30)


def test_the_first_suggestion_has_the_resources_that_tritons_compiler_gives_it(small):
    _launch, advice = small
    first = advice[0]
    constants = {**{"BLOCK": 32}, **first.edit.constants}
    assert constants["BLOCK"] > 32 and first.results == EQUAL
    source = ASTSource(
        small_blocks,
        {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"},
        {(3,): constants["BLOCK"]},
        {(k,): [["tt.divisibility", 16]] for k in range(3)},
    )
    compiled = triton.compile(
        source, target=GPUTarget("cuda", 90, 32), options={"enable_fp_fusion": True, **first.edit.options}
    )
    theirs = lab.compile(
        small_blocks, "*fp32:16, *fp32:16, i32:16", {"BLOCK": constants["BLOCK"]}, "sm_90", **first.edit.options
    )
    assert first.after.shared == compiled.metadata.shared
    assert (first.after.registers, first.after.spills) == (theirs.metadata.registers, theirs.metadata.spills)
    assert first.after.registers is not None and first.before.registers is not None


def test_its_sectors_are_those_of_each_byte_once(small):
    _launch, advice = small
    assert advice[0].after.sectors == 2 * N * 4 // 32
    assert advice.original.sectors > advice[0].after.sectors, "four warps load what one could"


def test_the_suggested_kernel_gives_what_torch_gives(small):
    _launch, advice = small
    x, y = torch.randn(N), torch.zeros(N)
    for one in advice:
        y.zero_()
        one.kernel[one.grid](x, y, N, **{"BLOCK": 32, **one.edit.constants, **one.edit.options})
        assert torch.equal(y, x * 2), one.title


def test_suggestions_are_ordered_by_their_gain_and_none_is_slower(small):
    _launch, advice = small
    gains = [one.gain for one in advice]
    assert len(gains) > 1 and min(gains) > 1
    assert gains[0] == pytest.approx(max(gains), rel=0.05)


def test_the_launch_and_its_tensors_stay_as_they_are():
    x, y = torch.randn(N), torch.empty(N)
    launch = recorded(lambda: small_blocks[(N // 32,)](x, y, N, BLOCK=32))
    before, grid = y.clone(), launch.grid
    launch.advise(seconds=3)
    assert torch.equal(y, before) and launch.grid == grid and not launch.compilations


def test_an_order_that_coalesces_is_found_and_shown_as_a_diff():
    x, y = torch.randn(N), torch.empty(N)
    launch = recorded(lambda: cyclic[(N // 256,)](x, y, N, BLOCK=256))
    advice = launch.advise("sm_90", seconds=20)
    first = advice[0]
    assert "-    offsets = pid + tl.arange(0, BLOCK) * tl.num_programs(0)" in first.diff
    assert "+    offsets = pid * BLOCK + tl.arange(0, BLOCK)" in first.diff
    assert first.line is not None and "offsets = pid" in launch.source.splitlines()[first.line - launch.first_line]
    assert advice.original.sectors == 8 * first.after.sectors
    assert first.results == EQUAL
    y.zero_()
    first.kernel[first.grid](x, y, N, **{"BLOCK": 256, **first.edit.constants, **first.edit.options})
    assert torch.equal(x, y)


def test_an_edit_whose_results_differ_is_dropped_and_counted():
    x, y = torch.randn(N), torch.zeros(N)
    launch = recorded(lambda: last_program_wins[(N // 32,)](x, y, N, BLOCK=32))
    advice = launch.advise("sm_90", seconds=20)
    assert all("BLOCK" not in one.edit.constants for one in advice)
    assert any("BLOCK" in one.title for one in advice.dropped)
    assert advice.notes[0].startswith(str(len(advice.dropped)))


def test_another_order_of_a_sum_is_equal_up_to_rounding_and_another_sum_is_not():
    x, out = torch.randn(64, 512), torch.empty(64)
    launch = recorded(lambda: sums[(64,)](x, out, 512, BLOCK=32))
    check = ResultCheck(launch, 30)
    search = _EditSearch(launch, "sm_90", 30)
    search._begin()
    search._try([LaunchEdit({"BLOCK": 256})])
    assert check.verdict(search.known[0].launch, 30) == EQUAL
    assert check.verdict(search.known[1].launch, 30) == NEAR
    wrong = search.scope.text.replace("range(0, columns, BLOCK)", "range(BLOCK, columns, BLOCK)")
    search._try([LaunchEdit(text=wrong)])
    assert check.verdict(search.known[2].launch, 30) == DIFFERENT


def test_figures_of_some_programs_stand_for_all_of_them():
    x, y = torch.randn(N), torch.empty(N)
    launch = recorded(lambda: small_blocks[(N // 64,)](x, y, N, BLOCK=64))
    search = _EditSearch(launch, "sm_90", 30)
    search._begin()
    whole = launch.compile("sm_90").transactions
    assert search.known[0].figures.sectors == sum(one.sectors for one in whole.transfers)
    assert search.known[0].figures.requests == sum(one.requests for one in whole.transfers)


@pytest.mark.parametrize("size", [1000, (1 << 22) + 8])
def test_what_is_measured_runs_on_tensors_of_its_own_that_hold_the_same(size):
    """Of every second element of x: the strides stay, and large tensors are not left empty."""
    x, y = torch.randn(2 * size)[::2], torch.zeros(size)
    launch = recorded(lambda: every_second[(triton.cdiv(size, 512),)](x, y, size, BLOCK=512))
    edit = LaunchEdit({"BLOCK": 1024}, {"num_warps": 8}, (triton.cdiv(size, 1024), 1, 1))
    found = runner(launch, LaunchCase.of(launch), None, "cpu")
    assert found.arguments[0].stride() == (2,) and torch.equal(found.arguments[0], x)
    assert found.arguments[0].data_ptr() != x.data_ptr()
    found()
    assert torch.equal(found.arguments[1], x + 1)
    found.restore()
    assert not found.arguments[1].any()
    tried = SpeedSuggestion(edit, None, None, EQUAL, edited_launch(launch, edit, 4), "")  # type: ignore[arg-type]
    again = runner(launch, LaunchCase.of(launch), tried, "cpu")
    again()
    assert torch.equal(again.arguments[1], x + 1)


def test_measured_suggestions_are_ordered_by_their_times_and_slower_ones_dropped(small, monkeypatch):
    _launch, advice = small
    times_of = iter([8e-6, 4e-6, 2e-6, 9e-6])
    monkeypatch.setattr(measured_edits, "_time", lambda run: Time.of([next(times_of)]))
    monkeypatch.setattr(measured_edits, "runner", lambda *given: None)
    first, second, third, *_rest = advice
    found = measured_edits.with_times(replace(advice, suggestions=(first, second, third)))
    assert [one.title for one in found] == [second.title, first.title]
    assert [one.measured_gain for one in found] == pytest.approx([4, 2])
    assert found.is_measured and found.dropped[-1].title == third.title


def test_without_a_gpu_asking_for_measurements_says_so(small):
    with pytest.raises(lab.TargetError):
        small[0].advise(seconds=1, measure=True)


def test_as_data_it_is_json_and_in_words_it_has_a_headline(small, wording: Wording):
    _launch, advice = small
    data = json.loads(json.dumps(advice.as_dicts()))
    assert [row["edit"] for row in data] == [one.title for one in advice]
    assert data[0]["predicted_gain"] == pytest.approx(data[0]["predicted_before"] / data[0]["predicted_after"])
    wording(repr(advice), kernel="small_blocks", edit=advice[0].title, gain=times(advice[0].gain))
    assert "\n" not in repr(advice)
    assert str(advice).startswith(advice.headline)
    assert len(list(advice.rows())) == len(advice) + 2


def test_a_launch_that_stopped_gets_no_advice(wording: Wording):
    x, y = torch.randn(64), torch.empty(64)
    with lab.record() as launches, pytest.raises(KernelError):
        small_blocks[(4,)](x, y, 1 << 12, BLOCK=64)
    with wording.raises(CannotReplay):
        launches[-1].advise()


def test_a_target_whose_speeds_are_not_known_is_refused(small, wording: Wording):
    with wording.raises(ValueError, target="gfx942"):
        small[0].advise("gfx942")


def test_the_time_is_bounded(small):
    launch, _advice = small
    advice = launch.advise("sm_90", seconds=0)
    assert not advice.tried and any("more seconds" in note for note in advice.left)
