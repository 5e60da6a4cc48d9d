"""Advice as HTML: all that it says is in it, escaped, and bars are as long as times."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
import torch

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.backend.targets.gpu_timer import Time
from triton_lab.compiled.advice.launch_edit import LaunchEdit
from triton_lab.compiled.advice.speed_advice import Advice, Dropped, LaunchFigures, SpeedSuggestion
from triton_lab.compiled.cost.predicted_time import PredictedTime
from triton_lab.examples.vector_add import add
from triton_lab.launch.comparison.argument_difference import EQUAL

SOURCE = "def add(x):\n    y = x < 1\n    return y"


def figures(seconds: float, measured: Time | None = None) -> LaunchFigures:
    return LaunchFigures(PredictedTime(seconds, {"dram": seconds, "issue": 0}), 1234, 99, 32, 0, 0, 0.5, measured)


@pytest.fixture(scope="module")
def advice() -> Advice:
    with lab.record() as launches:
        add(torch.zeros(64), torch.zeros(64))
    launch = launches[0]
    edits = (
        LaunchEdit({"BLOCK": 1024}),
        LaunchEdit(text=SOURCE.replace("x < 1", "x < 2"), remarks=("a <b>",), line=7),
    )
    suggestions = tuple(
        SpeedSuggestion(edit, figures(8e-6), figures(seconds), EQUAL, launch, SOURCE)
        for edit, seconds in zip(edits, (2e-6, 4e-6), strict=True)
    )
    dropped = (Dropped("num_warps=1", "its results differ"),)
    return Advice(launch, "sm_90", figures(8e-6), suggestions, dropped, 5, ("Descriptors were not looked at.",))


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        if self.open[-1] != "style":
            self.words.append(data)


def words(html: str) -> list[str]:
    parser = _Text()
    parser.feed(html)
    assert not parser.open, "each tag is closed"
    return parser.words


def test_it_begins_with_what_to_do(advice):
    assert words(advice._repr_html_())[0] == advice.headline
    assert advice.headline.startswith("BLOCK=1024: 4 ")


def test_bars_are_as_long_as_times(advice):
    widths = list(map(int, re.findall(r"width: (\d+)%", advice._repr_html_())))
    assert widths == [100, 25, 50]


def test_changed_lines_are_shown_and_escaped(advice):
    html, told = advice._repr_html_(), words(advice._repr_html_())
    assert "-    y = x < 1" in told and "+    y = x < 2" in told
    assert "line 7: a <b>" in told and "a <b>" not in html


def test_it_says_what_was_dropped_and_not_looked_at(advice, wording: Wording):
    told = words(advice._repr_html_())
    wording(told[-2], edit="num_warps=1", reason=advice.dropped[0].reason)
    assert told[-1] == advice.left[0]


def test_a_measured_gain_has_the_predicted_one_beside_it(advice, wording: Wording):
    first = advice[0]
    timed = replace(
        first, before=figures(8e-6, Time(9e-6, 9e-6, 9e-6, 5)), after=figures(2e-6, Time(6e-6, 6e-6, 6e-6, 5))
    )
    told = words(replace(advice, original=timed.before, suggestions=(timed,))._repr_html_())
    wording(told[0], edit="BLOCK=1024", gain="1.5")
    assert "measured time" in told and "1.5" in told and " (predicted: 4)" in told


def test_without_suggestions_it_says_how_many_edits_were_tried(advice, wording: Wording):
    none = replace(advice, suggestions=(), dropped=())
    wording(words(none._repr_html_())[0], tried="5")
    assert len(none) == 0


def test_each_figure_stands_beside_its_heading(advice):
    rows = re.findall(r"<tr role=\"row\">(.*?)</tr>", advice._repr_html_())
    headings = re.findall(r"<th [^>]*>(.*?)</th>", rows[0])
    assert len(rows) == 4 and len(headings) == 9
    for row in rows[1:]:
        assert row.count("<td ") == 9 and re.findall(r'data-name="(.*?)"', row) == headings[2:]
