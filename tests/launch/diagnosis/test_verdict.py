"""A check or a picture that fails says so and takes nothing else away."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.launch.checks.rule import rules
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.diagnosis.launch_assertion import CheckFailed, CheckIncomplete
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.views.launch.card.launch_card import SHOWN, Card


@triton.jit
def all_to_one_kernel(x_ptr, out_ptr):
    tl.store(out_ptr, tl.load(x_ptr + tl.program_id(0)))


def raced() -> Launch:
    """A launch with a race."""
    with lab.record() as launches:
        all_to_one_kernel[(4,)](torch.arange(4.0), torch.zeros(1))
    return launches[0]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults of ours are told, as users see them."""
    monkeypatch.delenv("TRITON_LAB_RAISE")


def broken(*_: object, **__: object) -> Any:
    raise IndexError("broken")


PIECES = {
    "check_run.with_values": None,
    "race.racing_access.Races": "race",
}


@pytest.mark.parametrize("piece", PIECES)
def test_a_piece_that_fails_is_told_once_and_hides_no_other_check(
    piece: str, monkeypatch: pytest.MonkeyPatch, told: None
) -> None:
    monkeypatch.setattr(f"triton_lab.launch.checks.{piece}", broken)
    launch = raced()
    kinds = {found.kind for found in launch.findings}
    assert ("race" in kinds) == (PIECES[piece] != "race")
    (unchecked,) = launch.unchecked
    assert "IndexError: broken" in unchecked.why and "triton-lab" in unchecked.why


@pytest.mark.parametrize("kind", rules())
def test_each_check_may_fail(kind: str, monkeypatch: pytest.MonkeyPatch, told: None) -> None:
    monkeypatch.setattr(type(rules()[kind]), "check", broken)
    launch = raced()
    assert ("race" in {found.kind for found in launch.findings}) == (kind != "race")
    assert [each.what for each in launch.unchecked] == [rules()[kind].subject]


def test_what_fails_for_one_reason_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, told: None) -> None:
    for kind in ("alias", "unverified"):
        monkeypatch.setattr(type(rules()[kind]), "check", broken)
    (unchecked,) = raced().unchecked
    assert unchecked.what == ", ".join(rules()[kind].subject for kind in ("alias", "unverified"))


def test_in_tests_a_fault_of_ours_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(rules()["race"]), "check", broken)
    with pytest.raises(IndexError):
        raced().findings  # noqa: B018


def test_what_cannot_be_replayed_is_no_fault_and_is_told(wording: Wording, monkeypatch: pytest.MonkeyPatch) -> None:
    def impossible(*_: Any) -> Any:
        raise CannotReplay("no memory")

    monkeypatch.setattr(type(rules()["non-finite"]), "check", impossible)
    assert [(each.what, each.why) for each in raced().unchecked] == [("NaN and infinity", "no memory")]
    wording(raced().unchecked[0], what="NaN and infinity", why="no memory")


VIEWS = [
    "triton_lab.views.launch.tiling.tiling_view.Tiling.text",
    "triton_lab.views.launch.tiling.tiling_view.Tiling.scene",
    "triton_lab.views.launch.tiling.tiling_view.Tiling.title",
    "triton_lab.views.launch.accesses.accesses_view.Accesses.__init__",
    "triton_lab.views.launch.tiling.grid_view.GridView.__init__",
    "triton_lab.views.launch.storage.storage_view.StorageView.__init__",
    "triton_lab.views.launch.values.steps_view.Steps.__init__",
    "triton_lab.views.launch.values.origins_view.Origins.first",
    "triton_lab.launch.launch.Launch.trace",
    "triton_lab.launch.launch.Launch.values",
    "triton_lab.launch.launch.Launch.owner_of",
    "triton_lab.views.launch.card.card_tab.Tab.panel",
    *(
        f"triton_lab.views.launch.tiling.tiling_view.TilingPanel.{name}"
        for name in ("items", "view", "drawn", "pieces")
    ),
    *(
        f"triton_lab.views.launch.values.origins_view.OriginsPanel.{name}"
        for name in ("items", "scene", "many", "drawn")
    ),
    *(f"triton_lab.views.launch.values.program_variables.ValuesPanel.{name}" for name in ("items", "others", "many")),
    *(f"triton_lab.views.launch.card.card_tab.Panel.{name}" for name in ("others", "many", "text", "pieces", "scene")),
    "triton_lab.views.launch.card.card_contents.Contents.replays",
    "triton_lab.views.drawing.drawing_pieces.side_by_side",
    "triton_lab.views.launch.storage.storage_view.StorageView.pieces",
]


