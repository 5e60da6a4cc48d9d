"""Wraps pycparser, with a position for every error and an extent for every expression.

pycparser knows where an expression starts but not where it ends, and some of its errors have no position.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Any

from pycparser import c_ast, c_generator, c_parser

from triton_lab.localization import _
from triton_lab.polyhedral.core.source_text import NotAScop, SourceText, Span

_TOKEN = re.compile(
    r"[A-Za-z_]\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\w*|<<=|>>=|\+\+|--|&&|\|\||[-+*/%<>=!&|^]=|->|<<|>>|\S"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_FUNCTION = re.compile(r"\s*(?:static\s+|inline\s+)*(?:void|int|float|double)\s+\w+\s*\(")
_TYPES = ("int", "float", "double", "long", "short", "unsigned", "char")
_HEAD = "void nest(void) {\n"


@dataclass(frozen=True)
class Parsed:
    """The function that holds the nest, and the map from its coordinates to the user's text."""

    function: c_ast.FuncDef
    source: SourceText
    blank: str  # the text with blanks for comments: same lines, same columns
    lines_before: int

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines of ``blank``, and an empty one where pycparser counts one more."""
        return (*self.blank.split("\n"), "")

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
        return found

    def _place(self, node: Any) -> tuple[int, int]:
        return node.coord.line - self.lines_before, node.coord.column


def parse(source: SourceText) -> Parsed:
    """Parse the text as one C function; a bare nest is wrapped in one. Raises `NotAScop` at the offending character."""
    blank = _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), source.text)
    for number, line in enumerate(blank.split("\n"), 1):
        hash_at = re.match(r"\s*#(?!\s*pragma)", line)
        if hash_at:
            raise NotAScop(
                _("preprocessor lines are not expanded: write the nest as the compiler sees it"),
                source,
                Span(number, hash_at.end(), len(line) + 1),
            )
    bare = not _FUNCTION.match(blank)
    wrapped = f"{_HEAD}{blank}\n}}" if bare else blank
    try:
        tree = c_parser.CParser().parse(wrapped)
    except c_parser.ParseError as error:
        raise _syntax_error(source, blank, bare, str(error)) from None
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError):  # its own slips
        raise NotAScop(_("this is not valid C"), source, Span(1, 1, 2)) from None
    functions = [e for e in tree.ext if isinstance(e, c_ast.FuncDef)]
    if len(functions) != 1 or len(tree.ext) != 1:
        raise NotAScop(_("expected one loop nest or one function"), source, Span(1, 1, 2))
    return Parsed(functions[0], source, blank, 1 if bare else 0)


def _syntax_error(source: SourceText, blank: str, bare: bool, message: str) -> NotAScop:
    """The error at the first token after which no continuation is valid C."""
    head = _HEAD if bare else ""
    tokens = list(_TOKEN.finditer(blank))
    position = _first_wrong(head, blank, tokens, bare, message)
    if position < len(tokens):
        token, before = tokens[position], tokens[position - 1] if position else None
        here = _at(blank, token.start(), token.end())
        if re.search(r"Illegal character|Unmatched|Invalid char", message):
            return NotAScop(_("C does not allow {group} here").format(group=repr(token.group())), source, here)
        if token.group() in _TYPES and before and before.group() == ")" and _ends_a_head(tokens[:position]):
            return NotAScop(_("a declaration cannot be the whole body of a loop: put the body in braces"), source, here)
        if (
            before is not None
            and before.group() not in "{};("
            and _can_go_on(head + blank[: before.end()] + ";")
            and ("\n" in blank[before.end() : token.start()] or token.group() == "}")
        ):
            return NotAScop(
                f"expected ';' after {before.group()!r}", source, _at(blank, before.end(), before.end() + 1)
            )
        return NotAScop(f"unexpected {token.group()!r}", source, here)
    end = len(blank.rstrip())
    if tokens and _can_go_on(head + blank + ";") and not _can_go_on(head + blank + "}"):
        return NotAScop(f"expected ';' after {tokens[-1].group()!r}", source, _at(blank, end, end + 1))
    return NotAScop(_("the text ends in the middle of a statement or block"), source, _at(blank, end, end + 1))


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
        line, column = int(stopped[1]) - bool(head), int(stopped[2])
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
        return end


_INTEGERS = {"int": "int32", "long": "int64", "short": "int16"}
_REALS = {"float": "float32", "double": "float64"}


def dtype(words: Iterable[str]) -> str:
    """NumPy's name of the type that C spells with ``words``. Raises ValueError with the reason where a nest may not
    have it."""
    names = set(words) - {"const", "signed"}
    if "unsigned" in names:
        raise ValueError(_("unsigned arithmetic wraps around: it is not affine"))
    for name in ("long", "short", "int"):
        if name in names and "double" not in names:
            return _INTEGERS[name]
    for name in ("double", "float"):
        if name in names:
            return _REALS[name]
    raise ValueError(
        _("type {names}: only int, long, float and double are supported").format(
            names=" ".join(sorted(names)) or "unknown"
        )
    )


def number(kind: str, text: str) -> int | float:
    """The constant ``text``, of which pycparser says that it is a ``kind``. Raises ValueError with the reason where it
    is no number that a nest may have."""
    digits = text.lower()
    if kind in ("float", "double", "long double"):
        return _real(digits.rstrip("l") if digits.startswith("0x") else digits.rstrip("fl"))
    if "unsigned" in kind:
        raise ValueError(_("unsigned arithmetic wraps around: it is not affine"))
    if "int" not in kind:
        raise ValueError(_("{text} is not a number").format(text=text))
    digits = digits.rstrip("l")
    try:
        value = int(digits, 8) if digits.startswith("0") and digits.isdigit() else int(digits, 0)
    except ValueError:
        raise ValueError(_("this is not a number")) from None
    if value >= 1 << 63:
        raise ValueError(_("this number does not fit in 64 bits"))
    return value


def _real(digits: str) -> float:
    try:
        value = float.fromhex(digits) if digits.startswith("0x") else float(digits)
    except (OverflowError, ValueError):
        raise ValueError(_("this is not a number")) from None
    if not isfinite(value):
        raise ValueError(_("this number is greater than the greatest double"))
    return value
