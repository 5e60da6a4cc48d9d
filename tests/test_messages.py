"""The wording of messages: each way to write a program, a lane or a count is defined once, and used everywhere."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests import catalogue, sources
from triton_lab import messages

GRIDS = st.tuples(*[st.integers(1, 9)] * 3)

# What we count.
COUNTED = (
    "programs?|elements?|lanes?|iterations?|steps|findings?|launch(es)?|kernels?|arguments?|tensors?|bytes?|"
    "operations?|executions?|terms|additions|visits|conflicts|instances?|statements?|sectors?|waves?|graphs?|numbers|names|units|times|lines|accesses"
)
AFTER = re.compile(rf"^ ({COUNTED})\b(?! as | in the grid)")
PLURAL_BY_HAND = re.compile(r"""(['"]s['"] (if|\*) |['"]{2} if .* else ['"]s['"])""")
# What stands before such a noun and is no number of them: a type, a grid, a shape, a block, a size that is always 128.
NO_COUNT = {
    "short(self.dtype)",
    "' × '.join(map(str, grid))",
    "block",
    "LINE_BYTES",
    "layout",
    "shape_text(asked.shape)",
}


def told() -> Iterator[tuple[str, str]]:
    """Each f-string of the package that speaks of how many there are, with where it stands."""
    for file in sources.python():
        if "codegen" in file.path.parts or file.path.name == "words.py":
            continue
        for node in file.nodes:
            parts = node.values if isinstance(node, ast.JoinedStr) else []
            for value, text in pairwise(parts):
                if not isinstance(value, ast.FormattedValue) or not isinstance(text, ast.Constant):
                    continue
                if AFTER.match(str(text.value)) and not value.format_spec and ast.unparse(value.value) not in NO_COUNT:
                    yield f"{file.name}:{node.lineno}", ast.unparse(value) + str(text.value)


def test_a_text_to_be_translated_takes_the_counted_noun_with_its_number() -> None:
    """``{programs} read it``, and not ``{count} programs read it``: `messages.count` fills that in."""
    marked = [text for file in sources.python() for text in catalogue.texts(file) if len(text.ids) == 1]
    found = [each for each in marked if re.search(r"\{\w*(count|number|total)\}" + AFTER.pattern[1:], each.ids[0])]
    assert not found, found


def test_whoever_counts_takes_the_words_from_one_place() -> None:
    """A number before a noun by hand is "1 programs" one day."""
    found = [f"{where}: {text}" for where, text in told()]
    assert not found, "\n".join(found)


def test_nobody_makes_plurals_by_hand() -> None:
    found = [
        f"{file.name}:{number}: {line.strip()}"
        for file in sources.python()
        for number, line in enumerate(file.text.splitlines(), start=1)
        if file.path.name != "words.py" and PLURAL_BY_HAND.search(line)
    ]
    assert not found, "\n".join(found)


@given(GRIDS, st.data())
def test_a_program_has_one_spelling_and_its_number_only_where_that_says_more(
    grid: tuple[int, int, int], data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, int(np.prod(grid)) - 1))
    z, y, x = (int(n) for n in np.unravel_index(number, grid[::-1]))
    beside = "" if grid[1:] == (1, 1) else f", number {number}"
    assert messages.program(np.int64(number), grid) == f"program ({x}, {y}, {z}){beside}"
    assert messages.who(number, grid) == messages.program(number, grid) + ("," if beside else "")


@given(st.lists(st.integers(1, 6), max_size=4), st.data())
def test_elements_and_lanes_are_counted_row_by_row(shape: list[int], data: st.DataObject) -> None:
    number = data.draw(st.integers(0, int(np.prod(shape, dtype=int)) - 1))
    expected = tuple(int(n) for n in np.unravel_index(number, tuple(shape))) if shape else ()
    assert messages.index(number, shape) == expected
    assert messages.element("x", number, shape) == f"x[{', '.join(map(str, expected))}]"
    assert messages.lane(number, shape) == (f"lane {expected if len(shape) > 1 else number}" if shape else "")


@given(st.integers(0, 99), st.integers(0, 99), st.sampled_from(["step", "lane", "element"]))
def test_numbers_of_things_are_one_or_from_to(first: int, more: int, noun: str) -> None:
    told = messages.numbered(first, first + more, noun)
    assert told.split() == ([f"{noun}s", str(first), "to", str(first + more)] if more else [noun, str(first)])
    assert messages.has(first, first + more, noun, 7) == f"has {told}, not 7"
    assert messages.numbered(0, more, "access", "accesses").startswith("accesses 0 to" if more else "access 0")


@given(st.integers(0, 1 << 40), st.sampled_from(["program", "lane", "element"]))
def test_one_is_not_told_as_many(number: int, noun: str) -> None:
    told = messages.count(number, noun)
    assert told.endswith("s") == (number != 1)
    assert int(told.split()[0].replace(",", "")) == number
    assert messages.span(number, number, noun) == told and messages.span(number + 1, number, noun).endswith(told)
    assert (number > 1) == messages.in_all(number, noun).endswith("s in all")
    assert messages.all_of(number, noun) == (told if number == 1 else f"all {told}")


def test_articles_and_others() -> None:
    assert [messages.a(each) for each in ("load", "atomic", "Element")] == ["a load", "an atomic", "an Element"]
    assert messages.programs([4, 4, 1], (8, 1, 1)) == "program (1, 0, 0) and 1 other"
    assert messages.programs([5], (2, 3, 1)) == "program (1, 2, 0), number 5,"
    assert messages.program_range(0, 3, (4, 1, 1)) == "programs (0, 0, 0) to (3, 0, 0)"
