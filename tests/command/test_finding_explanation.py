"""`triton-lab explain`: what a kind of finding means, in the words of its page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command.conftest import Call
from tests.command.scripts import UNWRITTEN, written
from triton_lab.command import finding_explanation
from triton_lab.launch.checks.rule import rules


def test_without_a_kind_all_are_listed_in_a_line_each(call: Call) -> None:
    lines = call("explain").stdout.splitlines()
    assert [(line.split()[0], line.split()[1]) for line in lines] == [(k, r.severity) for k, r in rules().items()]


def test_a_kind_has_the_text_and_the_program_of_its_page(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    told = call("explain", "race", "alias").stdout
    assert told.count("@triton.jit") == 4 and "<!--" not in told
    assert all(line in told for line in ("# race", "# alias", "## What to do"))
    monkeypatch.setattr(finding_explanation, "page", lambda kind: None)
    assert "## What to do" in call("explain", "race").stdout
    assert "/findings/race.html" in call("explain", "race", env={"TRITON_LAB_SITE": "https://example.org"}).stdout


def test_an_unknown_kind_is_refused_with_all_kinds(call: Call) -> None:
    done = call("explain", "rase")
    assert done.exit_code == 2 and all(kind in done.stderr for kind in ("'rase'", *rules()))


def test_check_names_the_command_for_what_it_found(folder: Path, call: Call) -> None:
    written(folder, UNWRITTEN)
    assert "triton-lab explain uninitialized\n" in call("check", "script.py").stdout
