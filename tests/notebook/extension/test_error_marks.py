"""Where in a cell a kernel does not compile, as the editor is told."""

from __future__ import annotations

import linecache
import textwrap
from typing import Any

import pytest
import torch

import triton_lab as lab
from triton_lab.notebook.extension import error_marks
from triton_lab.views import frontend_presence
from triton_lab.views.compile_error_mark import MISTAKE

CELL = "/cells/ipykernel_7/55.py"
HEAD = "import triton, triton.language as tl\n"


def failing(body: str, monkeypatch: pytest.MonkeyPatch) -> BaseException:
    """The error of a cell whose kernel ``k`` has that text."""
    text = HEAD + body
    monkeypatch.setitem(linecache.cache, CELL, (len(text), None, text.splitlines(keepends=True), CELL))
    names: dict[str, Any] = {"__name__": "cell"}
    exec(compile(text, CELL, "exec"), names)
    with pytest.raises(Exception) as caught, lab.target("cpu"):  # noqa: PT011  (any of Triton's)
        names["k"][(1,)](torch.zeros(8))
    return caught.value


def test_the_place_is_the_piece_of_the_line_that_the_error_is_about(monkeypatch: pytest.MonkeyPatch) -> None:
    error = failing("@triton.jit\ndef k(x_ptr):\n    ü = tl.load(x_ptr) + tl.lod(x_ptr)\n", monkeypatch)
    (one,) = error_marks.mistakes(error, CELL)
    assert (one["line"], one["text"]) == (4, "    ü = tl.load(x_ptr) + tl.lod(x_ptr)")
    assert one["text"][one["start"] : one["end"]].startswith("tl.lod")
    assert "lod" in one["message"] and one["execution"] is None


def test_a_kernel_inside_of_something_is_marked_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = "@triton.jit\ndef k(x_ptr):\n    y = tl.arange(0, 3)\n    tl.store(x_ptr + y, y)\n"
    error = failing("if True:\n" + textwrap.indent(kernel, "    "), monkeypatch)
    (one, *_) = error_marks.mistakes(error, CELL)
    assert one["line"] == 5 and one["text"] == "        y = tl.arange(0, 3)"
    assert one["text"][one["start"] : one["end"]] == "tl.arange(0, 3)"


def test_nothing_is_marked_for_other_errors_and_other_files(monkeypatch: pytest.MonkeyPatch) -> None:
    error = failing("@triton.jit\ndef k(x_ptr):\n    tl.lod(x_ptr)\n", monkeypatch)
    assert error_marks.mistakes(error, "/cells/ipykernel_7/66.py") == []
    assert error_marks.mistakes(ValueError("no kernel"), CELL) == []


def test_the_mark_names_the_other_cell_that_the_kernel_is_in(monkeypatch: pytest.MonkeyPatch) -> None:
    error = failing("@triton.jit\ndef k(x_ptr):\n    tl.lod(x_ptr)\n", monkeypatch)
    monkeypatch.setattr("triton_lab.messages.cell_number", {CELL: 3}.get)
    (one,) = error_marks.mistakes(error, "/cells/ipykernel_7/66.py")
    assert (one["execution"], one["line"]) == (3, 4)


def test_it_is_published_where_somebody_marks_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    error = failing("@triton.jit\ndef k(x_ptr):\n    tl.lod(x_ptr)\n", monkeypatch)
    shown: list[Any] = []
    monkeypatch.setattr("IPython.display.publish_display_data", shown.append)
    monkeypatch.setattr(frontend_presence, "_announced", False)
    error_marks.mark(error, CELL)
    assert shown == []
    monkeypatch.setattr(frontend_presence, "_announced", True)
    error_marks.mark(error, CELL)
    (data,) = shown
    assert data[MISTAKE]["line"] == 4 and data["text/plain"].startswith("Line 4, column 5: ")


def test_one_problem_is_marked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = (
        "@triton.jit\ndef k(x_ptr):\n    a = tl.arange(0, 4)\n    b = tl.arange(0, 8)\n    tl.store(x_ptr + a, a + b)\n"
    )
    error = failing(kernel, monkeypatch)
    assert [one["line"] for one in error_marks.mistakes(error, CELL)] == [6, 4, 5]
    shown: list[Any] = []
    monkeypatch.setattr("IPython.display.publish_display_data", shown.append)
    monkeypatch.setattr(frontend_presence, "_announced", True)
    error_marks.mark(error, CELL)
    assert [data[MISTAKE]["line"] for data in shown] == [6]
