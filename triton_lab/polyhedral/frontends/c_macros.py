"""C's preprocessor, as far as nests need it: ``#define``, ``#ifdef``, comments, and PolyBench's macros.

Macros are expanded as text, as C does. Lines stay where they are, and each column of the expanded text leads back to
the source, so that an error or an access points at what the user wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from triton_lab.localization import _
from triton_lab.messages import count as counted
from triton_lab.polyhedral.core.source_text import NotAScop, SourceText, Span

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TOKEN = re.compile(
    r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|\s+|.", re.DOTALL
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w*)[ \t]*(.*)")
_DEFINE = re.compile(r"([A-Za-z_]\w*)(?:\(([^()]*)\))?[ \t]*(.*)")
# All that the expansions of one text may write, and how deep macros may use one another.
_MOST_TEXT = 200_000
_MOST_DEPTH = 50

# PolyBench's header, as published: arrays with the sizes of the call, loops with the parameters, doubles.
_PREDEFINED = (
    *(
        f"POLYBENCH_{k}D(x,{','.join(f'c{d}' for d in range(k))},{','.join(f'n{d}' for d in range(k))})"
        f" x{''.join(f'[n{d}]' for d in range(k))}"
        for k in range(1, 6)
    ),
    "POLYBENCH_LOOP_BOUND(c,n) n", "DATA_TYPE double", "SCALAR_VAL(x) x", "SQRT_FUN(x) sqrt(x)", "EXP_FUN(x) exp(x)",
    "POW_FUN(x,y) pow(x,y)", "POLYBENCH_RESTRICT restrict", "__restrict__ restrict", "__restrict restrict",
    "__inline__ inline", "__inline inline", "__attribute__(x) ", "__const const", "bool int", "true 1", "false 0",
)  # fmt: skip


@dataclass(frozen=True)
class Macro:
    """``#define``: ``parameters`` is None where it takes none, not even brackets."""

    parameters: tuple[str, ...] | None
    body: str


def _macro(definition: str) -> tuple[str, Macro] | None:
    found = _DEFINE.fullmatch(definition.strip())
    if found is None:
        return None
    name, parameters, body = found.groups()
    names = None if parameters is None else tuple(p.strip() for p in parameters.split(",") if p.strip())
    return name, Macro(names, body.strip())


PREDEFINED = dict(found for found in map(_macro, _PREDEFINED) if found)


@dataclass
class Expanded:
    """The text that the parser reads, with the lines of the source.

    ``uses``: line -> expansions on it, each with its columns here and in the source (from 0, ends excluded).
    """

    source: SourceText
    text: str = ""
    uses: dict[int, list[tuple[int, int, int, int]]] = field(default_factory=dict)

    def span(self, span: Span) -> Span:
        """The place in the source of a place in ``text``; an expansion's place is that of the macro's use."""
        start, end = self._column(span.line, span.column - 1, 0), self._column(span.line, span.end - 2, 1)
        return Span(span.line, start + 1, max(end + 2, start + 2) if end >= 0 else start + 2)

    def _column(self, line: int, column: int, side: int) -> int:
        shift = 0
        for start, end, source_start, source_end in self.uses.get(line, ()):
            if column < start:
                break
            if column < end:
                return source_end - 1 if side else source_start
            shift = source_end - end
        return column + shift


def expand(source: SourceText) -> Expanded:
    """``source`` without comments, directives and macros. Raises `NotAScop` for what a nest may not have of these."""
    blank = _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), source.text)
    return _Preprocessor(source).run(blank)


