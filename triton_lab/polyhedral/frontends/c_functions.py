"""Finds the function that holds the nest, in a file with several."""

from __future__ import annotations

import re
from collections.abc import Iterator

from triton_lab.localization import _
from triton_lab.polyhedral.core.source_text import NotAScop, Span
from triton_lab.polyhedral.frontends.c_macros import Expanded

_HEAD = re.compile(r"\s*(?:[A-Za-z_]\w*[\s*]+)+([A-Za-z_]\w*)\s*\(")
_WORDS = frozenset({"for", "while", "if", "switch", "do", "else", "return"})
_SIGN = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#[^\n]*|[{}();=]", re.MULTILINE)
_SCOP = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+scop\b", re.MULTILINE)


def one_function(expanded: Expanded) -> tuple[str, bool]:
    """The text with blanks for all functions but the one that holds the nest, and whether it has no function at all.

    That is the only one, or the one with ``#pragma scop``. Raises `NotAScop` if it is not clear.
    """
    text = expanded.text
    functions = [(start, end) for start, end in _definitions(text) if _is_function(text[start:end])]
    if not functions:
        return text, True
    marked = [(start, end) for start, end in functions if _SCOP.search(text, start, end)]
    wanted = marked if marked else functions
    if len(wanted) != 1:
        start = wanted[1][0] + len(text[wanted[1][0] : wanted[1][1]]) - len(text[wanted[1][0] : wanted[1][1]].lstrip())
        line = text.count("\n", 0, start) + 1
        column = start - text.rfind("\n", 0, start)
        raise NotAScop(
            _("expected one loop nest or one function: write #pragma scop and #pragma endscop around the nest"),
            expanded.source,
            expanded.span(Span(line, column, column + 1)),
        )
    for start, end in functions:
        if (start, end) != wanted[0]:
            text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text, False


def _is_function(definition: str) -> bool:
    head = _HEAD.match(definition)
    before = definition.split("{", 1)[0].rstrip()
    return head is not None and head.group(1) not in _WORDS and not _WORDS & set(before.split()) and before[-1:] == ")"


def _definitions(text: str) -> Iterator[tuple[int, int]]:
    """The pieces at the outermost level that end with a block."""
    depth = start = 0
    initializer = False
    for found in _SIGN.finditer(text):
        sign = found.group()
        if sign in ("{", "("):
            depth += 1
        elif sign in ("}", ")"):
            depth = max(depth - 1, 0)
            if sign == "}" and depth == 0 and not initializer:
                yield start, found.end()
                start = found.end()
        elif depth == 0 and sign == "=":
            initializer = True
        elif depth == 0 and (sign == ";" or sign.lstrip().startswith("#")):
            start, initializer = found.end(), False
