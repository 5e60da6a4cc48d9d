"""MLIR's spelling of types."""

from __future__ import annotations

import pytest
from triton._C.libtriton import ir

from triton_lab.ir import Type
from triton_lab.ir.text_cursor import Cursor
from triton_lab.ir.types import parse_type


@pytest.mark.parametrize(
    ("text", "type", "bits"),
    [
        ("i1", Type("i1"), 1),
        ("i64", Type("i64"), 64),
        ("si32", Type("i32"), 32),
        ("ui32", Type("ui32"), 32),
        ("bf16", Type("bf16"), 16),
        ("f8E4M3FN", Type("f8E4M3FN"), 8),
        ("index", Type("index"), 64),
        ("tensor<16x8xf32>", Type("f32", (16, 8)), 32),
        ("tensor<4x!tt.ptr<f16>>", Type("ptr", (4,), Type("f16")), 64),
        ("!tt.ptr<!tt.ptr<i32>>", Type("ptr", (), Type("ptr", (), Type("i32"))), 64),
        ("!tt.ptr<f32, 3>", Type("ptr", (), Type("f32")), 64),
        # By name from Triton 3.9 on.
        ('!tt.ptr<f32, "constant">', Type("ptr", (), Type("f32")), 64),
        ('!tt.ptr<!tt.ptr<f32, "constant">, "descriptor">', Type("ptr", (), Type("ptr", (), Type("f32"))), 64),
        ('tensor<2x4x!tt.ptr<bf16, "constant">>', Type("ptr", (2, 4), Type("bf16")), 64),
        # Before and after Triton 3.8.
        ("!tt.tensordesc<tensor<8x16xsi32>>", Type("desc", (), Type("i32", (8, 16))), 64),
        ("!tt.tensordesc<8x16xui32>", Type("desc", (), Type("ui32", (8, 16))), 64),
        ("!ttng.tensordesc_im2col<8x16xf16, #ttg.a<{b = 1}>>", Type("desc", (), Type("f16", (8, 16))), 64),
        ("tensor<32xi32, #ttg.blocked<{a = [1], b = [2]}>>", Type("i32", (32,)), 32),
    ],
)
def test_types_are_read(text, type, bits):
    assert parse_type(text) == type
    assert parse_type(text).bits == bits


def printable() -> dict[str, Type]:
    """Every scalar type that the installed Triton makes, as it prints it; pointers to them; blocks of both."""
    context = ir.context()
    ir.load_dialects(context)
    builder = ir.builder(context)
    spaces = []
    # Numbers up to 3.8, names afterwards.
    for space in (*range(8), "global", "constant", "descriptor", "shared", "local", "private"):
        try:
            builder.get_ptr_ty(builder.get_float_ty(), space)
            spaces.append(space)
        except (TypeError, ValueError):
            continue
    assert len(spaces) >= 2, "how are address spaces written in this version?"
    found: dict[str, Type] = {}
    names = [name for name in dir(builder) if name.startswith("get_") and name.endswith("_ty")]
    for name in set(names) - {"get_block_ty", "get_function_ty", "get_ptr_ty"}:
        scalar = getattr(builder, name)()
        spelled = Type(str(scalar))
        found[str(scalar)] = spelled
        if name == "get_void_ty":
            continue
        found[str(builder.get_block_ty(scalar, [4, 8]))] = Type(spelled.element, (4, 8))
        for space in spaces:
            pointer = builder.get_ptr_ty(scalar, space)
            found[str(pointer)] = Type("ptr", (), spelled)
            found[str(builder.get_block_ty(pointer, [16]))] = Type("ptr", (16,), spelled)
    return found


def test_every_type_that_this_triton_prints_is_read():
    found = printable()
    assert len(found) > 40 and "f8E4M3FN" in found
    for text, type in found.items():
        assert parse_type(text) == type
        cursor = Cursor(f"{text} loc(#loc)")
        assert cursor.type() == type and cursor.peek("loc(")


def test_an_unknown_type_is_named():
    for text in ("!ttg.other<4xf32>", "!ttg.memdesc<4xf32>"):
        with pytest.raises(ValueError, match=text.partition("<")[0]):
            parse_type(text)


def test_a_part_of_shared_memory_has_a_block_and_a_layout():
    layout = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
    found = parse_type(f"!ttg.memdesc<4x8xf16, {layout}, #ttg.shared_memory, mutable, 2x4x8>")
    assert found.is_shared and found.is_opaque and found.layout == layout
    assert found.pointee == Type("f16", (4, 8)) and parse_type("!ttg.async.token").is_opaque


def test_sizes_and_kinds():
    block = parse_type("tensor<4x8xi32>")
    assert block.size == 32 and block.is_integer and not block.is_float and str(block) == "4x8xi32"
    assert parse_type("bf16").is_float and parse_type("!tt.ptr<i8>").is_pointer
    assert parse_type("i32").size == 1 and str(parse_type("!tt.ptr<i8>")) == "ptr<i8>"