class _Preprocessor:
    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.macros: dict[str, Macro] = dict(PREDEFINED)
        self.expanded = Expanded(source)
        self.written = 0
        self.open: list[tuple[bool, bool]] = []  # of each #if: whether it is read, and whether a branch was

    def run(self, blank: str) -> Expanded:
        lines = blank.split("\n")
        out: list[str] = []
        number = 0
        while number < len(lines):
            line = lines[number]
            directive = _DIRECTIVE.fullmatch(line)
            count = 1
            if directive:
                while line.endswith("\\") and number + count < len(lines):
                    line = f"{line[:-1]} {lines[number + count]}"
                    count += 1
                kept = self._directive(_DIRECTIVE.fullmatch(line) or directive, number, line)
                out += [kept, *[""] * (count - 1)]
            elif not all(read for read, _any in self.open):
                out.append("")
            else:
                while self._is_open(line) and number + count < len(lines) and count < 100:
                    line = f"{line}\n{lines[number + count]}"
                    count += 1
                out += self._line(line, number + 1)
            number += count
        self.expanded.text = "\n".join(out)
        return self.expanded

    # Directives.

    def _directive(self, found: re.Match[str], number: int, line: str) -> str:
        """Follow the directive; what the parser is to see of it."""
        word, rest = found.group(1), found.group(2).strip()
        place = Span(number + 1, line.index("#") + 1, len(self.source.line(number + self.source.first_line)) + 1)
        match word:
            case "ifdef" | "ifndef" | "if":
                holds = all(read for read, _any in self.open) and self._holds(word, rest, place)
                self.open.append((holds, holds))
            case "elif" | "else" if self.open:
                _was, before = self.open.pop()
                around = all(read for read, _any in self.open)
                holds = around and not before and (word == "else" or self._holds("if", rest, place))
                self.open.append((holds, before or holds))
            case "endif" if self.open:
                self.open.pop()
            case _ if not all(read for read, _any in self.open):
                pass
            case "define":
                made = _macro(rest)
                if made is None or "#" in made[1].body:
                    self._refuse(_("this macro cannot be expanded: write the nest as the compiler sees it"), place)
                self.macros[made[0]] = made[1]
            case "undef":
                self.macros.pop(rest, None)
            case "pragma":
                return line if rest.split()[:1] in (["scop"], ["endscop"]) else ""
            case "include" | "":
                pass
            case _:
                self._refuse(
                    _("#{word} is not followed: write the nest as the compiler sees it").format(word=word), place
                )
        return ""

    def _holds(self, word: str, condition: str, place: Span) -> bool:
        """Whether the condition of ``#if`` holds; PolyBench's own macros do not count as defined."""
        defined = {name for name, macro in self.macros.items() if PREDEFINED.get(name) is not macro}
        if word != "if":
            return (condition in defined) == (word == "ifdef")
        plain = re.fullmatch(r"(!?)\s*defined\s*\(?\s*(\w+)\s*\)?", condition)
        if plain:
            return (plain[2] in defined) != bool(plain[1])
        value = self._text(condition, frozenset(), place, 0).strip()
        if not re.fullmatch(r"[A-Za-z_]\w*|\d+", value):
            self._refuse(_("only #ifdef, #ifndef and #if with a number are followed"), place)
        return value.isdigit() and int(value) != 0

    # Expansion.

    def _is_open(self, line: str) -> bool:
        """Whether a macro's arguments go on in the next line."""
        for found in _NAME.finditer(line):
            macro = self.macros.get(found.group())
            if macro is not None and macro.parameters is not None:
                rest = line[found.end() :].lstrip()
                if rest.startswith("(") and rest.count("(") > rest.count(")"):
                    return True
        return False

    def _line(self, text: str, number: int) -> list[str]:
        """``text`` expanded: one line from ``number`` on, or several that hold one macro's arguments."""
        if not any(found.group() in self.macros for found in _NAME.finditer(text)):
            return text.split("\n")
        out = ""
        position = 0
        while position < len(text):
            end, value = self._use(text, position, frozenset(), self._place(text, position, number), 0)
            piece = text[position:end]
            if value is not None:
                line = number + text.count("\n", 0, position)
                start = len(out) - (out.rfind("\n") + 1)
                from_column = position - (text.rfind("\n", 0, position) + 1)
                to_column = from_column + len(piece.split("\n")[0])
                self.expanded.uses.setdefault(line, []).append((start, start + len(value), from_column, to_column))
                down = piece.count("\n")
                piece = value + "\n" * down + " " * (len(piece) - piece.rfind("\n") - 1 if down else 0)
            out += piece
            position = end
        return out.split("\n")

    def _place(self, text: str, position: int, number: int) -> Span:
        column = position - (text.rfind("\n", 0, position) + 1) + 1
        return Span(number + text.count("\n", 0, position), column, column + 1)

    def _text(self, text: str, hidden: frozenset[str], place: Span, depth: int) -> str:
        """``text`` expanded, without the macros ``hidden``, which are being expanded around."""
        if depth > _MOST_DEPTH:
            self._refuse(_("macros use one another too deeply here"), place)
        out: list[str] = []
        position = 0
        while position < len(text):
            end, value = self._use(text, position, hidden, place, depth)
            out.append(text[position:end] if value is None else value)
            position = end
        return "".join(out)

    def _use(self, text: str, position: int, hidden: frozenset[str], place: Span, depth: int) -> tuple[int, str | None]:
        """The end of the token at ``position``, and its expansion if it is a macro's use (with its arguments)."""
        token = _TOKEN.match(text, position)
        assert token is not None
        name = token.group()
        macro = self.macros.get(name)
        if macro is None or name in hidden:
            return token.end(), None
        end = token.end()
        values: Mapping[str, str] = {}
        if macro.parameters is not None:
            arguments, end = _arguments(text, end)
            if arguments is None:
                return token.end(), None
            if len(arguments) != len(macro.parameters) and (macro.parameters or arguments != [""]):
                self._refuse(
                    _("the macro {name} takes {arguments}").format(
                        name=name, arguments=counted(len(macro.parameters), "argument")
                    ),
                    place,
                )
            values = {
                p: self._text(a, hidden, place, depth + 1) for p, a in zip(macro.parameters, arguments, strict=False)
            }
        body = "".join(values.get(t.group(), t.group()) for t in _TOKEN.finditer(macro.body))
        self.written += len(body)
        if self.written > _MOST_TEXT:
            self._refuse(_("the macros of this text expand to too much"), place)
        return end, self._text(body, hidden | {name}, place, depth + 1)

    def _refuse(self, reason: str, place: Span) -> NoReturn:
        raise NotAScop(reason, self.source, place)


def _arguments(text: str, position: int) -> tuple[list[str] | None, int]:
    """The arguments in the brackets that come next, and their end; None without brackets."""
    while position < len(text) and text[position].isspace():
        position += 1
    if not text.startswith("(", position):
        return None, position
    found, depth, start = [], 0, position + 1
    for at, sign in _signs(text, position):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(sign, 0)
        if (sign == "," and depth == 1) or depth == 0:
            found.append(" ".join(text[start:at].split()))
            start = at + 1
        if depth == 0:
            return found, at + 1
    return None, position


def _signs(text: str, position: int) -> Iterator[tuple[int, str]]:
    for token in _TOKEN.finditer(text, position):
        yield token.start(), token.group()
