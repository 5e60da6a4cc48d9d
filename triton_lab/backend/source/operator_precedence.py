"""Comparisons that Python reads otherwise than they look: ``&``, ``|`` and ``^`` bind more tightly than ``<``.

``o >= 0 & o < n`` is ``o >= (0 & o) < n`` for Python, and Triton compiles it. Only what nobody can have meant is taken
for a mistake: two comparisons with such a sign between them, and a number joined with what is true or false.
Parentheses say what is meant, and whoever has written them is believed.
"""

from __future__ import annotations

import ast
import functools
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from triton_lab import messages
from triton_lab.backend.source.expression_kinds import Kinds
from triton_lab.backend.source.kernel_source import KernelSource, SourcePlace, is_tritons, python_function

_TOLD = "__triton_lab_told__"
_BITS: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_COMPARE = (*_ORDERS, ast.Eq, ast.NotEq)


@dataclass(frozen=True)
class Misread:
    """A comparison: as it is ``written``, as Python has ``read`` it, and what was ``meant``; ``node`` is its place."""

    node: ast.Compare
    written: str
    read: str
    meant: str
    signs: str

    @property
    def message(self) -> str:
        """What is wrong."""
        return f"Python reads `{self.written}` as `{self.read}`"

    @property
    def hint(self) -> str:
        """What to do."""
        return f"Write `{self.meant}`: {self.signs} more tightly than a comparison."

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}"


def misread(tree: ast.AST, text: str) -> list[Misread]:
    """The misread comparisons of a function in order; ``tree`` is that of its ``text``."""
    if not any(sign in text for sign in _BITS.values()):
        return []
    kinds, columns = Kinds(tree), _Columns(text)
    compares = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]
    found = [one for node in compares if (one := _Reading(node, columns).misread(kinds)) is not None]
    return sorted(found, key=lambda one: (one.node.lineno, one.node.col_offset))


def places(written: KernelSource) -> Iterator[tuple[SourcePlace, Misread]]:
    """Those of a kernel and of the functions that it calls, but for Triton's own, where the user's file has them."""
    for function in written.functions:
        python = python_function(function)
        if python is not None and not is_tritons(file := str(python.__code__.co_filename)):
            for one, indent in _in_function("".join(function.raw_src)):
                above, node = function.starting_line_number - 1, one.node
                assert node.end_lineno is not None and node.end_col_offset is not None
                start, end = (node.lineno + above, node.col_offset), (node.end_lineno + above, node.end_col_offset)
                yield SourcePlace(file, start[0], start[1] + indent, end[0], end[1] + indent), one


@functools.lru_cache(maxsize=256)  # at each recorded launch; 0.9 ms for 55 lines
def _in_function(source: str) -> tuple[tuple[Misread, int], ...]:
    """Those of a function as it stands in its file, and by how much it is indented there."""
    text = textwrap.dedent(source)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return ()
    indent = len(source.partition("\n")[0]) - len(text.partition("\n")[0])
    return tuple((one, indent) for one in misread(tree, text))


def warn(written: KernelSource, said: str = "") -> None:
    """A SyntaxWarning of Python's for each that is not ``said`` already, at its line: once for a kernel.

    For launches that nobody looks at; of others it is a finding.
    """
    # Python's own memory of warnings is forgotten whenever somebody changes a filter, as Triton's compiler may.
    told = getattr(python_function(written.kernel), "__dict__", {}).setdefault(_TOLD, set())
    for place, one in places(written):
        if str(one) not in said and (place, str(one)) not in told:
            told.add((place, str(one)))
            # The notebook's name of a cell tells more than the file that it is for Python.
            file = messages.cell(place.file) or place.file
            warnings.warn_explicit(str(one), SyntaxWarning, file, place.line)


# --- One comparison -------------------------------------------------------------------------------


class _Columns:
    """Where the pieces of a tree stand in its text: in bytes, as trees count."""

    def __init__(self, text: str) -> None:
        self._text = text.encode()
        self._lines = [0]
        for line in self._text.split(b"\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)

    def start(self, node: ast.expr) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr) -> int:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def text(self, start: int, end: int) -> str:
        return self._text[start:end].decode()

    def find(self, sign: str, start: int, end: int) -> int:
        return self._text.index(sign.encode(), start, end)


