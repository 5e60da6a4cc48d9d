"""The scrubber in a bare page: keys, the line that follows, a variable kept in view; source is text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
import torch
import triton
import triton.language as tl
from playwright.sync_api import Page, expect

import triton_lab as lab
from triton_lab.views.drawing import style

Open = Callable[..., Page]


@triton.jit
def counted(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)  # <img src=x onerror=alert(1)>
    x = tl.load(x_ptr + 2 * offsets, mask=offsets < n)
    x += 1
    tl.store(x_ptr + 2 * offsets, x, mask=offsets < n)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_keys_step_and_the_source_follows(show: Open, screenshots: Path, dark: bool) -> None:
    with lab.record() as launches:
        counted[(1,)](torch.arange(16.0)[::2], 5, BLOCK=8)
    page = show(launches[0].steps(step=0), style.DARK if dark else style.LIGHT)
    page.get_by_label("step").focus()
    for _ in range(5):
        page.keyboard.press(".")
    here = page.locator(".tl-here .tl-code")
    expect(here).to_contain_text("x = tl.load")
    expect(page.locator(".tl-told")).to_contain_text("x = 8 float32")
    page.get_by_role("button", name="offsets").click()
    page.locator(".tl-overlay").hover(position={"x": 46 + 3.5 * 28, "y": 18 + 14})
    expect(page.locator(".tl-status")).to_have_text("offsets[3] = 3")
    page.keyboard.press(",")
    expect(page.locator(".tl-told")).to_contain_text("load from x_ptr")
    expect(page.locator(".tl-code").nth(2)).to_contain_text("<img src=x onerror=alert(1)>")
    page.screenshot(path=screenshots / f"steps{'-dark' if dark else ''}.png")


def test_the_last_step_says_so_and_a_launch_of_one_program_leaves_no_gap_for_a_choice(show: Open) -> None:
    with lab.record() as launches:
        counted[(1,)](torch.arange(16.0)[::2], 5, BLOCK=8)
    page = show(launches[0].steps())
    last = len(launches[0].trace(0)) - 1
    expect(page.locator(".tl-told")).to_have_text(
        f"step {last} of {last}: line {launches[0].steps().trace.steps[-1].line}, "
        "store to x_ptr: 5 of 8 float32, 1 to 9"
    )
    title, told = page.locator(".tl-title").first.bounding_box(), page.locator(".tl-step").first.bounding_box()
    assert title and told and told["y"] - (title["y"] + title["height"]) < 12


@triton.jit
def lengthy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0) + 2 * tl.arange(0, BLOCK) + offsets
    total += 1
    total += 2
    total += 3
    total += 4
    total += 5
    total += 6
    total += 7
    total += 8
    total += 9
    total = tl.where(offsets < 3, total, 2 * total)
    tl.store(out_ptr + offsets, total, mask=offsets < n)


def test_long_lines_wrap_and_long_sources_follow_the_step(show: Open, screenshots: Path) -> None:
    with lab.record() as launches:
        lengthy[(1,)](torch.arange(8.0), torch.zeros(8), 8, BLOCK=8)
    page = show(launches[0].steps(step=0))
    page.set_viewport_size({"width": 600, "height": 300})
    source = page.get_by_role("region", name="source")
    assert source.evaluate("one => one.scrollWidth <= one.clientWidth"), "no code is cut off on the right"
    told = page.locator(".tl-beside .tl-goes-on")
    assert source.evaluate("one => one.scrollHeight > one.clientHeight")
    expect(told).to_have_text("The source continues below. Scroll, or use the arrow keys.")
    source.focus()
    page.keyboard.press("End")
    expect(told).to_have_text("The source continues above. Scroll, or use the arrow keys.")
    page.get_by_label("step").focus()
    for key in ("End", "Home"):
        page.keyboard.press(key)
        seen = page.locator(".tl-here").evaluate(
            "row => { const [r, s] = [row, row.parentElement].map(one => one.getBoundingClientRect());"
            " return s.top - 1 <= r.top && r.bottom <= s.bottom + 1; }"
        )
        assert seen, key
    page.screenshot(path=screenshots / "steps-long.png")


@triton.jit
def growing(x_ptr, BLOCK: tl.constexpr):
    total = tl.arange(0, BLOCK)
    for _ in range(3):
        total = tl.where(total > 4, total + 1, total)
    tl.store(x_ptr + tl.arange(0, BLOCK), total)


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK], ids=["light", "dark"])
def test_what_a_step_changed_flashes_and_stays_marked(
    show: Open, screenshots: Path, theme: style.Theme, motion: Literal["no-preference", "reduce"]
) -> None:
    with lab.record() as launches:
        growing[(1,)](torch.zeros(8, dtype=torch.int32), BLOCK=8)
    steps = launches[0].trace(0).steps
    first, second = [one.number for one in steps if one.name == "total" and one.kind == "assign"][:2]
    page = show(launches[0].steps(step=second - 1), theme)
    page.emulate_media(reduced_motion=motion)
    page.get_by_label("step").focus()
    expect(page.locator(".tl-flash")).to_have_count(0)
    page.keyboard.press(".")
    if motion == "reduce":
        expect(page.locator(".tl-flash")).to_be_hidden()
    else:
        page.wait_for_selector(".tl-flash")
        page.wait_for_selector(".tl-flash", state="detached")
    expect(page.locator(".tl-changed")).to_have_text(f"3 of 8 elements changed since step {first} ◥")
    expect(page.locator("tr.tl-new .tl-watch")).to_have_text("total")
    ground, marked = page.locator(".tl-cells").evaluate(
        "c => [4, 5].map(k => [...c.getContext('2d').getImageData(46 + 28 * k + 25, 18 + 2, 1, 1).data].slice(0, 3))"
    )
    assert marked in ([0, 0, 0], [255, 255, 255]) and ground not in ([0, 0, 0], [255, 255, 255])
    page.screenshot(path=screenshots / f"steps-changed-{theme == style.DARK}-{motion}.png")
