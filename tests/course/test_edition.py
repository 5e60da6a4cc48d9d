"""Solutions are taken out: what stands in their place fits where they stood."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.wordings import Wording
from triton_lab.course.edition import BrokenSolution, stripped, student, without_solutions

CELL = """%%triton cpu
@triton.jit
def kernel(x_ptr):
    i = tl.program_id(0)
    # BEGIN SOLUTION: store "one"
    tl.store(x_ptr + i, 1)
    # END SOLUTION


def launch(x):
    ### BEGIN SOLUTION
    kernel[(1,)](x)
    ### END SOLUTION
    return x


# BEGIN SOLUTION: two numbers
first = 1
second = (
    2
)
# END SOLUTION"""

STUBBED = """%%triton cpu
@triton.jit
def kernel(x_ptr):
    i = tl.program_id(0)
    tl.static_assert(False, "To do: store \\"one\\"")


def launch(x):
    raise NotImplementedError("To do: write this part, then run the check below.")
    return x


# To do: two numbers
first = ...
second = ..."""


def test_each_place_has_its_stub() -> None:
    assert without_solutions(CELL) == STUBBED


def test_what_is_to_be_mended_is_handed_out_broken() -> None:
    lines = ("# BEGIN SOLUTION", "return x + 1", "# INSTEAD", "# return (", "#     x)", "# END SOLUTION")
    text = "\n    ".join(("def f(x):", *lines))
    assert without_solutions(text) == "def f(x):\n    return (\n        x)"


@pytest.mark.parametrize(
    "text", ["# BEGIN SOLUTION\n1", "1\n# END SOLUTION", "# BEGIN SOLUTION\n# BEGIN SOLUTION\n# END SOLUTION"]
)
def test_a_solution_that_does_not_end_is_refused(text: str) -> None:
    with pytest.raises(BrokenSolution, match="line"):
        without_solutions(text)


def cell(source: str, output: str) -> dict[str, Any]:
    outputs = [{"output_type": "stream", "name": "stdout", "text": output}]
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": outputs, "execution_count": 1}


def test_outputs_of_solutions_and_checks_go_and_others_stay(tmp_path: Path, wording: Wording) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "one.png").write_bytes(b"png")
    cells = [
        cell("print('shown')", "shown"),
        cell("# BEGIN SOLUTION\nidle_lanes = 24\nprint(24)\n# END SOLUTION", "secret"),
        cell('exercise("idle_lanes").check(idle_lanes)', "Solved"),
    ]
    (tmp_path / "00.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    written = student(tmp_path, tmp_path / "students")
    found = json.loads(written[0].read_text())["cells"]
    assert [len(one["outputs"]) for one in found] == [1, 0, 0] and "secret" not in written[0].read_text()
    todo, stub = found[1]["source"].splitlines()
    assert stub == "idle_lanes = ..."
    wording(todo)
    assert (tmp_path / "students" / "images" / "one.png").read_bytes() == b"png"


def test_outputs_of_cells_that_use_a_solution_go_and_come_back_with_new_names() -> None:
    cells = [
        cell("# BEGIN SOLUTION\ndef scale(x):\n    return 2 * x\n# END SOLUTION", ""),
        cell("%%triton cpu --show tiling\n_ = scale(3)", "the kernel's text"),
        cell("def both(x):\n    return scale(x)\n\n\nwith lab.record() as launches:\n    both(1)", ""),
        cell("launches[0]", "its picture"),
        cell("seconds = %timeit -o both(1)", "no Python"),
        cell("with lab.record() as launches:\n    scale = 2\nlaunches[0], [x for x in range(scale)]", "another launch"),
        cell("launches[0].plot.tiling()\nsum(x for x in range(scale))", "of its own"),
        cell("lab.course.progress('00')", "Chapter 00: 5 of 5."),
    ]
    found = stripped({"cells": cells})["cells"]
    assert [len(one["outputs"]) for one in found] == [0, 0, 0, 0, 0, 1, 1, 0]
    assert [one["source"] for one in found[1:]] == [one["source"] for one in cells[1:]]
