"""A learner in chapters of the course, in JupyterLab: moves a picture, answers an exercise wrongly and is shown where,
answers it rightly, closes the notebook, and finds the progress when it is open again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Lab
from tests.course.chapters import FOLDER, answers, notebook
from triton_lab.course.edition import checked, source_of, stripped
from triton_lab.course.exercise_registry import exercise, exercises


@dataclass(frozen=True)
class Walk:
    """Through one chapter. ``needed`` and ``picture`` are cells, each told by what stands in it; ``move`` does
    something in the picture and sees what it did. The exercise is answered as the teacher does, but for one thing: in
    place of ``right`` stands ``wrong``. The check then says ``told``, and ``shown`` looks at its picture."""

    exercise: str
    needed: tuple[str, ...]
    picture: str
    move: Callable[[Locator], None]
    right: str
    wrong: str
    told: str
    shown: Callable[[Locator], None]


def picks_a_program(cell: Locator) -> None:
    expect(cell.locator(".tl-told:visible")).to_have_text("all 7 programs")
    cell.locator(".tl-overlay:visible").click(position={"x": 300, "y": 32})
    expect(cell.locator(".tl-told:visible")).to_contain_text("program (")


def drags_the_block(cell: Locator) -> None:
    """From 32 to the least, as far as the slider goes."""
    expect(cell.locator(".tl-told:visible")).to_have_text("all 4 programs")
    slider = cell.locator(".tl-sliders input")
    drag(slider, slider, 0.0)
    expect(cell.locator(".tl-told:visible")).to_have_text("all 13 programs")


def drag(handle: Locator, rail: Locator, share: float, at: float = 0.5) -> None:
    """With the mouse from ``at`` in the width of ``handle`` to ``share`` of that of ``rail``."""
    start, end = handle.bounding_box(), rail.bounding_box()
    assert start is not None and end is not None
    mouse, y = handle.page.mouse, start["y"] + start["height"] / 2
    mouse.move(start["x"] + at * start["width"], y)
    mouse.down()
    mouse.move(end["x"] + share * end["width"], y, steps=4)
    mouse.up()


def picks_a_tile(cell: Locator) -> None:
    cell.locator(".tl-overlay:visible").click(position={"x": 100, "y": 60})
    expect(cell.locator(".tl-told:visible")).to_contain_text("program (")


def makes_it_larger(cell: Locator) -> None:
    view = cell.locator(".tl-view")
    expect(view).to_contain_text("25 instances at n = 6")
    # The notebook must not take the key for itself.
    cell.get_by_role("slider", name="n", exact=True).press("ArrowRight")
    expect(view).to_contain_text("36 instances at n = 7")


def card_at_findings(cell: Locator) -> None:
    """The card of the launch, and in it what the lab found."""
    expect(cell.locator(".tl-card .tl-kernel")).to_be_visible()
    expect(cell.locator(".tl-card").get_by_text("out of bounds").first).to_be_visible()


def picture_of_memory(cell: Locator) -> None:
    expect(cell.locator(".tl-view canvas.tl-cells").first).to_be_visible()


def picture_of_points(cell: Locator) -> None:
    expect(cell.locator(".tl-view svg, .tl-view canvas").first).to_be_visible()


WALKS = {
    "00_first_kernel": Walk(
        *("add_constant", (), "def add(x_ptr", picks_a_program),
        *("+ value, mask=mask)", "+ value)", "element 96 of out_ptr", card_at_findings),
    ),
    "04_masks": Walk(
        *("shift_right", ("def double(x_ptr",), "lab.interact(", drags_the_block),
        *("inside & (offsets > 0)", "inside", "x_ptr", card_at_findings),
    ),
    "09_matmul": Walk(
        *("matmul", (), "def tile_numbers", picks_a_tile),
        *("* bk", "* bn", "must be", picture_of_memory),
    ),
    "31_polyhedra": Walk(
        *("band", ("page_nests.PAGE)",), "wavefront.plot(instance", makes_it_larger),
        *("i + 2)", "i + 1)", "A[0, 1] is not written, but must be", picture_of_points),
    ),
}


@pytest.mark.parametrize("name", WALKS)
def test_a_learner_goes_through_a_chapter(lab: Lab, name: str) -> None:
    Path(os.environ["TRITON_LAB_PROGRESS"]).unlink(missing_ok=True)  # of exercises that other tests have solved
    walk, handed = WALKS[name], stripped(notebook(FOLDER / f"{name}.py"), name)
    handed["metadata"].pop("jupytext", None)  # else it asks which of the two is right
    (lab.folder / f"{name}.ipynb").write_text(json.dumps(handed), encoding="utf-8")
    texts = [source_of(cell) for cell in handed["cells"]]

    def at(part: str) -> int:
        return next(number for number, text in enumerate(texts) if part in text)

    check = next(number for number, text in enumerate(texts) if checked(text) == walk.exercise)
    answer, progress = at(f"def {walk.exercise}("), at("course.progress(")
    opened = lab.open(f"{name}.ipynb")
    for part in ("import triton_lab as lab", *walk.needed, walk.picture):
        opened.run(at(part))
    walk.move(opened.cell(at(walk.picture)))
    lab.screenshot(f"walk-{name}-moved", opened.cell(at(walk.picture)))

    written = answers()[walk.exercise]
    assert written.count(walk.right) == 1
    opened.write(answer, written.replace(walk.right, walk.wrong))
    opened.run(answer)
    opened.run(check)
    cell = opened.cell(check)
    expect(cell.get_by_text(f"{exercise(walk.exercise).title}:")).to_be_visible()
    expect(cell.get_by_text(walk.told).first).to_be_visible()
    expect(cell.get_by_text("Not solved yet")).to_be_visible()
    walk.shown(cell)
    lab.screenshot(f"walk-{name}-wrong", cell)

    opened.write(answer, written)
    opened.run(answer)
    opened.run(check)
    solved = opened.cell(check).locator("div", has_text="Solved:").last
    lab.screenshot(f"walk-{name}-right", opened.cell(check))
    count = sum(one.chapter == name[:2] for one in exercises())
    told = f"Chapter {name[:2]}: 1 of {count}"
    expect(opened.cell(check).get_by_text(told)).to_be_visible()
    expect(solved).to_be_visible()

    opened.save()
    lab.close_all()
    again = lab.show(f"{name}.ipynb")
    expect(again.cell(check).get_by_text("Solved:")).to_be_visible()
    again.run(at("import triton_lab as lab"))
    again.run(progress)
    expect(again.cell(progress).get_by_text(told)).to_be_visible()
    lab.screenshot(f"walk-{name}-again", again.cell(progress))
    assert lab.console_errors == []
