"""PTX text as instructions, by function, with its constant tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _

MAX_BYTES = 1 << 20  # of text; the longest function of CUDA's library takes a twentieth of it

_TABLE = re.compile(
    r"\.(?:global|const)\s+\.align\s+\d+\s+\.b(?P<bits>8|16|32|64)\s+(?P<name>[\w$.]+)\[\d*\]\s*=\s*\{(?P<values>[^}]*)\}"
)
_ENTRY = re.compile(r"\.(?:entry|func)\s*(?P<result>\([^)]*\))?\s*(?P<name>[\w$]+)\s*\((?P<parameters>[^)]*)\)[^{;]*\{")
_LABEL = re.compile(r"^(?P<label>[$%\w.]+):\s*")
_LOCAL = re.compile(r"\.local\s+\.align\s+\d+\s+\.b8\s+(?P<name>[\w$]+)\[(?P<size>\d+)\]")
_INSTRUCTION = re.compile(r"^(?:@(?P<unless>!?)(?P<guard>%?\w+)\s+)?(?P<name>[a-z][\w.:]*)\s*(?P<rest>.*)$", re.DOTALL)
# What is between the commas of operands: {%r1, %r2}, [%rd1+4], (retval0), %r1 or a number.
_OPERAND = re.compile(r"\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|[^,\s]+")


class NotEmulated(Exception):
    """The PTX holds what cannot be run element by element; the message names it."""


@dataclass(frozen=True)
class PtxInstruction:
    """``name`` and ``operands`` as in the text; it runs for lanes whose predicate ``guard`` is true, or false with
    ``unless``.
    """

    name: str
    operands: tuple[str, ...]
    guard: str = ""
    unless: bool = False


@dataclass(frozen=True)
class PtxCode:
    """The instructions of one function, where its labels stand, its parameters' names, and the bytes of its arrays."""

    instructions: tuple[PtxInstruction, ...]
    labels: Mapping[str, int]
    parameters: tuple[str, ...]
    result: str
    arrays: Mapping[str, int]


@dataclass(frozen=True)
class PtxProgram:
    """All functions of a module, the one that a launch enters, and constant tables as bytes."""

    functions: Mapping[str, PtxCode]
    entry: str
    tables: Mapping[str, NDArray[np.uint8]]


def parse(text: str) -> PtxProgram:
    """The module in ``text``. Raises NotEmulated if it is too long or has no entry."""
    if len(text) > MAX_BYTES:
        raise NotEmulated(_("the PTX is too long"))
    text = without_comments(text)
    tables = {found["name"]: _bytes(found["values"], int(found["bits"])) for found in _TABLE.finditer(text)}
    functions, entry = {}, ""
    for found in _ENTRY.finditer(text):
        functions[found["name"]] = code_of(_body(text, found.end()), found["parameters"], found["result"] or "")
        if ".entry" in found[0]:
            entry = found["name"]
    if not entry:
        raise NotEmulated(_("the PTX has no entry"))
    return PtxProgram(functions, entry, tables)


def _bytes(values: str, bits: int) -> NDArray[np.uint8]:
    try:
        return np.array([int(value) for value in values.split(",")], np.dtype(f"<u{bits // 8}")).view(np.uint8)
    except ValueError:
        raise NotEmulated(f"a table holds {values[:40]}") from None


def _body(text: str, start: int) -> str:
    """The text between the brace before ``start`` and its closing brace."""
    depth = 1
    for found in re.finditer(r"[{}]", text[start:]):
        depth += 1 if found[0] == "{" else -1
        if not depth:
            return text[start : start + found.start()]
    raise NotEmulated(_("a function without an end"))


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)


def code_of(body: str, parameters: str, result: str) -> PtxCode:
    """The statements of a function's body. Raises NotEmulated for one that is no instruction."""
    instructions: list[PtxInstruction] = []
    labels: dict[str, int] = {}
    arrays: dict[str, int] = {}
    for statement in _statements(body):
        if statement.startswith("."):
            array = _LOCAL.search(statement)
            if array is not None:
                arrays[array["name"]] = int(array["size"])
            continue
        if statement.endswith(":"):
            labels[statement[:-1]] = len(instructions)
            continue
        found = _INSTRUCTION.match(statement)
        if found is None:
            raise NotEmulated(f"the statement {statement[:60]}")
        operands = tuple(one.strip() for one in _OPERAND.findall(found["rest"]))
        instructions.append(PtxInstruction(found["name"], operands, found["guard"] or "", found["unless"] == "!"))
    names = tuple(_name(one) for one in parameters.split(",") if one.strip())
    return PtxCode(tuple(instructions), labels, names, _name(result.strip("() \n\t")), arrays)


def _name(parameter: str) -> str:
    """The name at the end of a parameter's declaration, without the size of an array."""
    return parameter.split()[-1].partition("[")[0] if parameter.strip() else ""


def _statements(body: str) -> list[str]:
    """Instructions, directives and labels (which end in a colon), without the braces of scopes."""
    found = []
    body = re.sub(r"\.loc[^\n;]*\n", "\n", body)
    for part in body.split(";"):
        statement = part.strip()
        while True:
            statement = statement.lstrip("{} \t\n")
            label = _LABEL.match(statement)
            if label is None:
                break
            found.append(label["label"] + ":")
            statement = statement[label.end() :]
        if statement:
            found.append(" ".join(statement.split()))
    return found


def constant(text: str, dtype: np.dtype[Any]) -> Any:
    """The value of an operand that is a number or a thread's place. Raises NotEmulated."""
    try:
        if text.startswith("0f"):
            return np.uint32(int(text[2:], 16))
        if text.startswith("0d"):
            return np.uint64(int(text[2:], 16))
        if text.startswith("%tid") or text.startswith("%ctaid"):
            return dtype.type(0)
        if dtype == np.bool_:
            return bool(int(text, 0))
        if re.match(r"^[-+]?\d+(\.|[eE])", text) and dtype.itemsize in (4, 8):
            return np.array(float(text), f"f{dtype.itemsize}").view(dtype)[()]
        return dtype.type(int(text.rstrip("U"), 0) % (1 << 8 * dtype.itemsize))
    except ValueError:
        raise NotEmulated(f"the operand {text[:40]}") from None
