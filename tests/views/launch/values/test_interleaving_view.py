"""The picture of two programs that are stepped: its states are those that were run, and lead to one another."""

from __future__ import annotations

from unittest.mock import patch

import pytest
import torch

from tests.views.kernels import counts_kernel
from tests.views.pictures import recorded
from triton_lab.launch.launch import Launch
from triton_lab.views.launch.values import interleaving_view
from triton_lab.views.launch.values.interleaving_view import CANNOT, ELSEWHERE, InterleavingScene


@pytest.fixture(scope="module")
def launch() -> Launch:
    return recorded(lambda: counts_kernel[(3,)](torch.zeros(1, dtype=torch.int32), torch.zeros(3)))


def walk(scene: InterleavingScene, order: list[int]) -> list[str]:
    """The shared values after an order of steps in a scene."""
    state = 0
    for which in order:
        state = scene["states"][state]["steps"][which]["to"]
        assert state >= 0
    assert {step["to"] for step in scene["states"][state]["steps"]} == {CANNOT}
    return scene["states"][state]["values"]


def test_each_result_is_reached_by_its_order(launch: Launch) -> None:
    scene = launch.plot.interleaving().scene()
    assert scene["cells"] == ["count_ptr[0]"]
    assert sorted(one["values"][0] for one in scene["outcomes"]) == ["1", "2"]
    for one in scene["outcomes"]:
        assert walk(scene, one["order"]) == one["values"]


def test_a_step_has_its_line_element_and_value(launch: Launch) -> None:
    scene = launch.plot.interleaving().scene()
    (load,) = scene["states"][0]["steps"][0]["accesses"]
    assert load["line"] == counts_kernel.starting_line_number + 2 and not load["own"]
    assert "count_ptr[0]" in load["words"] and load["words"].endswith("0")
    stored = scene["states"][scene["states"][0]["steps"][0]["to"]]["steps"][0]["accesses"]
    assert [one["own"] for one in stored] == [False, True]


def test_what_a_page_leaves_out_is_asked_for_by_its_order(launch: Launch) -> None:
    with patch.object(interleaving_view, "PACKED", 1), patch.object(interleaving_view, "OUTCOMES", 0):
        view = launch.plot.interleaving()
        scene = view.scene()
        assert [step["to"] for step in scene["states"][0]["steps"]] == [ELSEWHERE, ELSEWHERE]
    rest = view.part("interleaving@01")
    assert rest["states"][0]["told"] == scene["states"][0]["told"] or len(rest["states"]) > 1
    assert walk(rest, [0, 1]) == ["1"]


def test_the_static_picture_stands_at_the_order_that_is_asked_for(launch: Launch) -> None:
    view = launch.plot.interleaving(order="0011")
    assert [row.which for row in view.rows()] == [0, 0, 1, 1]
    assert launch.plot.interleaving().shown_order == view.found.outcomes[-1].order
    with pytest.raises(ValueError, match="000"):
        launch.plot.interleaving(order="000")
    with pytest.raises(LookupError):
        view.part("steps@0")
