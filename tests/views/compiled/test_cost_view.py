"""Cost as a picture: the scene says what the model says, and every form can be made."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.compiled.cost import GPUS
from triton_lab.examples.gpu_recordings import recording
from triton_lab.examples.vector_add import add
from triton_lab.views.compiled.roofline import edges, roofline
from triton_lab.views.drawing.drawing import DrawnText, Line, Rectangle


def compiled(target="sm_90"):
    with lab.record() as launches:
        add(torch.zeros(1000), torch.zeros(1000), block=128)
    return launches[0].compile(target)


def test_shares_of_lines_add_up_to_one():
    scene = compiled().plot.cost().scene()
    for k, name in enumerate(scene["shares"]):
        assert sum(shares[k] for _, _, shares in scene["listing"]) == pytest.approx(1), name
    assert scene["totals"][0] == "12 kB"


def test_every_gpu_has_a_roof():
    view = compiled().plot.cost("RTX 4090")
    scene = view.scene()
    assert [roof["name"] for roof in scene["roofs"]] == [one.name for one in GPUS]
    assert scene["roofs"][scene["shown"]]["name"] == "RTX 4090"
    for one, roof in zip(view.roofs, scene["roofs"], strict=True):
        assert one.rate == pytest.approx(min(one.peak, one.intensity * one.gpu.bytes))
        assert roof["source"].startswith("Figures: ")
        assert roof["drawing"]["label"] == roof["text"] == str(one)


@pytest.mark.parametrize("intensity", [0.003, 0.8, 20.0, 5000.0, math.inf])
def test_the_roofline_holds_the_ridge_and_the_launch(intensity):
    roof = compiled().cost.roof("H100")
    roof = replace(roof, intensity=intensity, rate=min(roof.peak, intensity * roof.gpu.bytes))
    made = roofline(roof)
    axes = edges(roof)
    assert axes.left < math.log10(roof.ridge) < axes.right
    assert axes.low <= math.log10(roof.gpu.bytes) + axes.left
    assert math.log10(roof.peak) <= axes.high
    edge, *_ = (item for item in made.items if isinstance(item, Line) and len(item.points) == 3)
    (_, start), (ridge, top), (_, end) = edge.points
    assert start > top == end
    marks = [item for item in made.items if isinstance(item, Rectangle)]
    assert [mark.fill for mark in marks] == ["none"] * math.isfinite(intensity)
    for mark in marks:  # on the roof: under its slope to the left of the ridge, at its height to the right
        assert (mark.middle < ridge) == (intensity < roof.ridge)
        assert mark.y + mark.height / 2 == pytest.approx(top) or mark.y > top
    for item in made.items:
        if isinstance(item, DrawnText):
            assert 0 < item.x < made.width and 0 < item.y < made.height


def test_what_was_measured_is_a_filled_mark_below_the_bound():
    launch = recording("matmul_float16")
    assert launch.time is not None and "H100" in launch.time.device
    cost = launch.compile("sm_90").cost
    roof = cost.roof("H100")
    assert roof.measured == pytest.approx(cost.arithmetic.flops / launch.time.median) and roof.measured < roof.rate
    bound, measured = (item for item in roofline(roof).items if isinstance(item, Rectangle))
    assert (bound.fill, measured.fill) == ("none", "error")
    assert measured.y > bound.y and measured.x == bound.x
    assert math.log10(roof.measured) > edges(roof).low
    assert cost.roof("H200").measured is None and cost.roof("A100").measured is None


@pytest.mark.parametrize("target", ["sm_80", "gfx942", "gfx1200"])
def test_every_form_for_every_maker(target, wording: Wording):
    view = compiled(target).plot.cost()
    view.figure()
    title, table, *_ = view.text().splitlines()
    wording(title, kernel="add_kernel", target=target)
    assert table.startswith("bytes, ")
    listing = view.scene()["listing"]
    assert (listing[0][2][2] is None) == target.startswith("gfx")


def test_a_gpu_that_is_not_known_is_told(wording: Wording):
    with wording.raises(LookupError):
        compiled().plot.cost("TPU")
