"""Scops, schedules and what is made of them have a `plot`, and show it as the last value of a cell."""

from __future__ import annotations

import doctest
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell

import triton_lab as lab
import triton_lab.polyhedral.related_work.page_domain as page_domain_module
from tests.wordings import Wording, line_of
from triton_lab.polyhedral import scop
from triton_lab.polyhedral.core.integer_points import more_than
from triton_lab.polyhedral.related_work import page_nests
from triton_lab.polyhedral.related_work.page_domain import page_domain
from triton_lab.polyhedral.related_work.ragged_nest import PAGE_RAGGED
from triton_lab.views.drawing.drawing import MARGIN
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.notebook_output import SCENE
from triton_lab.views.polyhedral.iteration_view import iteration_view
from triton_lab.views.polyhedral.kernel_view import kernel_view
from triton_lab.views.polyhedral.maximal_view import maximal_view
from triton_lab.views.polyhedral.page_view import PageFigures
from triton_lab.views.polyhedral.ragged_view import RaggedView


@triton.jit
def rows(out_ptr, columns, stride, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0) * stride + column, 1.0, mask=column < columns)


STORE = rows.starting_line_number + 3


@pytest.fixture(scope="module")
def kernel() -> Any:
    with lab.target("cpu"), lab.record() as launches:
        rows[(4,)](torch.zeros(4, 10), 10, 8, BLOCK=16)
    return lab.polyhedral.scop(launches)


@pytest.fixture
def cell(kernel: Any) -> Iterator[Callable[[str], dict[str, Any]]]:
    """What a notebook's shell shows of the last value of a cell."""
    shell = InteractiveShell.instance()
    shell.user_ns |= {"lab": lab, "examples": page_nests, "scop": scop, "kernel": kernel, "page_domain": page_domain}
    shell.user_ns |= {"ragged": PAGE_RAGGED}
    shell.display_formatter.active_types = shell.display_formatter.format_types

    def show(text: str) -> dict[str, Any]:
        result = shell.run_cell(text)
        result.raise_error()
        return shell.display_formatter.format(result.result)[0]  # type: ignore[no-any-return]

    yield show
    InteractiveShell.clear_instance()


@pytest.mark.parametrize(
    ("text", "label", "facts"),
    [
        ("scop(examples.PAGE)", "nest", {"instances": 12}),
        ("lab.schedule(scop(examples.WAVEFRONT, n=5)).reverse('i')", "sizes", {"instances": 16, "size": "n = 5"}),
        ("scop(examples.PAGE, maximal=True)", "maximal", {}),
        ("kernel", "race", {"kernel": "rows", "one": "(0, 0, 0)", "other": "(1, 0, 0)", "line": STORE}),
        ("kernel.general", "access", {"kernel": "rows", "line": STORE}),
        ("page_domain()", "page", {}),
        ("ragged", "ragged", {"lengths": "4, 2, 5, 1"}),
    ],
)
def test_the_last_value_of_a_cell_is_its_picture(
    text: str, label: str, facts: dict[str, object], cell: Callable[[str], dict[str, Any]], wording: Wording
) -> None:
    data = cell(text)
    assert set(data) == {SCENE, "image/png", "text/plain"}, "formulas beside it would be shown in its place"
    assert data["image/png"].startswith(b"\x89PNG")
    wording(data["text/plain"].splitlines()[0], label, **facts)


def test_what_cannot_be_drawn_is_told_in_words_with_the_reason(
    cell: Callable[[str], dict[str, Any]], wording: Wording
) -> None:
    data = cell("scop(examples.WAVEFRONT)")
    assert set(data) == {"text/plain", "text/latex"} and data["text/latex"].startswith("$$")
    assert "S0: A[i][j] = " in data["text/plain"]
    wording(line_of(data["text/plain"], "not drawn"), "size", size="n", example="scop(..., n=8)")
    wording(line_of(cell("scop('x = 1;')")["text/plain"], "not drawn"), "no loop")


def test_a_large_domain_is_not_drawn_unasked(cell: Callable[[str], dict[str, Any]]) -> None:
    for text in (
        "scop(examples.MATMUL, n=4000)",
        "lab.schedule(scop(examples.TRANSPOSE, n=400)).interchange('i', 'j')",
    ):
        assert "or ask for .plot()" in cell(text)["text/plain"]


def test_plot_is_the_view_of_the_same_choice(kernel: Any) -> None:
    wave = scop(page_nests.WAVEFRONT, n=5)
    turned = wave.schedule.interchange("i", "j")
    pairs = [
        (wave.plot(dependences="value", instance=(3, 2)), iteration_view(wave, dependences="value", instance=(3, 2))),
        (turned.plot(("i",), {"j": 2}, order=True), iteration_view(turned, dims=("i",), at={"j": 2}, order=True)),
        (wave.plot(title="waves", time=True), iteration_view(wave, title="waves", time=True)),
        (kernel.plot(line=kernel.statements[0].line), kernel_view(kernel, line=kernel.statements[0].line)),
        (scop(page_nests.PAGE, maximal=True).plot(), maximal_view(scop(page_nests.PAGE, maximal=True))),
        (page_domain().plot(), PageFigures()),
        (PAGE_RAGGED.plot(), RaggedView()),
    ]
    for plotted, view in pairs:
        assert type(plotted) is type(view) and plotted.text() == view.text() and plotted.scene() == view.scene()


def test_the_example_of_the_page_runs() -> None:
    failed, tried = doctest.testmod(page_domain_module)
    assert tried and not failed


@given(st.integers(1, 14), st.integers(1, 400))
@settings(max_examples=25, deadline=None)
def test_points_are_told_to_be_many_where_they_are(n: int, most: int) -> None:
    """Against the sum of the triangle's rows."""
    triangle = scop("for (int i = 0; i < n; i++) for (int j = i; j < n; j++) A[i][j] = 0;", n=n)
    assert more_than(triangle.domain.fixed(triangle.values), most) == (n * (n + 1) // 2 > most)


@pytest.mark.parametrize("n", [50, 80, 100, 120])
def test_a_count_is_right_or_given_up(n: int) -> None:
    """isl stops counting without a word where its operations are spent: at n = 100 it had 760,800 of 1,010,000."""
    assert scop(page_nests.MATMUL, n=n).count() == n**2 + n**3


def test_a_page_is_as_wide_as_its_longest_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = PageFigures().figure().get_size_inches()[0] * 96
    for letters, at_least in ((10, usual), (400, 0.0)):
        remark = "m" * letters
        monkeypatch.setattr(PageFigures, "remarks", (remark, "short"))
        wide = PageFigures().figure().get_size_inches()[0] * 96
        assert wide == pytest.approx(max(at_least, 2 * MARGIN + width_of(remark, 9.0)))
