"""Coverage of kernels with branches of every kind, and how it reaches coverage.py's reports."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import coverage
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.testing.projects import run
from tests.wordings import Wording
from triton_lab.testing.coverage import coverage_data
from triton_lab.testing.coverage.coverage_data import Coverage, Covered
from triton_lab.testing.coverage.coverage_session import Following, write

pytest_plugins = ["pytester"]


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def scaled(x, DOUBLE: tl.constexpr):
    if DOUBLE:  # noqa: SIM108  # a branch is what this is about
        y = x * 2
    else:
        y = x * 3
    return y


@triton.jit
def winding_kernel(x_ptr, n, rounds, DOUBLE: tl.constexpr, BLOCK: tl.constexpr):
    """A way through everything."""
    program = tl.program_id(0)
    WIDTH: tl.constexpr = BLOCK
    if program > 2:
        return
    offsets = program * WIDTH + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    for step in range(rounds):
        if step > 1:
            x += 1
    for _ in tl.static_range(2):
        x = scaled(x, DOUBLE)
    top = tl.reduce(x, 0, larger)
    if n < 5:
        x = x + top
    elif n < 10:
        x = x - top
    else:
        x = x + 0
    while program < 0:
        program += 1
    tl.store(x_ptr + offsets, x, mask=offsets < n)


START = winding_kernel.starting_line_number


def launched(*cases: tuple[int, int, bool], programs: int = 4) -> Coverage:
    with lab.target("cpu"), Following() as following:
        for n, rounds, double in cases:
            winding_kernel[(programs,)](torch.zeros(64), n, rounds, DOUBLE=double, BLOCK=8)
    return following.coverage


def of(coverage: Coverage, name: str) -> Covered:
    return next(each for each in coverage.functions.values() if each.name == name)


def line(text: str) -> int:
    """The number of the kernel's line with this text."""
    return next(START + number for number, each in enumerate(winding_kernel.raw_src) if text in each)


def test_lines_that_did_not_run_are_missing_and_so_are_ways_that_nobody_went() -> None:
    found = launched((7, 3, True))
    kernel = of(found, "winding_kernel")
    assert kernel.missing == [line("x = x + top"), line("x = x + 0"), line("program += 1")]
    assert [(choice.line, way) for choice, way in kernel.partial()] == [
        (line("if n < 5"), "never true"),
        (line("elif n < 10"), "never false"),
        (line("while program"), "never entered"),
    ]
    helper = of(found, "scaled")
    assert [way for _, way in helper.partial()] == ["never false"] and len(helper.missing) == 1


def test_statements_that_the_compiler_folds_away_ran_where_control_came_by() -> None:
    assert line("WIDTH: tl.constexpr") in of(launched((7, 0, True)), "winding_kernel").ran


def test_constexpr_branches_count_over_all_specialisations() -> None:
    assert not of(launched((7, 3, True), (7, 3, False)), "scaled").missing


def test_runs_add_up_to_all_of_it() -> None:
    kernel = of(launched((7, 3, True), (3, 0, False), (20, 1, True)), "winding_kernel")
    assert kernel.missing == [line("program += 1")]
    assert line("for step") in kernel.zero and line("for _ in") not in kernel.zero


def test_a_function_of_elements_ran_where_the_reduction_did() -> None:
    assert not of(launched((7, 3, True)), "larger").missing


def test_masks_that_never_change_are_told() -> None:
    def told(*cases: tuple[int, int, bool]) -> list[tuple[bool, str]]:
        found = launched(*cases, programs=1).summary(lambda path: Path(path).name)
        return [("load" in each, each.split()[-1]) for each in found if "mask" in each]

    assert told((8, 0, True)) == [(True, "false"), (False, "false")]
    assert told((0, 0, True)) == [(True, "true"), (False, "true")]
    assert told((8, 0, True), (7, 0, True)) == []


def test_a_launch_that_failed_covers_the_lines_before_it() -> None:
    with lab.target("cpu"), Following() as following, pytest.raises(lab.KernelError):
        winding_kernel[(1,)](torch.zeros(4), 64, 0, DOUBLE=True, BLOCK=8)
    kernel = of(following.coverage, "winding_kernel")
    assert all(arc[1] != -START for arc in kernel.arcs)


def test_without_it_kernels_are_as_they_were() -> None:
    launched((7, 3, True))
    with lab.target("cpu"), lab.record() as launches:
        winding_kernel[(4,)](torch.zeros(64), 7, 3, DOUBLE=True, BLOCK=8)
    assert "tt.print" not in launches[0].executable.plan.text


def test_what_processes_saw_is_merged() -> None:
    parts = [launched((7, 3, True)), launched((3, 0, False))]
    merged = Coverage()
    for part in parts:
        merged.merge(json.loads(json.dumps(part.as_data())))
    whole = launched((7, 3, True), (3, 0, False))
    assert merged.as_data() == whole.as_data()


def test_a_file_of_its_own_is_one_that_coverage_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wording: Wording
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(coverage.Coverage, "current", staticmethod(lambda: None))
    (tmp_path / ".coveragerc").write_text("[run]\nbranch = true\n")
    functions = launched((7, 3, True)).functions
    wording(write(functions.values(), "gw0"), file=".coverage.triton-lab.gw0")
    data = coverage.CoverageData(str(tmp_path / ".coverage.triton-lab.gw0"))
    data.read()
    assert set(data.lines(__file__) or ()) >= of(launched((7, 3, True)), "winding_kernel").ran
    assert data.has_arcs()


TESTS = """
@triton.jit
def sign_kernel(x_ptr, n):
    if n > 0:
        tl.store(x_ptr, 1.0)
    else:
        tl.store(x_ptr, -1.0)


@pytest.mark.parametrize("n", [3, 4])
def test_sign(n):
    sign_kernel[(1,)](torch.zeros(1, device="cuda"), n)
"""


def test_reports_of_coverage_show_kernels_like_other_code(pytester: pytest.Pytester) -> None:
    given = ("--triton-lab=cpu", "--triton-lab-cov", "--cov=test_project", "--cov-branch", "--cov-report=json:c.json")
    ran = run(pytester, TESTS, *given, "-p", "pytest_cov")
    assert ran.code == 0 and "sign_kernel: 2 of 3 statements; missing" in ran.text
    told = json.loads((pytester.path / "c.json").read_text())["files"]["test_project.py"]
    source = (pytester.path / "test_project.py").read_text().splitlines()
    first = source.index("    if n > 0:") + 1
    assert {first, first + 1} <= {*told["executed_lines"]} and first + 3 in told["missing_lines"]
    assert [first, first + 3] in told["missing_branches"] and [first, first + 1] in told["executed_branches"]


def test_lines_are_told_as_runs_and_a_statement_ran_if_its_first_line_did() -> None:
    assert (
        coverage_data._runs([3, 4, 5, 9]) == "3-5, 9"
        and coverage_data._runs([1, 3]) == "1, 3"
        and coverage_data._runs([]) == ""
    )
    function = SimpleNamespace(file="a.py", ends={4: 6})
    traces: Any = SimpleNamespace(functions={"f": function}, arcs={"f": {(-1, 4), (4, -1)}})
    assert [coverage_data._ran(traces, "a.py", line) for line in (3, 4, 6, 7)] == [False, True, True, False]
    assert not coverage_data._ran(traces, "b.py", 4)
