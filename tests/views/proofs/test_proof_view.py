"""The picture of a proof: a sign, a line and a verdict for each access, and the lane that leaves its tensor."""

from __future__ import annotations

import pytest
import torch

import triton_lab as lab
from tests.polyhedral.proofs.test_prove import last_element_kernel
from tests.views.pictures import proof, recorded
from triton_lab.polyhedral.proofs.proof import PROVED, REFUTED, UNKNOWN
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Line, Rectangle
from triton_lab.views.proofs.proof_view import ProofView


@pytest.fixture(scope="module")
def view() -> ProofView:
    found = proof()
    assert isinstance(found, ProofView)
    return found


def _texts(drawn: Drawing) -> list[DrawnText]:
    return [item for item in drawn.items if isinstance(item, DrawnText)]


def _sign(piece: Drawing) -> str:
    """The sign in the first column: a tick is one bent line, a cross is two."""
    lines = [item for item in piece.items if isinstance(item, Line)]
    if not lines:
        return next(one.text for one in _texts(piece) if one.x < 20)
    return {1: "tick", 2: "cross"}[len(lines)]


def test_a_sign_the_line_and_the_verdict_stand_beside_each_access(view: ProofView) -> None:
    signs = {PROVED: "tick", REFUTED: "cross", UNKNOWN: "?"}
    pieces = view.pieces()[2:]
    for one, piece in zip(view.proof.accesses, pieces, strict=False):
        assert _sign(piece) == signs[one.outcome]
        texts = [text.text for text in _texts(piece)]
        assert str(one.line) in texts
        assert one.code in texts and "tl." in one.code
        assert any(one.verdict in text for text in texts)
    assert {one.outcome for one in view.proof.accesses} == set(signs)


def test_the_lane_that_leaves_is_drawn_beyond_the_end_at_the_smallest_sizes(view: ProofView) -> None:
    (wrong,) = (one for one in view.proof.accesses if one.outcome == REFUTED)
    assert dict(wrong.sizes) == {"n": 3} and wrong.lane == (2,)
    row = view.pieces()[-1]
    outside = [item for item in row.items if isinstance(item, Rectangle) and item.dashed]
    inside = [item for item in row.items if isinstance(item, Rectangle) and not item.dashed]
    assert len(inside) == 3 and len(outside) == 1
    assert outside[0].x > max(item.right for item in inside)
    below = [one.text for one in _texts(row) if one.colour == "error" and one.y > outside[0].bottom]
    above = [one.text for one in _texts(row) if one.colour == "error" and one.y < outside[0].y]
    assert below == ["2"] and above == ["3"]  # lane 2 touches element 3


def test_of_a_tensor_without_elements_only_the_lane_is_drawn() -> None:
    launch = recorded(lambda: last_element_kernel[(1,)](torch.zeros(9), torch.zeros(1), 9))
    row = lab.prove(launch, seconds=60).plot().pieces()[-1]
    (outside,) = (item for item in row.items if isinstance(item, Rectangle))
    assert outside.dashed and "-1" in [one.text for one in _texts(row)]


def test_a_proof_shows_itself_live_as_png_and_in_words(view: ProofView) -> None:
    bundle, _ = view.proof._repr_mimebundle_()
    assert {"text/plain", "image/png"} <= set(bundle)
    assert bundle["text/plain"] == str(view.proof)
    scene = view.scene()
    assert scene["kind"] == "proof" and scene["drawing"]["label"] == view.title()
    assert scene["assumptions"] == [str(one) for one in view.proof.assumptions] and scene["assumptions"]
