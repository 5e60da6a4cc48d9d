"""The wording of programs, lanes, elements and counts.

Errors, findings, cards, static pages and scripts share it, so that each thing has one spelling and one advice. The
functions take numbers and return text.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from math import prod
from types import FrameType

from triton_lab.localization import N_, _, alone, ngettext, nouns, translated

_ACCESSES = {"load": N_("load"), "store": N_("store"), "atomic": N_("atomic")}

HINT_ASSERTION = N_("The condition does not hold for these programs.")
HINT_DEADLOCK = N_("Release every lock on every path, and wait only for flags that some program sets.")
HINT_GATHER = N_(
    "tl.gather moves elements within one block. Clamp the index to the block's axis, and use tl.where afterwards."
)
# Advice for operations that touch no memory and were stopped because of their values.
HINT_REFUSED = {"tt.assert": HINT_ASSERTION, "tt.gather": HINT_GATHER}
HINT_STEPS = N_(
    "Correct the loop that does not end, or raise the limit: --limit STEPS in the cell's %%triton line, or "
    "lab.limits(max_steps=...), after import triton_lab as lab."
)
HINT_INTERRUPTED = N_(
    "To stop such a loop automatically, set a limit: --limit 10000 in the cell's %%triton line, or "
    "lab.limits(max_steps=10_000), after import triton_lab as lab."
)
HINT_UNSUPPORTED = N_("Run this kernel on a GPU, or write it without this operation.")


# --- Counts ---------------------------------------------------------------------------------------


def number(value: int) -> str:
    """A count with separators: ``1,048,576``. (Coordinates, lines and element numbers are names and have none.)"""
    return f"{value:,}"


def noun(count: int, one: str, many: str = "") -> str:
    """``one`` if ``count`` is 1, else its plural: ``many``, or ``one`` with an s."""
    return alone(one, nouns(one, many or f"{one}s", count))


def _counted(count: int, one: str, many: str = "") -> str:
    """The noun behind a number: Chinese has a measure word there (see `localization.alone`)."""
    own = nouns(one, many or f"{one}s", count)
    return own.partition("||")[0] if "||" in own else own.replace("|", "")


def count(count: int, one: str, many: str = "") -> str:
    """``1 program``, ``2 programs``, ``4,096 programs``."""
    return _("{count} {noun}").format(count=number(count), noun=_counted(count, one, many))


def span(low: int, high: int, one: str, many: str = "") -> str:
    """``1 to 4 programs``, or ``3 programs`` where both are the same."""
    if low == high:
        return count(high, one, many)
    return _("{low} to {high}").format(low=number(low), high=count(high, one, many))


def numbered(first: int, last: int, one: str, many: str = "") -> str:
    """Things by number, both ends included: ``element 5``, ``elements 5 to 9``."""
    if first == last:
        return _("{noun} {number}").format(noun=noun(1, one, many), number=first)
    return _("{nouns} {first} to {last}").format(nouns=noun(2, one, many), first=first, last=last)


def has(first: int, last: int, one: str, asked: int) -> str:
    """Says which numbers exist, and that ``asked`` does not: ``has steps 0 to 11, not 12``."""
    return _("has {numbers}, not {asked}").format(numbers=numbered(first, last, one), asked=asked)


def rounded(value: float, one: str) -> str:
    """A measured number of things, with three digits: ``1 time``, ``1.27 times``."""
    text = f"{value:.3g}"
    return _("{count} {noun}").format(count=text, noun=_counted(1 if text == "1" else 2, one))


def three_digits(value: float) -> str:
    """Three digits, or all digits before the point, and no power of ten: ``1.23``, ``123``, ``1,234``."""
    return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"


def si(value: float) -> str:
    """``1.5 T``, ``320 G``: three digits and a prefix, before a unit."""
    for prefix, size in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size * 0.9995:  # else rounding gives 1,000 of the next smaller prefix
            return f"{three_digits(value / size)} {prefix}"
    return f"{three_digits(value)} "


def seconds_text(seconds: float) -> str:
    """``1.23 ms``: three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.9995 * size:  # else rounding gives 1,000 of the next smaller unit
            return f"{three_digits(seconds / size)} {unit}"
    return f"{three_digits(seconds / 1e-9)} ns" if seconds else "0 µs"


