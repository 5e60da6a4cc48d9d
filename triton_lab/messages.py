"""How things are told, to everybody alike: programs, lanes, elements, counts, and what an access did wrong.

Errors, findings, cards, static pages and scripts take their words from here, so that one thing has one spelling and
one advice. Numbers in, text out: nothing of ours is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from types import FrameType
from typing import Literal

# What an access of each kind of fault is.
_WRONG = {"out-of-bounds": "out of bounds", "null-pointer": "through a null pointer", "misaligned": "misaligned"}

HINT_ASSERTION = "The condition does not hold for these programs."
HINT_DEADLOCK = "Release every lock on every path, and wait only for flags that some program sets."
HINT_GATHER = (
    "tl.gather moves elements within one block: clamp the index to its axis, and choose with tl.where afterwards."
)
# What to do about operations that touch no memory and were stopped for their values.
HINT_REFUSED = {"tt.assert": HINT_ASSERTION, "tt.gather": HINT_GATHER}
HINT_STEPS = (
    "Mend the loop that does not end, or allow more: --limit STEPS in the cell's %%triton line, or "
    "lab.limits(max_steps=...), after import triton_lab as lab."
)
HINT_INTERRUPTED = (
    "To have such a loop stopped: --limit 10000 in the cell's %%triton line, or lab.limits(max_steps=10_000), after "
    "import triton_lab as lab."
)
HINT_UNSUPPORTED = "Run this kernel on a GPU, or write it without this operation."


# --- Counts ---------------------------------------------------------------------------------------


def number(value: int) -> str:
    """``1,048,576``: how many. (Coordinates, lines and element numbers are names, and bear no separators.)"""
    return f"{value:,}"


def noun(count: int, one: str, many: str = "") -> str:
    """``one`` or its plural, whichever ``count`` of them take; ``many`` where the plural has more than an s."""
    return one if count == 1 else many or f"{one}s"


def count(count: int, one: str, many: str = "") -> str:
    """``1 program``, ``2 programs``, ``4,096 programs``."""
    return f"{number(count)} {noun(count, one, many)}"


def span(low: int, high: int, one: str, many: str = "") -> str:
    """``1 to 4 programs``, or ``3 programs`` where both are the same."""
    return count(high, one, many) if low == high else f"{number(low)} to {count(high, one, many)}"


def numbered(first: int, last: int, one: str, many: str = "") -> str:
    """Things by their numbers, both ends included: ``element 5``, ``elements 5 to 9``."""
    return f"{one} {first}" if first == last else f"{many or one + 's'} {first} to {last}"


def has(first: int, last: int, one: str, asked: int) -> str:
    """Why there is nothing to see of the ``asked`` one: ``has steps 0 to 11, not 12``."""
    return f"has {numbered(first, last, one)}, not {asked}"


def rounded(value: float, one: str) -> str:
    """``1 time``, ``1.27 times``: three digits."""
    text = f"{value:.3g}"
    return f"{text} {one if text == '1' else one + 's'}"


def three_digits(value: float) -> str:
    """``1.23``, ``123``, ``1,234``: of what is larger all before the point, and no power of ten."""
    return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"


def si(value: float) -> str:
    """``1.5 T``, ``320 G``: three digits and a prefix, before a unit."""
    for prefix, size in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size * 0.9995:  # what would be told as 1,000 of the next
            return f"{three_digits(value / size)} {prefix}"
    return f"{three_digits(value)} "


def seconds_text(seconds: float) -> str:
    """``1.23 ms``: three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.9995 * size:  # what would be told as 1,000 of the next
            return f"{three_digits(seconds / size)} {unit}"
    return f"{three_digits(seconds / 1e-9)} ns" if seconds else "0 µs"


def significant(value: float) -> str:
    """A measured number: ``2``, ``0.25``, ``1.19e-07``: three digits, all of a whole number below a million."""
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e6 else f"{value:.3g}"


def in_all(count_: int, one: str) -> str:
    """What follows the first of several: ``; 12 lanes in all``; nothing after the only one."""
    return f"; {count(count_, one)} in all" if count_ > 1 else ""


def all_of(count_: int, one: str) -> str:
    """``all 24 executions``; of one alone, ``1 execution``."""
    return f"all {count(count_, one)}" if count_ != 1 else count(count_, one)


