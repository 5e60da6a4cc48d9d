"""How launches are shown to somebody who looks on: at once, whatever their checks take, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.backend.process import run
from tests.views.unpacking import unpacked
from triton_lab.launch.checks.analysis import evidence
from triton_lab.launch.recording.progress_callback import breathe, waiting
from triton_lab.launch.replay.replay_run import replay
from triton_lab.notebook.cell import show_launches
from triton_lab.notebook.cell.magic_options import parse
from triton_lab.notebook.cell.progress_line import Sign
from triton_lab.notebook.cell.show_launches import ENDED, STILL, not_yet_checked
from triton_lab.views import comm_handlers, frontend_presence, notebook_output
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.card.launch_tabs import COMPILED_TABS, TABS
from triton_lab.views.notebook_output import SCENE


@triton.jit
def racy(x_ptr):
    tl.store(x_ptr, tl.load(x_ptr) + tl.program_id(0))


class Shown(list[tuple[dict[str, Any], str, bool]]):
    """What was published: the data, its display, and whether it took the place of what the display had."""

    def __call__(self, data: dict[str, Any], _: Any, *, transient: dict[str, str], update: bool) -> None:
        self.append((data, transient["display_id"], update))

    @property
    def words(self) -> list[str]:
        return [data["text/plain"] for data, _, _ in self]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Shown:
    found = Shown()
    monkeypatch.setattr("IPython.display.publish_display_data", found)
    monkeypatch.setattr(frontend_presence, "_announced", True)
    return found


def launches(count: int = 1) -> list[lab.Launch]:
    with lab.record() as found:
        for _ in range(count):
            racy[(2,)](torch.zeros(1))
    return list(found)


def sign() -> Sign:
    return Sign(lambda *_, **__: None, lambda: "", lambda: 0.0)


def test_quick_checks_are_waited_for(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show_launches, "PATIENCE", 60.0)
    show_launches.show_launches(launches(), parse("cpu"), sign())
    live, more, whole = shown
    assert "race" in "".join(live[0]["text/plain"]) or "is undefined" in live[0]["text/plain"]
    assert STILL not in live[0]["text/plain"] and more[0][SCENE] == whole[0][SCENE]
    assert ["image/png" in one[0] for one in shown] == [False, False, True]
    assert live[1] == more[1] == whole[1] and [update for _, _, update in shown] == [False, True, True]


def test_the_tab_that_is_open_comes_before_what_is_behind_the_others(shown: Shown) -> None:
    show_launches.show_launches(launches(), parse("cpu"), sign())
    at_first, later = ({**unpacked(one[0][SCENE]["scene"])} for one in shown[:2])
    first, every = at_first.pop("parts"), later.pop("parts")
    assert at_first == later and shown[0][0][SCENE]["view"] == shown[1][0][SCENE]["view"]
    assert first.items() < every.items() and all(name.split("/")[0] == at_first["opened"] for name in first)
    # Somebody who runs a notebook from a script looks at nothing before its end.
    shown.clear()
    frontend_presence._announced = False
    show_launches.show_launches(launches(), parse("cpu"), sign())
    assert len(shown) == 1 and unpacked(shown[0][0][SCENE]["scene"])["parts"].keys() == every.keys()


def test_a_launch_too_large_to_keep_more_of_is_not_told_again(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_lab.views.launch.card.launch_card.SAVED_LANES", 1)
    show_launches.show_launches(launches(), parse("cpu"), sign())
    assert ["image/png" in one[0] for one in shown] == [False, True] and shown[0][0][SCENE] == shown[1][0][SCENE]


def test_a_picture_comes_before_the_checks_have_ended(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show_launches, "PATIENCE", -1.0)
    show_launches.show_launches(launches(), parse("cpu"), sign())
    before, live, more, whole = shown
    assert STILL in before[0]["text/plain"] and "is undefined" not in before[0]["text/plain"]
    assert STILL not in live[0]["text/plain"] and "is undefined" in live[0]["text/plain"]
    assert more[0][SCENE] == whole[0][SCENE] != live[0][SCENE] != before[0][SCENE]
    # One output, which changes; and whoever looked at the first may go on asking.
    assert {display for _, display, _ in shown} == {before[1]}
    assert [update for _, _, update in shown] == [False, True, True, True]
    assert "scene" in before[0][SCENE] and before[0][SCENE]["view"] == live[0][SCENE]["view"]
    assert comm_handlers.part(live[0][SCENE]["view"], "grid")["kind"] != "words"


def test_of_several_launches_all_are_shown_before_the_first_is_checked(
    shown: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show_launches, "PATIENCE", -1.0)
    show_launches.show_launches(launches(3), parse("cpu"), sign())
    assert [STILL in words for words in shown.words] == [True] * 3 + [False] * 9
    displays = [display for _, display, _ in shown]
    assert len(set(displays)) == 3 and displays == displays[:3] * 4


def test_a_table_of_many_launches_is_shown_so_too(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show_launches, "PATIENCE", -1.0)
    show_launches.show_launches(launches(show_launches.MOST_CARDS + 1), parse("cpu"), sign())
    assert [STILL in words for words in shown.words] == [True, False, False, False]
    assert "13 launches of 1 kernel" in shown.words[0]


def test_an_interrupt_of_the_checks_says_that_no_more_will_come(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> Any:
        breathe()
        raise KeyboardInterrupt

    monkeypatch.setattr(show_launches, "PATIENCE", -1.0)
    two = launches(2)
    with monkeypatch.context() as patched:
        patched.setattr(evidence, "runs", interrupted)
        with pytest.raises(KeyboardInterrupt):
            show_launches.show_launches(two, parse("cpu"), sign())
    assert [STILL in words for words in shown.words] == [True, True, False, False]
    assert [ENDED in words for words in shown.words] == [False, False, True, True]
    # What was not found then is found when it is asked for.
    assert [one.kind for one in two[0].findings] == ["race"]


def test_a_picture_that_fails_takes_nothing_from_the_checks(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise ValueError("no picture")

    monkeypatch.setattr(show_launches, "PATIENCE", -1.0)
    monkeypatch.setattr(show_launches, "not_yet_checked", broken)
    show_launches.show_launches(launches(), parse("cpu"), sign())
    assert len(shown) == 3 and "is undefined" in shown.words[0] and "not checked" not in shown.words[0]


def test_nobody_who_waits_is_told_twice_or_too_early() -> None:
    told: list[int] = []
    with waiting(float("-inf"), lambda: told.append(1)):
        breathe()
        breathe()
    with waiting(float("inf"), lambda: told.append(2)):
        breathe()
    breathe()
    assert told == [1]


def test_a_long_replay_breathes() -> None:
    told: list[int] = []
    with waiting(float("-inf"), lambda: told.append(1)):
        replay(launches()[0])
    assert told == [1]


def test_what_is_shown_before_the_checks_changes_nothing_of_the_launch() -> None:
    (launch,) = launches()
    before = not_yet_checked(launch)
    assert not before.findings and [str(one) for one in before.unchecked] == [STILL]
    assert before.accesses is launch.accesses and "verdict" not in vars(launch)
    assert [one.kind for one in launch.findings] == ["race"] and not launch.unchecked


def test_the_words_of_pictures_come_with_the_png() -> None:
    (launch,) = launches(1)
    view = Card(launch)
    data, metadata = notebook_output.at_once(view)
    assert data["text/plain"] == view.brief() and "which program" not in view.brief()
    whole, _ = notebook_output.with_picture(data, metadata, view)
    assert whole["text/plain"] == view.text() and view.text().startswith(view.brief())
    assert "which program" in view.text()


def test_a_first_picture_imports_no_other_and_nothing_that_explains_errors() -> None:
    others = [tab.home.partition(":")[0] for tab in (*TABS, *COMPILED_TABS) if tab.home and tab.name != "tiling"]
    waits = [
        *others,
        "triton_lab.notebook.mistakes.mistake_table",
        "triton_lab.notebook.mistakes.front_end_error",
        "matplotlib",
        "numpy.ma",
    ]
    script = f"""
    import sys
    import torch
    import triton_lab as lab
    from triton_lab.examples.vector_add import add
    from triton_lab.notebook.cell import excepthook, show_launches
    from triton_lab.views.launch.card.launch_card import Card
    before = set(sys.modules)
    with lab.target("cpu"), lab.record() as launches:
        add(torch.ones(100), torch.ones(100), block=16)
    scene = Card(launches[0]).scene()
    assert scene["opened"] == "tiling" and len(scene["tabs"]) == 7, scene["tabs"]
    found = set({waits!r}) & (set(sys.modules) - before)
    print(sorted(found), "triton_lab.views.launch.tiling.tiling_view" in sys.modules)
    """
    assert run(script) == "[] True"
