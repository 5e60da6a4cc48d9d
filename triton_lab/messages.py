"""The wording of programs, lanes, elements, counts, and of what an access did wrong.

Errors, findings, cards, static pages and scripts share it, so that each thing has one spelling and one advice. The
functions take numbers and return text.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from types import FrameType
from typing import Literal

from triton_lab.localization import N_, _, ngettext, nouns, translated

# Each kind of fault in words.
_WRONG = {
    "out-of-bounds": N_("out of bounds"),
    "null-pointer": N_("through a null pointer"),
    "misaligned": N_("misaligned"),
}

_ACCESSES = {"load": N_("load"), "store": N_("store"), "atomic": N_("atomic")}

HINT_ASSERTION = N_("The condition does not hold for these programs.")
HINT_DEADLOCK = N_("Release every lock on every path, and wait only for flags that some program sets.")
HINT_GATHER = N_(
    "tl.gather moves elements within one block. Clamp the index to the block's axis, and use tl.where afterwards."
)
# Advice for operations that touch no memory and were stopped because of their values.
HINT_REFUSED = {"tt.assert": HINT_ASSERTION, "tt.gather": HINT_GATHER}
HINT_STEPS = N_(
    "Mend the loop that does not end, or raise the limit: --limit STEPS in the cell's %%triton line, or "
    "lab.limits(max_steps=...), after import triton_lab as lab."
)
HINT_INTERRUPTED = N_(
    "To stop such a loop by itself, set a limit: --limit 10000 in the cell's %%triton line, or "
    "lab.limits(max_steps=10_000), after import triton_lab as lab."
)
HINT_UNSUPPORTED = N_("Run this kernel on a GPU, or write it without this operation.")


# --- Counts ---------------------------------------------------------------------------------------


def number(value: int) -> str:
    """A count with separators: ``1,048,576``. (Coordinates, lines and element numbers are names and have none.)"""
    return f"{value:,}"


def noun(count: int, one: str, many: str = "") -> str:
    """``one`` if ``count`` is 1, else its plural: ``many``, or ``one`` with an s."""
    return nouns(one, many or f"{one}s", count)


def count(count: int, one: str, many: str = "") -> str:
    """``1 program``, ``2 programs``, ``4,096 programs``."""
    return _("{count} {noun}").format(count=number(count), noun=noun(count, one, many))


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
    return _("{count} {noun}").format(count=text, noun=noun(1 if text == "1" else 2, one))


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
    return _("{done} of {programs}, {seconds} s to go").format(
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
        text = _("{name}: {dtype}, shape {shape}, strides {strides}")
        if self.offset:
            text = _("{name}: {dtype}, shape {shape}, strides {strides}, storage offset {offset}")
        return text.format(name=self.name, dtype=self.dtype, shape=self.shape, strides=self.strides, offset=self.offset)

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
        lane = _("{lane} of {program}").format(lane=self.lane, program=self.who) if self.lane else self.who
        text = _("{access} {wrong}: {lane} touches {place}").format(
            access=access_noun(self.access), wrong=translated(_WRONG[self.kind]), lane=lane, place=self._touches()
        )
        return text + in_all(self.count, "lane")

    @property
    def read_only(self) -> bool:
        """Whether the lane writes to read-only memory: its address is in the tensor, yet it was stopped."""
        owned = self.owner is not None and self.owner.holds(self.address, self.itemsize)
        return owned and self.access != "load" and self.kind == "out-of-bounds"

    @property
    def hint(self) -> str:
        """What to do about the fault."""
        if self.kind == "misaligned":
            return _("Addresses must be multiples of the element's size. Check the pointer's type and the offsets.")
        if self.owner is None:
            return self._of_no_tensor()
        if self.read_only:
            return _("Pass a copy of {name} (.clone()), or map its file for writing.").format(name=self.owner.name)
        if self.guard.kind == "descriptor":
            return _("The descriptor's shape and strides reach further than its tensor.")
        return self._of_the_mask(self.owner) if self.guard.kind == "mask" else self._of_no_mask(self.owner)

    def _of_no_tensor(self) -> str:
        """The advice where the access was intended for no argument that is known."""
        if self.kind == "null-pointer":
            return _("The pointer is null. Check the table of pointers, or pass a tensor for it.")
        if self.home == "fixed tensor" and self.access != "load":
            return _("Pass a copy of that tensor (.clone()), or map its file for writing.")
        if self.home in ("tensor", "fixed tensor"):
            return _("The access leaves the tensor that its pointer points into. Check the offsets.")
        if self.home == "unreadable":
            return _("The operating system forbids reads there. Check where the pointer comes from.")
        if self.address < 0:
            return _("More is subtracted than the pointer's own address. Check the pointer and the offsets.")
        return _("The pointer points into no tensor that is alive. Check where it comes from.")

    def _of_no_mask(self, owner: TensorText) -> str:
        """The advice where no mask guards the access."""
        guard, before = self.guard, self.address < owner.address
        condition = f"{guard.offset} >= 0" if before else f"{guard.offset} < {guard.size}" if guard.size else ""
        if condition and guard.offset:
            text = _("The access has no mask. Add one (mask={condition}), or correct the offsets.")
        elif before:
            text = _("The access has no mask. Mask off the lanes before {name}, or correct the offsets.")
        else:
            text = _("The access has no mask. Mask off the lanes beyond {name}, or correct the offsets.")
        return text.format(name=owner.name, condition=condition)

    def _of_the_mask(self, owner: TensorText) -> str:
        """The advice where these lanes pass the mask: its bound is wrong, or it tests something else."""
        guard, before = self.guard, self.address < owner.address
        if guard.misread:
            return _("The mask is not what it looks like: {why}").format(why=guard.misread)
        if guard.asked and before:
            text = _("The mask tests only {condition}. Test {offset} >= 0 too, or correct the offsets.")
        elif guard.asked and owner.dense:
            text = _("The mask is too wide: it tests {condition}, but {name} has {elements}.")
            if guard.size:
                text = _("The mask is too wide: it tests {condition}, but {name} has {elements} ({size}).")
        elif guard.offset and not guard.asked:
            text = _("The mask does not test {offset}. Compare it with the extent of {name} too.")
        else:
            text = _("The mask does not exclude these lanes. Compare the offsets with the extents of {name}.")
        elements = count(prod(owner.shape), "element")
        return text.format(
            condition=guard.asked, offset=guard.offset, name=owner.name, elements=elements, size=guard.size
        )

    def _without_owner(self) -> str:
        """The address, which no argument owns, and what is wrong with it."""
        at, size = address(self.address), count(self.itemsize, "byte")
        if self.kind == "misaligned":
            text = _("{address}, which is not a multiple of {size}")
            if self.home:
                text = _("{address}, which lies in a tensor that is no argument and is not a multiple of {size}")
        elif self.address < 0:
            text = _("{address}, which belongs to no tensor: it is negative")
        elif self.home == "fixed tensor" and self.access != "load":
            text = _("{address}, which lies in a read-only tensor that is no argument")
        elif self.home in ("tensor", "fixed tensor"):
            text = _("{address}, which lies in a tensor that is no argument, and reaches over its end")
        elif self.home == "unreadable":
            text = _("{address}, which lies in memory that may not be read")
        else:
            text = _("{address}, which belongs to no tensor")
        return text.format(address=at, size=size)

    def _touches(self) -> str:
        owner = self.owner
        if owner is None:
            return self._without_owner()
        distance = self.address - owner.address
        other = next((each for each in self.tensors if each != owner and each.holds(self.address)), None)
        last = owner.storage_bytes // owner.itemsize - owner.offset - 1
        if self.kind == "misaligned":
            text = _("byte {byte} of {name}, which is not a multiple of {size}")
        elif not owner.address:
            text = _("element {element} of {name}, which has no elements")
        elif self.read_only:
            text = _("element {element} of {name}, whose memory is read-only")
        elif distance < 0:
            text = _("element {element} of {name}, whose storage begins at element {first}")
            if other is not None:
                text = _("element {element} of {name}, whose storage begins at element {first} ({other} lies there)")
        else:
            text = _("element {element} of {name}, whose storage ends after element {last}")
            if other is not None:
                text = _("element {element} of {name}, whose storage ends after element {last} ({other} lies there)")
        return text.format(
            byte=distance,
            element=distance // owner.itemsize,
            name=owner.name,
            size=count(self.itemsize, "byte"),
            first=-owner.offset,
            last=last,
            other="" if other is None else other.name,
        )
