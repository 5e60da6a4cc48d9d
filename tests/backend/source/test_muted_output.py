"""What a second reading of a kernel prints goes nowhere; what others print meanwhile does not get lost."""

from __future__ import annotations

import sys
import threading

import pytest

from triton_lab.backend.source.muted_output import unheard


def test_one_thread_is_silent_and_others_are_not(capsys: pytest.CaptureFixture[str]) -> None:
    streams = sys.stdout, sys.stderr
    silent, ended = threading.Event(), threading.Event()

    def other() -> None:
        with unheard():
            silent.set()
            ended.wait(10)
            print("other, silent")
        print("other, aloud")

    thread = threading.Thread(target=other)
    with unheard():
        thread.start()
        silent.wait(10)
        with unheard():
            print("mine, silent")
        print("mine, silent", file=sys.stderr)
    print("mine, aloud")
    ended.set()
    thread.join()
    assert (sys.stdout, sys.stderr) == streams
    assert capsys.readouterr() == ("mine, aloud\nother, aloud\n", "")


def test_a_stream_that_somebody_else_puts_there_stays() -> None:
    before, theirs = sys.stdout, sys.stderr
    try:
        with unheard():
            sys.stdout = theirs
        assert sys.stdout is theirs
    finally:
        sys.stdout = before
