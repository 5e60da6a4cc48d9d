"""Programs picked by typing, by slider and by pointing, in pages without a kernel."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from playwright.sync_api import Page, expect

import triton_lab as lab
from tests.launch.fakes import FakeArgument, FakeLaunch, tile
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.replay.instrumented_copy import Variable as Place
from triton_lab.launch.replay.variable_values import Assignment, Values
from triton_lab.views.drawing import style
from triton_lab.views.drawing.heatmap_drawing import LEFT, TOP
from triton_lab.views.launch.card.launch_card import SHOWN, Card
from triton_lab.views.launch.tiling.grid_view import GridView
from triton_lab.views.launch.tiling.tiling_view import Tiling
from triton_lab.views.launch.values.variable_view import VariableView

Open = Callable[..., Page]


def launch(grid: tuple[int, int, int], block: int = 8) -> FakeLaunch:
    """Each program stores a block of its own."""
    x, y, z = grid
    argument = FakeArgument("x_ptr", (block * x * y * z,), (1,))
    corner = lambda px, py, pz, i: (block * (px + x * (py + y * pz)),)  # noqa: E731
    return FakeLaunch(grid, (argument,), [tile(argument, "store", 3, grid, (block,), corner)])


def colour_of(page: Page, canvas: int, row: int, column: int, side: tuple[float, float]) -> list[int]:
    """The colour near the upper left corner of a cell."""
    x, y = LEFT + column * side[0] + side[0] / 4, TOP + row * side[1] + side[1] / 4
    found: list[int] = (
        page.locator(".tl-cells")
        .nth(canvas)
        .evaluate("(c, [x, y]) => [...c.getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3)", [int(x), int(y)])
    )
    return found


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK], ids=["light", "dark"])
@pytest.mark.parametrize("grid", [(12, 1, 1), (4, 4, 1)])
def test_a_program_has_one_colour_in_every_picture(
    show: Open, screenshots: Path, grid: tuple[int, int, int], theme: style.Theme
) -> None:
    made = launch(grid, block=32)
    count = grid[0] * grid[1]
    expected = style.palette(theme)[style.program_colours(np.arange(count), grid)].tolist()
    tiling = Tiling(made, "x_ptr")
    page = show(tiling, theme)
    seen = tiling.heatmap.frame
    per_row = seen.layout.columns // 32
    for program in range(count):
        row, column = divmod(program, per_row)
        assert colour_of(page, 0, row, 32 * column, (seen.cell_width, seen.cell_height)) == expected[program]
    page.screenshot(path=screenshots / f"programs-{count}-{'light' if theme is style.LIGHT else 'dark'}.png")
    beside = GridView(made)
    page = show(beside, theme)
    side = (beside.heatmaps[0].frame.cell_width, beside.heatmaps[0].frame.cell_height)
    for program in range(count):
        row, column = divmod(program, grid[0])
        assert colour_of(page, 0, row, column, side) == expected[program]
    legend = page.locator(".tl-legend").first
    if count <= 12:
        assert legend.locator(".tl-key").all_inner_texts() == ["program 0", *map(str, range(1, count))]
    else:
        assert legend.locator(".tl-tick").all_inner_texts() == ["0", "4", "8", "12", "15"]


def test_a_program_is_picked_by_typing_by_slider_and_by_pointing(show: Open) -> None:
    view = Tiling(launch((4, 3, 2)), "x_ptr")
    page = show(view)
    field, told = page.get_by_label("number or place"), page.locator(".tl-told")
    field.fill("(3, 0, 0)")
    field.press("Enter")
    expect(told).to_have_text("program (3, 0, 0), number 3")
    field.fill("4,0,0")
    field.press("Enter")
    wrong = page.get_by_role("alert")
    expect(wrong).to_have_text("There is no program (4, 0, 0): x goes from 0 to 3 in the grid (4, 3, 2).")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(told).to_have_text("program (3, 0, 0), number 3")
    field.press("Escape")
    expect(field).to_have_value("(3, 0, 0)")
    expect(wrong).to_be_hidden()
    page.get_by_label("program", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(field).to_have_value("(0, 1, 0)")
    page.keyboard.press("End")
    expect(told).to_have_text("program (3, 2, 1), number 23")
    seen = view.heatmap.frame
    page.locator(".tl-overlay").click(position={"x": LEFT + 9.5 * seen.cell_width, "y": TOP + 0.5 * seen.cell_height})
    expect(field).to_have_value("(1, 0, 0)")
    field.fill("")
    field.press("Enter")
    expect(told).to_have_text("all 24 programs")


def test_a_hundred_thousand_programs_need_no_more_control_than_two(show: Open) -> None:
    page = show(GridView(launch((100_000, 1, 1), block=1)))
    field, told = page.get_by_label("number or place"), page.locator(".tl-told")
    field.fill("77777")
    field.press("Enter")
    expect(told).to_have_text("program (77777, 0, 0)")
    assert page.locator("option").count() == 0
    field.fill("100000")
    field.press("Enter")
    expect(page.get_by_role("alert")).to_have_text(
        "No program has number 100000: the grid (100000, 1, 1) has 100,000 programs, counted from 0."
    )


def test_of_values_that_keep_some_programs_another_is_told_at_the_field(show: Open) -> None:
    block = np.arange(8, dtype=np.float32).reshape(2, 4)
    heard = [Assignment(0, Place(0, "acc", 7), np.array([4, 9]), block)]
    page = show(VariableView(Values("acc", 7, np.array([4, 9]), heard, None, grid=(20, 1, 1))))
    field, told = page.get_by_label("number or place"), page.locator(".tl-told")
    field.fill("9")
    field.press("Enter")
    expect(told).to_have_text("program (9, 0, 0)")
    field.fill("5")
    field.press("Enter")
    expect(page.get_by_role("alert")).to_have_text(
        "This picture has 2 programs, not program (5, 0, 0). Call values(..., programs=[5])."
    )
    expect(told).to_have_text("program (9, 0, 0)")


@triton.jit
def doubled(x_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, 2 * tl.load(x_ptr + at))


def test_a_program_that_a_page_does_not_keep_leaves_the_picture_and_its_control(show: Open) -> None:
    with lab.record() as launches:
        doubled[(100,)](torch.ones(400), BLOCK=4)
    page = show(Card(launches[0], SHOWN))
    page.get_by_role("tab", name="Steps", exact=True).click()
    steps = page.locator(".tl-part:visible", has=page.locator(".tl-steps"))
    field = steps.get_by_label("number or place")
    field.fill("3")
    field.press("Enter")
    expect(steps.locator(".tl-steps .tl-title").first).to_have_text("doubled, program (3, 0, 0)")
    field.fill("99")
    field.press("Enter")
    expect(steps.get_by_role("status").first).to_contain_text("This page does not have that picture")
    expect(steps.locator(".tl-steps .tl-title").first).to_have_text("doubled, program (3, 0, 0)")
    field.fill("2")
    field.press("Enter")
    expect(steps.locator(".tl-steps .tl-title").first).to_have_text("doubled, program (2, 0, 0)")
    expect(steps.get_by_text("This page does not have")).to_have_count(0)
    page.get_by_role("tab", name="Values", exact=True).click()
    values = page.locator(".tl-variable:visible")
    values.get_by_label("number or place").fill("50")
    values.get_by_label("number or place").press("Enter")
    expect(values.locator(".tl-told").first).to_have_text("program (50, 0, 0)")
    page.keyboard.press("Tab")
    page.keyboard.press("]")
    expect(values.locator(".tl-told").first).to_have_text("program (51, 0, 0)")


def test_the_argument_beside_a_grid_has_all_of_its_marks_in_the_legend(show: Open) -> None:
    argument = FakeArgument("x_ptr", (27,), (1,))
    store = tile(argument, "store", 3, (3, 1, 1), (8,), lambda px, py, pz, i: (10 * px,))
    view = GridView(FakeLaunch((3, 1, 1), (argument,), [store]))
    page = show(view)
    shown = page.locator(".tl-legend").nth(1).locator(".tl-key").all_inner_texts()
    assert shown == [key.text for key in view.heatmaps[1].legend]
    assert shown == ["program 0", "1", "2", "masked lanes only", "not accessed"]
    page.locator(".tl-overlay").nth(1).hover(position={"x": LEFT + 5, "y": TOP + 5})
    expect(page.locator(".tl-status")).to_contain_text("x_ptr[0]")
    page.locator(".tl-title").first.hover()
    expect(page.locator(".tl-status")).to_contain_text("Point at a program")


def test_one_program_alone_has_no_control(show: Open) -> None:
    page = show(Tiling(launch((1, 1, 1)), "x_ptr"))
    expect(page.locator(".tl-plot")).to_be_visible()
    assert page.locator("input[type=range], input[type=text]").count() == 0


@triton.jit
def copy_all(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at), mask=at < n)


def test_what_stopped_a_launch_is_red_beside_its_grid_too(show: Open) -> None:
    with lab.record() as launches, contextlib.suppress(KernelError):
        copy_all[(8,)](torch.ones(200), torch.zeros(200), 200, BLOCK=32)
    view = launches[0].plot.grid()
    page = show(view)
    seen = view.heatmaps[1].frame
    of_cell = """(canvas, [column, row, wide, high, left, top, ...red]) => {
      const { data } = canvas.getContext('2d').getImageData(left + column * wide, top + row * high, wide, high);
      const places = Array.from({ length: wide * high }, (_, k) => 4 * k);
      return places.filter(at => red.every((part, c) => part === data[at + c])).length;
    }"""
    red = style.palette()[style.ERROR].tolist()
    reds = [
        page.locator(".tl-cells")
        .nth(1)
        .evaluate(of_cell, [k % 32, k // 32, seen.cell_width, seen.cell_height, LEFT, TOP, *red])
        for k in (0, 199, 200, 224, 255)
    ]
    assert [count > 10 for count in reds] == [False, False, True, True, True]
