"""What the documents tell people to type is there: every line of theirs is understood by the command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from triton_lab.command.main import triton_lab_command

ROOT = Path(__file__).parents[2]
LINES = [
    (name, line)
    for name in ("README.md", "docs/command-line.md", "docs/ci.md")
    for block in re.findall(r"^```(?:sh|yaml)\n(.*?)^```", (ROOT / name).read_text(encoding="utf-8"), re.M | re.S)
    for line in re.findall(r"(?:^|run: )(triton-lab (?!\$)[^#\n]*)", block, re.M)
]


@pytest.mark.parametrize(("name", "line"), LINES)
def test_a_line_is_understood(name: str, line: str) -> None:
    _, command, *words = shlex.split(line)
    found = triton_lab_command.commands[command]
    with found.make_context(command, words) as context:
        assert set(context.params) == {each.name for each in found.params}


def test_each_command_is_told() -> None:
    told = (ROOT / "docs/command-line.md").read_text()
    for command in triton_lab_command.commands:
        assert f"\n## {command}\n" in told or command == "lab"
    assert {shlex.split(line)[1] for _, line in LINES} == set(triton_lab_command.commands)
    assert len([name for name, _ in LINES if name == "docs/ci.md"]) >= 4
