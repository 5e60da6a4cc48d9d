"""What MLIR writes of a module that it refuses is held back, and nothing else is lost."""

from __future__ import annotations

import os

import pytest

from triton_lab.backend.source.held_errors import DIAGNOSTIC, HeldErrors


def test_messages_are_taken_with_the_line_below_and_the_rest_is_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    held = HeldErrors()
    os.write(2, b"before\nkernel.py:3:11: error: refused\n    x\n    ^\nafter\n")
    text = held.end()
    assert capfd.readouterr().err == ""
    assert DIAGNOSTIC.findall(text) == ["kernel.py:3:11: error: refused\n    x\n    ^\n"]
    held.pass_on(text)
    assert capfd.readouterr().err == "before\nafter\n"


def test_a_message_alone_is_taken(capfd: pytest.CaptureFixture[str]) -> None:
    HeldErrors.pass_on("kernel.py:3:11: note: here\nafter\n")
    assert capfd.readouterr().err == "after\n"
