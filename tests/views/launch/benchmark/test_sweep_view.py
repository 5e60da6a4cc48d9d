"""A sweep as a figure: where points lie, what the roof and the shares are, and what a reader is told."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.launch.swept import GPU, products, swept
from tests.wordings import Wording
from triton_lab.backend.targets.gpu_timer import Time
from triton_lab.launch.benchmark.benchmark_result import Sweep, SweepRow
from triton_lab.messages import si
from triton_lab.views.drawing.drawing import DrawnText, Line, Rectangle
from triton_lab.views.launch.benchmark.sweep_view import HIGH, INTERPRETED, LEFT, TOP, WIDE, SweepView, binary


def on_cpu() -> Sweep:
    rows = [
        SweepRow(name, size, {}, Time.of([seconds * size]), 12.0 * size)
        for size in (64, 256)
        for name, seconds in (("mine", 1e-4), ("torch", 1e-8))
    ]
    return Sweep(tuple(rows), "cpu", None, ("a remark",))


def points(view: SweepView) -> dict[str, tuple[float, float]]:
    return {
        item.tag: (item.x + item.width / 2, item.y + item.height / 2)
        for item in view.chart.items
        if isinstance(item, Rectangle) and item.tag
    }


def test_points_lie_where_their_logarithms_do() -> None:
    view = SweepView(swept())
    found = points(view)
    assert len(found) == 11, "one was not measured"
    low, high = map(math.log10, view.ends)
    for row in view.sweep:
        rate = view.sweep.rate(row)
        if rate is None:
            continue
        ((x, y),) = [at for tag, at in found.items() if tag.startswith(f"{row.line}, size = {row.size:,}:")]
        assert x == pytest.approx(LEFT + 12 + (math.log2(row.size) - 12) / 12 * (WIDE - 24))
        assert y == pytest.approx(TOP + HIGH * (1 - (math.log10(rate) - low) / (high - low)))
        assert LEFT <= x <= LEFT + WIDE and TOP <= y <= TOP + HIGH


def test_the_roof_is_what_the_gpu_reaches_and_nothing_is_above() -> None:
    assert SweepView(swept()).roof == [(size, 2.5e12) for size in (1 << 12, 1 << 16, 1 << 20, 1 << 24)]
    bent = SweepView(products())
    assert [value for _, value in bent.roof] == pytest.approx([2.5e12 * 128 / 3, 2.5e12 * 512 / 3, 5e14])
    assert all((bent.sweep.share(row) or 0) <= 1 for row in bent.sweep)
    words = [item.text for item in bent.chart.items if isinstance(item, DrawnText)]
    assert not any(text.endswith("%") for text in words), "under a bent roof a height has no one share"


def test_what_the_sizes_count_stands_on_the_axis_and_at_every_point() -> None:
    view = SweepView(replace(swept(), axis="columns"))
    below = [item for item in view.chart.items if isinstance(item, DrawnText) and item.text == "columns"]
    assert [(item.x, item.align) for item in below] == [(LEFT + WIDE / 2, "center")] and below[0].y > TOP + HIGH
    assert view.headings[1] == "columns" and "columns" in view.title()
    assert all(f"columns = {row.size:,}:" in " ".join(points(view)) for row in view.sweep if row.time)
    assert "size" not in view.text()


def test_the_line_of_a_hundred_percent_is_the_rate_that_is_told() -> None:
    view = SweepView(swept())
    texts = [item for item in view.chart.items if isinstance(item, DrawnText)]
    (whole,) = (item for item in texts if item.text == "100%")
    ((_, rate), *_) = view.roof
    assert whole.y == view._at(view.sizes[0], rate)[1]
    (told,) = view.notes()[:1]
    assert f"{si(rate)}B/s" in told and "100%" in told
    # The name that the line has in the legend is the one of the number.
    assert any(item.text in told for item in texts if item.y > TOP + HIGH + 40 and item.text not in told.split())


def test_the_legend_covers_nothing() -> None:
    drawn = SweepView(swept()).chart
    keys = [item for item in drawn.items if isinstance(item, DrawnText) and item.text.startswith(("mine (", "torch"))]
    assert len(keys) >= 3 and all(item.y > TOP + HIGH + 40 for item in keys)
    assert all(item.x >= 0 and item.y <= drawn.height for item in drawn.items if isinstance(item, DrawnText))


def test_lines_differ_in_more_than_colour() -> None:
    drawn = SweepView(swept()).chart
    lines = {(item.colour, item.dashed) for item in drawn.items if isinstance(item, Line) and item.colour[0] == "#"}
    marks = {(item.fill, item.radius) for item in drawn.items if isinstance(item, Rectangle) and item.tag}
    assert len(lines) == len(marks) == 3
    assert len({(dashed, radius) for (_, dashed), (_, radius) in zip(sorted(lines), sorted(marks), strict=True)}) == 3


def test_the_words_have_every_number_and_every_error(wording: Wording) -> None:
    view = SweepView(swept())
    wording(view.title(), axis="size", values="4 values", device=GPU)
    table = {(row[0], row[1]): row[2:] for row in view.table()}
    assert view.headings == ["", "size", "time", "runs", "B/s", "of a copy"]
    assert table["torch", "1,048,576"] == ["9.29 µs (9.11 µs to 9.57 µs)", "200", "1.35 T", "54%"]
    assert table["torch", "4,096"][-1] == "0.7%"
    assert table["torch", "16,777,216"] == ["OutOfMemoryError: no memory", "", "", ""]
    assert "torch at size = 16,777,216: OutOfMemoryError: no memory" in view.text()
    assert ", 2.5 TB/s" in view.text()
    assert "float16, 500 Tflop/s" in SweepView(products()).text()


def test_on_the_cpu_each_is_beside_its_own_first_time_alone(wording: Wording) -> None:
    view = SweepView(on_cpu())
    wording(view.title(), axis="size", values="2 values")
    assert [row[-1] for row in view.table()] == ["1", "4", "1", "4"], "though torch is ten thousand times as fast"
    assert view.headings[-1] == "× its own first" and view.roof == []
    assert INTERPRETED in view.text() and "B/s" not in view.text() and "a remark" in view.text()
    assert len({y for _, y in points(view).values()}) == 2


def nothing() -> Sweep:
    """Whatever was tried, failed."""
    return replace(swept(), rows=tuple(row for row in swept() if row.error))


def one() -> Sweep:
    return replace(swept(), rows=swept().rows[:1])


@pytest.mark.parametrize("made", [swept, products, on_cpu, one, nothing])
def test_it_shows_itself_in_every_form(made) -> None:  # type: ignore[no-untyped-def]
    sweep = made()
    data, _ = sweep._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG") and data["text/plain"] == repr(sweep)
    assert sweep.plot().scene()["drawing"]["kind"] == "drawing"


def test_numbers_before_a_unit_and_sizes() -> None:
    assert [si(value) + "B/s" for value in (2.5e12, 999.9e9, 1e3, 12.0)] == ["2.5 TB/s", "1 TB/s", "1 kB/s", "12 B/s"]
    assert [binary(size) for size in (1024, 9999, 1 << 16, 3 << 20, 100_000)] == [
        "1024", "9999", "64 Ki", "3 Mi", "100 k",
    ]  # fmt: skip