def spread(low: float, high: float) -> str:
    """The least and the greatest of several times, behind another: `` (4.8 µs to 5.1 µs)``; empty if they are equal."""
    if low == high:
        return ""
    return _(" ({low} to {high})").format(low=seconds_text(low), high=seconds_text(high))


def of_all(some: int, every: int) -> str:
    """``2 of 6``."""
    return _("{some} of {every}").format(some=number(some), every=number(every))


def significant(value: float) -> str:
    """A measured number with three digits, or a whole number below a million: ``2``, ``0.25``, ``1.19e-07``."""
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e6 else f"{value:.3g}"


def in_all(count_: int, one: str) -> str:
    """The text behind the first of several: ``; 12 lanes in all``; empty if there is only one."""
    return _("; {count} in all").format(count=count(count_, one)) if count_ > 1 else ""


def all_of(count_: int, one: str) -> str:
    """``all 24 executions``, or ``1 execution`` if there is only one."""
    return _("all {count}").format(count=count(count_, one)) if count_ != 1 else count(count_, one)


def and_others(count: int) -> str:
    """The text behind the first of several in a list: `` and 1 other``; empty if there are no others."""
    return ngettext(" and {count} other", " and {count} others", count).format(count=number(count)) if count else ""


def access_noun(kind: str) -> str:
    """``load``, ``store`` or ``atomic`` in the user's language."""
    return translated(_ACCESSES[kind])


def a(word: str) -> str:
    """``word`` with its article: ``a load``, ``an atomic``."""
    article = _("an {noun}") if word[:1].lower() in "aeiou" else _("a {noun}")
    return article.format(noun=word)


# --- Programs, lanes, elements --------------------------------------------------------------------


def coordinates(program: int, grid: Sequence[int]) -> tuple[int, int, int]:
    """The coordinates of program number ``program`` in ``grid``: the first axis varies fastest."""
    x, y = int(grid[0]), int(grid[1])
    program = int(program)
    return program % x, program // x % y, program // (x * y)


def program(number: int, grid: Sequence[int]) -> str:
    """``program (3, 0, 0)``, with its number in a grid of several axes: ``program (3, 1, 0), number 7``."""
    name = _("program {coordinates}") if not _several_axes(grid) else _("program {coordinates}, number {number}")
    return name.format(coordinates=coordinates(number, grid), number=number)


def who(number: int, grid: Sequence[int]) -> str:
    """`program` for the middle of a sentence: a comma closes the number."""
    return _("{program},").format(program=program(number, grid)) if _several_axes(grid) else program(number, grid)


def programs(numbers: Iterable[int], grid: Sequence[int]) -> str:
    """The first program and the count of the others, for the middle of a sentence."""
    different = sorted(set(numbers))
    return who(different[0], grid) + and_others(len(different) - 1)


