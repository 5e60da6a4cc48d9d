"""Wrong answers that come from a misunderstanding, with what the check must name in each.

``WRONG`` has, by exercise, ``(reason, replacements)``: the replacements are made in the teacher's answer, and the
message about the result must have ``reason``: a kind of fault, a line or a number. ``VALUES`` has wrong values.
"""

from __future__ import annotations

from typing import Any

Replacements = tuple[tuple[str, str], ...]

_COLUMN_AT = "x_ptr + i[:, None] * stride + j[None, :]"
_COLUMN_MASK = "(i < rows)[:, None] & (j < columns)[None, :]"
_COLUMN_GRID = "triton.cdiv(columns, 32)"
_ADDED = "tl.atomic_add(out_ptr + row, tl.sum(x, axis=0))"
_PARTS = "triton.cdiv(columns, 1024)"
_SCALE = "tl.where(most > 0, most / 448.0, 1.0)"
_SCALED = 'tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e4m3", total)'
_TILES = "(end - begin + tile - 1) // tile"

WRONG: dict[str, tuple[tuple[str, Replacements], ...]] = {
    "sum_columns": (
        ("4,096 sectors", (("TI=16, TJ=32", "TI=256, TJ=1"), (_COLUMN_GRID, "columns"))),
        ("2,048 sectors", (("TI=16, TJ=32", "TI=128, TJ=2"), (_COLUMN_GRID, "triton.cdiv(columns, 2)"))),
        ("line 10", (("rows, columns = x.shape", "x = x.t().contiguous().t()\n    rows, columns = x.shape"),)),
        ("shapes", (("tl.sum(total, axis=0)", "tl.sum(total, axis=1)"),)),
        ("overwrites its result", (("total += tl.load", "total = tl.load"),)),
        ("not contiguous", ((_COLUMN_AT, "x_ptr + i[:, None] * columns + j[None, :]"),)),
        ("out of bounds", ((_COLUMN_MASK, "(i >= 0)[:, None] & (j < columns)[None, :]"),)),
        ("out of bounds", ((_COLUMN_MASK, "(i < rows)[:, None] & (j >= 0)[None, :]"),)),
        ("other=", ((", other=0.0", ""),)),
        ("never written", (("tl.store(out_ptr + j", "tl.atomic_add(out_ptr + j"),)),
        ("number of programs", ((f"({_COLUMN_GRID},)", "(1,)"),)),
        ("changes its type", (("tl.zeros((TI, TJ), tl.float32)", "tl.zeros((TI, TJ), tl.float16)"),)),
        ("iteration early", (("range(0, rows, TI)", "range(0, rows - TI + 1, TI)"),)),
        ("no kernel", (("    return out", "    return x.sum(0)"),)),
        ("shape (1, 64)", (("    return out", "    return out[None]"),)),
    ),
    "sum_long_rows": (
        ("an atomic addition", (("tl.atomic_add", "tl.store"),)),
        ("an atomic addition", ((_ADDED, "tl.store(out_ptr + row, tl.load(out_ptr + row) + tl.sum(x, axis=0))"),)),
        ("never written", (("torch.zeros(rows)", "torch.empty(rows)"),)),
        ("program id", (("tl.program_id(1) * BLOCK + ", ""),)),
        ("4 programs", (("BLOCK=1024", "BLOCK=triton.next_power_of_2(columns)"), (_PARTS, "1"))),
        ("out of bounds", ((f"(rows, {_PARTS})", f"({_PARTS}, rows)"),)),
        ("not contiguous", (("row * stride", "row * columns"),)),
        ("33.9665", ((_PARTS, "columns // 1024"),)),
        ("out of bounds", (("mask=j < columns, other=0.0", "mask=j >= 0, other=0.0"),)),
        ("other=", ((", other=0.0", ""),)),
        ("8,192 atomic updates", ((_ADDED, "tl.atomic_add(out_ptr + row + 0 * j, x)"),)),
        ("rounding", (("tl.sum(x, axis=0)", "tl.sum(x.to(tl.float16), axis=0)"),)),
        ("no kernel", (("    return out", "    return x.sum(1)"),)),
    ),
    "quantise_rows": (
        ("0.00583331", (("tl.max(tl.abs(x), axis=0)", "tl.max(x, axis=0)"),)),
        ("line 8", (("most / 448.0", "448.0 / most"),)),
        ("line 8", (("most / 448.0", "most / 127.0"),)),
        ("line 8", (("most / 448.0", "most / 240.0"),)),
        ("operator", (("x / scale", "x * scale"),)),
        ("nan", ((_SCALE, "most / 448.0"),)),
        ("2.23e-07", ((_SCALE, "(most + 1e-4) / 448.0"),)),
        ("tl.float8e5", (("float8e4nv", "float8e5"),)),
        ("tl.float8e5", (("dtype=torch.float8_e4m3fn", "dtype=torch.float8_e5m2"),)),
        ("masked-off lanes", (("other=0.0", "other=float('-inf')"),)),
        ("shape (5, 1)", (("torch.empty(rows)\n", "torch.empty(rows, 1)\n"),)),
        ("shape (5,)", (("return q, scales", "return scales, q"),)),
        ("must be -144", (("(x / scale)", "x"),)),
        ("scale_ptr + row", (("tl.store(scale_ptr + row, scale)", "tl.store(scale_ptr, scale)"),)),
        ("line 10", (("(x / scale).to", "tl.floor(x / scale).to"),)),
    ),
    "mx_product": (
        ("a_scale_ptr, b_scale_ptr", ((_SCALED, "tl.dot(a, b, total)"),)),
        ("not use b_scale_ptr", (('b, b_scale, "e4m3"', 'b, None, "e4m3"'),)),
        ("b_scale_ptr", (("a, a_scale,", "a, b_scale,"), ("b, b_scale,", "b, a_scale,"))),
        ("line 21", (("start // 32 + tl.arange(0, BK // 32)", "tl.arange(0, BK // 32)"),)),
        ("a_scale_ptr", (("a_scale_ptr + m[:, None] * (K // 32)", "a_scale_ptr + m[:, None] * K"),)),
        ("line 21", (("b_ptr + n[None, :] * K + k[:, None]", "b_ptr + k[:, None] * N + n[None, :]"),)),
        ("line 21", (('"e4m3", total)', '"e4m3")'),)),
        ("out of bounds", (("(group < K // 32)[None, :]", "(group >= 0)[None, :]"),)),
        ("bfloat16", (("c = torch.empty(M, N)", "c = torch.empty(M, N, dtype=torch.bfloat16)"),)),
        ("iteration early", (("range(0, K, BK)", "range(0, K // 32, BK)"),)),
        ("out of bounds", (("of_k, of_group = k < K,", "of_k, of_group = k >= 0,"),)),
        ("e2m1", ((_SCALED, _SCALED.replace("e4m3", "e5m2")),)),
        ("[0, 1]", (("    return c", "    return c.t()"),)),
    ),
    "tile_table": (
        ("[0, 0]", ((_TILES, "(end - begin) // tile"),)),
        ("<= instead of <", (("(upto <= program)", "(upto < program)"),)),
        ("must be 7", (("tl.sum(tl.where(e == expert, begin, 0), axis=0) + within * tile", "within * tile"),)),
        ("must be 39", (("+ within * tile", "+ within"),)),
        ("must be -1", (("there = program < tl.sum(tiles, axis=0)", "there = program >= 0"),)),
        ("(line 7)", ((_TILES, f"tl.maximum({_TILES}, 1)"),)),  # another operator, or 0 instead of 1: both are right
        ("[1, 0]", (("ends_ptr + e - 1", "ends_ptr + e"),)),
        ("[7, 0]", ((_TILES, "(end + tile - 1) // tile"),)),
        ("[0, 0]", (("tl.cumsum(tiles, axis=0)", "tiles"),)),
        ("element -1", (("mask=(e > 0) & (e < experts), other=0", "mask=e < experts, other=0"),)),
        ("out of bounds", (("mask=e < experts, other=0", "mask=e >= 0, other=0"),)),
        ("number of programs", (("[(programs,)]", "[(len(ends),)]"),)),
        ("int64", (("dtype=torch.int32", "dtype=torch.int64"),)),
        ("< instead of <=", (("e < expert, tiles, 0", "e <= expert, tiles, 0"),)),
        ("not contiguous", (("torch.empty(programs, 2, dtype=torch.int32)", "torch.empty(2, programs).int().t()"),)),
    ),
}

VALUES: dict[str, tuple[tuple[str, Any], ...]] = {
    # Bytes of loads alone, of doubles, microseconds and nanoseconds, rounded up, the wrong way round.
    "least_time": tuple(
        ("3,350 bytes", value)
        for value in [(1 << 27, 40), (1 << 29, 160), (1 << 28, 80130), (1 << 28, 81), (80, 1 << 28), (1 << 28, 0.08)]
    ),
    "accused": (
        ("tuple", "BDC"),
        ("tuple", ("B", "D")),
        ("tuple", ("B", "D", "E")),
        ("Report A", ("A", "D", "C")),  # high throughput
        ("Report C", ("C", "D", "B")),  # much memory
        ("Report D", ("D", "B", "C")),  # the slowest
        ("Report A", ("B", "A", "C")),  # low occupancy
        ("Report C", ("B", "C", "D")),
        ("Report A", ("B", "D", "A")),  # many registers
        ("Report D", ("B", "D", "D")),
    ),
    "e4m3_steps": tuple(
        ("half a step", value)
        for value in [(1, 0.5), (0.125, 0.0625), (4, 2), (2, 2), (2, 0.5), (1, 2), (16, 8), (0.5, 0.25), (2, 0), (8, 1)]
    ),
}
