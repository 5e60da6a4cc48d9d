"""What kernels print, in the format of the GPU's own ``device_print``.

One line per lane: ``pid (0, 0, 0) idx (3) x: 1.500000``. A prefix with one field per operand, ``x = {:.2f}``, is a
template: it gives one line per program, with blocks as NumPy shows them. All programs of a batch print at once; the
lines are written program by program, as if these had run one after another.
"""

from __future__ import annotations

import string
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.number_conversion import widen
from triton_lab.localization import _
from triton_lab.messages import coordinates, noun
from triton_lab.messages import count as counted

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One operand of a print. ``values`` is ``(programs, *block)``, or ``(1, *block)`` where all programs agree."""

    values: Array
    signed: bool
    pointer: bool


@dataclass(frozen=True, slots=True, eq=False)
class PrintStatement:
    """One execution of a print by ``programs`` (linear numbers, ascending)."""

    prefix: str
    hexadecimal: bool
    columns: tuple[Column, ...]
    programs: Array

    def height(self) -> int:
        """How many lines each program prints."""
        if template(self) is not None:
            return 1
        return sum(int(np.prod(column.values.shape[1:])) for column in self.columns) or 1


def number(value: Any, column: Column, hexadecimal: bool) -> str:
    """``value`` as C's ``printf`` writes what CUDA passes to it: %p, %f, %i or %u, in hexadecimal %a or 0x%08x.

    Narrower integers are passed as an ``int``, with their sign, and an fp8 as its byte. Before 3.9, Triton passes a
    float's double to %x, which reads half of it; here floats are always written with %a.
    """
    dtype = column.values.dtype
    if column.pointer:
        return f"0x{int(value):x}"
    if dtype.kind not in "ib" and dtype.itemsize > 1:
        return _hexadecimal(float(value)) if hexadecimal else f"{float(value):f}"
    whole = int(value) if dtype.kind in "ib" else int(np.asarray(value, dtype).view(np.uint8))
    if not column.signed:
        whole %= 1 << (8 * dtype.itemsize)
    if not hexadecimal:
        return str(whole)
    digits = 0 if dtype.kind == "b" else 2 * dtype.itemsize
    return f"0x{whole % (1 << max(32, 8 * dtype.itemsize)):0{digits}x}"


def _hexadecimal(value: float) -> str:
    """C's %a, with as many digits as are needed."""
    digits, power, exponent = value.hex().partition("p")
    return digits.rstrip("0").rstrip(".") + power + exponent if "." in digits else digits + power + exponent


def template(statement: PrintStatement) -> str | None:
    """The prefix if it is a format string for exactly these operands, without the colon that Triton adds; else None."""
    if "{" not in statement.prefix:
        return None
    try:
        fields = [
            name for _text, name, _spec, _conversion in string.Formatter().parse(statement.prefix) if name is not None
        ]
    except ValueError:
        return None
    if any(fields) or len(fields) != len(statement.columns):
        return None
    return statement.prefix.removesuffix(": ")


class _Shown:
    """A value in a template: a number, or a block whose elements are formatted one by one."""

    def __init__(self, values: Array, column: Column) -> None:
        self.values = values
        self.column = column

    def __format__(self, spec: str) -> str:
        def one(value: Any) -> str:
            if self.values.dtype.kind in "ib":
                value = int(value) if self.values.dtype.kind == "i" else bool(value)
                if value < 0 and not self.column.signed:
                    value += 1 << (8 * self.values.dtype.itemsize)
            return format(value, spec) if spec else str(value)

        if self.values.ndim == 0:
            return one(self.values[()])
        return np.array2string(self.values, separator=" ", threshold=64, edgeitems=4, formatter={"all": one})


def lines(statement: PrintStatement, row: int, grid: tuple[int, int, int]) -> Iterator[str]:
    """The lines that program ``row`` of the statement prints."""
    program = int(statement.programs[row])
    place = f"pid {coordinates(program, grid)}"
    if not statement.columns:
        yield f"{place}{statement.prefix}"
    pattern = template(statement)
    if pattern is not None:
        yield place + pattern.format(*(_Shown(_block(column, row), column) for column in statement.columns))
        return
    for position, column in enumerate(statement.columns):
        operand = f"(operand {position}) " if len(statement.columns) > 1 else ""
        block = _row(column, row)
        widths = [len(str(extent - 1)) for extent in block.shape]
        for index in np.ndindex(block.shape):
            where = ", ".join(f"{i:{width}}" for i, width in zip(index, widths, strict=True))
            value = number(block[index], column, statement.hexadecimal)
            yield f"{place} idx ({where}){statement.prefix}{operand}{value}"


def _row(column: Column, row: int) -> Array:
    block: Array = column.values[row if len(column.values) > 1 else 0]
    return block


def _block(column: Column, row: int) -> Array:
    block = _row(column, row)
    # float32 prints the same, and NumPy can lay it out.
    return block if block.dtype.kind in "ib" else widen(block)


def to_stdout(text: str) -> None:
    sys.stdout.write(text)


class KernelPrinter:
    """Collects what a batch prints and writes it in the order of programs, up to ``limit`` lines."""

    def __init__(self, grid: tuple[int, int, int], limit: int, write: Callable[[str], None] = to_stdout) -> None:
        self.grid = grid
        self.left = limit
        self.write = write
        self.untold = 0
        self.statements: list[PrintStatement] = []

    def add(self, statement: PrintStatement) -> None:
        if self.left > 0:
            self.statements.append(statement)
        else:
            self.untold += statement.height() * len(statement.programs)

    def flush(self) -> None:
        """Write what was collected."""
        statements, self.statements = self.statements, []
        if not statements:
            return
        out: list[str] = []
        for statement, row in _in_order(statements):
            count = statement.height()
            if self.left <= 0:
                self.untold += count
                continue
            text = list(lines(statement, row, self.grid))
            out += text[: self.left]
            self.untold += max(0, len(text) - self.left)
            self.left -= len(text)
        self.write("".join(f"{line}\n" for line in out))

    def close(self) -> None:
        """Write the rest, and report how many lines were left out."""
        self.flush()
        if self.untold:
            told = counted(self.untold, "more line")
            self.write(
                _("... and {told}, which {is_} not shown\n").format(told=told, is_=noun(self.untold, "is", "are"))
            )
            self.untold = 0


def _in_order(statements: Sequence[PrintStatement]) -> Iterator[tuple[PrintStatement, int]]:
    """Each program's part of each statement, by ascending program, then by time."""
    programs = np.concatenate([statement.programs for statement in statements])
    moments = np.repeat(np.arange(len(statements)), [len(statement.programs) for statement in statements])
    rows = np.concatenate([np.arange(len(statement.programs)) for statement in statements])
    for k in np.lexsort((moments, programs)):
        yield statements[moments[k]], int(rows[k])
