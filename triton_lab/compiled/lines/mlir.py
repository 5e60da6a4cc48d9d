"""Places in MLIR: ``loc("name"("file":3:5))``, ``loc(callsite(#loc3 at #loc7))``, ``loc(fused[...])``, behind each
operation, or told once at the edge of the module and named."""

from __future__ import annotations

import re

from triton_lab.compiled.lines.places import Place, Trail

_DEFINED = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|(#loc\d*)|([a-z]+)|(\d+)|([][()<>:,])')
_NOWHERE = Trail(())


def trails(text: str) -> list[Trail | None]:
    """One for each line of a module. An operation with regions stands where its last line says, on its first, too."""
    lines = text.split("\n")
    named = {found[1]: found[2] for line in lines if (found := _DEFINED.match(line))}
    reader = _Reader(named)
    result: list[Trail | None] = [None] * len(lines)
    opened: list[int] = []
    for number, line in enumerate(lines):
        if line.startswith("#"):
            continue
        told = _told(line)
        trail = reader.read(told) if told else None
        body = line.rstrip()
        bare = body[: body.rfind(" loc(")] if told and body.endswith(")") else body
        if line.lstrip().startswith("}") and opened:
            first = opened.pop()
            if trail is not None:
                result[first] = trail
        result[number] = trail
        if bare.endswith("{"):
            opened.append(number)
    return [trail if trail is not None and trail.places else None for trail in result]


def _told(line: str) -> str:
    """What stands in the last ``loc(...)``, which ends the line; that of a block's first argument where none does."""
    body = line.rstrip()
    if not body.endswith(")"):
        found = re.search(r" loc\((#loc\d*)\)", line) if line.lstrip().startswith("^") else None
        return found[1] if found else ""
    at = body.rfind(" loc(")
    # A callsite that is written out has places of its own inside.
    while at > 0 and body.count("(", at) != body.count(")", at):
        at = body.rfind(" loc(", 0, at)
    return body[at + 5 : -1] if at >= 0 else ""


class _Reader:
    """Reads locations, of which some are ``named``."""

    def __init__(self, named: dict[str, str]) -> None:
        self._named = named
        self._known: dict[str, Trail] = {}

    def read(self, text: str) -> Trail:
        """What the text between the brackets of ``loc(...)`` says; a trail without places where it says nothing."""
        known = self._known.get(text)
        if known is None:
            self._known[text] = _NOWHERE  # should one name itself
            tokens = [found.groups() for found in _TOKEN.finditer(text)]
            known = self._known[text] = self._location(tokens)
        return known

    def _location(self, tokens: list[tuple[str | None, ...]]) -> Trail:
        if not tokens:
            return _NOWHERE
        text, name, word, _, mark = tokens.pop(0)
        if name is not None:
            return self.read(self._named.get(name, ""))
        if text is not None:
            return self._quoted(text, tokens)
        if word == "loc":
            return self._bracketed(tokens)
        if word == "callsite":
            return self._callsite(tokens)
        if word == "fused":
            return self._fused(tokens)
        return self._location(tokens) if mark == "(" else _NOWHERE

    def _bracketed(self, tokens: list[tuple[str | None, ...]]) -> Trail:
        _drop(tokens, "(")
        found = self._location(tokens)
        _drop(tokens, ")")
        return found

    def _quoted(self, text: str, tokens: list[tuple[str | None, ...]]) -> Trail:
        """``"file":3:5`` or ``"name"(location)``."""
        if _drop(tokens, ":"):
            line = int(tokens.pop(0)[3] or 0)
            _drop(tokens, ":")
            column = int(tokens.pop(0)[3] or 0)
            return Trail((Place(text, line, column),)) if line else _NOWHERE
        if not _drop(tokens, "("):
            return Trail((), text)
        inner = self._location(tokens)
        _drop(tokens, ")")
        return Trail(inner.places, text)

    def _callsite(self, tokens: list[tuple[str | None, ...]]) -> Trail:
        _drop(tokens, "(")
        callee = self._location(tokens)
        tokens[:1] = []  # "at"
        caller = self._location(tokens)
        _drop(tokens, ")")
        return Trail(callee.places + caller.places, callee.name or caller.name)

    def _fused(self, tokens: list[tuple[str | None, ...]]) -> Trail:
        """Of several the first that says anything, as LLVM takes it."""
        if _drop(tokens, "<"):
            while tokens and not _drop(tokens, ">"):
                tokens.pop(0)
        _drop(tokens, "[")
        found = _NOWHERE
        while tokens and not _drop(tokens, "]"):
            one = self._location(tokens)
            found = found if found.places else one
            _drop(tokens, ",")
        return found


def _drop(tokens: list[tuple[str | None, ...]], mark: str) -> bool:
    """Take the mark away, if it is next."""
    if tokens and tokens[0][4] == mark:
        tokens.pop(0)
        return True
    return False
