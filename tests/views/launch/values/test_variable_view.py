"""Values as pictures: variables by program and iteration, what was loaded and stored then, comparisons."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.launch.launch import Launch
from triton_lab.views.drawing import style
from triton_lab.views.drawing.value_picture import block_heatmap
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.values.program_variables import ValuesPanel
from triton_lab.views.launch.values.variable_view import VariableView
from triton_lab.views.notebook_output import SCENE


@triton.jit
def growing(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for _ in range(pid):
        acc += tl.load(x_ptr + 2 * offsets, mask=offsets < n)
    word: tl.constexpr = "word"  # noqa: F841
    tl.store(out_ptr + offsets, acc, mask=offsets < n)


@pytest.fixture(scope="module")
def launch() -> Launch:
    x, out = torch.arange(20.0)[::2], torch.zeros(10)
    x[5] = float("nan")
    with lab.record() as launches:
        growing[(3,)](x, out, 10, BLOCK=4)
    x.fill_(-1)
    out.fill_(-1)  # what happens later must not show
    return launches[0]


def acc(launch: Launch) -> VariableView:
    line = next(
        v.line
        for v in launch.variables
        if v.name == "acc" and "+=" in launch.source.splitlines()[v.line - launch.first_line]
    )
    return launch.values("acc", line=line).view(program=2, iteration=1)


def test_the_picked_program_and_iteration_are_drawn(launch: Launch) -> None:
    view = acc(launch)
    assert view.block is not None and view.block.tolist() == [32.0, 36.0, 0.0, 0.0]
    data, _ = view._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG") and "[32, 36, 0, 0]" in data["text/plain"]
    assert VariableView(view.values, program=1).block is not None
    assert "program (0, 0, 0), iteration 0: not reached" in VariableView(view.values, program=0).text()
    assert VariableView(view.values, program=0)._repr_mimebundle_()[0]["image/png"]


def test_the_scene_holds_every_program_and_iteration(launch: Launch) -> None:
    scene = acc(launch).scene()
    assert [np.frombuffer(one["bytes"], np.uint8).tolist() for one in scene["reached"]] == [[0, 1, 1], [0, 0, 1]]
    assert np.frombuffer(scene["values"][1]["bytes"], np.float32).reshape(3, 4)[2].tolist() == [32, 36, 0, 0]


def test_a_result_of_values_shows_itself(launch: Launch) -> None:
    data, _ = launch.values("offsets")._repr_mimebundle_()
    assert set(data) == {SCENE, "image/png", "text/plain"}
    assert "fixed when compiling" in launch.values("word")._repr_mimebundle_()[0]["text/plain"]


def test_two_programs_or_launches_side_by_side(wording: Wording, launch: Launch) -> None:
    offsets = launch.values("offsets")
    apart = offsets.compare(programs=(0, 2))
    wording(apart.title(), name="offsets", elements="4 of 4 elements", most=8, element="offsets[0]")
    assert apart.text().endswith("\nprogram (0, 0, 0), iteration 0 0, program (2, 0, 0), iteration 0 8")
    assert [one.title for one in apart.picture.heatmaps[:2]] == list(apart.picture.titles)
    assert apart.figure() is not None and apart.scene()["table"][0][2] == "different"
    assert offsets.compare(launch.values("offsets"), programs=(1, 1)).title() == "offsets: bit-equal"
    with pytest.raises(ValueError, match=r"acc on line .*: program \(0, 0, 0\)"):
        acc(launch).values.compare()


def test_loaded_values_are_those_of_then_and_nan_is_marked(launch: Launch) -> None:
    view = launch.heatmap("x_ptr", by="values")
    assert view.text().endswith("all lanes: 8 float32, 8 to 18, 1 NaN")
    assert view._repr_mimebundle_()[0]["image/png"]
    stored = launch.heatmap("out_ptr", by="values").found  # type: ignore[union-attr]
    assert stored.last[8:].tolist() == [32, 36] and stored.touched.all()
    untouched = launch.heatmap("x_ptr", by="values").found  # type: ignore[union-attr]
    assert untouched.touched.tolist() == [False] * 4 + [True] * 6


def test_bad_requests_say_what_there_is(launch: Launch) -> None:
    with pytest.raises(ValueError, match=r"number 3: .*\(3, 1, 1\) has 3 programs"):
        launch.values("pid").view(program=3)
    told = r"program \(0, 0, 0\) and 1 other were examined, but not program \(2, 0, 0\): call values\("
    with pytest.raises(ValueError, match=told):
        launch.values("pid", programs=[0, 1]).view(program=2)
    with pytest.raises(ValueError, match="has iteration 0, not 1"):
        launch.values("pid").view(iteration=1)


@pytest.mark.parametrize("shape", [(), (0,), (3, 4), (2, 3, 4), (1000, 1000)])
def test_blocks_of_any_shape_nan_alone_included(shape: tuple[int, ...]) -> None:
    heatmap = block_heatmap(np.full(shape, np.nan, dtype=np.float32), 0.0, 0.0)
    assert heatmap.ramp is None
    if heatmap.layout.positions:
        assert set(heatmap.styles[heatmap.cells[heatmap.cells > 0], 0].tolist()) == {style.NAN}


@triton.jit
def masked_late(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x_ptr + at)
    few = tl.sum(tl.reshape(value, (BLOCK // 4, 4)), 1)
    keep = value > 2
    tl.store(out_ptr + at, value + tl.sum(few), mask=keep)


def test_the_widest_block_opens_first_and_of_equals_the_last_that_is_no_mask() -> None:
    with lab.record() as launches:
        masked_late[(1,)](torch.arange(8.0), torch.zeros(8), 8, BLOCK=8)
    items = ValuesPanel(Card(launches[0], ("values",))).items()
    assert [one["label"].partition(" · ")[0] for one in items] == [
        "value", "at", "few", "keep", "x_ptr", "out_ptr", "n", "BLOCK", "elements of out_ptr", "elements of x_ptr"
    ]  # fmt: skip
