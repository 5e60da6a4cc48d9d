"""Reads attributes in MLIR's generic form as Python values.

Integers become int. Decimal floats become float, floats in hex `Bits`. ``dense<...>`` becomes `Dense`, arrays become
lists, symbols and strings str, types `Type`. An attribute of a dialect (``#tt.cache_policy<...>``) stays text.
"""

from __future__ import annotations

import re
from typing import Any

from triton_lab.ir.plan import Bits, Dense
from triton_lab.ir.text_cursor import Cursor
from triton_lab.ir.types import Type

_KEY = re.compile(r'[\w$.]+|"[^"]*"')
_NUMBER = re.compile(r"-?(?:0x[0-9A-Fa-f]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)")
_WORD = re.compile(r"true|false|unit")
_SYMBOL = re.compile(r'@(?:"((?:[^"\\]|\\.)*)"|([\w$.-]+))')
_OPAQUE = re.compile(r"#[\w.]+")
_ELEMENT_TYPE = re.compile(r"i\d+|f\d+")
_HEX_BLOB = re.compile(r'"0x([0-9A-Fa-f]*)"')


def read_dictionary(cursor: Cursor, opening: str, closing: str) -> dict[str, Any]:
    """Read ``{a = 1 : i32, b}``; a key without a value means True."""
    cursor.expect(opening)
    result: dict[str, Any] = {}
    while not cursor.accept(closing):
        key = cursor.match(_KEY).group().strip('"')
        result[key] = read_attribute(cursor) if cursor.accept("=") else True
        cursor.accept(",")
    return result


def read_attribute(cursor: Cursor) -> Any:
    """Read one attribute, with its type if that is written."""
    if (word := cursor.maybe(_WORD)) is not None:
        return word.group() != "false"
    if cursor.peek("dense<"):
        return _dense(cursor)
    if cursor.accept("array<"):
        return _array(cursor)
    if (number := cursor.maybe(_NUMBER)) is not None:
        return _typed(number.group(), cursor.type() if cursor.accept(":") else None)
    if cursor.peek('"'):
        text = cursor.string()
        if cursor.accept(":"):
            cursor.type()
        return text
    if (symbol := cursor.maybe(_SYMBOL)) is not None:
        return symbol.group(1) or symbol.group(2)
    if cursor.accept("["):
        return _items(cursor, "]")
    if cursor.peek("{"):
        return read_dictionary(cursor, "{", "}")
    if (opaque := cursor.maybe(_OPAQUE)) is not None:
        return opaque.group() + (f"<{cursor.balanced('<', '>')}>" if cursor.peek("<") else "")
    if cursor.peek("("):  # a function's type
        inputs = cursor.balanced("(", ")")
        cursor.expect("->")
        output = cursor.balanced("(", ")") if cursor.peek("(") else str(cursor.type())
        return f"({inputs}) -> ({output})"
    return cursor.type()


def _items(cursor: Cursor, closing: str) -> list[Any]:
    values = []
    while not cursor.accept(closing):
        values.append(read_attribute(cursor))
        cursor.accept(",")
    return values


def _typed(text: str, type: Type | None) -> int | float | Bits:
    if type is not None and type.is_float:
        return Bits(int(text, 16)) if text.startswith("0x") else float(text)
    try:
        return int(text, 0)
    except ValueError:
        return float(text)


def _array(cursor: Cursor) -> list[Any]:
    """Read ``array<i32: 1, 2>``."""
    cursor.match(_ELEMENT_TYPE)
    if cursor.accept(":"):
        return _items(cursor, ">")
    cursor.expect(">")
    return []


def _dense(cursor: Cursor) -> Dense:
    """Read ``dense<7> : tensor<4xi32>``, nested lists, or a hex blob of little-endian bytes."""
    cursor.expect("dense<")
    if (blob := cursor.maybe(_HEX_BLOB)) is not None:
        cursor.expect(">")
        cursor.expect(":")
        return Dense(bytes.fromhex(blob.group(1)), cursor.type())
    depth = 0
    texts: list[str] = []
    while not (depth == 0 and cursor.peek(">")):
        if cursor.accept("["):
            depth += 1
        elif cursor.accept("]"):
            depth -= 1
        elif cursor.accept(","):
            continue
        elif (word := cursor.maybe(_WORD)) is not None:
            texts.append(word.group())
        else:
            texts.append(cursor.match(_NUMBER).group())
    cursor.expect(">")
    cursor.expect(":")
    type = cursor.type()
    return Dense(tuple(_dense_value(text, type) for text in texts), type)


def _dense_value(text: str, type: Type) -> Any:
    return text == "true" if text in ("true", "false") else _typed(text, type)
