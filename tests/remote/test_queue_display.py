"""What is shown while a job is elsewhere."""

from __future__ import annotations

import io

import pytest

from tests.wordings import Wording
from triton_lab.notebook.cell.progress_line import Sign, listening
from triton_lab.remote import queue_display
from triton_lab.remote.queue_position import QueuePosition


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("place", "label", "facts"),
    [
        (QueuePosition(3, 1), "several", {"jobs": 3}),
        (QueuePosition(1, 1, "tls://a:1"), "one", {"jobs": 1}),
        (QueuePosition(0, 1, "tls://a:1"), "none", {"place": "tls://a:1"}),
    ],
)
def test_the_place_in_words(place: QueuePosition, label: str, facts: dict[str, object], wording: Wording) -> None:
    wording(queue_display.words(place, "add", "gpu"), label, kernel="add", target="GPU", **facts)


def test_a_queue_that_is_empty_is_not_spoken_of(capsys: pytest.CaptureFixture[str]) -> None:
    with queue_display.waiting("add", "gpu") as told:
        told(QueuePosition(0, 1, "tls://a:1"))
    assert capsys.readouterr().err == ""


def test_each_change_is_a_line_and_on_a_terminal_one_line_that_goes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, wording: Wording
) -> None:
    def wait() -> None:
        with queue_display.waiting("add", "cpu") as told:
            for before in (2, 2, 1, 0):
                told(QueuePosition(before, 1, "tls://a:1"))

    wait()
    lines = capsys.readouterr().err.splitlines()
    assert [("2 jobs" in line, "1 job" in line, "tls://a:1" in line) for line in lines] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]
    wording("\n".join(lines), kernel="add", place="tls://a:1")
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    wait()
    assert terminal.getvalue().endswith("\r\x1b[2K") and terminal.getvalue().count("\r") == 4


def test_a_cell_that_shows_what_it_does_shows_the_queue_too(wording: Wording) -> None:
    said: list[str] = []
    sign = Sign(lambda data, *_, **__: said.append(data["text/plain"]), lambda: "Running the kernel", lambda: 0.0)
    with listening(sign), queue_display.waiting("add", "gpu") as told:
        told(QueuePosition(1, 1, "tls://a:1"))
        sign.say()
    (line,) = said
    wording(line, kernel="add", jobs="1 job")
    assert queue_display.listener is None
    sign.say()
    assert said[-1] == "Running the kernel …"
