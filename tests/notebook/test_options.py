"""The line of %%triton."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.notebook.options import VIEWS, Options, UsageError, parse
from triton_lab.views.launch.card import SHOWN


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("", Options()),
        ("cpu", Options(target="cpu")),
        ("both --show tiling,storage", Options(target="both", show=("tiling", "storage"))),
        ("--show=source gpu", Options(target="gpu", show=("source",))),
        ("--limit 100", Options(steps=100)),
        ("--help", Options(help=True)),
    ],
)
def test_a_line_says_where_and_what_to_show(line: str, options: Options) -> None:
    assert parse(line) == options


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tpu", "no target 'tpu'; there is gpu,"),
        ("--shwo tiling", "no option '--shwo'; there is --show,"),
        ("--show tilling", "no view 'tilling'; there is tiling,"),
        ("--show", "--show needs a view: tiling"),
        ("cpu gpu", "takes one target, not 'cpu' and 'gpu'"),
        ("--limit many", "takes a number of loop iterations, not 'many'"),
        ("--show 'tiling", "No closing quotation"),
    ],
)
def test_a_mistake_is_answered_with_what_exists_nearest_first(line: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse(line)


@given(st.text())
def test_no_line_breaks_the_parser(line: str) -> None:
    with contextlib.suppress(UsageError):
        parse(line)


def test_what_can_be_shown_is_what_a_card_shows() -> None:
    assert (*SHOWN, "none") == VIEWS
