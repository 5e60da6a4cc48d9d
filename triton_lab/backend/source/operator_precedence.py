"""Comparisons that Python reads differently than they look: ``&``, ``|`` and ``^`` bind more tightly than ``<``.

Python reads ``o >= 0 & o < n`` as ``o >= (0 & o) < n``, and Triton compiles it. Only two cases that cannot be intended
are reported: such a sign between two comparisons, and a number joined with a truth value. Parentheses show the
intention, so code with parentheses is accepted.
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
from triton_lab.localization import _

_TOLD = "__triton_lab_told__"
_BITS: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_COMPARE = (*_ORDERS, ast.Eq, ast.NotEq)


@dataclass(frozen=True)
class Misread:
    """A comparison: as it is ``written``, as Python has ``read`` it, and as it should be (``meant``); ``node`` is its
    place.
    """

    node: ast.Compare
    written: str
    read: str
    meant: str
    signs: str

    @property
    def message(self) -> str:
        """What is wrong, as text."""
        return f"Python reads `{self.written}` as `{self.read}`"

    @property
    def hint(self) -> str:
        """What to do, as text."""
        return _("Write `{meant}`: {signs} more tightly than a comparison.").format(meant=self.meant, signs=self.signs)

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}"


def misread(tree: ast.AST, text: str) -> list[Misread]:
    """The misread comparisons of a function in order; ``tree`` is the parsed ``text``."""
    if not any(sign in text for sign in _BITS.values()):
        return []
    kinds, columns = Kinds(tree), _Columns(text)
    compares = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]
    found = [one for node in compares if (one := _Reading(node, columns).misread(kinds)) is not None]
    return sorted(found, key=lambda one: (one.node.lineno, one.node.col_offset))


def places(written: KernelSource) -> Iterator[tuple[SourcePlace, Misread]]:
    """The misread comparisons of a kernel and of the functions that it calls, with their places in the user's files.

    Triton's own functions are left out.
    """
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
    """The misread comparisons of a function as it stands in its file, each with the function's indentation there."""
    text = textwrap.dedent(source)
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return ()
    indent = len(source.partition("\n")[0]) - len(text.partition("\n")[0])
    return tuple((one, indent) for one in misread(tree, text))


def warn(written: KernelSource, said: str = "") -> None:
    """Give Python's SyntaxWarning at the line of each misread comparison that is not in ``said``, once per kernel.

    Only for launches without a record; in records it is a finding.
    """
    # Python forgets which warnings it has shown whenever code changes a filter, as Triton's compiler may.
    told = getattr(python_function(written.kernel), "__dict__", {}).setdefault(_TOLD, set())
    for place, one in places(written):
        if str(one) not in said and (place, str(one)) not in told:
            told.add((place, str(one)))
            # The notebook's name of a cell says more than its file name in Python.
            file = messages.cell(place.file) or place.file
            warnings.warn_explicit(str(one), SyntaxWarning, file, place.line)


# --- One comparison -------------------------------------------------------------------------------


class _Columns:
    """The byte positions of a tree's nodes in its text; trees count columns in bytes."""

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
    """A ``&``, ``|`` or ``^`` outside parentheses."""

    text: str
    at: int


class _Reading:
    """A comparison, split at signs that may be intended to join comparisons.

    ``sides`` are the expressions compared between one such sign and the next.
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
        """The parts of ``node`` between bare signs, and the signs. ``before`` is the end of the text in front of
        ``node``.
        """
        start = self.columns.start(node)
        if not isinstance(node, ast.BinOp) or type(node.op) not in _BITS or "(" in self.columns.text(before, start):
            yield node
            return
        middle, sign = self.columns.end(node.left), _BITS[type(node.op)]
        yield from self._parts(node.left, start)
        yield _Sign(sign, self.columns.find(sign, middle, self.columns.start(node.right)))
        yield from self._parts(node.right, middle)

    def misread(self, kinds: Kinds) -> Misread | None:
        """What is wrong with the comparison; None if that is not sure."""
        if not self.signs or not all(isinstance(op, _COMPARE) for op in self.node.ops):
            return None
        # Comparing two constants makes no sense: in `x & 1 > 0` bits are intended.
        if any(len(side) > 1 and all(isinstance(one, ast.Constant) for one in side) for side in self.sides):
            return None
        if not self._joins_comparisons(kinds) and not self._mixes(kinds):
            return None
        start, end = self.columns.start(self.node), self.columns.end(self.node)
        signs = " and ".join(dict.fromkeys(f"`{sign.text}`" for sign in self.signs))
        binds = f"{signs} {'bind' if ' and ' in signs else 'binds'}"
        return Misread(self.node, _one_line(self.columns.text(start, end)), self._read(), self._meant(), binds)

    def _joins_comparisons(self, kinds: Kinds) -> bool:
        """Whether a sign stands between two complete comparisons: ``a < b & c < d``."""
        if any(len(side) > 2 for side in self.sides):
            return False
        return any(
            len(one) == len(other) == 2
            # `0 <= x & 7 < n` may really be about bits.
            and not kinds.is_constant(other[0])
            for one, other in pairwise(self.sides)
        )

    def _mixes(self, kinds: Kinds) -> bool:
        """Whether a sign joins a number with a truth value: ``o < n & mask``, ``(o >= 0) & o < n``."""
        ordered = all(isinstance(op, _ORDERS) for op in self.node.ops)
        for one, other in pairwise(self.sides):
            left, right = kinds.of(one[-1]), kinds.of(other[0])
            if "truth" not in (left, right) or left == right or isinstance(other[0], ast.Constant):
                continue
            # A truth value is not ordered, but it may equal a value of unknown kind.
            if ordered or "number" in (left, right):
                return True
        return False

    def _read(self) -> str:
        """The comparison with parentheses as Python reads it."""
        said, before = "", self.columns.start(self.node)
        for operand in self.operands:
            start, end = self.columns.start(operand), self.columns.end(operand)
            said += f"{self.columns.text(before, start)}({self.columns.text(start, end)})"
            before = end
        return _one_line(said + self.columns.text(before, self.columns.end(self.node)))

    def _meant(self) -> str:
        """The comparison with parentheses around each part between signs."""
        start, end = self.columns.start(self.node), self.columns.end(self.node)
        borders = [start, *(at for sign in self.signs for at in (sign.at, sign.at + 1)), end]
        parts = [_one_line(self.columns.text(*pair)) for pair in pairwise(borders)]
        parts[::2] = [f"({text})" if len(side) > 1 else text for text, side in zip(parts[::2], self.sides, strict=True)]
        return " ".join(parts)


def _one_line(text: str) -> str:
    return " ".join(text.split())
