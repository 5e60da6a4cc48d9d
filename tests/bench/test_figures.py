"""The benchmark's own workings; that its figures meet their targets is for no test to say."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

import triton_lab as lab
from bench.cases import CASES, Case, every_case
from bench.figure import AtLeast, AtMost, Figure, line
from bench.process import OURS, ProcessFailed, fresh
from bench.timing import median_seconds, resident_bytes
from bench.views import within_reach
from triton_lab.examples import all_examples, example
from triton_lab.views.html_page import page


def test_targets_have_a_direction() -> None:
    assert Figure("speed", 50, "times", AtLeast(40)).met
    assert not Figure("speed", 39, "times", AtLeast(40)).met
    assert Figure("cost", 2, "ms", AtMost(3)).met
    assert not Figure("cost", 4, "ms", AtMost(3)).met
    assert Figure("size", 4, "GB").met is None


def test_what_is_timed_in_a_browser_is_within_reach_there() -> None:
    assert "window.bench" in within_reach(page(lab.storage(torch.zeros(4))))


def test_what_could_not_be_measured_meets_no_target() -> None:
    assert not Figure("cost", math.nan, "ms", AtMost(3)).met
    assert not Figure("speed", math.nan, "times", AtLeast(3)).met


def test_lines_stand_in_columns() -> None:
    lines = [
        line(Figure("a", 1.23456, "ms", AtMost(3))),
        line(Figure("longer", 2, "times", AtLeast(3), "a note")),
        line(Figure("none", 4, "GB")),
    ]
    assert [each.split() for each in lines] == [
        ["a", "1.235", "ms", "<=", "3", "ok"],
        ["longer", "2", "times", ">=", "3", "MISSED", "a", "note"],
        ["none", "4", "GB"],
    ]
    assert len({each.index(value) for each, value in zip(lines, ("1.235", "2 t", "4 G"), strict=True)}) == 1


def test_nan_is_null_in_json() -> None:
    row = json.loads(json.dumps(Figure("cost", math.nan, "ms", AtMost(3), "why").as_row()))
    assert row == {"name": "cost", "value": None, "unit": "ms", "target": "<= 3", "met": False, "note": "why"}


def test_a_fresh_process_brings_its_result_back() -> None:
    assert fresh("timing:resident_bytes", True, environment=OURS) > 0


def test_a_failure_in_a_fresh_process_is_told_by_its_exception() -> None:
    with pytest.raises(ProcessFailed, match=r"^KeyError: 'no such case'$"):
        fresh("speed:time_torch", "no such case", 0.1, environment=OURS)


def test_median_runs_at_least_and_at_most_as_often_as_told() -> None:
    calls: list[int] = []
    median_seconds(lambda: calls.append(1), at_least=5, at_most=7, budget=0)
    assert len(calls) == 5
    median_seconds(lambda: calls.append(1), at_least=5, at_most=7, budget=1e9)
    assert len(calls) == 12


def test_peak_is_no_less_than_now() -> None:
    assert resident_bytes(peak=True) >= resident_bytes() > 0


def test_every_example_is_timed_once_at_least_and_beside_torch() -> None:
    assert {case.example for case in every_case().values()} == {each.name for each in all_examples()}


def test_processor_seconds_do_not_count_waiting() -> None:
    assert median_seconds(lambda: time.sleep(0.05), at_least=1, at_most=1, clock=time.process_time) < 0.04


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_case_names_an_example_and_torch_takes_its_inputs(case: Case) -> None:
    page = example(case.example)
    case.eager(**page.inputs("small", 0, "cpu"))


def test_command_prints_and_writes_one_subject(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--quick", "--only", "importing", "--json", str(tmp_path / "figures.json")],
        capture_output=True,
        text=True,
        env={**os.environ, "TRITON_INTERPRET": "1"},  # the caller's choice of target must not leak in
        check=True,
    )
    figures = json.loads((tmp_path / "figures.json").read_text())
    (row,) = figures["figures"]
    assert row["unit"] == "ms" and row["name"].startswith("import triton")
    assert row["name"] in done.stdout and "1, 5 and 15" in done.stdout
