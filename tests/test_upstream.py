"""The report about Triton's own tests, from a small file in pytest's format."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import upstream
from tests.upstream_reasons import FAILURES, SKIPS, Case, reason_of
from tests.wordings import Wording, line_of

REPORT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest">
<testcase classname="" name="unit.language.test_random">
  <error message="collection failure">test_random.py:3: in &lt;module&gt;
    import scipy.stats
E   ModuleNotFoundError: No module named 'scipy'</error></testcase>
<testcase classname="unit.language.test_core" name="test_add[int32]"/>
<testcase classname="unit.language.test_core" name="test_assume[1]">
  <failure message="KeyError: &quot;Unknown key: 'llir'&quot;">E   KeyError</failure></testcase>
<testcase classname="unit.language.test_core" name="test_assume[2]">
  <failure message="KeyError: &quot;Unknown key: 'llir'&quot;">E   KeyError</failure></testcase>
<testcase classname="unit.language.test_core" name="test_sum[16-float32]">
  <failure message="AssertionError: &#10;Not equal to tolerance rtol=0.01">E   AssertionError</failure></testcase>
<testcase classname="unit.language.test_core" name="test_inline_asm">
  <skipped type="pytest.skip" message="test_inline_asm is only supported in CUDA">here</skipped></testcase>
<testcase classname="unit.language.test_core" name="test_later">
  <skipped type="pytest.xfail" message="known"/></testcase>
<testcase classname="unit.language.test_mxfp.TestMXFP4Tensor" name="test_roundtrip[64-128]"/>
<testcase classname="unit.language.test_subprocess" name="test_print[print_no_arg-int32]">
  <failure message="assert False&#10; +  where False = all(...)">E   assert False</failure>
  <system-out>Expected line "pid (0, 0, 0) no arg" 128 time(s), but saw 1 time(s)</system-out></testcase>
</testsuite></testsuites>
"""


@pytest.fixture
def told(tmp_path: Path) -> upstream.Run:
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    present = ("test_core", "test_mxfp", "test_pipeliner", "test_random", "test_subprocess")
    return upstream.Run("v0.0.1", present, ("-k", "not slow"), upstream.cases(report))


def test_outcomes_are_counted_by_file_whatever_class_a_test_is_in(told: upstream.Run) -> None:
    found = upstream.counts(told.cases)
    assert {file: tuple(outcomes[outcome] for outcome in upstream.OUTCOMES) for file, outcomes in found.items()} == {
        "test_core": (1, 2, 3),
        "test_mxfp": (1, 0, 0),
        "test_random": (0, 0, 1),
        "test_subprocess": (0, 0, 1),
    }


def test_failures_are_grouped_by_reason_and_what_none_explains_comes_last(told: upstream.Run, wording: Wording) -> None:
    found = upstream.explained(told.cases, "failed")
    assert [(len(cases), reason is None) for reason, cases in found] == [(2, False), (1, False), (1, False), (1, True)]
    assert [cases[0].name for _, cases in found] == [
        "test_core::test_assume[1]",
        "test_random::(the whole file)",
        "test_subprocess::test_print[print_no_arg-int32]",
        "test_core::test_sum[16-float32]",
    ]
    for reason, _ in found[:-1]:
        wording(reason.name)


def test_the_page_says_which_files_were_run_and_at_which_commit(told: upstream.Run, wording: Wording) -> None:
    text = upstream.page(told)
    assert "v0.0.1, run with Triton" in text
    sentences = re.split(r"(?<=[.:])\s+", text)
    wording(next(one for one in sentences if "not at the tag" in one), "tag")
    wording(line_of(text, "test_pipeliner"), "no test", files=5, file="test_pipeliner")
    assert "pytest was told `-k not slow`" in text
    assert "| test_core | 1 | 2 | 3 |" in text
    assert "| **total** | 2 | 2 | 5 |" in text


def test_the_page_lists_functions_below_reasons_and_messages_where_there_is_none(told: upstream.Run) -> None:
    text = upstream.page(told)
    assert "or cubin (2)\n" in text and "- `test_core::test_assume` (2)\n" in text
    assert "## Failed: not explained (1)\n\n- `test_core::test_sum[16-float32]`: `AssertionError:" in text
    skipped = [reason.name for reason, _ in upstream.explained(told.cases, "skipped") if reason]
    assert len(skipped) == 2 and all(f"## Skipped: {name} (1)\n" in text for name in skipped)


def test_the_terminal_gets_the_same_counts_and_the_names_of_what_is_not_explained(told: upstream.Run) -> None:
    text = upstream.summary(told)
    reason, cases = upstream.explained(told.cases, "failed")[0]
    assert f"{len(cases):8}  {reason.name}" in text and len(cases) == 2
    assert "test_core::test_sum[16-float32]: AssertionError:" in text


