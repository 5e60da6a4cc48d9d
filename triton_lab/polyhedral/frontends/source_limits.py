"""What no reader takes: characters that are in no program, names that isl does not read, and nesting without end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import islpy as isl

from triton_lab.localization import _
from triton_lab.polyhedral.core.isl_effort import series
from triton_lab.polyhedral.core.source_text import NotAScop, SourceText, Span

# Brackets in one another. Each is several calls of a parser, of which Python has a thousand.
MOST_BRACKETS = 60

_NO_TEXT = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# What holds brackets that are none: comments, strings and characters of both languages.
_SKIPPED = re.compile(
    r"//[^\n]*|#[^\n]*|/\*.*?\*/|\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL
)
_BRACKET = re.compile(r"[()\[\]{}]")


def clean(text: str) -> str:
    """``text`` with one kind of line end, as parsers count lines."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


@contextmanager
def in_words(source: SourceText) -> Iterator[None]:
    """Within, ``source`` is read: what goes wrong is a `NotAScop` at its place, or `TooHard`, and it ends in time."""
    refuse_unreadable(source)
    try:
        with series("this nest"):
            yield
    except (RecursionError, MemoryError):
        raise NotAScop(_("this is nested too deeply"), source, deepest(source)[1]) from None
    except isl.Error as error:
        raise NotAScop(_("isl refuses this nest: {error}").format(error=error), source, deepest(source)[1]) from None


def refuse_unreadable(source: SourceText) -> None:
    """Raise `NotAScop` at a character that no program has, and where brackets are too deep."""
    found = _NO_TEXT.search(source.text)
    if found:
        shown = _("the character U+{ord} is not allowed in a program").format(ord=f"{ord(found.group()):04X}")
        raise NotAScop(shown, source, place(source, found.start(), found.end()))
    depth, span = deepest(source)
    if depth > MOST_BRACKETS:
        raise NotAScop(
            _("brackets are nested {depth} deep; at most {most_brackets} are allowed").format(
                depth=depth, most_brackets=MOST_BRACKETS
            ),
            source,
            span,
        )


def deepest(source: SourceText) -> tuple[int, Span]:
    """How many brackets stand in one another, and where the innermost of them begins; the first one of that depth."""
    text = _SKIPPED.sub(lambda m: re.sub(r"[()\[\]{}]", " ", m.group()), source.text)
    depth = most = at = 0
    for found in _BRACKET.finditer(text):
        if found.group() in "([{":
            depth += 1
            if depth > most:
                most, at = depth, found.start()
        else:
            depth = max(depth - 1, 0)
    return most, place(source, at, at + 1)


def refuse_name(name: str, source: SourceText, span: Span) -> None:
    """Raise `NotAScop` where isl would not take ``name`` for one."""
    if not _NAME.fullmatch(name):
        raise NotAScop(_("the name {name} may hold only ASCII letters, digits and _").format(name=name), source, span)


def place(source: SourceText, start: int, end: int) -> Span:
    """The characters from ``start`` to ``end`` of the text."""
    line_start = source.text.rfind("\n", 0, start) + 1
    line = source.text.count("\n", 0, start) + source.first_line
    return Span(line, start - line_start + 1, end - line_start + 1)