def and_others(count: int) -> str:
    """What follows the first of several in a list: `` and 1 other``; nothing where there are none."""
    return f" and {number(count)} {noun(count, 'other')}" if count else ""


def a(word: str) -> str:
    """``word`` behind its article: ``a load``, ``an atomic``."""
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"


# --- Programs, lanes, elements --------------------------------------------------------------------


def coordinates(program: int, grid: Sequence[int]) -> tuple[int, int, int]:
    """Where program number ``program`` stands in ``grid``: the first axis is the quickest."""
    x, y, _ = map(int, grid)
    program = int(program)
    return program % x, program // x % y, program // (x * y)


def program(number: int, grid: Sequence[int]) -> str:
    """``program (3, 0, 0)``; with its number where that is another one: ``program (3, 1, 0), number 7``."""
    beside = f", number {number}" if _several_axes(grid) else ""
    return f"program {coordinates(number, grid)}{beside}"


def who(number: int, grid: Sequence[int]) -> str:
    """`program` in the middle of a sentence, where a comma ends what stands beside it."""
    return program(number, grid) + ("," if _several_axes(grid) else "")


def programs(numbers: Iterable[int], grid: Sequence[int]) -> str:
    """The first of them in the middle of a sentence, and how many others there are."""
    different = sorted(set(numbers))
    return who(different[0], grid) + and_others(len(different) - 1)


def program_range(first: int, last: int, grid: Sequence[int]) -> str:
    """``programs (0, 0, 0) to (7, 0, 0)`` in the middle of a sentence, in the order of their numbers."""
    if first == last:
        return who(first, grid)
    numbers = f", numbers {first} to {last}," if _several_axes(grid) else ""
    return f"programs {coordinates(first, grid)} to {coordinates(last, grid)}{numbers}"


def no_program(number: int, grid: Sequence[int]) -> str:
    """Why there is nothing to see of a program that somebody asked for."""
    return f"no program has number {number}: {a_grid(grid)} has {count(prod(grid), 'program')}, counted from 0"


def a_grid(grid: Sequence[int]) -> str:
    """``the grid (4, 2, 1)``."""
    return f"the grid {tuple(grid)}"


def launched(kernel: str, grid: Sequence[int]) -> str:
    """A launch as it is written: ``add[8, 1, 1]``."""
    return f"{kernel}[{', '.join(map(str, grid))}]"


def to_go(done: int, total: int, seconds: float) -> str:
    """``3,000 of 8,000 programs, 2 s to go``, where those that are done took ``seconds``."""
    return f"{number(done)} of {count(total, 'program')}, {seconds * (total - done) / max(1, done):.0f} s to go"


def mark(number: int, grid: Sequence[int]) -> str:
    """The shortest that tells a program apart, for a cell of a picture: ``3``, or ``1,2`` in a grid of two axes."""
    if not _several_axes(grid):
        return str(number)
    return ",".join(map(str, coordinates(number, grid)[: 2 if grid[2] == 1 else 3]))


def _several_axes(grid: Sequence[int]) -> bool:
    return tuple(grid[1:]) != (1, 1)


def lane(number: int, block: Sequence[int]) -> str:
    """``lane 5``, or ``lane (1, 3)`` in a block of several axes; nothing for a scalar."""
    if not block:
        return ""
    return f"lane {number}" if len(block) == 1 else f"lane {index(number, block)}"


