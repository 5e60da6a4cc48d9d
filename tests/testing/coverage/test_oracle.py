"""Lines and arcs of the examples' kernels: ours, and those that coverage.py sees while Triton interprets them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from coverage.parser import PythonParser

import triton_lab as lab
from triton_lab.testing.coverage.coverage_data import Covered
from triton_lab.testing.coverage.coverage_session import Following

# Between them: loops over runs of their own, loops that end by a value, loops unrolled, constexpr branches, helpers,
# functions of elements, masks that change.
NAMES = (
    "softmax",
    "dropout_backward",
    "matmul_float16",
    "attention_causal",
    "collatz",
    "sparse_matmul",
    "conv2d",
    "histogram",
    "grouped_gemm",
    "split_k_matmul",
)


@pytest.fixture(scope="module")
def ours() -> dict[str, Covered]:
    with Following() as following:
        for name in NAMES:
            lab.examples.example(name).run(**lab.examples.example(name).inputs("small", 0, "cpu"))
    return following.coverage.functions


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[tuple[int, int]]]:
    out = tmp_path_factory.mktemp("oracle") / "arcs.json"
    command = [sys.executable, "-m", "tests.testing.coverage.by_force", str(out), *NAMES]
    subprocess.run(command, check=True, cwd=Path(__file__).parents[3], capture_output=True)
    told: dict[str, Any] = json.loads(out.read_text())
    assert not told["refused"]
    return {file: {(came, to) for came, to in arcs} for file, arcs in told["arcs"].items()}


def parser_of(file: str) -> PythonParser:
    parser = PythonParser(text=Path(file).read_text(encoding="utf-8"))
    parser.parse_source()
    return parser


def test_arcs_are_those_that_coverage_sees_when_triton_interprets_the_same_kernels(
    ours: dict[str, Covered], theirs: dict[str, set[tuple[int, int]]]
) -> None:
    assert len(ours) > 10
    for each in ours.values():
        parser = parser_of(each.file)
        first, last = each.start, max(each.lines)
        seen = parser.translate_arcs(theirs[each.file])
        # Triton's interpreter compiles functions without their decorators, so that they begin at another line.
        inside = {arc for arc in seen if all(line < 0 or first < line <= last for line in arc)}
        # Within a statement of several lines Python goes to and fro.
        between = {(came, to) for came, to in inside if min(came, to) > 0 and came != to}
        mine = {arc for arc in parser.translate_arcs(each.arcs) if min(arc) > 0}
        assert mine == between, each.name
        ends = {line for arc in mine for line in arc}
        assert {came for came, to in each.arcs if to < 0} == {
            came for came, to in inside if to < 0 and (came in ends or not ends)
        }, each.name


def test_every_arc_is_one_that_the_source_has(ours: dict[str, Covered]) -> None:
    for each in ours.values():
        parser = parser_of(each.file)
        gone = {(came, to) for came, to in parser.translate_arcs(each.arcs) if came > 0}
        assert gone <= set(parser.arcs()), each.name
        assert set(each.lines) == {
            line for line in parser.statements if min(each.lines) <= line <= max(each.lines)
        } - set(parser.raw_docstrings), each.name