@pytest.mark.parametrize("view", VIEWS)
def test_a_picture_that_fails_leaves_the_card_and_its_page(
    view: str, monkeypatch: pytest.MonkeyPatch, told: None, tmp_path: Path
) -> None:
    launch = raced()
    # What fails here must not be known already.
    monkeypatch.setattr(view, broken)
    card = Card(launch, SHOWN)
    text = card.text()
    assert "all_to_one_kernel[4, 1, 1]" in text
    assert "out_ptr" in text
    data, _ = Card(launch, SHOWN)._repr_mimebundle_()
    assert data["image/png"]
    launch.to_html(tmp_path / "launch.html")
    assert (tmp_path / "launch.html").stat().st_size > 10_000


def test_a_failed_picture_stands_as_a_sentence_in_its_place(monkeypatch: pytest.MonkeyPatch, told: None) -> None:
    monkeypatch.setattr("triton_lab.views.launch.tiling.grid_view.GridView.__init__", broken)
    card = Card(raced(), ("grid",))
    sentence = "This picture could not be made: IndexError: broken"
    assert sentence in card.text()
    assert sentence in card.part("grid")["text"]


def test_the_card_says_what_was_not_checked(monkeypatch: pytest.MonkeyPatch, told: None) -> None:
    monkeypatch.setattr(type(rules()["non-finite"]), "check", broken)
    card = Card(raced(), ())
    (unchecked,) = raced().unchecked
    assert unchecked.what == rules()["non-finite"].subject
    assert card.text().count(f"{unchecked.what}: IndexError") == 1
    assert any("not checked" in remark for remark in card.scene()["remarks"])


@triton.jit
def copy_kernel(x_ptr, out_ptr):
    tl.store(out_ptr + tl.program_id(0), tl.load(x_ptr + tl.program_id(0)))


def copied() -> None:
    copy_kernel[(4,)](torch.arange(4.0), torch.zeros(4))


def test_check_warns_of_what_it_could_not_check_and_strictly_fails(monkeypatch: pytest.MonkeyPatch, told: None) -> None:
    monkeypatch.setattr(type(rules()["non-finite"]), "check", broken)
    with pytest.warns(CheckIncomplete, match=r"copy_kernel.*: NaN and infinity:"), lab.check():
        copied()
    with pytest.raises(CheckFailed, match="NaN and infinity:"), lab.check(strict=True):
        copied()


def test_a_warning_of_check_names_the_line_of_the_block() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with lab.check():
            pass
    assert [each.filename for each in caught] == [__file__]


def test_check_over_a_block_without_a_launch_says_so(wording: Wording) -> None:
    with pytest.warns(CheckIncomplete) as caught, lab.check():
        pass
    wording(caught[0].message)
    with pytest.raises(CheckFailed) as failed, lab.check(strict=True):
        pass
    assert str(caught[0].message) in str(failed.value)


def test_check_that_checked_all_is_silent_and_strictly_passes() -> None:
    with lab.check(strict=True) as launches:
        copied()
    assert launches[0].unchecked == []


def test_an_error_inside_check_comes_out_as_it_is() -> None:
    with pytest.raises(KeyError, match="mine"), lab.check(strict=True):
        raise KeyError("mine")


def test_findings_come_gravest_first_and_then_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {rules()[kind].severity: kind for kind in ("race", "overflow", "alias")}
    assert set(kinds) == {"error", "warning", "note"}
    lines = [7, None, 12, 3]
    given = [
        Finding(kinds[severity], "m", "h", line=line) for line in lines for severity in ("note", "error", "warning")
    ]
    monkeypatch.setattr(type(rules()["unverified"]), "check", lambda *_: iter(given))
    launch = raced()
    found = [each for each in launch.findings if each.message == "m"]
    assert [(each.severity, each.line) for each in found] == [
        (severity, line) for severity in ("error", "warning", "note") for line in (None, 3, 7, 12)
    ]
    # Of one line and one severity they stay in the order in which they were found.
    severities = [each.severity for each in launch.findings]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
