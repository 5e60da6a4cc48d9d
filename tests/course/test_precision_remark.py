"""A remark on a right answer whose products a GPU would compute in tf32: only where that leaves the tolerance."""

from __future__ import annotations

import re

import pytest
import torch

from tests.course.chapters import answers, defined
from tests.wordings import Wording
from triton_lab.course import exercise
from triton_lab.course.answer_remark import precision_remark
from triton_lab.course.exercise_answer import LocalAnswer
from triton_lab.course.exercise_kinds import Task
from triton_lab.launch.launch import Launch

IEEE = ', input_precision="ieee"'


def launches(name: str, text: str) -> tuple[Task, list[Launch]]:
    """The exercise, and the launches of the answer in ``text``, which is right."""
    known = exercise(name)
    assert isinstance(known, Task)
    here = LocalAnswer(defined(text, name))
    assert known.judged(here) is None
    return known, here.launches


@pytest.mark.parametrize("name", ["matmul", "layer", "batched"])
def test_an_answer_without_ieee_is_right_and_told_of_tf32(name: str) -> None:
    text = answers()[name]
    assert IEEE in text
    known, made = launches(name, text.replace(IEEE, ""))
    remark = precision_remark(made, known.tolerance)
    assert remark is not None and remark.launch is not None
    assert "tf32" in remark.message and 'input_precision="ieee"' in remark.message
    known, made = launches(name, text)
    assert precision_remark(made, known.tolerance) is None


def test_the_remark_names_line_and_result(wording: Wording) -> None:
    known, made = launches("matmul", answers()["matmul"].replace(IEEE, ""))
    remark = precision_remark(made[:1], known.tolerance)
    assert remark is not None and remark.launch is not None
    # The last bits of a float32 product are the processor's: one element more or less may be beyond the tolerance.
    (off,) = re.findall(r"\d+(?= of 1,024)", remark.message)
    assert 915 <= int(off) <= 935
    wording(remark.message, kernel="matmul_kernel", line=14, off=off, argument="c_ptr")


def test_cut_inputs_that_stay_within_the_tolerance_are_not_told() -> None:
    text = answers()["matmul"].replace(IEEE, "")
    known, made = launches("matmul", text)
    assert precision_remark(made, (0.1, 0.1)) is None
    matmul = defined(text, "matmul")
    here = LocalAnswer(matmul)
    whole = torch.arange(64.0).reshape(8, 8)  # ten bits hold these numbers
    here.attempt({"a": whole, "b": whole.T.contiguous()})
    assert len(here.launches) == 1 and precision_remark(here.launches, (0.0, 0.0)) is None
    assert known.tolerance == (1e-4, 1e-4)


def test_products_of_half_types_are_not_told() -> None:
    here = LocalAnswer(defined(answers()["matmul"].replace(IEEE, ""), "matmul"))
    half = torch.randn(40, 40, dtype=torch.float16)
    here.attempt({"a": half, "b": half})
    assert precision_remark(here.launches, (0.0, 0.0)) is None


def test_a_check_shows_the_remark(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("TRITON_LAB_PROGRESS", str(tmp_path / "progress.json"))
    solved = exercise("matmul").check(defined(answers()["matmul"].replace(IEEE, ""), "matmul"))
    assert "Solved" in str(solved) and "tf32" in str(solved) and "tf32" in solved._repr_html_()
