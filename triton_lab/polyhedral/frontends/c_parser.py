"""Wraps pycparser, with a position for every error and an extent for every expression.

pycparser knows where an expression starts but not where it ends, and some of its errors have no position.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pycparser import c_ast, c_generator, c_parser

from triton_lab.localization import _
from triton_lab.polyhedral.core.source_text import NotAScop, SourceText, Span
from triton_lab.polyhedral.frontends.c_functions import one_function
from triton_lab.polyhedral.frontends.c_macros import Expanded, expand
from triton_lab.polyhedral.frontends.c_types import STANDARD

_TOKEN = re.compile(
    r"[A-Za-z_]\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\w*|<<=|>>=|\+\+|--|&&|\|\||[-+*/%<>=!&|^]=|->|<<|>>|\S"
)
_NO_ARGUMENTS = re.compile(r"\s*\(\s*\)")
_TYPES = ("int", "float", "double", "long", "short", "unsigned", "char")
# The types of C's own headers; on the line before the text.
_PRELUDE = " ".join(f"typedef int {name};" for name in STANDARD)
_HEAD = f"{_PRELUDE} void nest(void) {{\n"


@dataclass(frozen=True)
class Parsed:
    """The function that holds the nest, what stands around it, and the map from its coordinates to the user's text."""

    function: c_ast.FuncDef
    around: tuple[Any, ...]  # the declarations before the function
    expanded: Expanded

    @property
    def source(self) -> SourceText:
        """The user's text."""
        return self.expanded.source

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines that were parsed, and an empty one where pycparser counts one more."""
        return (*self.expanded.text.split("\n"), "")

    def span(self, node: Any) -> Span:
        """The extent of ``node`` on the line where it starts."""
        (span,) = self.spans([node])
        return span

    def spans(self, chain: Sequence[Any]) -> list[Span]:
        """The extents of nodes of which each is the first operand of the next; they start at the same character."""
        line, column = self._place(chain[0])
        text = self.lines[line - 1]
        for op in reversed(_prefixes(chain[0])):
            # pycparser gives a prefix operator, and all that starts with one, the place of its operand.
            column = max(text.rfind(op, 0, column - 1), 0) + 1
        extent = _Extent(text, column - 1)
        extent.take(_tokens_of(chain[0]))
        found = [Span(line, column, extent.closed + 1)]
        for node in chain[1:]:
            extent.take([node.op, *_tokens_of(node.right)])
            found.append(Span(line, column, extent.closed + 1))
        return [self.expanded.span(span) for span in found]

    def _place(self, node: Any) -> tuple[int, int]:
        # What has no coordinates (a block of ours) stands at the start.
        return (node.coord.line - 1, node.coord.column) if node.coord else (1, 1)


def parse(source: SourceText) -> Parsed:
    """Parse the text as one C function; a bare nest is wrapped in one. Raises `NotAScop` at the offending character."""
    expanded = expand(source)
    blank, bare = one_function(expanded)
    expanded = replace(expanded, text=blank)
    head = _HEAD if bare else _PRELUDE + "\n"
    try:
        tree = c_parser.CParser().parse(f"{head}{blank}\n}}" if bare else head + blank)
    except c_parser.ParseError as error:
        reason, place = _syntax_error(head, blank, bare, str(error))
        raise NotAScop(reason, source, expanded.span(place)) from None
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError):  # its own slips
        raise NotAScop(_("this is not valid C"), source, Span(1, 1, 2)) from None
    functions = [e for e in tree.ext if isinstance(e, c_ast.FuncDef)]
    around = tuple(e for e in tree.ext if isinstance(e, (c_ast.Decl, c_ast.Typedef)))
    if len(functions) != 1:
        raise NotAScop(_("expected one loop nest or one function"), source, Span(1, 1, 2))
    return Parsed(functions[0], around, expanded)


def _syntax_error(head: str, blank: str, bare: bool, message: str) -> tuple[str, Span]:
    """The first token after which no continuation is valid C: what is wrong, and where in ``blank``."""
    tokens = list(_TOKEN.finditer(blank))
    position = _first_wrong(head, blank, tokens, bare, message)
    if position < len(tokens):
        token, before = tokens[position], tokens[position - 1] if position else None
        here = _at(blank, token.start(), token.end())
        if re.search(r"Illegal character|Unmatched|Invalid char", message):
            return _("C does not allow {group} here").format(group=repr(token.group())), here
        if token.group() in _TYPES and before and before.group() == ")" and _ends_a_head(tokens[:position]):
            return _("a declaration cannot be the whole body of a loop: put the body in braces"), here
        if (
            before is not None
            and before.group() not in "{};("
            and _can_go_on(head + blank[: before.end()] + ";")
            and ("\n" in blank[before.end() : token.start()] or token.group() == "}")
        ):
            return f"expected ';' after {before.group()!r}", _at(blank, before.end(), before.end() + 1)
        return f"unexpected {token.group()!r}", here
    end = len(blank.rstrip())
    if tokens and _can_go_on(head + blank + ";") and not _can_go_on(head + blank + "}"):
        return f"expected ';' after {tokens[-1].group()!r}", _at(blank, end, end + 1)
    return _("the text ends in the middle of a statement or block"), _at(blank, end, end + 1)


def _first_wrong(head: str, blank: str, tokens: list[re.Match[str]], bare: bool, message: str) -> int:
    """The position of the first token that no C has there; the count of tokens if it is the end that is wrong.

    A text that can go on can do so after each of its tokens. So the place is found by halves, beginning where the
    parser stopped: mostly that is the place, and the text is parsed a few times, however long it is.
    """
    right = len(tokens)  # what is known to be wrong, or the end
    depth = 0
    for position, token in enumerate(tokens):
        depth += {"{": 1, "}": -1}.get(token.group(), 0)
        if depth < 0 and bare:  # a bare nest stands in braces of ours, which it must not close
            right = position
            break
    left = 0  # before it, nothing is wrong
    stopped = re.search(r":(\d+):(\d+):", message)
    guesses: list[int] = []
    if stopped:
        line, column = int(stopped[1]) - 1, int(stopped[2])
        start = sum(len(text) + 1 for text in blank.split("\n", line)[: line - 1]) + column - 1
        at = sum(token.start() < start for token in tokens)
        guesses = [at - 1, at, at + 1]
    while left < right:
        middle = next((guess for guess in guesses if left <= guess < right), (left + right) // 2)
        guesses = [guess for guess in guesses if guess != middle]
        if _can_go_on(head + blank[: tokens[middle].end()]):
            left = middle + 1
        else:
            right = middle
    return left


def _ends_a_head(tokens: list[re.Match[str]]) -> bool:
    """Whether the closing bracket at the end of ``tokens`` belongs to a ``for``, ``while`` or ``if``."""
    depth = 0
    for position in reversed(range(len(tokens))):
        depth += {")": 1, "(": -1}.get(tokens[position].group(), 0)
        if depth == 0:
            return position > 0 and tokens[position - 1].group() in ("for", "while", "if")
    return False


def _can_go_on(prefix: str) -> bool:
    """Whether any C program starts with ``prefix``."""
    # "Invalid expression" at the end of the text only means that an operand is missing.
    for rest in ("", " 0", " x"):
        try:
            c_parser.CParser().parse(prefix + rest)
        except c_parser.ParseError as error:
            if "At end of input" in str(error):
                return True
        else:
            return True
    return False


def _at(text: str, start: int, end: int) -> Span:
    line = text.count("\n", 0, start) + 1
    line_start = text.rfind("\n", 0, start) + 1
    return Span(line, start - line_start + 1, end - line_start + 1)


_LEFTMOST = {"BinaryOp": "left", "TernaryOp": "cond", "Assignment": "lvalue", "ArrayRef": "name", "FuncCall": "name"}


def _prefixes(node: Any) -> list[str]:
    """The prefix operators at the start of ``node``, from the left."""
    found = []
    while True:
        if isinstance(node, c_ast.UnaryOp) and not node.op.startswith("p"):
            found.append(node.op)
        elif not isinstance(node, c_ast.UnaryOp) and type(node).__name__ not in _LEFTMOST:
            return found
        node = getattr(node, _LEFTMOST.get(type(node).__name__, "expr"))


def _tokens_of(node: Any) -> list[str]:
    try:
        return [t for t in _TOKEN.findall(c_generator.CGenerator().visit(node)) if t not in "()"]
    except Exception:  # the generator cannot print this node: it stands alone
        return []


class _Extent:
    """Where tokens end in a line, one after the other; brackets are the generator's own, so they are balanced after."""

    def __init__(self, line: str, start: int) -> None:
        self.line = line
        self.start = start
        self.end = start + 1
        self.position = start
        self.lost = False

    def take(self, tokens: Iterable[str]) -> None:
        for token in tokens:
            if self.lost:
                return
            while self.position < len(self.line) and self.line[self.position] in " \t()":
                self.position += 1
            self.lost = not self.line.startswith(token, self.position)
            if not self.lost:
                self.position += len(token)
                self.end = self.position

    @property
    def closed(self) -> int:
        """The end, with the brackets that were opened."""
        end = self.end
        while self.line.count("(", self.start, end) > self.line.count(")", self.start, end) and ")" in self.line[end:]:
            end = self.line.index(")", end) + 1
        empty = _NO_ARGUMENTS.match(self.line, end)
        return empty.end() if empty else end