@dataclass(frozen=True)
class _Sign:
    """A ``&`` that is in no parentheses."""

    text: str
    at: int


class _Reading:
    """A comparison, parted where signs stand that somebody may have meant to join comparisons.

    ``sides`` are the expressions that are compared between one such sign and the next.
    """

    def __init__(self, node: ast.Compare, columns: _Columns) -> None:
        self.node, self.columns = node, columns
        self.signs: list[_Sign] = []
        self.sides: list[list[ast.expr]] = [[]]
        self.operands: list[ast.expr] = []
        before = columns.start(node)
        for operand in (node.left, *node.comparators):
            parts = list(self._parts(operand, before))
            self.operands += [operand] * (len(parts) > 1)
            for part in parts:
                if isinstance(part, _Sign):
                    self.signs.append(part)
                    self.sides.append([])
                else:
                    self.sides[-1].append(part)
            before = columns.end(operand)

    def _parts(self, node: ast.expr, before: int) -> Iterator[ast.expr | _Sign]:
        """What bare signs part ``node`` into, and the signs; what stands in front of it ended at ``before``."""
        start = self.columns.start(node)
        if not isinstance(node, ast.BinOp) or type(node.op) not in _BITS or "(" in self.columns.text(before, start):
            yield node
            return
        middle, sign = self.columns.end(node.left), _BITS[type(node.op)]
        yield from self._parts(node.left, start)
        yield _Sign(sign, self.columns.find(sign, middle, self.columns.start(node.right)))
        yield from self._parts(node.right, middle)

    def misread(self, kinds: Kinds) -> Misread | None:
        """What is wrong with it, if that is sure."""
        if not self.signs or not all(isinstance(op, _COMPARE) for op in self.node.ops):
            return None
        # Nobody compares two constants: the second was meant as bits, in `x & 1 > 0`.
        if any(len(side) > 1 and all(isinstance(one, ast.Constant) for one in side) for side in self.sides):
            return None
        if not self._joins_comparisons(kinds) and not self._mixes(kinds):
            return None
        start, end = self.columns.start(self.node), self.columns.end(self.node)
        signs = " and ".join(dict.fromkeys(f"`{sign.text}`" for sign in self.signs))
        binds = f"{signs} {'bind' if ' and ' in signs else 'binds'}"
        return Misread(self.node, _one_line(self.columns.text(start, end)), self._read(), self._meant(), binds)

    def _joins_comparisons(self, kinds: Kinds) -> bool:
        """Whether a sign stands between two whole comparisons: ``a < b & c < d``."""
        if any(len(side) > 2 for side in self.sides):
            return False
        return any(
            len(one) == len(other) == 2
            # `0 <= x & 7 < n` may well be about bits.
            and not kinds.is_constant(other[0])
            for one, other in pairwise(self.sides)
        )

    def _mixes(self, kinds: Kinds) -> bool:
        """Whether a sign joins a number with what is true or false: ``o < n & mask``, ``(o >= 0) & o < n``."""
        ordered = all(isinstance(op, _ORDERS) for op in self.node.ops)
        for one, other in pairwise(self.sides):
            left, right = kinds.of(one[-1]), kinds.of(other[0])
            if "truth" not in (left, right) or left == right or isinstance(other[0], ast.Constant):
                continue
            # What is true or false has no order; it may be equal to what we know nothing of.
            if ordered or "number" in (left, right):
                return True
        return False

    def _read(self) -> str:
        """With the parentheses that Python sees."""
        said, before = "", self.columns.start(self.node)
        for operand in self.operands:
            start, end = self.columns.start(operand), self.columns.end(operand)
            said += f"{self.columns.text(before, start)}({self.columns.text(start, end)})"
            before = end
        return _one_line(said + self.columns.text(before, self.columns.end(self.node)))

    def _meant(self) -> str:
        """With parentheses around each comparison that the signs part."""
        start, end = self.columns.start(self.node), self.columns.end(self.node)
        borders = [start, *(at for sign in self.signs for at in (sign.at, sign.at + 1)), end]
        parts = [_one_line(self.columns.text(*pair)) for pair in pairwise(borders)]
        parts[::2] = [f"({text})" if len(side) > 1 else text for text, side in zip(parts[::2], self.sides, strict=True)]
        return " ".join(parts)


def _one_line(text: str) -> str:
    return " ".join(text.split())
