"""Attributes in MLIR's generic form."""

from __future__ import annotations

import struct

import pytest

from triton_lab.ir import Bits, Dense, Type
from triton_lab.ir.attributes import read_attribute, read_dictionary
from triton_lab.ir.text_cursor import Cursor


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3 : i32", 3),
        ("-5 : i64", -5),
        ("true", True),
        ("false", False),
        ("unit", True),
        ("1.500000e+00 : f32", 1.5),
        ("0x7FC00000 : f32", Bits(0x7FC00000)),
        ('"text with \\22quotes\\22"', 'text with "quotes"'),
        ("array<i32: 1, 0, 2>", [1, 0, 2]),
        ("array<i32>", []),
        ("[1 : i32, 2 : i32]", [1, 2]),
        ("@name", "name"),
        ('@"a name"', "a name"),
        ("{a = 1 : i32, b}", {"a": 1, "b": True}),
        ("#arith.fastmath<none>", "#arith.fastmath<none>"),
        ("#tt.cache_policy<a = <b>>", "#tt.cache_policy<a = <b>>"),
        ("(i32, f32) -> ()", "(i32, f32) -> ()"),
        ("f32", Type("f32")),
        ("dense<7> : tensor<4xi32>", Dense((7,), Type("i32", (4,)))),
        ("dense<[1, 2]> : tensor<2xi32>", Dense((1, 2), Type("i32", (2,)))),
        ("dense<[[1, 2], [3, -4]]> : tensor<2x2xi8>", Dense((1, 2, 3, -4), Type("i8", (2, 2)))),
        ("dense<true> : tensor<4xi1>", Dense((True,), Type("i1", (4,)))),
        ("dense<0xFF800000> : tensor<4xf32>", Dense((Bits(0xFF800000),), Type("f32", (4,)))),
        ('dense<"0x0000803F00000040"> : tensor<2xf32>', Dense(struct.pack("<2f", 1, 2), Type("f32", (2,)))),
    ],
)
def test_attributes_are_read_to_their_end(text, value):
    cursor = Cursor(text + " rest")
    assert read_attribute(cursor) == value
    assert cursor.text[cursor.position :].strip() == "rest"


def test_a_dictionary():
    cursor = Cursor('<{axis = 0 : i32, message = "a > b", flag}>')
    assert read_dictionary(cursor, "<{", "}>") == {"axis": 0, "message": "a > b", "flag": True}
