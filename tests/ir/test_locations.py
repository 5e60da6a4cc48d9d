"""Locations as MLIR writes them, read back: whatever files and variables are called, however deep the calls."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_lab.ir import Location
from triton_lab.ir.locations import Locations
from triton_lab.ir.text_cursor import Cursor, unescape

# All that the format itself is made of, and what is no ASCII.
names = st.text(st.sampled_from('ab ,[]()<>"\\#:1jö💥'), min_size=1, max_size=8)
numbers = st.integers(0, 99)


def escaped(text: str) -> str:
    """``text`` as LLVM's printEscapedString has it."""
    codes = text.encode()
    return "".join(
        "\\\\" if c == ord("\\") else chr(c) if 32 <= c < 127 and c != ord('"') else f"\\{c:02X}" for c in codes
    )


def called(place: Location, caller: Location) -> Location:
    """``place``, whose outermost caller is called from ``caller``."""
    return replace(place, caller=caller if place.caller is None else called(place.caller, caller))


@st.composite
def locations(draw, depth=3) -> tuple[str, Location | None]:
    """MLIR's text of a location, and what it stands for."""
    kind = draw(st.sampled_from(["file", "range", "unknown", *(["named", "call", "fused"] if depth else [])]))
    if kind == "unknown":
        return "unknown", None
    if kind in ("file", "range"):
        file, line, column = draw(names), draw(numbers), draw(numbers)
        end = draw(st.sampled_from([f" to {line}:99", " to :99"])) if kind == "range" else ""
        return f'"{escaped(file)}":{line}:{column}{end}', Location(file, line, column)
    text, place = draw(locations(depth - 1))
    if kind == "named":
        name = draw(names)
        return f'"{escaped(name)}"({text})', None if place is None else replace(place, name=name)
    other, there = draw(locations(depth - 1))
    if kind == "call":
        both = there if place is None else place if there is None else called(place, there)
        return f"callsite({text} at {other})", both
    metadata = draw(st.sampled_from(["", '<"note">']))
    return f"fused{metadata}[{text}, {other}]", place


@given(locations())
def test_each_location_is_what_was_meant(case):
    text, place = case
    assert Locations("").read(text) == place
    aliases = Locations(f'x\n#loc = loc({text})\n#loc1 = loc("v"(#loc))\n#loc2 = loc(callsite(#loc1 at #loc))\n')
    assert aliases.read(" #loc ") == place
    named = None if place is None else replace(place, name="v")
    assert aliases.read("#loc1") == named
    assert aliases.read("#loc2") == (None if place is None or named is None else called(named, place))
    assert aliases.read("#loc3") is None


@given(names)
def test_strings_are_read_as_they_were_meant(text):
    assert unescape(escaped(text)) == text
    cursor = Cursor(f' "{escaped(text)}" rest')
    assert cursor.string() == text and cursor.peek("rest")


@pytest.mark.parametrize(
    ("text", "inner", "rest"),
    [
        ("<a<b>c>d", "a<b>c", "d"),
        ('<"<">>', '"<"', ">"),
        ("<(i32) -> f32>,", "(i32) -> f32", ","),
        ("  <>x", "", "x"),
        ('<">" , <">">> y', '">" , <">">', " y"),
    ],
)
def test_brackets_are_closed_where_they_were_opened(text, inner, rest):
    cursor = Cursor(text)
    assert cursor.balanced("<", ">") == inner
    assert cursor.text[cursor.position :] == rest


@pytest.mark.parametrize("text", ["<a", "<<a>", '<"a>'])
def test_what_is_not_closed_is_refused(text):
    with pytest.raises((ValueError, IndexError)):
        Cursor(text).balanced("<", ">")


def test_blanks_and_comments_are_stepped_over_and_lines_counted():
    cursor = Cursor("  // note\n\n  a // b\nb")
    assert cursor.line() == 1 and not cursor.accept("b") and cursor.accept("a")
    assert cursor.line() == 3 and cursor.accept("b") and cursor.line() == 4
    with pytest.raises(ValueError, match="expected 'c', found ''"):
        cursor.expect("c")
