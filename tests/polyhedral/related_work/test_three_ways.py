"""One problem three ways: every way computes the same, and the measurements are what they say."""

from __future__ import annotations

import numpy as np

from triton_lab.polyhedral.related_work.ragged_nest import Ragged
from triton_lab.polyhedral.related_work.three_ways import matmul_ways, ragged_ways
from triton_lab.views.polyhedral.three_ways_view import WaysView


def test_matmul_three_ways() -> None:
    ways = matmul_ways(32, 16)
    for way in ways.every:
        assert way.result is not None
        np.testing.assert_allclose(way.result, ways.expected, rtol=1e-5)
    assert "proved legal" in ways.polyhedral.measured[0]
    assert ways.scheduling.measured[0].startswith("33,792 instances")
    assert ways.blocks.measured[0].startswith("2 × 2 programs of 16 × 16 lanes")
    assert any(fact.startswith("A: 1,024 elements, ") for fact in ways.blocks.measured)
    assert any("ace-free" in fact for fact in ways.blocks.measured)


def test_the_irregular_nest_three_ways() -> None:
    ways = ragged_ways()
    assert ways.polyhedral.result is None and "K[i]" in ways.polyhedral.can[0]
    assert "line 4, column 22" in ways.polyhedral.measured[0]
    for way in (ways.scheduling, ways.blocks):
        assert way.result is not None
        np.testing.assert_allclose(way.result, ways.expected, rtol=1e-5)
    assert ways.scheduling.measured[0].startswith("80 instances for 48 ")
    assert ways.blocks.measured[0].startswith("56 lanes ")
    assert "blocks of 2 × 4, 48 of them" in ways.blocks.measured[0]
    assert any("ace-free" in fact for fact in ways.blocks.measured)


def test_other_rows_and_widths_do_as_well() -> None:
    ragged = Ragged(((1, 5, 9, 11, 2, 3), (0,), (7, 8)), 12)
    ways = ragged_ways(ragged, columns=7, block_k=4)
    for way in (ways.scheduling, ways.blocks):
        assert way.result is not None
        np.testing.assert_allclose(way.result, ways.expected, rtol=1e-5)


def test_the_view_holds_pictures_programs_and_words() -> None:
    view = WaysView(ragged_ways())
    data, _ = view._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    assert "cannot say: K[i]" in data["text/plain"]
    assert {column["picture"]["kind"] for column in view.scene()["columns"]} == {"drawing"}
