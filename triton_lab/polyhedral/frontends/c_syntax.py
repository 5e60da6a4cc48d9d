"""Wraps pycparser, with a position for every error and an extent for every expression.

pycparser knows where an expression starts but not where it ends, and some of its errors have no position.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pycparser import c_ast, c_generator, c_parser

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

    def span(self, node: Any) -> Span:
        """The extent of ``node`` on the line where it starts."""
        line, column = self._place(node)
        text = [*self.blank.splitlines(), ""][line - 1]
        for op in reversed(_prefixes(node)):
            # For a prefix operator at the start of an expression, pycparser gives the operand's position.
            column = max(text.rfind(op, 0, column - 1), 0) + 1
        return Span(line, column, _extent(text, column - 1, _tokens_of(node)) + 1)

    def _place(self, node: Any) -> tuple[int, int]:
        return node.coord.line - self.lines_before, node.coord.column


def parse(source: SourceText) -> Parsed:
    """Parse the text as one C function; a bare nest is wrapped in one. Raises `NotAScop` at the offending character."""
    blank = _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), source.text)
    for number, line in enumerate(blank.splitlines(), 1):
        hash_at = re.match(r"\s*#(?!\s*pragma)", line)
        if hash_at:
            raise NotAScop(
                "preprocessor lines are not expanded: write the nest as the compiler sees it",
                source,
                Span(number, hash_at.end(), len(line) + 1),
            )
    bare = not _FUNCTION.match(blank)
    wrapped = f"{_HEAD}{blank}\n}}" if bare else blank
    try:
        tree = c_parser.CParser().parse(wrapped)
    except c_parser.ParseError as error:
        raise _syntax_error(source, blank, bare, str(error)) from None
    functions = [e for e in tree.ext if isinstance(e, c_ast.FuncDef)]
    if len(functions) != 1 or len(tree.ext) != 1:
        raise NotAScop("expected one loop nest or one function", source, Span(1, 1, 2))
    return Parsed(functions[0], source, blank, 1 if bare else 0)


def _syntax_error(source: SourceText, blank: str, bare: bool, message: str) -> NotAScop:
    """The error at the first token after which no continuation is valid C."""
    head = _HEAD if bare else ""
    tokens = list(_TOKEN.finditer(blank))
    depth = 0
    for position, token in enumerate(tokens):
        depth += {"{": 1, "}": -1}.get(token.group(), 0)
        # A bare nest is inside our braces, which it must not close.
        if _can_go_on(head + blank[: token.end()]) and (depth >= 0 or not bare):
            continue
        before = tokens[position - 1] if position else None
        illegal = re.search(r"Illegal character|Unmatched|Invalid char", message)
        if illegal:
            return NotAScop(f"C has no place for {token.group()!r}", source, _at(blank, token.start(), token.end()))
        if token.group() in _TYPES and before and before.group() == ")" and _ends_a_head(tokens[:position]):
            return NotAScop(
                "a declaration cannot be the whole body of a loop: put the body in braces",
                source,
                _at(blank, token.start(), token.end()),
            )
        if (
            before is not None
            and before.group() not in "{};("
            and _can_go_on(head + blank[: before.end()] + ";")
            and ("\n" in blank[before.end() : token.start()] or token.group() == "}")
        ):
            return NotAScop(
                f"expected ';' after {before.group()!r}", source, _at(blank, before.end(), before.end() + 1)
            )
        return NotAScop(f"unexpected {token.group()!r}", source, _at(blank, token.start(), token.end()))
    end = len(blank.rstrip())
    if tokens and _can_go_on(head + blank + ";") and not _can_go_on(head + blank + "}"):
        return NotAScop(f"expected ';' after {tokens[-1].group()!r}", source, _at(blank, end, end + 1))
    return NotAScop("the text ends in the middle of a statement or block", source, _at(blank, end, end + 1))


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


def _extent(line: str, start: int, tokens: list[str]) -> int:
    """Where ``tokens`` end in ``line``; the generator may add brackets, so they are balanced afterwards."""
    end, position = start + 1, start
    for token in tokens:
        while position < len(line) and line[position] in " \t()":
            position += 1
        if not line.startswith(token, position):
            break
        position += len(token)
        end = position
    while line[start:end].count("(") > line[start:end].count(")") and ")" in line[end:]:
        end = line.index(")", end) + 1
    return end
