"""What was compiled, in a bare page: picked in both directions, searched, folded, by keyboard; and pass by pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from playwright.sync_api import Locator, Page, expect

import triton_lab as lab
from tests.browser.axe import violations
from triton_lab.compiled.compiled import Compiled
from triton_lab.examples import example
from triton_lab.views.compiled.stages_view import Stages
from triton_lab.views.drawing import style
from triton_lab.views.launch.gallery import launches_of

Open = Callable[..., Page]
PICKED = re.compile("tl-codepicked")


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return launches_of(example("attention_full"))[0].compile("sm_90")


def column(page: Page, place: int) -> Locator:
    return page.locator(".tl-codelist").nth(place)


def line(page: Page, place: int, text: str) -> Locator:
    return column(page, place).locator(".tl-codeline", has_text=text).first


def at(place: Locator) -> dict[str, Any]:
    """Where a line can be clicked: it may be longer than its column."""
    return {"position": {"x": 90, "y": 9}}


def test_a_line_of_the_source_lights_up_what_it_became(show: Open, compiled: Compiled, screenshots: Path) -> None:
    page = show(Stages(compiled))
    line(page, 0, "q = tl.load").click(**at(page))
    expect(line(page, 0, "q = tl.load")).to_have_class(PICKED)
    (dot,) = [line for line in compiled.lines.sources[0].lines if "q = tl.load" in line]
    number = compiled.lines.sources[0].first + compiled.lines.sources[0].lines.index(dot)
    for place, stage in ((1, "ttgir"), (2, "sass")):
        numbers = [str(n) for n in compiled.lines.of(stage, number)]
        lit = column(page, place).locator(".tl-codepicked .tl-number").all_inner_texts()
        assert lit and set(lit) <= set(numbers), "scrolled to, and no other"
    told = re.compile(rf"line {number}: \d+ instructions of TTGIR, \d+ instructions")
    expect(page.locator(".tl-status")).to_contain_text(told)
    page.screenshot(path=screenshots / "stages.png")


def test_an_instruction_lights_up_the_line_that_it_comes_from(show: Open, compiled: Compiled) -> None:
    page = show(Stages(compiled), style.DARK)
    search = page.get_by_role("searchbox")
    search.fill("HGMMA")
    expect(page.locator(".tl-told").first).to_have_text(re.compile(r"1 of \d+ lines, in SASS"))
    line(page, 2, "HGMMA").click(**at(page))
    picked = column(page, 0).locator(".tl-codepicked")
    expect(picked).to_have_count(1)
    expect(picked).to_contain_text("tl.dot(")
    page.mouse.move(0, 0)
    expect(page.locator(".tl-status")).to_contain_text("instructions of SASS")
    # Picked again it is let go.
    line(page, 2, "HGMMA").click(**at(page))
    expect(page.locator(".tl-codepicked")).to_have_count(0)


def test_pointing_says_what_an_instruction_does(show: Open, compiled: Compiled) -> None:
    page = show(Stages(compiled))
    page.get_by_role("searchbox").fill("HGMMA")
    line(page, 2, "HGMMA").hover(**at(page))
    expect(page.locator(".tl-readout")).to_contain_text("tensor cores")
    expect(page.locator(".tl-status")).to_contain_text(re.compile(r"SASS, line \d+ · from line \d+"))
    expect(column(page, 0).locator(".tl-codelit")).to_have_count(1)


def test_stages_are_chosen_and_follow_what_is_picked(show: Open, compiled: Compiled) -> None:
    page = show(Stages(compiled))
    line(page, 0, "q = tl.load").click(**at(page))
    page.get_by_label("the second column").select_option("ptx")
    expect(column(page, 1).locator(".tl-codepicked").first).to_be_visible()
    page.get_by_label("the third column").select_option("none")
    expect(page.locator(".tl-codelist")).to_have_count(2)
    page.get_by_label("the third column").select_option("llir")
    expect(page.locator(".tl-codelist")).to_have_count(3)


def test_regions_fold_and_are_found_in_folds(show: Open, compiled: Compiled) -> None:
    page = show(Stages(compiled))
    page.get_by_role("button", name="fold all of TTGIR").click()
    expect(column(page, 1).locator(".tl-codefolded").first).to_contain_text("lines")
    assert column(page, 1).locator(".tl-codeline").count() < 20
    page.get_by_role("searchbox").fill("ttng.warp_group_dot_wait")
    expect(line(page, 1, "ttng.warp_group_dot_wait")).to_be_visible()
    expect(line(page, 1, "ttng.warp_group_dot_wait").locator(".tl-codefound").first).to_be_visible()


def test_all_is_done_by_keyboard(show: Open, compiled: Compiled) -> None:
    page = show(Stages(compiled))
    page.get_by_role("searchbox").focus()
    page.keyboard.type("for start")
    page.keyboard.press("Enter")
    while not column(page, 0).evaluate("list => list === document.activeElement"):
        page.keyboard.press("Tab")
    loop = line(page, 0, "for start")
    page.keyboard.press("Enter")
    expect(loop).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowLeft")
    expect(loop.locator(".tl-codefolded")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(loop.locator(".tl-codefolded")).to_have_count(0)
    page.keyboard.press("ArrowDown")
    active = column(page, 0).get_attribute("aria-activedescendant")
    expect(page.locator(f"#{active}")).to_contain_text("key = start")
    page.keyboard.press("End")
    expect(line(page, 0, "tl.store(out_ptrs")).to_be_visible()


def test_a_pick_takes_a_frame(show: Open, compiled: Compiled) -> None:
    """All stages, LLVM's and PTX's thousands of lines too: what is drawn is what is in sight."""
    page = show(Stages(compiled))
    page.get_by_label("the second column").select_option("llir")
    page.get_by_label("the third column").select_option("ptx")
    assert page.locator(".tl-codeline").count() < 200
    took = page.evaluate(
        """() => {
          const list = document.querySelector(".tl-codelist");
          const { top, left } = list.getBoundingClientRect();
          const times = [];
          for (let k = 4; k < 20; k++) {
            const from = performance.now();
            const place = { clientX: left + 90, clientY: top + 18 * k + 9 };
            list.dispatchEvent(new MouseEvent("click", { bubbles: true, ...place }));
            document.body.getBoundingClientRect();
            times.push(performance.now() - from);
          }
          return times.sort((a, b) => a - b)[times.length >> 1];
        }"""
    )
    print(f"a pick takes {took:.1f} ms")
    assert took < 50, "16 ms, with room for a machine that does something else"


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK], ids=["light", "dark"])
def test_it_is_accessible_and_narrow_columns_stack(
    show: Open, compiled: Compiled, theme: style.Theme, screenshots: Path
) -> None:
    page = show(Stages(compiled), theme)
    line(page, 0, "q = tl.load").click(**at(page))
    assert violations(page) == []
    page.set_viewport_size({"width": 600, "height": 900})
    # What follows a new size is drawn with the next frames.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))")
    boxes = [column(page, k).bounding_box() for k in range(3)]
    assert boxes[0] and boxes[1] and boxes[2]
    assert boxes[0]["y"] < boxes[1]["y"] < boxes[2]["y"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 600
    page.screenshot(path=screenshots / f"stages-narrow-{'dark' if theme is style.DARK else 'light'}.png")


def test_passes_are_gone_through(show: Open, compiled: Compiled, screenshots: Path) -> None:
    page = show(compiled.plot.passes())
    passes = compiled.passes
    expect(page.locator(".tl-pass")).to_have_count(len(passes))
    expect(page.locator(".tl-passidle")).to_have_count(sum(not one.changed for one in passes))
    page.get_by_label("which pass introduced this operation").select_option("ttng.warp_group_dot")
    (first,) = [one.name for one in passes.introduced("ttng.warp_group_dot")][:1]
    expect(page.locator(".tl-pass[aria-selected=true]")).to_contain_text(first)
    expect(page.locator(".tl-codemore", has_text="ttng.warp_group_dot").first).to_be_visible()
    page.locator(".tl-pass[aria-selected=true]").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".tl-pass[aria-selected=true]")).not_to_contain_text(f"{first} ")
    assert violations(page) == []
    page.screenshot(path=screenshots / "passes.png")


@triton.jit
def scaled_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) * (1 + tl.program_id(0)))


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK], ids=["light", "dark"])
def test_the_program_beside_the_passes_is_chosen(show: Open, live: Open, theme: style.Theme, screenshots: Path) -> None:
    with lab.target("cpu"), lab.record() as launches:
        scaled_kernel[(3,)](torch.arange(48.0), torch.zeros(48), BLOCK=16)
    view = launches[0].compile("sm_90").plot.passes()
    page = live(view, theme)
    passes = list(view.compiled.passes)
    to_layouts = next(k for k, one in enumerate(passes) if one.argument == "convert-triton-to-tritongpu")
    page.locator(".tl-pass").nth(to_layouts).click()
    product = page.locator(".tl-codemore", has_text="arith.mulf").first
    expect(product).to_contain_text("// 0, 1, 2, 3")
    page.get_by_label("number or place").fill("2")
    page.keyboard.press("Enter")
    expect(product).to_contain_text("// 96, 99, 102, 105")
    expect(page.locator(".tl-pass").nth(to_layouts)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".tl-note", has_text="program 2")).to_have_count(1)
    assert violations(page) == []
    page.screenshot(path=screenshots / f"passes-live-{'dark' if theme is style.DARK else 'light'}.png")
    # Without a kernel there is no control, and the note names the program.
    saved = show(view.compiled.plot.passes(program=1), theme)
    expect(saved.get_by_label("number or place")).to_have_count(0)
    expect(saved.locator(".tl-note", has_text="program 1")).to_have_count(1)


def test_the_card_of_what_was_compiled(show: Open, compiled: Compiled) -> None:
    page = show(compiled.launch.plot())
    expect(page.get_by_role("tab", name="Compiled", exact=True)).to_have_attribute("aria-selected", "true")
    expect(page.locator(".tl-table", has_text="registers").first).to_be_visible()
    page.get_by_role("tab", name="Stages", exact=True).click()
    line(page, 0, "q = tl.load").click(**at(page))
    expect(page.locator(".tl-codepicked").first).to_be_visible()
    page.get_by_role("tab", name="Passes", exact=True).click()
    expect(page.locator(".tl-words").first).to_contain_text("It needs a running kernel")