def shared_place(numbers: Iterable[int], grid: Sequence[int]) -> str:
    """The axes of the grid along which these programs stand at one place: ``z = 4``; "" if there are none."""
    x, y, _z = (*grid, 1, 1)[:3]
    places = [(number % x, number // x % y, number // (x * y)) for number in numbers]
    told = []
    for axis, size, along in zip("xyz", grid, zip(*places, strict=True), strict=False):
        if size > 1 and len(set(along)) == 1:
            told.append(f"{axis} = {along[0]}")
    return _(" and ").join(told) if len(places) > 1 else ""


def program_range(first: int, last: int, grid: Sequence[int]) -> str:
    """``programs (0, 0, 0) to (7, 0, 0)``, by number, for the middle of a sentence."""
    if first == last:
        return who(first, grid)
    several = _several_axes(grid)
    names = _("programs {low} to {high}, numbers {first} to {last},") if several else _("programs {low} to {high}")
    low, high = coordinates(first, grid), coordinates(last, grid)
    return names.format(low=low, high=high, first=first, last=last)


def no_program(number: int, grid: Sequence[int]) -> str:
    """The error for a program number that the grid does not have."""
    return _("no program has number {number}: {grid} has {programs}, counted from 0").format(
        number=number, grid=a_grid(grid), programs=count(prod(grid), "program")
    )


def a_grid(grid: Sequence[int]) -> str:
    """``the grid (4, 2, 1)``."""
    return _("the grid {grid}").format(grid=tuple(grid))


def launched(kernel: str, grid: Sequence[int]) -> str:
    """A launch as Python code: ``add[8, 1, 1]``."""
    return f"{kernel}[{', '.join(map(str, grid))}]"


def to_go(done: int, total: int, seconds: float) -> str:
    """``3,000 of 8,000 programs, 2 s to go``, if the ``done`` programs took ``seconds``."""
    left = f"{seconds * (total - done) / max(1, done):.0f}"
    return _("{done} of {programs}, {seconds} s left").format(
        done=number(done), programs=count(total, "program"), seconds=left
    )


def mark(number: int, grid: Sequence[int]) -> str:
    """The shortest unique label of a program, for a cell of a picture: ``3``, or ``1,2`` in a grid of two axes."""
    if not _several_axes(grid):
        return str(number)
    return ",".join(map(str, coordinates(number, grid)[: 2 if grid[2] == 1 else 3]))


def _several_axes(grid: Sequence[int]) -> bool:
    return tuple(grid[1:]) != (1, 1)


def lane(number: int, block: Sequence[int]) -> str:
    """``lane 5``, or ``lane (1, 3)`` in a block of several axes; empty for a scalar."""
    if not block:
        return ""
    return _("lane {number}").format(number=number if len(block) == 1 else index(number, block))


def index(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The coordinates of row-major ``number`` in ``shape``."""
    found = []
    for extent in reversed(shape):
        number, place = divmod(int(number), int(extent))
        found.append(place)
    return tuple(reversed(found))


def element(name: str, number: int, shape: Sequence[int]) -> str:
    """``x_ptr[3, 5]``: the element with this row-major ``number``."""
    return element_at(name, index(number, shape))


def element_at(name: str, place: Iterable[int]) -> str:
    """``x_ptr[3, 5]``: the element with these coordinates."""
    return f"{name}[{', '.join(map(str, place))}]"


def address(value: int) -> str:
    """An address in hexadecimal, for memory that has no name."""
    return _("address {address}").format(address=f"{value:#x}")


# --- Places in the source -------------------------------------------------------------------------


def place(file: str, line: int) -> str:
    """``this cell, line 5`` in the running cell, ``cell [3], line 5`` in another cell, else the path and the line."""
    return _("{file}, line {line}").format(file=cell(file) or file, line=line)


def cell(file: str) -> str:
    """The notebook cell whose code is ``file``: ``this cell`` while it runs, else ``cell [3]``; "" for a real file."""
    number = cell_number(file)
    if number is None:
        return ""
    return _("this cell") if number == running_cell() else _("cell [{number}]").format(number=number)


def running_cell() -> int | None:
    """The number of the cell that this thread is running; None if it runs no cell."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "<module>" and (number := cell_number(frame.f_code.co_filename)) is not None:
            return number
        frame = frame.f_back
    return None


def cell_number(file: str) -> int | None:
    """The number beside the cell whose code is ``file``; None for a real file.

    IPython gives the code of each cell a file name, and finds the cell's number by that name.
    """
    ipython = sys.modules.get("IPython.core.getipython")  # without a notebook IPython is not imported
    shell = None if ipython is None else ipython.get_ipython()
    named = None if shell is None else shell.compile.format_code_name(file)
    return None if named is None else int(named[1].removeprefix("In[").removesuffix("]"))