# What tests said on the CPU target, with Triton 3.9 and torch for the CPU: function, message, trace.
SAID = {
    "runs inline PTX": (
        "test_inline_asm",
        "triton_lab.interpreter.kernel_errors.Unsupported: the CPU target cannot run the operation "
        "tt.elementwise_inline_asm",
        "",
    ),
    "runs an operation of the GPU dialects": (
        "test_barrier",
        "triton_lab.interpreter.kernel_errors.Unsupported: the CPU target cannot run the operation ttg.barrier",
        "",
    ),
    "reads what the GPU compiler made: TTGIR, LLVM IR, PTX or cubin": (
        "test_assume",
        "KeyError: \"Unknown key: 'cubin'\"",
        "",
    ),
    "starts from TTGIR, LLVM IR or PTX": ("test_store_op", "ValueError: 'ttgir' is not in list", ""),
    "takes the CPU for a device that refuses its tensors": (
        "test_pointer_arguments",
        "Failed: DID NOT RAISE ValueError",
        "",
    ),
    "asks torch for a CUDA device": (
        "test_zero_strided_tensors",
        "TypeError: '<' not supported between instances of 'NoneType' and 'int'",
        "test_core.py:9: in test_zero_strided_tensors\n    with torch.cuda.device(x.device.index):\n"
        "/lib/torch/cuda/__init__.py:139: in _exchange_device\n    if device < 0:\nE   TypeError",
    ),
    "uses a number type that no NVIDIA GPU has": (
        "test_typeconvert_upcast",
        'triton.compiler.errors.CompilationError: \nValueError("type fp8e4b8 not supported in this architecture.")',
        "",
    ),
    "does arithmetic that sm_90 refuses": (
        "test_mul",
        "triton_lab.backend.targets.sm90_limits.Refused: a multiplication in tl.float8e5, which a GPU of sm_90 "
        "does not have",
        "",
    ),
    "takes a target that is not `cuda` for one with fewer fp8 types": (
        "test_fp8_support",
        "Failed: DID NOT RAISE CompilationError",
        "",
    ),
    "counts what every thread of a GPU prints": (
        "test_print",
        "assert False\n +  where False = all(<generator object>)",
        'Expected line "pid (0, 0, 0) idx () x: 42.000000" 128 time(s), but saw 1 time(s)',
    ),
    "stores past the end of its tensor": (
        "test_int_annotation",
        "triton_lab.interpreter.kernel_errors.KernelError: store out of bounds: touches element 3 of 'X', "
        "whose storage ends after element 0",
        "",
    ),
    "looks for an optimisation in TTIR": ("test_unroll_attr", "assert 1 <= 0", "in check_loop_unroll_count"),
    "needs a Python package that is not installed": (
        "(the whole file)",
        "collection failure",
        "E   ModuleNotFoundError: No module named 'scipy'",
    ),
}


@pytest.mark.parametrize("name", dict.fromkeys(reason.name for reason in FAILURES))
def test_each_reason_is_recognised_by_what_a_test_said(name: str) -> None:
    reason = reason_of(Case("test_x", SAID[name][0], "", "failed", *SAID[name][1:]))
    assert reason is not None and reason.name == name


@pytest.mark.parametrize(
    ("function", "message", "trace"),
    [
        ("test_sum", "AssertionError: \nNot equal to tolerance rtol=0.01, atol=0", ""),
        ("test_sum", "AssertionError: Tensor-likes are not close!", ""),
        ("test_if", "assert False", ""),
        ("test_print", "assert False", 'Expected line "pid (0, 0, 0) idx (  3) x: 3" 1 time(s), but saw 0 time(s)'),
        ("test_const", "triton_lab.ir.parse.ParseError: unknown type 'f32, \"constant\"'", ""),
        (
            "test_load",
            "triton_lab.interpreter.kernel_errors.KernelError: load out of bounds: touches element 3 of 'X'",
            "",
        ),
        (
            "test_scan",
            "triton_lab.interpreter.kernel_errors.Unsupported: the CPU target cannot run the operation tt.scan",
            "",
        ),
        ("test_err", "Failed: DID NOT RAISE CompilationError", ""),
        ("test_asm", "KeyError: \"Unknown key: 'ttir'\"", ""),
        (
            "test_any",
            "TypeError: bad",
            "/lib/torch/cuda/__init__.py:139: in f\n/triton_lab/launch.py:3: in g\nE  TypeError",
        ),
        ("(the whole file)", "collection failure", "E   ModuleNotFoundError: No module named 'triton.tools.extra'"),
    ],
)
def test_what_may_be_our_fault_is_not_explained_away(function: str, message: str, trace: str) -> None:
    assert reason_of(Case("test_x", function, "", "failed", message, trace)) is None


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("Only for cuda or HIP", "for the targets `cuda` and `hip` alone"),
        ("Test only supported on CUDA and HIP", "for the targets `cuda` and `hip` alone"),
        ("small dots are supported only on HIP at the moment", "for AMD GPUs"),
        ("scaled_dot only implemented for CDNA3", "for AMD GPUs"),
        ("Requires Hopper or Blackwell", "for a certain NVIDIA GPU"),
        ("Requires compute capability >= 9", "for a certain NVIDIA GPU"),
        ("test_inline_asm is only supported in CUDA", "for NVIDIA GPUs"),
        ("requires cuda", "for NVIDIA GPUs"),
        ("interpreter is not enabled", "for Triton's own interpreter"),
        ("disassembler is not available", "needs a disassembler"),
        ("uses too much shared memory", "too large for the GPU"),
        ("expected to fail: known", "Triton marks it as one that fails"),
        ("CTAs is unsupported for these cards", "for clusters of programs"),
        ("Invalid last dim size", "a combination that Triton leaves out"),
        ("Skipped", "skipped without a word"),
    ],
)
def test_skips_are_told_by_what_triton_says(message: str, name: str) -> None:
    reason = reason_of(Case("test_x", "test_x", "", "skipped", message))
    assert reason is not None and reason.name == name


def test_every_reason_of_a_skip_has_a_case_above() -> None:
    cases = next(mark for mark in test_skips_are_told_by_what_triton_says.pytestmark if mark.name == "parametrize")
    assert {name for _, name in cases.args[1]} == {reason.name for reason in SKIPS}
