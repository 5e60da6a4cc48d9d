"""A function's statements in straight runs, as its author wrote them; each run begins with a mark."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from triton_lab.backend.source.access_source import first_line
from triton_lab.interpreter.ops.print_and_assert import MARK

_LOOPS = (ast.For, ast.While)
# Makes the statement that marks the block of this number, with the source position of a node.
Mark = Callable[[int, ast.AST], ast.stmt]


@dataclass
class StatementBlock:
    """Statements that run one after the other, by their first lines.

    Control enters the block by way of line ``via``: the head of the loop whose body it is, or that it follows; 0 for
    none.
    """

    number: int
    via: int
    follows: bool
    lines: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Branch:
    """A statement with two ways on: from ``line`` to ``body``, or elsewhere."""

    line: int
    body: int
    loop: bool


@dataclass(frozen=True, eq=False)
class KernelFunction:
    """A kernel or a helper; ``ends`` has the last line of each simple statement, and of a compound statement's head."""

    key: str
    name: str
    file: str
    start: int
    blocks: tuple[StatementBlock, ...]
    choices: tuple[Branch, ...]
    ends: dict[int, int]

    @property
    def lines(self) -> list[int]:
        """The lines of all statements."""
        return sorted(line for block in self.blocks for line in block.lines)

    def holds(self, file: str, line: int) -> bool:
        """Whether a line belongs to the function."""
        return file == self.file and self.start <= line <= max(self.ends.values(), default=self.start)


def key_of(function: Any) -> str:
    """The key of a Triton function in marks, from its text and its first line."""
    said = f"{function.starting_line_number}\n{function.src}"
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def read(function: Any) -> KernelFunction:
    """The blocks of a Triton function."""
    known: KernelFunction | None = function.__dict__.get("_triton_lab_blocks")
    key = key_of(function)
    if known is None or known.key != key:
        weaver = Weaver(first_line(function) - 1, lambda _, node: ast.copy_location(ast.Pass(), node))
        weaver.function(ast.parse(function.src).body[0])
        known = KernelFunction(
            key,
            function.__name__,
            function.fn.__code__.co_filename,
            function.starting_line_number,
            tuple(weaver.blocks),
            tuple(weaver.choices),
            weaver.ends,
        )
        function.__dict__["_triton_lab_blocks"] = known
    return known


def woven(function: Any, node: ast.FunctionDef, mark: Mark) -> ast.FunctionDef:
    """``node``, which was parsed from ``function``, with a mark at the head of each block."""
    Weaver(first_line(function) - 1, mark).function(node)
    return node


class Weaver:
    """Walks a function's statements to find its blocks and put marks between them.

    ``shift`` is the distance from line numbers of the parsed text to those of the file.
    """

    def __init__(self, shift: int, mark: Mark) -> None:
        self.shift = shift
        self.mark = mark
        self.blocks: list[StatementBlock] = []
        self.choices: list[Branch] = []
        self.ends: dict[int, int] = {}

    def function(self, node: ast.stmt) -> None:
        """Walk the whole body, and change it in place."""
        assert isinstance(node, ast.FunctionDef)
        head = 1 if _says_nothing(node.body[0]) else 0
        node.body = [*node.body[:head], *self._suite(node.body[head:] or [ast.copy_location(ast.Pass(), node)], 0)]

    def _suite(self, statements: list[ast.stmt], via: int) -> list[ast.stmt]:
        block = self._open(via, False)
        result = [self.mark(block.number, statements[0])]
        for position, each in enumerate(statements):
            result.append(each)
            if _says_nothing(each):
                continue
            line = each.lineno + self.shift
            block.lines.append(line)
            after = self._compound(each, line)
            if after is not None:
                last = position == len(statements) - 1
                if last and not isinstance(each, _LOOPS):
                    break  # control comes out of the inside, or from this line
                block = self._open(after, True)
                result.append(self.mark(block.number, each))
        return result

    def _open(self, via: int, follows: bool) -> StatementBlock:
        self.blocks.append(StatementBlock(len(self.blocks), via, follows))
        return self.blocks[-1]

    def _compound(self, each: ast.stmt, line: int) -> int | None:
        """Walk a statement's body; returns the line by way of which control goes on after it, None for a simple one."""
        body: list[ast.stmt] | None = getattr(each, "body", None)
        if not isinstance(body, list) or isinstance(each, (ast.FunctionDef, ast.ClassDef, ast.Try)):
            self.ends[line] = (each.end_lineno or each.lineno) + self.shift
            return None
        self.ends[line] = max(line, body[0].lineno - 1 + self.shift)
        loop = isinstance(each, _LOOPS)
        if not isinstance(each, ast.With):
            self.choices.append(Branch(line, _first(body).lineno + self.shift, loop))
        each.body = self._suite(body, line if loop else 0)  # type: ignore[attr-defined]
        if getattr(each, "orelse", None) and isinstance(each, ast.If):
            each.orelse = self._suite(each.orelse, 0)
        return line if loop else 0


def _first(statements: list[ast.stmt]) -> ast.stmt:
    return next((each for each in statements if not _says_nothing(each)), statements[0])


def _says_nothing(each: ast.stmt) -> bool:
    """Whether a statement is a docstring, or another constant by itself."""
    return isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)


def named(prefix: str) -> tuple[str, int]:
    """The function's key and the block's number in a mark."""
    key, _, number = prefix.removeprefix(MARK).partition(":")
    return key, int(number)
