"""Reads layouts in TTGIR's text: ``#ttg.blocked<{sizePerThread = [1, 4], ...}>``, aliases, types with layouts."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from triton_lab.compiled.layouts import attribute_rules
from triton_lab.compiled.layouts.amd_matrix import AmdMfma, AmdWmma
from triton_lab.compiled.layouts.dot_operands import DotOperand
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import LayoutKind
from triton_lab.compiled.layouts.nvidia_matrix import NvidiaMma, Nvmma
from triton_lab.compiled.layouts.parameter_names import as_written, parameter_names, plain
from triton_lab.compiled.layouts.register_layouts import Bases, Blocked, Slice
from triton_lab.compiled.layouts.shared_memory import Padded, Rotating, SharedBases, Swizzled
from triton_lab.compiled.layouts.tensor_memory import Accumulator, Scales
from triton_lab.localization import _

KINDS: tuple[type[LayoutKind], ...] = (
    Blocked,
    Slice,
    DotOperand,
    NvidiaMma,
    AmdMfma,
    AmdWmma,
    Bases,
    Swizzled,
    Rotating,
    Padded,
    Nvmma,
    SharedBases,
    Accumulator,
    Scales,
)
_BY_MNEMONIC = {kind.mnemonic: kind for kind in KINDS}
_OTHER_NAMES = {"rank": "rank_"}  # names that cannot be a field's
_TOKEN = re.compile(r"\s*(#?[A-Za-z_][\w.]*|-?\d+|:\+|[<>{}\[\],=])")
_ALIAS = re.compile(r"^#(\w+) = (#tt\w+\.\w+<.*)$", re.MULTILINE)
_TYPE = re.compile(r"\b(?:tensor|memdesc|tensordesc)<((?:\d+x)+)([^,<>]+(?:<[^<>]*>)?), (?=#)")
_ALLOCATED = re.compile(r", mutable, ((?:\d+x)*\d+)>")
Aliases: TypeAlias = Mapping[str, LayoutKind]


def parse(text: str, aliases: Aliases | None = None) -> LayoutKind:
    """The layout that a text spells; lines ``#name = ...`` above it define aliases. Raises LayoutError."""
    known = {**(aliases or {}), **aliases_of(text)}
    lines = [line for line in text.splitlines() if line.strip() and not _ALIAS.match(line.strip())]
    if not lines and known:
        return list(known.values())[-1]
    return _Reader("\n".join(lines), known).whole()


def aliases_of(text: str) -> dict[str, LayoutKind]:
    """The layouts that a module defines as aliases (``#blocked = #ttg.blocked<...>``), by name."""
    known: dict[str, LayoutKind] = {}
    for found in _ALIAS.finditer(text):
        if _mnemonic(found[2]) in _BY_MNEMONIC:
            known[found[1]] = _Reader(found[2], known).whole()
    return known


@dataclass(frozen=True)
class Typed:
    """A type with a layout: the tensor's shape, its element type, and the layout's text in TTGIR.

    For a buffer of several tensors, the shape is that of one.
    """

    kind: LayoutKind
    spelled: str
    shape: tuple[int, ...]
    element: str
    line: int


def types_of(text: str) -> Iterator[Typed]:
    """Every type with a layout in a TTGIR module, in order; unknown layouts are left out."""
    known = aliases_of(text)
    for number, line in enumerate(text.splitlines(), 1):
        for found in _TYPE.finditer(line):
            reader = _Reader(line[found.end() :], known)
            if reader.names_a_layout():
                kind = reader.layout()
                spelled = line[found.end() : found.end() + reader.at]
                rest = _ALLOCATED.search(line, found.end())
                shape = rest[1] + "x" if rest and rest.start() < line.find(")", found.end()) else found[1]
                sizes = tuple(int(size) for size in shape.split("x")[:-1])
                yield Typed(kind, spelled, sizes[len(sizes) - kind.rank :], found[2], number)


