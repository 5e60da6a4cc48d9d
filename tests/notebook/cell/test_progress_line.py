"""The sign of work: late, true, and gone once there is a picture."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

import triton_lab as lab
from tests.wordings import Wording
from triton_lab import magics
from triton_lab.backend.plugin import launcher
from triton_lab.launch.recording import progress_callback
from triton_lab.lazy import step
from triton_lab.notebook.cell import progress_line
from triton_lab.notebook.cell.progress_line import OTHERWISE, STAGES, Sign, listening, stage_of, working


class Published(list[tuple[str, str, bool]]):
    """What was shown: text, display, and whether it took the place of what the display had."""

    def __call__(self, data: dict[str, str], _: object, *, transient: dict[str, str], update: bool) -> None:
        self.append((data["text/plain"], transient["display_id"], update))


def sign(published: Published | None, *times: float) -> Sign:
    clock: Iterator[float] = iter((0.0, *times))
    return Sign(published, lambda: OTHERWISE, lambda: next(clock))


def test_a_line_tells_of_programs_and_goes(wording: Wording) -> None:
    shown = Published()
    mine = sign(shown, 1.5, 3.0)
    mine.say()
    mine.programs(2, 10)
    mine.say()
    mine.programs(9, 10)
    mine.say()
    mine.programs(10, 10)
    mine.close()
    mine.say()
    texts, displays, updates = zip(*shown, strict=True)
    assert texts[0] == f"{OTHERWISE} …"
    wording(texts[1], done="2 of 10 programs", left="6 s")
    assert texts[2].startswith("9 of 10 programs") and texts[3:] == ("",)
    assert len(set(displays)) == 1 and updates == (False, True, True, True)


def test_a_line_that_stays_true_is_not_written_again() -> None:
    shown = Published()
    mine = sign(shown)
    mine.say()
    mine.say()
    assert len(shown) == 1


def test_a_picture_takes_the_place_of_the_line() -> None:
    shown = Published()
    mine = sign(shown)
    mine.say()
    assert mine.end() == shown[0][1] and mine.end() == ""
    mine.say()
    mine.close()
    assert len(shown) == 1


def test_a_quick_cell_shows_nothing_and_no_thread_stays(monkeypatch: pytest.MonkeyPatch) -> None:

    shell = InteractiveShell.instance()
    published: list[Any] = []
    monkeypatch.setattr(progress_line, "PATIENCE", 60.0)
    monkeypatch.setattr("triton_lab.views.frontend_presence.widgets_are_shown", lambda: True)
    monkeypatch.setattr(shell.display_pub, "publish", lambda *_, **__: published.append(_))
    with working(shell) as mine:
        assert mine.watched
        (thread,) = [one for one in threading.enumerate() if one.name == "triton-lab-sign"]
    thread.join(5)
    assert not thread.is_alive() and not published
    InteractiveShell.clear_instance()


def test_a_line_comes_by_itself_and_goes_when_the_cell_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:

    shell = InteractiveShell.instance()
    published, came = Published(), threading.Event()

    def publish(*what: Any, **how: Any) -> None:
        published(*what, **how)
        came.set()

    monkeypatch.setattr(progress_line, "PATIENCE", 0.0)
    monkeypatch.setattr("triton_lab.views.frontend_presence.widgets_are_shown", lambda: True)
    monkeypatch.setattr(shell.display_pub, "publish", publish)

    def cell() -> None:
        with working(shell):
            assert came.wait(10)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cell()
    assert published[0][0] and published[-1][0] == "" and published[-1][2]
    InteractiveShell.clear_instance()


def test_where_nobody_looks_on_nothing_listens() -> None:
    shell = InteractiveShell.instance()
    with working(shell) as mine, listening(mine):
        assert not mine.watched and launcher.progress is None
    InteractiveShell.clear_instance()


def test_launches_tell_how_far_they_are_and_a_listener_of_the_users_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = sign(Published())
    with listening(mine):
        assert launcher.progress == mine.programs
    assert launcher.progress is None
    monkeypatch.setattr(launcher, "progress", print)
    with listening(mine):
        assert launcher.progress is print


def test_a_lazy_step_that_is_compiled_in_a_plain_cell_shows_one(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = InteractiveShell.instance()
    published, came = Published(), threading.Event()

    def publish(*what: Any, **how: Any) -> None:
        published(*what, **how)
        came.set()

    def compiled(*arguments: Any) -> Any:
        assert came.wait(10)
        return compile_graph(*arguments)

    compile_graph = step.compile_graph
    monkeypatch.setattr(progress_line, "PATIENCE", 0.0)
    monkeypatch.setattr("triton_lab.views.frontend_presence.widgets_are_shown", lambda: True)
    monkeypatch.setattr(shell.display_pub, "publish", publish)
    monkeypatch.setattr(step, "compile_graph", compiled)
    magics.offer(shell)
    try:
        lab.lazy.cache.clear()
        assert (lab.lazy.tensor([1.0, 2.0]) * 3).tolist() == [3.0, 6.0]
        assert published[0][0].endswith("lazy step …") and published[-1][0] == ""
        # What is not compiled takes no time, and a cell of ours has a sign of its own.
        published.clear()
        assert (lab.lazy.tensor([3.0, 4.0]) * 3).tolist() == [9.0, 12.0] and not published
        with working(shell), progress_callback.sign() as inner:
            assert inner is None
    finally:
        magics.unregister(shell)
        InteractiveShell.clear_instance()
    with progress_callback.sign() as nobody:
        assert nobody is None


@pytest.mark.parametrize(("module", "stage"), STAGES)
def test_what_is_done_is_read_off_the_stack(module: str, stage: str) -> None:
    names: dict[str, Any] = {"__name__": f"{module}.inner", "stage_of": stage_of, "sys": sys}
    exec("def here():\n    return stage_of(sys._getframe())", names)
    assert names["here"]() == stage
    assert stage_of(None) == OTHERWISE
