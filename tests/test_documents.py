"""Pages and notebooks as text: order of headings, words for pictures, links to files, spelling."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.notebooks.course import sources

ROOT = Path(__file__).parents[1]
KERNELS = "dout"  # names in kernels that look like slips


def made(path: Path) -> bool:
    """Whether the site makes the page when it is built, which holds its links to account."""
    return path == ROOT / "docs" / "gallery.md" or ROOT / "docs" / "reference" in path.parents


DOCS = ROOT / "docs"
PAGES = [*ROOT.glob("*.md"), *(path for path in DOCS.rglob("*.md") if not made(path))]
DOCUMENTS = [*PAGES, *sources()]
CATALOGUES = sorted((ROOT / "notebooks" / "locale").rglob("*.po"))

_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def prose(path: Path) -> str:
    """The Markdown of a page or of a notebook's source, without code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        cells = re.findall(r"^# %% \[markdown\]\n((?:#.*\n)*)", text, re.MULTILINE)
        text = "\n".join(re.sub(r"^# ?", "", cell, flags=re.MULTILINE) for cell in cells)
    text = re.sub(r"^ *(```+|~~~+).*?^ *\1", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"(`+).+?\1", "code", text, flags=re.DOTALL)


each = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))


@each
def test_headings_go_down_one_by_one(path: Path) -> None:
    levels = [len(marks) for marks in re.findall(r"^(#+) ", prose(path), re.MULTILINE)]
    assert levels[:1] == [1] and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@each
def test_pictures_have_words_and_links_lead_somewhere(path: Path) -> None:
    for picture, words, target in _LINK.findall(prose(path)):
        assert words.strip(), target
        if picture:
            assert len(words) > 20, f"{target}: what is to be seen in it?"
        if not re.match(r"[a-z]+:|#", target):
            file = unquote(target.partition("#")[0])
            assert (path.parent / file).exists() or made(path.parent / file), target


def test_words_are_spelled_right() -> None:
    assert CATALOGUES
    texts = map(str, [*DOCUMENTS, *CATALOGUES])
    command = [sys.executable, "-m", "codespell_lib", "--ignore-words-list", KERNELS, *texts]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout
