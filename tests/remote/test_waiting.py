"""What is shown while a job is elsewhere."""

from __future__ import annotations

import io

import pytest

from triton_lab.notebook.progress import Sign, listening
from triton_lab.remote import waiting
from triton_lab.remote.queue import Place


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place(3, 1), "add waits for the shared GPU: 3 jobs are before it"),
        (Place(1, 1, "tls://a:1"), "add waits for the shared GPU: 1 job is before it"),
        (Place(0, 1, "tls://a:1"), "add runs on the shared GPU (tls://a:1)"),
    ],
)
def test_the_place_in_words(place: Place, text: str) -> None:
    assert waiting.words(place, "add", "gpu") == text


def test_a_queue_that_is_empty_is_not_spoken_of(capsys: pytest.CaptureFixture[str]) -> None:
    with waiting.waiting("add", "gpu") as told:
        told(Place(0, 1, "tls://a:1"))
    assert capsys.readouterr().err == ""


def test_each_change_is_a_line_and_on_a_terminal_one_line_that_goes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wait() -> None:
        with waiting.waiting("add", "cpu") as told:
            for before in (2, 2, 1, 0):
                told(Place(before, 1, "tls://a:1"))

    wait()
    assert capsys.readouterr().err.splitlines() == [
        "add waits for the shared CPUs: 2 jobs are before it",
        "add waits for the shared CPUs: 1 job is before it",
        "add runs on the shared CPUs (tls://a:1)",
    ]
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    wait()
    assert terminal.getvalue().endswith("\r\x1b[2K") and terminal.getvalue().count("\r") == 4


def test_a_cell_that_shows_what_it_does_shows_the_queue_too() -> None:
    said: list[str] = []
    sign = Sign(lambda data, *_, **__: said.append(data["text/plain"]), lambda: "Running the kernel", lambda: 0.0)
    with listening(sign), waiting.waiting("add", "gpu") as told:
        told(Place(1, 1, "tls://a:1"))
        sign.say()
    assert said == ["add waits for the shared GPU: 1 job is before it …"]
    assert waiting.listener is None
    sign.say()
    assert said[-1] == "Running the kernel …"
