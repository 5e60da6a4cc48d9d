"""The wording of programs, lanes, elements, counts, and of what an access did wrong.

Errors, findings, cards, static pages and scripts share it, so that each thing has one spelling and one advice. The
functions take numbers and return text. This module imports nothing else of the package.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from types import FrameType
from typing import Literal

# Each kind of fault in words.
_WRONG = {"out-of-bounds": "out of bounds", "null-pointer": "through a null pointer", "misaligned": "misaligned"}

HINT_ASSERTION = "The condition does not hold for these programs."
HINT_DEADLOCK = "Release every lock on every path, and wait only for flags that some program sets."
HINT_GATHER = (
    "tl.gather moves elements within one block: clamp the index to its axis, and choose with tl.where afterwards."
)
# Advice for operations that touch no memory and were stopped because of their values.
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
    """A count with separators: ``1,048,576``. (Coordinates, lines and element numbers are names and have none.)"""
    return f"{value:,}"


def noun(count: int, one: str, many: str = "") -> str:
    """``one`` if ``count`` is 1, else its plural: ``many``, or ``one`` with an s."""
    return one if count == 1 else many or f"{one}s"


def count(count: int, one: str, many: str = "") -> str:
    """``1 program``, ``2 programs``, ``4,096 programs``."""
    return f"{number(count)} {noun(count, one, many)}"


def span(low: int, high: int, one: str, many: str = "") -> str:
    """``1 to 4 programs``, or ``3 programs`` where both are the same."""
    return count(high, one, many) if low == high else f"{number(low)} to {count(high, one, many)}"


def numbered(first: int, last: int, one: str, many: str = "") -> str:
    """Things by number, both ends included: ``element 5``, ``elements 5 to 9``."""
    return f"{one} {first}" if first == last else f"{many or one + 's'} {first} to {last}"


def has(first: int, last: int, one: str, asked: int) -> str:
    """Says which numbers exist, and that ``asked`` does not: ``has steps 0 to 11, not 12``."""
    return f"has {numbered(first, last, one)}, not {asked}"


def rounded(value: float, one: str) -> str:
    """A measured number of things, with three digits: ``1 time``, ``1.27 times``."""
    text = f"{value:.3g}"
    return f"{text} {one if text == '1' else one + 's'}"


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


def significant(value: float) -> str:
    """A measured number with three digits, or a whole number below a million: ``2``, ``0.25``, ``1.19e-07``."""
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e6 else f"{value:.3g}"


def in_all(count_: int, one: str) -> str:
    """The text behind the first of several: ``; 12 lanes in all``; empty if there is only one."""
    return f"; {count(count_, one)} in all" if count_ > 1 else ""


def all_of(count_: int, one: str) -> str:
    """``all 24 executions``, or ``1 execution`` if there is only one."""
    return f"all {count(count_, one)}" if count_ != 1 else count(count_, one)


def and_others(count: int) -> str:
    """The text behind the first of several in a list: `` and 1 other``; empty if there are no others."""
    return f" and {number(count)} {noun(count, 'other')}" if count else ""


def a(word: str) -> str:
    """``word`` with its article: ``a load``, ``an atomic``."""
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"


# --- Programs, lanes, elements --------------------------------------------------------------------


def coordinates(program: int, grid: Sequence[int]) -> tuple[int, int, int]:
    """The coordinates of program number ``program`` in ``grid``: the first axis varies fastest."""
    x, y, _ = map(int, grid)
    program = int(program)
    return program % x, program // x % y, program // (x * y)


def program(number: int, grid: Sequence[int]) -> str:
    """``program (3, 0, 0)``, with its number in a grid of several axes: ``program (3, 1, 0), number 7``."""
    beside = f", number {number}" if _several_axes(grid) else ""
    return f"program {coordinates(number, grid)}{beside}"


def who(number: int, grid: Sequence[int]) -> str:
    """`program` for the middle of a sentence: a comma closes the number."""
    return program(number, grid) + ("," if _several_axes(grid) else "")


def programs(numbers: Iterable[int], grid: Sequence[int]) -> str:
    """The first program and the count of the others, for the middle of a sentence."""
    different = sorted(set(numbers))
    return who(different[0], grid) + and_others(len(different) - 1)


def program_range(first: int, last: int, grid: Sequence[int]) -> str:
    """``programs (0, 0, 0) to (7, 0, 0)``, by number, for the middle of a sentence."""
    if first == last:
        return who(first, grid)
    numbers = f", numbers {first} to {last}," if _several_axes(grid) else ""
    return f"programs {coordinates(first, grid)} to {coordinates(last, grid)}{numbers}"


def no_program(number: int, grid: Sequence[int]) -> str:
    """The error for a program number that the grid does not have."""
    return f"no program has number {number}: {a_grid(grid)} has {count(prod(grid), 'program')}, counted from 0"


def a_grid(grid: Sequence[int]) -> str:
    """``the grid (4, 2, 1)``."""
    return f"the grid {tuple(grid)}"


def launched(kernel: str, grid: Sequence[int]) -> str:
    """A launch as Python code: ``add[8, 1, 1]``."""
    return f"{kernel}[{', '.join(map(str, grid))}]"


def to_go(done: int, total: int, seconds: float) -> str:
    """``3,000 of 8,000 programs, 2 s to go``, if the ``done`` programs took ``seconds``."""
    return f"{number(done)} of {count(total, 'program')}, {seconds * (total - done) / max(1, done):.0f} s to go"


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
    return f"lane {number}" if len(block) == 1 else f"lane {index(number, block)}"


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
    return f"address {value:#x}"


# --- Places in the source -------------------------------------------------------------------------


def place(file: str, line: int) -> str:
    """``this cell, line 5`` in the running cell, ``cell [3], line 5`` in another cell, else the path and the line."""
    return f"{cell(file) or file}, line {line}"


def cell(file: str) -> str:
    """The notebook cell whose code is ``file``: ``this cell`` while it runs, else ``cell [3]``; "" for a real file."""
    number = cell_number(file)
    if number is None:
        return ""
    return "this cell" if number == running_cell() else f"cell [{number}]"


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


# --- Faults ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TensorText:
    """The facts about a tensor argument that messages use; ``offset`` counts elements, ``address`` is element 0's."""

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
        """Whether the ``size`` bytes from ``address`` on lie in its storage."""
        return self.storage_address <= address and address + size <= self.storage_address + self.storage_bytes

    @property
    def dense(self) -> bool:
        """Whether its elements are contiguous in row-major order, so that an offset is an element's number."""
        steps = [prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        return all(
            size == 1 or stride == step for size, stride, step in zip(self.shape, self.strides, steps, strict=True)
        )

    def distance(self, address: int) -> int:
        """The distance of an address from its storage, in bytes."""
        return max(self.storage_address - address, address - self.storage_address - self.storage_bytes, 0)


def _whither(before: bool) -> str:
    return "that lie before" if before else "that lie beyond"


def owner_of(address: int, origins: Iterable[TensorText], tensors: Iterable[TensorText]) -> TensorText | None:
    """The tensor that an access was intended for: the nearest of its pointer's ``origins``, else the one it touches."""
    nearest = min(origins, key=lambda tensor: tensor.distance(address), default=None)
    return nearest or next((tensor for tensor in tensors if tensor.holds(address)), None)


@dataclass(frozen=True)
class AccessGuard:
    """What guards the lanes of an access: ``kind`` is ``mask``, ``descriptor`` or "".

    The texts use the kernel's own names and are "" where these are not known. ``offset`` is added to the tensor,
    ``asked`` is the condition that the mask sets for that offset, and ``size`` is the argument that counts the tensor's
    elements. ``misread`` says which part of the mask Python reads differently from how it looks.
    """

    kind: str
    offset: str = ""
    asked: str = ""
    size: str = ""
    misread: str = ""


# Where an address lies that belongs to no argument: in another live tensor, in a live tensor that is read-only, or in
# memory that may not be read; "" is elsewhere.
Home = Literal["", "tensor", "fixed tensor", "unreadable"]
_IN_TENSOR = "lies in a tensor that is no argument"


@dataclass(frozen=True)
class Stray:
    """The first lane of an access that touches memory it may not touch, and how many such lanes there are.

    ``access`` is ``load``, ``store`` or ``atomic``, ``kind`` the kind of the fault, ``who`` a `program`, ``owner`` the
    tensor that the access was intended for (`owner_of`), ``tensors`` all tensor arguments. ``guard`` is the mask or
    descriptor that let the lane pass. Without an owner, ``home`` says where the address lies.
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
        """Whether the lane writes to read-only memory: its address is in the tensor, yet it was stopped."""
        owned = self.owner is not None and self.owner.holds(self.address, self.itemsize)
        return owned and self.access != "load" and self.kind == "out-of-bounds"

    @property
    def hint(self) -> str:
        """What to do about the fault."""
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
        """The advice where no mask guards the access."""
        guard, before = self.guard, self.address < owner.address
        condition = f"{guard.offset} >= 0" if before else f"{guard.offset} < {guard.size}" if guard.size else ""
        how = f" (mask={condition})" if condition and guard.offset else ""
        return f"There is no mask. Hold back the lanes {_whither(before)} {owner.name}{how}, or mend the offsets."

    def _of_the_mask(self, owner: TensorText) -> str:
        """The advice where these lanes pass the mask: its bound is wrong, or it tests something else."""
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
        """What is wrong with an address that no argument owns."""
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
