"""Loops moved by hand: the same orders in the browser and in Python, at a drag, by keys, with and without a kernel."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.views.polyhedral.test_live import Open, show, spot  # noqa: F401 - `show` is a fixture
from triton_lab.polyhedral import Schedule, scop
from triton_lab.polyhedral.loop_moves import LoopMove, movable
from triton_lab.polyhedral.related_work import page_nests
from triton_lab.views.drawing.drawing import Line
from triton_lab.views.polyhedral.dependence_pairs import usual
from triton_lab.views.polyhedral.instant_marks import marked, outline
from triton_lab.views.polyhedral.iteration_picture import picture
from triton_lab.views.polyhedral.iteration_view import IterationView, iteration_view
from triton_lab.views.polyhedral.legend_box import entries, unsure
from triton_lab.views.polyhedral.polyhedral_style import MAY_DASHES


def skewed(n: int = 6) -> Schedule:
    return scop(page_nests.SKEWED, n=n).schedule


def test_a_change_is_the_calls_that_make_it() -> None:
    loops = movable(skewed())
    assert loops is not None and [loop.name for loop in loops.loops] == ["i", "j"]
    same = {
        "1.0//0.0": skewed().reorder("j", "i"),
        "1.0/1.0.1/0.0": skewed().skew("j", "i").reorder("j", "i"),
        "0.1//2.3": skewed().tile({"i": 2, "j": 3}),
        "1.0/0.1.-2/0.4": skewed().skew("i", "j", -2).reorder("j", "i").tile({"j": 4}).reorder("jo", "ji", "i"),
        "0.1/1.0.1,0.1.-1/0.0": skewed().skew("j", "i").skew("i", "j", -1),
    }
    for text, schedule in same.items():
        assert loops.moved(LoopMove.parse(text)).tree == schedule.tree, text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0.0//1.1",
        "0.1/0.0.1/0.0",
        "0.1/0.1.99/0.0",
        "0.1//0",
        "0.1//9999.0",
        "a//b",
        "0.1//1.1;",
        "0.1/0.1.1,0.1.1/0.0",
        "0.1/0.1/0.0",
        "0.1/0.1.1,/0.0",
    ],
)
def test_a_change_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(LookupError):
        iteration_view(skewed()).part(f"order/own/{text}")


def test_the_tiles_of_a_schedule_can_be_moved_again() -> None:
    tiled = skewed().skew("j", "i").tile({"i": 2, "j": 3})
    loops = movable(tiled)
    assert loops is not None and loops.shown.sizes == (2, 3)
    assert loops.base.tree == skewed().skew("j", "i").tree
    assert movable(skewed().split("j", 2)) is None  # not all loops of a split are lines
    assert movable(scop("for (int i = 0; i < 3; i++) A[i] = 0; for (int i = 0; i < 3; i++) B[i] = 0;").schedule) is None


def test_python_tells_whether_an_order_is_legal_for_every_size() -> None:
    view = iteration_view(skewed())
    illegal = view.part("order/own/1.0//0.0")
    assert [tone for _text, tone in illegal["notes"]] == ["violated", "violated"]  # type: ignore[attr-defined]
    legal = view.part("order/own/1.0/1.0.1/0.0")
    assert [tone for _text, tone in legal["notes"]] == ["legal"]  # type: ignore[attr-defined]
    assert legal["program"] == skewed().skew("j", "i").reorder("j", "i").program()
    assert [run for run in legal["runs"] if run] == ["S0"]  # type: ignore[attr-defined]
    view.part("order/own/0.1//2.2")
    began = time.perf_counter()
    view.part("order/own/0.1//2.3")
    assert time.perf_counter() - began < 1  # some 20 ms where nothing else runs


def test_a_legal_change_has_arrows_and_none_is_red() -> None:
    legal = skewed().skew("j", "i").interchange("i", "j")
    shown = IterationView(legal)
    assert usual(legal) == "value" and usual(skewed()) is None
    assert [(a.kind, a.violated, len(a.ends)) for a in shown.picture.arrows] == [("flow", False, 16)]
    assert shown.time is not None
    (arrows,) = shown.time.picture.arrows
    after, before = arrows.ends[:, 1], arrows.ends[:, 0]
    assert ((after[:, 0] > before[:, 0]) | ((after[:, 0] == before[:, 0]) & (after[:, 1] > before[:, 1]))).all()
    broken = IterationView(skewed().interchange("i", "j")).picture.arrows
    assert [(a.violated, len(a.ends)) for a in broken] == [(True, 16)]  # none is drawn as kept, too


GUARDED = """
for (int i = 1; i < 6; i++)
  for (int j = 0; j < 6; j++)
    if (M[i][j] > 0)
      A[i][j] = A[i-1][j] + 1;
"""


def test_what_data_decides_is_dashed_and_in_the_legend() -> None:
    view = IterationView(scop(GUARDED).schedule.interchange("i", "j"), instance=(3, 2))
    (arrows,) = view.picture.arrows
    assert arrows.may and arrows.kind == "flow"
    lines = [item for item in view.drawing().items if isinstance(item, Line) and item.curved]
    assert sorted(line.dashed for line in lines) == [False, True, True]  # the condition surely reads
    told = [entry.dashes or entry.sign for entry in (*entries(view.picture, False), *unsure(view.schedule, True))]
    assert MAY_DASHES["flow"] in told and "dashed" in told
    scene = view.scene()
    assert [access["may"] for access in scene["accesses"]] == [False, True, True]
    assert scene["moves"] is not None and [pairs["may"] for pairs in scene["moves"]["pairs"]] == [True]
    assert scene["runs"] == ["", "", "S0", "S0"]  # the condition and what it guards
    assert len(scene["runs"]) == len(scene["program"].splitlines())


def test_an_instant_of_a_whole_grid_is_one_mark() -> None:
    grid = scop(page_nests.TRANSPOSE, n=4).schedule
    whole = picture(grid.parallel("i").parallel("j"))
    (front,) = marked(whole)
    assert len(front) == 16 and len(outline(whole.layers[0].points[whole.visits[front, 1]].astype(float), 0.3)) > 2
    rows = picture(grid.parallel("j"))
    assert len(marked(rows)) == 4
    assert all(len(outline(rows.layers[0].points[rows.visits[f, 1]].astype(float), 0.3)) == 2 for f in marked(rows))
    # Instants of which each has a point in every tile lie on each other: the first stands for all.
    strided = picture(grid.tile({"i": 2, "j": 2}).parallel("io").parallel("jo"))
    assert len(strided.fronts) == 4 and len(marked(strided)) == 1


def knob(page: Page, name: str) -> tuple[float, float]:
    box = page.get_by_role("slider", name=name).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Page, name: str, right: float, down: float) -> None:
    x, y = knob(page, name)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + right, y + down, steps=6)
    page.mouse.up()


@pytest.mark.browser
def test_a_border_is_dragged_and_loops_and_legality_follow_without_a_kernel(show: Open) -> None:  # noqa: F811
    view = iteration_view(skewed())
    page = show(view)
    unit = view.scene()["frame"][2]
    calls, verdict, program = page.locator(".tl-calls"), page.get_by_role("status"), page.locator(".tl-domain pre")
    red = page.locator(".tl-domain-stage").first.locator("path[stroke='#d60000']")
    drag(page, "size of the tiles of j", -2 * unit, 0)  # from past the last column, 4, to before 3
    expect(calls).to_have_text('.tile({"j": 3}).reorder("jo", "i", "ji")')
    expect(verdict).to_contain_text("S0(1, 3) must run before S0(2, 2)")
    expect(red).to_have_count(1)
    expect(program).to_contain_text("for (int jo = 0; jo <= 1; jo++)")
    drag(page, "skew of j by i", -4.6 * unit, 0)
    expect(calls).to_contain_text('.skew("j", "i", 1)')
    expect(verdict).to_have_text("legal at n = 6: every dependence is kept")
    expect(red).to_have_count(0)
    arrows = page.locator(".tl-domain-stage path[stroke='#0072b2']")
    expect(arrows).to_have_count(2)  # in the domain and in time
    page.get_by_role("button", name="reset").click()
    expect(calls).to_be_empty()
    expect(program).to_have_text(view.schedule.program())


@pytest.mark.browser
def test_with_a_kernel_python_writes_the_loops_of_the_last_order(show: Open) -> None:  # noqa: F811
    view = iteration_view(skewed())
    page = show(view, live=True)
    page.get_by_label("exchange the two outermost loops").click()
    page.get_by_role("spinbutton", name="skew of j by i").fill("1")
    expect(page.get_by_role("status")).to_have_text("legal at n = 6: every dependence is kept")  # until Python knows
    for asked in ("order/own/1.0//0.0", "order/own/1.0/1.0.1/0.0"):  # one question at a time, and then the last
        assert page.evaluate("() => window.asked.at(-1)") == asked
        page.evaluate("([part, scene]) => window.answer({ part, scene }, [])", [asked, view.part(asked)])
    expect(page.locator(".tl-domain pre")).to_have_text(skewed().skew("j", "i").reorder("j", "i").program())
    expect(page.get_by_role("status")).to_have_text("legal: every dependence is kept")


@pytest.mark.browser
def test_loops_are_moved_by_keys_and_the_handle_keeps_the_keyboard(show: Open) -> None:  # noqa: F811
    page = show(iteration_view(skewed()))
    calls = page.locator(".tl-calls")
    size = page.get_by_role("slider", name="size of the tiles of i")
    size.focus()
    for key, text in (("ArrowUp", 1), ("ArrowRight", 2), ("PageUp", 7), ("ArrowDown", 6)):
        page.keyboard.press(key)
        expect(calls).to_contain_text(f'.tile({{"i": {text}}})')
        expect(size).to_be_focused()
    assert size.get_attribute("aria-valuenow") == "6"
    page.keyboard.press("Home")
    expect(calls).to_be_empty()
    page.get_by_role("button", name="loop i: 1 of 2").focus()
    page.keyboard.press("ArrowRight")
    expect(calls).to_have_text('.reorder("j", "i")')
    page.get_by_role("spinbutton", name="skew of j by i").fill("1")
    expect(page.get_by_role("status")).to_contain_text("legal at n = 6")


@pytest.mark.browser
def test_an_instance_lights_up_in_domain_time_and_program(show: Open) -> None:  # noqa: F811
    view = iteration_view(skewed())
    page = show(view)
    page.get_by_label("exchange the two outermost loops").click()
    line = page.locator(".tl-domain pre [data-statement=S0]")
    expect(line).not_to_have_class("tl-lit")
    page.locator(".tl-domain-stage").first.hover(position=spot(view, 3, 2))
    expect(line).to_have_class("tl-lit")
    expect(page.locator(".tl-domain-told")).to_contain_text("S0(3, 2), visit 13 of 25")  # column by column now
    painted = """n => { const canvas = document.querySelectorAll('.tl-domain-stage')[n].querySelectorAll('canvas')[1];
      return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((v) => v > 0); }"""
    assert page.evaluate(painted, 0) and page.evaluate(painted, 1)


@pytest.mark.browser
def test_a_drag_takes_a_moment(show: Open) -> None:  # noqa: F811
    """Each step of a drag is drawn before the next: all that a step needs is in the page."""
    page = show(iteration_view(scop(page_nests.WAVEFRONT, n=11)))
    took = page.evaluate("""() => {
      const knob = document.querySelector(".tl-knob:not(.tl-leans)");
      const times = [];
      for (let k = 0; k < 12; k++) {
        const began = performance.now();
        knob.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp" }));
        times.push(performance.now() - began);
      }
      return times.sort((a, b) => a - b);
    }""")
    assert took[6] < 400, json.dumps(took)  # milliseconds for 100 instances; some 20 where nothing else runs


def test_the_browser_gets_each_place_with_its_times() -> None:
    scene = iteration_view(skewed().tile({"i": 2, "j": 3})).scene()
    moves = scene["moves"]
    assert moves is not None and moves["sizes"] == [2, 3]
    times = np.frombuffer(moves["times"]["bytes"], np.int32).reshape(-1, 2)
    assert times.tolist() == skewed().tile({"i": 2, "j": 3}).order().points.tolist()
    assert sum(len(pairs["pairs"]["bytes"]) // 8 for pairs in moves["pairs"]) == 16
    assert sorted(moves["rows"]) == [[-1, 0, 5], [0, -1, 4], [0, 1, 0], [1, 0, -1]]
    assert iteration_view(skewed(), time=False).scene()["moves"] is None
