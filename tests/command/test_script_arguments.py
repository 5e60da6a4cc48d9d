"""Which words of a line are the command's, and which the script's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.command.script_arguments import divided

TAKES = {"--target": True, "--html": True, "--strict": False, "-m": True, "-h": False, "--help": False}


@pytest.mark.parametrize(
    ("line", "ours", "theirs"),
    [
        ("s.py", "", "s.py"),
        ("--target cpu s.py", "--target cpu", "s.py"),
        ("--target=cpu --strict s.py a -b", "--target=cpu --strict", "s.py a -b"),
        # What a script is given in the midst is its own ...
        ("s.py --target gpu a", "", "s.py --target gpu a"),
        ("s.py --help", "", "s.py --help"),
        ("s.py -h", "", "s.py -h"),
        ("s.py --strict=1", "", "s.py --strict=1"),
        ("s.py --target", "", "s.py --target"),
        # ... and what the line ends with is ours.
        ("s.py a -b --target cpu --html r.html", "--target cpu --html r.html", "s.py a -b"),
        ("s.py --target=gpu x --target=cpu --strict", "--target=cpu --strict", "s.py --target=gpu x"),
        ("--strict s.py --html r.html", "--strict --html r.html", "s.py"),
        # Unless it is told apart.
        ("--strict -- s.py a --html r.html", "--strict", "s.py a --html r.html"),
        ("s.py -- --html r.html", "", "s.py -- --html r.html"),
        ("-m pkg.mod a --html r.html", "-m pkg.mod --html r.html", "a"),
        ("--strict -mpkg --x", "--strict -mpkg", "--x"),
        ("--strict -m pkg -m other", "--strict -m pkg", "-m other"),
        ("--wrong s.py", "--wrong", "s.py"),
        ("", "", ""),
        ("--strict", "--strict", ""),
        ("-m", "-m", ""),
    ],
)
def test_a_line_is_divided(line: str, ours: str, theirs: str) -> None:
    assert divided(line.split(), TAKES) == (ours.split(), theirs.split())


WORDS = st.lists(st.sampled_from([*TAKES, "--target=cpu", "a", "-x", "--", "-", "--other", "s.py"]), max_size=6)


@given(WORDS)
def test_no_word_is_lost(words: list[str]) -> None:
    ours, theirs = divided(words, TAKES)
    assert sorted([*ours, *theirs]) in (sorted(words), _without_dashes(words))


@given(WORDS, WORDS)
def test_behind_two_dashes_all_is_the_scripts(ours: list[str], theirs: list[str]) -> None:
    before = [word for word in ours if word in ("--strict", "--target=cpu")]
    assert divided([*before, "--", "s.py", *theirs], TAKES) == (before, ["s.py", *theirs])


def _without_dashes(words: list[str]) -> list[str]:
    rest = list(words)
    if "--" in rest:
        rest.remove("--")
    return sorted(rest)