def index(number: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The coordinates of row-major ``number`` in ``shape``."""
    found = []
    for extent in reversed(shape):
        number, place = divmod(int(number), int(extent))
        found.append(place)
    return tuple(reversed(found))


def element(name: str, number: int, shape: Sequence[int]) -> str:
    """``x_ptr[3, 5]``: the element that is ``number`` in row-major order."""
    return element_at(name, index(number, shape))


def element_at(name: str, place: Iterable[int]) -> str:
    """``x_ptr[3, 5]``: the element with these coordinates."""
    return f"{name}[{', '.join(map(str, place))}]"


def address(value: int) -> str:
    """For what has no better name."""
    return f"address {value:#x}"


# --- Places in the source -------------------------------------------------------------------------


def place(file: str, line: int) -> str:
    """``this cell, line 5`` in the cell that runs, ``cell [3], line 5`` in another one, else the path and the line."""
    return f"{cell(file) or file}, line {line}"


def cell(file: str) -> str:
    """The notebook's cell whose code ``file`` is: ``this cell`` while it runs, ``cell [3]``; "" for a real file."""
    number = cell_number(file)
    if number is None:
        return ""
    return "this cell" if number == running_cell() else f"cell [{number}]"


def running_cell() -> int | None:
    """The number of the cell that runs, in whose code this thread is; None outside of any."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "<module>" and (number := cell_number(frame.f_code.co_filename)) is not None:
            return number
        frame = frame.f_back
    return None


def cell_number(file: str) -> int | None:
    """What stands beside the cell whose code ``file`` is; None for a real file.

    IPython gives the code of each cell a file's name, and keeps its number by that.
    """
    ipython = sys.modules.get("IPython.core.getipython")  # who runs no cells need not import it
    shell = None if ipython is None else ipython.get_ipython()
    named = None if shell is None else shell.compile.format_code_name(file)
    return None if named is None else int(named[1].removeprefix("In[").removesuffix("]"))


# --- Faults ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TensorText:
    """What there is to tell of a tensor argument; ``offset`` counts elements, ``address`` is that of element 0."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    itemsize: int
    address: int
    storage_address: int
    storage_bytes: int

    def __str__(self) -> str:
        offset = f", storage offset {self.offset}" if self.offset else ""
        return f"{self.name}: {self.dtype}, shape {self.shape}, strides {self.strides}{offset}"

    def holds(self, address: int, size: int = 1) -> bool:
        """Whether ``size`` bytes from ``address`` on are of its storage."""
        return self.storage_address <= address and address + size <= self.storage_address + self.storage_bytes

    @property
    def dense(self) -> bool:
        """Whether its elements lie one behind the other, so that an offset is the number of an element."""
        steps = [prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        return all(
            size == 1 or stride == step for size, stride, step in zip(self.shape, self.strides, steps, strict=True)
        )

    def distance(self, address: int) -> int:
        """How far from its storage an address lies, in bytes."""
        return max(self.storage_address - address, address - self.storage_address - self.storage_bytes, 0)


def _whither(before: bool) -> str:
    return "that lie before" if before else "that lie beyond"


def owner_of(address: int, origins: Iterable[TensorText], tensors: Iterable[TensorText]) -> TensorText | None:
    """Which tensor an access was meant for: of its pointer's ``origins`` the nearest, else the one that it meets."""
    nearest = min(origins, key=lambda tensor: tensor.distance(address), default=None)
    return nearest or next((tensor for tensor in tensors if tensor.holds(address)), None)


@dataclass(frozen=True)
class AccessGuard:
    """What should hold the lanes of an access back: ``kind`` is ``mask``, ``descriptor`` or nothing.

    In the kernel's own names, "" where they are not known: ``offset`` is what is added to the tensor, ``asked`` what
    the mask asks of that offset, and ``size`` the argument that counts the tensor's elements. ``misread`` says what
    Python reads otherwise in the mask than it looks.
    """

    kind: str
    offset: str = ""
    asked: str = ""
    size: str = ""
    misread: str = ""


# Where an address lies that belongs to no argument: in another tensor that is alive, one that may only be read among
# them, in memory that may not be read; "" is elsewhere.
Home = Literal["", "tensor", "fixed tensor", "unreadable"]
_IN_TENSOR = "lies in a tensor that is no argument"


@dataclass(frozen=True)
class Stray:
    """The first lane of an access that may not touch memory, and how many there are.

    ``access`` is ``load``, ``store`` or ``atomic``, ``kind`` that of the fault, ``who`` a `program`, ``owner`` the
    tensor that it was meant for (`owner_of`), ``tensors`` all there are. ``guard`` should have held the lane back.
    Where there is no owner, ``home`` is where the address lies.
    """

    access: str
    kind: str
    itemsize: int
    address: int
    who: str
    lane: str
    count: int
    owner: TensorText | None
    tensors: Sequence[TensorText]
    guard: AccessGuard
    home: Home = ""

    def __str__(self) -> str:
        """``load out of bounds: lane 3 of program (1, 0, 0) touches element 11 of x, ...; 42 lanes in all``."""
        lane = f"{self.lane} of " if self.lane else ""
        return f"{self.access} {_WRONG[self.kind]}: {lane}{self.who} {self._touches()}{in_all(self.count, 'lane')}"

    @property
    def read_only(self) -> bool:
        """Whether nobody may write to where the lane stores: it is in the tensor, and was stopped all the same."""
        owned = self.owner is not None and self.owner.holds(self.address, self.itemsize)
        return owned and self.access != "load" and self.kind == "out-of-bounds"

    @property
    def hint(self) -> str:
        """What to do about it."""
        if self.kind == "misaligned":
            return "Addresses must be multiples of the element's size: look at the pointer's type and the offsets."
        if self.owner is None:
            if self.kind == "null-pointer":
                return "The pointer is null: check the table of pointers, or pass a tensor for it."
            if self.home == "fixed tensor" and self.access != "load":
                return "Pass a copy of that tensor (.clone()), or map its file for writing."
            if self.home in ("tensor", "fixed tensor"):
                return "Look at the offsets: the access leaves the tensor that its pointer points into."
            if self.home == "unreadable":
                return "Look at where the pointer comes from: the system lets nobody read there."
            if self.address < 0:
                return "Look at the pointer and the offsets: what is subtracted is larger than the pointer."
            return "Look at where the pointer comes from: it points into no tensor that is alive."
        name = self.owner.name
        if self.read_only:
            return f"Pass a copy of {name} (.clone()), or map its file for writing."
        if self.guard.kind == "descriptor":
            return "The descriptor's shape and strides reach further than its tensor."
        return self._of_the_mask(self.owner) if self.guard.kind == "mask" else self._of_no_mask(self.owner)

    def _of_no_mask(self, owner: TensorText) -> str:
        """Nothing holds lanes back."""
        guard, before = self.guard, self.address < owner.address
        condition = f"{guard.offset} >= 0" if before else f"{guard.offset} < {guard.size}" if guard.size else ""
        how = f" (mask={condition})" if condition and guard.offset else ""
        return f"There is no mask. Hold back the lanes {_whither(before)} {owner.name}{how}, or mend the offsets."

    def _of_the_mask(self, owner: TensorText) -> str:
        """There is a mask, and these lanes pass it: its bound is wrong, or it asks for something else."""
        guard, before = self.guard, self.address < owner.address
        if guard.misread:
            return f"The mask is not what it looks like: {guard.misread}"
        if guard.asked and before:
            return (
                f"The mask asks for {guard.asked} alone, and these lanes lie before {owner.name}: "
                f"ask for {guard.offset} >= 0 too, or mend the offsets."
            )
        if guard.asked and owner.dense:
            elements = count(prod(owner.shape), "element")
            name = f", which is {guard.size}" if guard.size else ""
            return f"The mask's bound is too wide: it asks for {guard.asked}, and {owner.name} has {elements}{name}."
        if guard.offset and not guard.asked:
            return (
                f"The mask lets these lanes through: it does not ask whether {guard.offset} is within {owner.name}. "
                "Compare that, too."
            )
        return f"The mask lets these lanes through: compare the offsets with the extents of {owner.name}."

    def _without_owner(self) -> str:
        """Of an address that no argument owns, what is wrong with it."""
        if self.kind == "misaligned":
            size = count(self.itemsize, "byte")
            return f"{_IN_TENSOR} and is no multiple of {size}" if self.home else f"is no multiple of {size}"
        if self.address < 0:
            return "belongs to no tensor: it is negative"
        if self.home in ("tensor", "fixed tensor"):
            fixed = self.home == "fixed tensor" and self.access != "load"
            return f"{_IN_TENSOR}, and {'may only be read' if fixed else 'reaches over its end'}"
        return "lies in memory that may not be read" if self.home == "unreadable" else "belongs to no tensor"

    def _touches(self) -> str:
        owner = self.owner
        if owner is None:
            return f"touches {address(self.address)}, which {self._without_owner()}"
        distance = self.address - owner.address
        if self.kind == "misaligned":
            return f"touches byte {distance} of {owner.name}, which is no multiple of {count(self.itemsize, 'byte')}"
        touched = f"touches element {distance // owner.itemsize} of {owner.name}"
        if not owner.address:
            return f"{touched}, which has no elements at all"
        if self.read_only:
            return f"{touched}, whose memory may only be read"
        other = next((each for each in self.tensors if each != owner and each.holds(self.address)), None)
        there_lies = "" if other is None else f" (there lies {other.name})"
        if distance < 0:
            return f"{touched}, whose storage begins at element {-owner.offset}{there_lies}"
        last = owner.storage_bytes // owner.itemsize - owner.offset - 1
        return f"{touched}, whose storage ends after element {last}{there_lies}"