def build(mnemonic: str, parameters: Mapping[str, Any], shape: Sequence[int] = ()) -> LayoutKind:
    """A layout of a kind (``blocked``, ``ttg.blocked``) from its parameters, for a tensor of ``shape`` if known.

    Parameters are spelled as in TTGIR or as in Python. Raises LayoutError, which spells them as the caller did.
    """
    kind = _kind_of(mnemonic.lstrip("#"))
    fields = {plain(field.name): field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    given: dict[str, Any] = {}
    for key, value in parameters.items():
        field = fields.get(plain(_OTHER_NAMES.get(key, key)))
        if field is None:
            raise LayoutError(
                _("a {name} layout has no parameter {key}; it has {spelled}").format(
                    name=kind.name, key=key, spelled=", ".join(parameter_names(kind))
                )
                + _perhaps(plain(key), {plain(name): name for name in parameter_names(kind)})
            )
        alone = isinstance(value, int) and not isinstance(value, bool) and str(field.type) == "tuple[int, ...]"
        given[field.name] = (value,) if alone and len(shape) < 2 else _frozen(value)
    if shape:
        _from_shape(kind, given, shape)
    try:
        missing = [
            field.name for field in fields.values() if field.default is dataclasses.MISSING and field.name not in given
        ]
        if missing:
            raise LayoutError(
                _("a {name} layout needs {missing} too").format(name=kind.name, missing=", ".join(missing))
            )
        attribute_rules.types(kind, given)
        return kind(**given)
    except LayoutError as error:
        raise LayoutError(as_written(str(error), kind, parameters)) from None


def _kind_of(name: str) -> type[LayoutKind]:
    known = {each.split(".")[1]: kind for each, kind in _BY_MNEMONIC.items()}
    kind = _BY_MNEMONIC.get(name) or known.get(name)
    if kind is None:
        short = {each.split("_")[-1]: each for each in known} | {each.split("_")[0]: each for each in known}
        likely = _perhaps(name.lower(), {**short, **{each: each for each in known}})
        raise LayoutError(
            _("there is no layout {name}; known are {known}{likely}").format(
                name=repr(name), known=", ".join(known), likely=likely
            )
        )
    return kind


def _perhaps(written: str, known: Mapping[str, str]) -> str:
    """``: did you mean blocked?``, if a known name is similar."""
    found = difflib.get_close_matches(written, known, 1, 0.6)
    return _(": did you mean {known}?").format(known=known[found[0]]) if found else ""


def _from_shape(kind: type[LayoutKind], given: dict[str, Any], shape: Sequence[int]) -> None:
    """Fill in the defaults that follow from a shape: row-major order, and padding for this tensor."""
    names = {field.name for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    if "order" in names and not {"order", "offset"} & set(given):
        given["order"] = tuple(reversed(range(len(shape))))
    if kind is Padded and "offset" not in given:
        given.setdefault("shape", tuple(shape))


def _frozen(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(map(_frozen, value))
    if isinstance(value, Mapping):
        return tuple((key, _frozen(each)) for key, each in value.items())
    return value


def _mnemonic(text: str) -> str:
    return text.partition("<")[0].lstrip("#").strip()


class _Reader:
    """Reads one layout from the start of a text; ``at`` is the position reached."""

    def __init__(self, text: str, known: Aliases) -> None:
        self.text, self.known, self.at = text, known, 0

    def whole(self) -> LayoutKind:
        kind = self.layout()
        if self.text[self.at :].strip().partition("loc(")[0]:
            raise self._error(_("the end of the text"))
        return kind

    def names_a_layout(self) -> bool:
        """Whether a known layout begins at this position."""
        name = (self._peek() or "").lstrip("#")
        return name in self.known or name in _BY_MNEMONIC

    def layout(self) -> LayoutKind:
        token = self._next()
        name = token.lstrip("#")
        if self._peek() != "<":
            if name in self.known and token != name:
                return self.known[name]
            raise LayoutError(
                _("{token} is no layout known here: write it as #ttg.blocked<{{...}}>, or give its line too").format(
                    token=token
                )
            )
        if name not in _BY_MNEMONIC:
            raise LayoutError(
                _("there is no layout #{name}; known are {by_mnemonic}").format(
                    name=name, by_mnemonic=", ".join("#" + each for each in _BY_MNEMONIC)
                )
            )
        self._expect("<")
        parameters: dict[str, Any] = {}
        while self._peek() not in (">", None):
            self._item(parameters)
            if self._peek() == ",":
                self._next()
        self._expect(">")
        return build(name, parameters)

    def _item(self, into: dict[str, Any]) -> None:
        if self._peek() == "{":
            into |= self._pairs()
        elif self._peek() == "[":
            into["pairs"] = self._value()
        else:
            key = self._next()
            self._expect("=")
            into[key] = self._value()

    def _pairs(self) -> dict[str, Any]:
        self._expect("{")
        found: dict[str, Any] = {}
        while self._peek() not in ("}", None):
            key = self._next()
            self._expect("=")
            found[key] = self._value()
            if self._peek() == ",":
                self._next()
        self._expect("}")
        return found

    def _value(self) -> Any:
        token = self._peek() or ""
        if token == "[":
            self._next()
            items = []
            while self._peek() not in ("]", None):
                items.append(self._value())
                if self._peek() == ",":
                    self._next()
            self._expect("]")
            return items
        if token == "{":
            return self._pairs()
        if token.startswith("#"):
            return self.layout()
        if token in ("true", "false"):
            return self._next() == "true"
        if not token.lstrip("-").isdigit():
            raise self._error(_("a number, true, false, a list or a layout"))
        number = int(self._next())
        if self._peek() == ":+":
            self._next()
            return (number, self._value())
        return number

    def _peek(self) -> str | None:
        found = _TOKEN.match(self.text, self.at)
        return found[1] if found else None

    def _next(self) -> str:
        found = _TOKEN.match(self.text, self.at)
        if not found:
            raise self._error("a layout")
        self.at = found.end()
        return found[1]

    def _expect(self, token: str) -> None:
        if self._peek() != token:
            raise self._error(f"'{token}'")
        self._next()

    def _error(self, wanted: str) -> LayoutError:
        rest = self.text[self.at :].strip()
        found = f"at '{rest[:30]}'" if rest else "at its end"
        return LayoutError(
            _("this is not a layout as TTGIR spells it: {found} there should be {wanted}").format(
                found=found, wanted=wanted
            )
        )
