"""What is odd about a launch is found without an expected value, and what is not odd is not called so."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import triton_lab as lab
import triton_lab.examples
from tests.launch.explanation.kernels import Odd, added, doubled, greatest, odds, randn, softmax
from triton_lab.launch.explanation.relation import BROKEN, HELD, SKIPPED, Relation


def explained(odd: Odd) -> lab.Explanation:
    with lab.record() as launches:
        odd.run()
    return lab.explain(launches)


@pytest.mark.parametrize("odd", odds(), ids=lambda odd: f"{odd.name}: {odd.kind}")
def test_relation(odd: Odd) -> None:
    explanation = explained(odd)
    found = [one for one in explanation.relations if one.kind == odd.kind]
    assert found
    assert {one.status for one in found} == ({HELD} if not odd.broken else {BROKEN} | {one.status for one in found})
    assert explanation.is_odd or not odd.broken
    if not odd.broken:
        assert not explanation.broken


def the(explanation: lab.Explanation, kind: str) -> Relation:
    (found,) = [one for one in explanation.relations if one.kind == kind and one.status == BROKEN]
    return found


def test_a_sum_of_a_softmax_is_told_in_numbers() -> None:
    x = randn(9, 50)
    with lab.record() as launches:
        softmax[(9,)](x, torch.empty(9, 50), 50, 0.0, False, BLOCK=64)
    found = the(lab.explain(launches), "sums to 1")
    exact = torch.exp(x - x.amax(1, keepdim=True).clamp(min=0))
    whole = exact.sum(1) / (exact.sum(1) + 14 * torch.exp(-x.amax(1).clamp(min=0)))
    assert found.checked == found.broken == 9 and found.unit == "program"
    assert found.expected == 1.0 and found.found == pytest.approx(float(whole[0]), rel=1e-5)


def test_the_elements_that_break_an_order_are_listed() -> None:
    with lab.record() as launches:
        added[(4,)](randn(200), randn(200), torch.empty(200), 200, 150, BLOCK=64)
    found = the(lab.explain(launches), "element order")
    assert found.argument == "o_ptr" and found.broken == 49
    assert np.array_equal(found.places, np.arange(151, 200))


def test_masked_lanes_name_the_line_of_the_reduction() -> None:
    with lab.record() as launches:
        greatest[(9,)](randn(9, 50) - 9, torch.empty(9), 50, 0.0, BLOCK=64)
    launch = launches[0]
    found = the(lab.explain(launch), "masked lanes")
    lines = launch.source.splitlines()
    assert found.line is not None and "tl.max" in lines[found.line - launch.first_line]
    assert found.found == 0.0 and found.broken == 9


def test_a_sum_over_all_programs_is_one() -> None:
    x, total = randn(500), torch.zeros(1)
    with lab.record() as launches:
        doubled[(8,)](x, torch.empty(500), total, 500, BLOCK=64)
    kinds = {one.kind: one.status for one in lab.explain(launches).relations}
    assert kinds["sum of parts"] == kinds["same elements"] == HELD


@pytest.mark.parametrize("example", triton_lab.examples.all_examples(), ids=lambda example: example.name)
def test_no_example_is_odd(example: triton_lab.examples.Example) -> None:
    with lab.record() as launches:
        example.run(**example.inputs("small", 0, "cpu"))
    for launch in launches:
        explanation = lab.explain(launch)
        assert not explanation.broken
        assert any(one.status == HELD for one in explanation.relations)


def test_a_stopped_launch_says_that_its_values_were_not_looked_at() -> None:
    with lab.record() as launches, pytest.raises(lab.KernelError):
        added[(9,)](randn(200), randn(20), torch.empty(200), 200, 199, BLOCK=64)
    assert SKIPPED in {one.status for one in lab.explain(launches).relations}


def test_a_record_with_several_launches_is_refused() -> None:
    with lab.record() as launches:
        for _ in range(2):
            greatest[(9,)](randn(9, 50), torch.empty(9), 50, 0.0, BLOCK=64)
    with pytest.raises(ValueError, match="2"):
        lab.explain(launches)


def test_the_page_has_a_line_for_each_relation_in_all_forms() -> None:
    with lab.record() as launches:
        softmax[(9,)](randn(9, 50), torch.empty(9, 50), 50, 0.0, False, BLOCK=64)
    explanation = lab.explain(launches)
    view = explanation.plot()
    words = [item["text"] for item in view.scene()["items"] if item["what"] == "words"]
    colours = {item["colour"] for item in view.scene()["items"] if item["what"] == "words"}
    assert {"error", "good"} <= colours
    assert len(words) > len(explanation.relations)
    assert len(explanation.text().splitlines()) > len(explanation.relations)
