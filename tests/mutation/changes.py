"""The one-token changes of a Python file that mean something: what `make mutation` draws from.

Left alone is what no test could or should see, and nothing else:
- docstrings, annotations, decorators, imports, ``TypeVar``, ``cast`` and what stands under ``TYPE_CHECKING``: they do
  nothing when the code runs;
- assertions, ``strict=`` of a ``zip`` and ``kw_only=`` of a field: they only watch for mistakes of ours;
- f-strings and what is raised: the words of errors, which are told to people (that it is raised, and when, is seen);
- ``__all__``, which lists what is there;
- ``-1`` in a ``reshape``: to NumPy any negative extent is the one that follows from the others;
- seeds of ``default_rng``: one is as good as another;
- patience: ``timeout=`` and ``maxsize=``, by one second or entry;
- the last place of bounds on which only time and memory depend: those that `bounds` lists, each with its kind;
- a pixel more or less in a static picture: numbers above 3 in the modules that draw one (`bounds.PICTURES`). Another
  distance would have been as right; what is computed with it, on which side and how often, is drawn as everywhere;
- the sizes that an example's inputs have by default, ``{"small": ..., "bench": ...}``: its results are right at any
  size (its tests try others), and only time and the look of its pictures depend on these;
- where a module's only place (line, column) is a stand-in for none, ``_NOWHERE = Span(0, 0, 0)``.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

_COMPARED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not", "in": "not in"}
_COMPARED |= {"is not": "is", "not in": "in"}
_JOINED = {"and": "or", "or": "and"}
_COMPUTED = {"+": "-", "-": "+", "*": "+", "/": "*", "//": "*", "%": "//", "**": "*", "@": "+"}
_COMPUTED |= {"<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "&"}
_CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum"}
_CALLED |= {"floor": "ceil", "ceil": "floor", "argmin": "argmax", "argmax": "argmin", "zeros": "ones", "ones": "zeros"}

# Up to here a number in a picture may be an axis, a half or a count.
_PIXELS = 3

Place = tuple[int, int]


@dataclass(frozen=True, order=True)
class Change:
    """``old``, which starts at ``column`` (from 0, in characters) of ``line`` (from 1), becomes ``new``."""

    line: int
    column: int
    old: str
    new: str

    def applied(self, source: str) -> str:
        """``source`` with the change."""
        lines = source.splitlines(keepends=True)
        text = lines[self.line - 1]
        assert text.startswith(self.old, self.column)
        lines[self.line - 1] = text[: self.column] + self.new + text[self.column + len(self.old) :]
        return "".join(lines)


def changes(source: str, bounds: Collection[str] = (), picture: bool = False) -> list[Change]:
    """All of them, in order; numbers that the module's constants ``bounds`` are given stay, and so do pixels where the
    module draws a ``picture``."""
    return sorted(set(_Finder(source, bounds, picture).of(ast.parse(source))))


class _Finder:
    def __init__(self, source: str, bounds: Collection[str], picture: bool) -> None:
        self.bounds, self.picture = frozenset(bounds), picture
        self.lines = source.splitlines(keepends=True)
        skipped = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        self.tokens = [token for token in tokens if token.type not in skipped and token.string not in ("(", ")")]

    def of(self, node: ast.AST, in_reshape: bool = False) -> Iterator[Change]:
        """Those of ``node``, which may be an argument of ``reshape``, and all below it."""
        if _is_left_alone(node, in_reshape):
            return
        if isinstance(node, ast.Assign) and self.sets_bounds(node):
            yield from (
                change for part in ast.walk(node.value) if isinstance(part, ast.BinOp) for change in self.here(part)
            )
            return
        reshapes = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reshape"
        yield from self.here(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self.of(child, reshapes)

    def sets_bounds(self, node: ast.Assign) -> bool:
        names = [part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        return bool(names) and self.bounds.issuperset(names)

    def here(self, node: ast.AST) -> Iterator[Change]:
        match node:
            case ast.Compare():
                for left, right in pairwise([node.left, *node.comparators]):
                    yield from self.between(left, right, _COMPARED)
                for text in [node.left, *node.comparators]:
                    yield from self.word(text)
            case ast.MatchValue(value=value):
                yield from self.word(value)
            case ast.BoolOp():
                for left, right in pairwise(node.values):
                    yield from self.between(left, right, _JOINED)
            case ast.BinOp():
                yield from self.between(node.left, node.right, _COMPUTED)
            case ast.AugAssign():
                augmented = {f"{old}=": f"{new}=" for old, new in _COMPUTED.items()}
                yield from self.between(node.target, node.value, augmented)
            case ast.UnaryOp(op=ast.Not()):
                yield self.at(node, "not ", "")
            case ast.Constant(value=bool() as value):
                yield self.at(node, str(value), str(not value))
            case ast.Constant(value=int() as value) if not (self.picture and value > _PIXELS):
                (line, start), (_, stop) = self.start(node), self.stop(node)
                yield Change(line, start, self.lines[line - 1][start:stop], str(value + 1))
            case ast.Call(func=ast.Name(id=name) as called) if name in _CALLED:
                yield self.at(called, name, _CALLED[name])
            case ast.Call(func=ast.Attribute(attr=name) as called) if name in _CALLED:
                line, column = self.stop(called)
                yield Change(line, column - len(name), name, _CALLED[name])
            case ast.Break():
                yield self.at(node, "break", "continue")
            case ast.Continue():
                yield self.at(node, "continue", "break")

    def word(self, node: ast.AST) -> Iterator[Change]:
        """A string that something is compared with, and no other: of words for people there are too many."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.lineno == node.end_lineno:
            (line, start), (_, stop) = self.start(node), self.stop(node)
            old = self.lines[line - 1][start:stop]
            yield Change(line, start, old, f"{old[:-1]}?{old[-1]}")

    def between(self, left: ast.AST, right: ast.AST, table: dict[str, str]) -> Iterator[Change]:
        """The operator between two operands."""
        low, high = self.stop(left), self.start(right)
        found = [token for token in self.tokens if low <= token.start and token.end <= high]
        old = " ".join(token.string for token in found)
        together = bool(found) and found[0].start[0] == found[-1].end[0]
        if together and old in table and self.lines[found[0].start[0] - 1].startswith(old, found[0].start[1]):
            yield Change(*found[0].start, old, table[old])

    def at(self, node: ast.AST, old: str, new: str) -> Change:
        return Change(*self.start(node), old, new)

    def start(self, node: ast.AST) -> Place:
        return self.place(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def stop(self, node: ast.AST) -> Place:
        return self.place(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def place(self, line: int, offset: int) -> Place:
        """The syntax tree counts bytes."""
        return line, len(self.lines[line - 1].encode()[:offset].decode())


def _is_left_alone(node: ast.AST, in_reshape: bool) -> bool:
    match node:
        case ast.Assert() | ast.Raise() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__" | "_NOWHERE")]):
            return True
        case ast.keyword(arg="strict" | "kw_only" | "timeout" | "maxsize"):
            return True
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)) if in_reshape:
            # To NumPy any negative extent is the one that follows from the others.
            return True
        case ast.Dict(keys=[ast.Constant(value="small"), ast.Constant(value="bench")]):
            return True
        case ast.Call(func=ast.Name(id="cast" | "TypeVar") | ast.Attribute(attr="default_rng")):
            return True
    return False
