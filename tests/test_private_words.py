"""Texts for users have the users' and the field's words, not words with a meaning in this code alone.

ARCHITECTURE.md explains those words to readers of the code. A message, a tab or a legend explains nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests import sources
from tests.sources import PACKAGE

# Words of ARCHITECTURE.md's last table, and turns of phrase, that nobody outside of the code would understand.
OURS = re.compile(
    r"\b(lets? go|asked about|what a GPU has of|evidence|poison(ed)?|hull|mirror(ed)?|roots|the plan|its plan|planted|"
    r"sights?|the tape|its tape|(?<!drop-)shadow|twin|scene|front|observer|strands?|fresh)\b"
)
# Texts that no user meets: mistakes of the code's own, and code that is written into kernels.
INNER = {"a tensor without a mirror"}
# Tools of who writes views: what they say is about scenes.
TOOLS = {"views/declarations.py", "views/script_bundle.py", "views/scene_shapes.py"}
QUOTED = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"|`((?:[^`\\]|\\.)*)`")
COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'`])//[^\n]*", re.DOTALL)


def texts_of_python() -> Iterator[tuple[str, str]]:
    """Strings of several words that are no docstrings."""
    for file in sources.python():
        if file.name in TOOLS:
            continue
        alone = {id(node.value) for node in file.nodes if isinstance(node, ast.Expr)}
        for node in file.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
                yield f"{file.name}:{node.lineno}", node.value


def texts_of_the_front_end() -> Iterator[tuple[str, str]]:
    """What stands between quotes, without comments and without what templates compute."""
    for file in sorted((PACKAGE / "views/front").rglob("*.js")):
        source = COMMENT.sub(lambda found: "\n" * found[0].count("\n"), file.read_text(encoding="utf-8"))
        for found in QUOTED.finditer(source):
            text = re.sub(r"\$\{[^}]*\}", "", found[1] or found[2] or "")
            yield f"{file.relative_to(PACKAGE)}:{source.count(chr(10), 0, found.start()) + 1}", text


@pytest.mark.parametrize("texts", [texts_of_python, texts_of_the_front_end])
def test_nobody_reads_words_that_are_ours_alone(texts: object) -> None:
    assert callable(texts)
    wrong, seen = [], 0
    for where, text in texts():
        if " " in text.strip():
            seen += 1
            if OURS.search(text) and text not in INNER:
                wrong.append(f"{where}: {text}")
    assert seen > 100
    assert not wrong, "\n".join(wrong)
