"""Steps and origins as pictures, on a kernel whose arithmetic is known."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.launch import Launch
from triton_lab.views.drawing import style
from triton_lab.views.drawing.value_picture import summary
from triton_lab.views.launch.accesses.iteration_marks import STORED
from triton_lab.views.launch.tiling.tiling_layer import UNTOUCHED


@triton.jit
def turned(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)[:, None]
    j = tl.arange(0, BLOCK)[None, :]
    ptrs = x_ptr + 2 * (i * BLOCK + j)
    x = tl.load(ptrs)
    tl.store(out_ptr + i * BLOCK + j, tl.trans(x), mask=i < 3)


@pytest.fixture(scope="module")
def launch() -> Launch:
    x = torch.arange(32.0).reshape(4, 8)[:, ::2]
    with lab.record() as launches:
        turned[(1,)](x, torch.zeros(4, 4), BLOCK=4)
    return launches[0]


def store_of(launch: Launch) -> Any:
    return next(access for access in launch.accesses if access.kind == "store")


def test_pointers_are_told_as_offsets_never_as_addresses(launch: Launch) -> None:
    text = launch.steps().text()
    assert "x_ptr = pointer to x_ptr + 0" in text
    assert "ptrs = 4×4 pointers to x_ptr + 0 to 30" in text
    assert "x = 4×4 float32, 0 to 30" in text


def test_a_step_knows_the_variables_alive_and_no_later_ones(launch: Launch) -> None:
    view = launch.steps(step=4)
    assert [name for name, _, _ in view.alive()][:5] == ["x_ptr", "out_ptr", "BLOCK", "i", "j"]
    data, _ = view._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG") and "step 4 of" in data["text/plain"]
    scene = view.scene()
    assert [one["kind"] for one in scene["steps"]].count("load") == 1
    assert scene["steps"][-1]["mask"] is not None, "a row of the store is masked"


def test_the_last_step_is_told_as_such(launch: Launch) -> None:
    last = len(launch.steps().trace) - 1
    for step, steps in ((last, launch.steps()), (0, launch.steps(step=0))):
        *_, told = steps.title().split(": ")
        assert re.findall(r"\d+", told) == [str(step), str(last)]


def test_what_a_store_is_told_as_leaves_out_the_lanes_that_are_off(launch: Launch) -> None:
    view = launch.steps()
    store = view.trace.steps[-1]
    assert store.kind == "store" and float(store.values[3].max()) == 30, "a lane that is off has the greatest number"
    assert view.text().splitlines()[1].endswith("store to out_ptr: 12 of 4×4 float32, 0 to 28")
    assert list(view.scene()["steps"][-1]["ends"]) == [0, 28]


def test_numbers_beside_infinities_are_not_everywhere() -> None:
    assert summary(np.float32([np.inf, 0, np.inf, 0])) == "4 float32, 2 +∞, 0 elsewhere"
    assert summary(np.float32([0, 0])) == "2 float32, 0 everywhere"
    assert summary(np.float32([np.nan, 1, 2])) == "3 float32, 1 to 2, 1 NaN"
    assert summary(np.float32([np.nan, 7]), np.array([True, False])) == "1 of 2 float32, 1 NaN"
    assert summary(np.float32(7), np.array(False)) == "not accessed (float32)"


def test_the_origin_of_a_moved_element_is_marked_alone(launch: Launch) -> None:
    view = launch.origins_view(store_of(launch), program=0, lane=1 * 4 + 2)
    assert view.title().startswith("out_ptr[1, 2], store in line ")
    stored, loaded = view.heatmaps
    for heatmap, index, rest in ((stored, (1, 2), STORED), (loaded, (2, 1), UNTOUCHED)):
        looks = heatmap.styles[heatmap.cells].reshape(4, 4, 4)
        marked = looks[..., 0] == style.SEQUENTIAL + style.LEVELS // 2
        assert np.argwhere(marked).tolist() == [list(index)]
        assert tuple(looks[0, 0].tolist()) == rest
    assert tuple(stored.styles[stored.cells[12]].tolist()) == UNTOUCHED, "the last row is masked"
    assert view._repr_mimebundle_()[0]["image/png"] and view.scene()["kind"] == "origins"


def test_any_stored_element_can_be_asked_about(launch: Launch) -> None:
    view = launch.origins_view(store_of(launch))
    assert view.cells.askable().tolist() == list(range(12))
    for element in range(12):
        answer = view.part(f"{view.name}/{element}")
        assert (answer["program"], answer["element"]) == (0, element)
        (picture,) = answer["pictures"]
        row, column = divmod(element, 4)
        assert np.frombuffer(picture["cells"]["bytes"], picture["cells"]["type"]).tolist() == [4 * column + row]
    with pytest.raises(LookupError, match=r"element 12 of out_ptr"):
        view.part(f"{view.name}/12")
    with pytest.raises(LookupError, match="has no part"):
        view.part("origin/99/0")


def test_the_steps_of_another_program_are_another_part(launch: Launch) -> None:
    view = launch.steps()
    live = view.live()
    assert (live["kind"], live["name"], live["window"], list(live["parts"])) == ("follow", "steps", 1, ["steps@0"])
    assert view.part("steps@0") == {**view.scene(), "step": 0}
    with pytest.raises(LookupError):
        view.part("grid")


def test_bad_requests_say_what_there_is(launch: Launch) -> None:
    with pytest.raises(ValueError, match=r"program \(0, 0, 0\) has steps 0 to"):
        launch.steps(step=99)
    with pytest.raises(ValueError, match=r"store in line .* lanes 0 to 15, not 16"):
        launch.origins_view(store_of(launch), lane=16)
    with pytest.raises(ValueError, match=r"number 1: .*\(1, 1, 1\) has 1 program"):
        launch.origins_view(store_of(launch), program=1)
