"""The lines that a generated kernel was made from: of Helion's source, or of the Python that Inductor compiled.

Helion writes a comment above the lines that it makes, ``# src[kernel.py:8]: out[tile] = x[tile] * 2``. Inductor writes
a wrapper that launches its kernels. Above the text of each, `inductor` lets it write the lines whose operations are in
it. Above a kernel of the user, Inductor writes the place that it was copied from.
"""

from __future__ import annotations

import functools
import linecache
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_HELION = re.compile(r"\s*# src\[(.+):(\d+)\]: ?(.*)")
_HEAD = re.compile(r"\s*(for|while|if)\b")  # lines that open a block
# What `inductor` lets Inductor write, behind the sign of a comment.
MADE_FROM = "Made from: "
_INDUCTOR = re.compile(rf".*{MADE_FROM}(.+):(\d+): (.*)")
_COPIED = re.compile(r"# Original path: (.+):(\d+)$")
_KERNEL = re.compile(r"((?:^#[^\n]*\n)*)^\w+ = async_compile\.triton\('\w+', '''\n(.*?)^'''", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class GeneratingLine:
    """A line of another program: its ``file``, its number from 1, and its text without the indent."""

    file: str
    line: int
    text: str


def generating_lines(function: Any, line: int) -> Sequence[GeneratingLine]:
    """The lines that line ``line`` of a kernel's file was made from; none if nothing generated the kernel."""
    text: Sequence[str] = function.raw_src
    first = function.starting_line_number
    if not 0 <= line - first < len(text):
        return ()
    found = tuple(_of_helion(text, line - first))
    return found or tuple(_of_inductor("".join(text), line - first))


def _of_helion(text: Sequence[str], offset: int) -> Iterator[GeneratingLine]:
    """The comment above a line, or the first of several: a statement may have several lines.

    Above a loop, Helion names the loop and then the first statement in it.
    """
    above = next((at for at in range(offset, -1, -1) if _HELION.match(text[at])), None)
    if above is None:
        return
    heads = _HEAD.match(text[offset]) is not None
    while above and _HELION.match(text[above - 1]) and (heads or not _opens(text[above - 1])):
        above -= 1
    comment = _HELION.match(text[above])
    if comment is not None:
        yield GeneratingLine(comment[1], int(comment[2]), comment[3].strip())


def _opens(comment: str) -> bool:
    """Whether a commented line is a statement of its own, such as the head of a loop."""
    found = _HELION.match(comment)
    return found is not None and found[3].rstrip().endswith(":")


def _of_inductor(text: str, offset: int) -> Iterator[GeneratingLine]:
    for wrapper in _wrappers():
        for remarks, body in _kernels(wrapper):
            if text.strip() in body:
                yield from _remarked(remarks, text.splitlines(), offset)
                return


def _remarked(remarks: str, text: Sequence[str], offset: int) -> Iterator[GeneratingLine]:
    for remark in remarks.splitlines():
        found = _INDUCTOR.match(remark)
        if found:
            yield GeneratingLine(found[1], int(found[2]), found[3].strip())
            continue
        found = _COPIED.match(remark)
        if found:
            place = _same_line(found[1], int(found[2]), text, offset)
            if place is not None:
                yield GeneratingLine(found[1], place, text[offset].strip())


def _same_line(file: str, first: int, text: Sequence[str], offset: int) -> int | None:
    """The line of ``file`` that line ``offset`` of a copied kernel has, which begins at ``first`` with decorators."""
    head = next((at for at, one in enumerate(text) if one.startswith("def ")), None)
    lines = linecache.getlines(file)
    begin = next((at for at in range(first - 1, len(lines)) if lines[at].lstrip().startswith("def ")), None)
    if head is None or begin is None:
        return None
    at = begin + offset - head
    same = 0 <= at < len(lines) and lines[at].strip() == text[offset].strip()
    return at + 1 if same else None  # the file has been changed since


def _wrappers() -> list[str]:
    """The files of Inductor's wrappers that this process has loaded, the latest first."""
    cache = getattr(sys.modules.get("torch._inductor.codecache"), "PyCodeCache", None)
    modules = reversed(getattr(cache, "modules", ()))
    return [str(one.__file__) for one in modules if hasattr(one, "call") and os.path.exists(one.__file__)]


@functools.lru_cache(maxsize=64)
def _kernels(wrapper: str) -> list[tuple[str, str]]:
    """The comments above each kernel of a wrapper, and the kernel's text. A wrapper's file is named for its content."""
    with open(wrapper, encoding="utf-8") as file:
        return [(one[1], one[2]) for one in _KERNEL.finditer(file.read())]
