"""Right answers to chapters 00 to 06 that differ from the teacher's in blocks, launchers and habits."""

# ruff: noqa: E501 - a change is quoted as it stands in the answer

from __future__ import annotations

from tests.course.learners.slips import Changes

_LAMBDA = "a launcher with lambda meta"
_LARGE = "larger blocks"
_SMALL = "smaller blocks"
_WARPS = "num_warps and num_stages"

RIGHT: dict[str, tuple[tuple[str, Changes], ...]] = {
    "add_constant": (
        (_LAMBDA, (("[(triton.cdiv(n, 128),)]", "[lambda meta: (triton.cdiv(n, meta['BLOCK']),)]"),)),
        (_LARGE, (("128", "1024"),)),
        (_WARPS, (("BLOCK=128", "BLOCK=128, num_warps=8, num_stages=2"),)),
        ("masked values given", (("x_ptr + offsets, mask=mask", "x_ptr + offsets, mask=mask, other=0.0"),)),
        ("an extra program", (("(triton.cdiv(n, 128),)", "(n // 128 + 1,)"),)),
    ),
    "scale_and_shift": (
        (_LAMBDA, (("[(triton.cdiv(n, 64),)]", "[lambda meta: (triton.cdiv(n, meta['BLOCK']),)]"),)),
        ("fma", (("a * x + y", "tl.fma(x, x * 0 + a, y)"),)),
        ("zeros", (("torch.empty_like(x)", "torch.zeros_like(x)"),)),
    ),
    "relu": (
        ("by a product", (("tl.where(x > 0, x, 0.0)", "x * (x > 0)"),)),
        ("by the absolute value", (("tl.where(x > 0, x, 0.0)", "(x + tl.abs(x)) / 2"),)),
        ("zeros kept", (("tl.where(x > 0, x, 0.0)", "tl.where(x < 0, 0.0, x)"),)),
    ),
    "square_in_place": ((_LARGE, (("128", "512"),)),),
    "reverse": (
        (
            "stored backwards",
            (
                (
                    "out_ptr + offsets, tl.load(x_ptr + (n - 1 - offsets)",
                    "out_ptr + n - 1 - offsets, tl.load(x_ptr + offsets",
                ),
            ),
        ),
        (_LARGE, (("64", "1024"),)),
    ),
    "outer_sum": (
        (
            "other tiles",
            (
                ("triton.cdiv(rows, 8), triton.cdiv(columns, 16)", "triton.cdiv(rows, 32), triton.cdiv(columns, 32)"),
                ("ROWS=8, COLUMNS=16", "ROWS=32, COLUMNS=32"),
            ),
        ),
        (
            "columns first in the grid",
            (
                ("tl.program_id(0)", "tl.program_id(9)"),
                ("tl.program_id(1)", "tl.program_id(0)"),
                ("tl.program_id(9)", "tl.program_id(1)"),
                (
                    "(triton.cdiv(rows, 8), triton.cdiv(columns, 16))",
                    "(triton.cdiv(columns, 16), triton.cdiv(rows, 8))",
                ),
            ),
        ),
    ),
    "add_bias": (
        (
            "one row in a program",
            (
                ("(triton.cdiv(rows, 8), triton.cdiv(columns, 32))", "(rows, triton.cdiv(columns, 128))"),
                ("ROWS=8, COLUMNS=32", "ROWS=1, COLUMNS=128"),
            ),
        ),
        ("expanded dimensions", (("i[:, None] * columns", "tl.expand_dims(i, 1) * columns"),)),
    ),
    "double_by_four": (
        (_LARGE, (("BLOCK=64", "BLOCK=256"),)),
        (
            "cdiv and numbers of blocks",
            (
                (
                    "    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):\n        offsets = start + tl.arange(0, BLOCK)",
                    "    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):\n        offsets = block * BLOCK + tl.arange(0, BLOCK)",
                ),
            ),
        ),
    ),
    "copy_any": (
        (
            "tall tiles",
            (
                ("triton.cdiv(rows, 16), triton.cdiv(columns, 32)", "triton.cdiv(rows, 64), triton.cdiv(columns, 8)"),
                ("ROWS=16, COLUMNS=32", "ROWS=64, COLUMNS=8"),
            ),
        ),
        ("strides by name", (("x.stride(0), x.stride(1), ROWS", "*x.stride(), ROWS"),)),
    ),
    "transpose": (
        (
            "stored by a transposed block",
            (
                (
                    "out_ptr + j[None, :] * rows + i[:, None], x, mask=mask",
                    "out_ptr + j[:, None] * rows + i[None, :], tl.trans(x), mask=tl.trans(mask.to(tl.int8)) != 0",
                ),
            ),
        ),
        ("other tiles", (("triton.cdiv(columns, 16))", "triton.cdiv(columns, 64))"), ("COLUMNS=16", "COLUMNS=64"))),
    ),
    "diagonal": ((_SMALL, (("(triton.cdiv(n, 64),)", "(triton.cdiv(n, 16),)"), ("BLOCK=64", "BLOCK=16"))),),
    "shift_right": (
        ("chosen after the load", (("other=0)\n", "other=0)\n    x = tl.where(offsets == 0, 0, x)\n"),)),
        ("the first element by a program", (("x, mask=inside)", "x, mask=inside & (offsets >= 0))"),)),
    ),
    "pad_rows": (
        ("chosen after the load", (("mask=there, other=0)", "mask=there)\n    x = tl.where(there, x, 0)"),)),
        (
            "one wide tile",
            (
                ("ROWS=8, COLUMNS=32", "ROWS=2, COLUMNS=triton.next_power_of_2(width)"),
                ("(triton.cdiv(rows, 8), triton.cdiv(width, 32))", "(triton.cdiv(rows, 2), 1)"),
            ),
        ),
    ),
    "take": (
        (
            "an index of 0 where there is none",
            (("table_ptr + index, mask", "table_ptr + tl.where(inside, index, 0), mask"),),
        ),
    ),
    "average": (
        ("shifted", (("(a + b) // 2", "(a + b) >> 1"),)),
        ("by bits", (("(a + b) // 2", "(a & b) + ((a ^ b) >> 1)"),)),
        ("sixteen bits", ((".to(tl.int32)", ".to(tl.int16)"),)),
        ("differences", (("(a + b) // 2", "tl.minimum(a, b) + (tl.maximum(a, b) - tl.minimum(a, b)) // 2"),)),
    ),
    "floor_to_int": (
        (
            "corrected truncation",
            (("tl.floor(x).to(tl.int32)", "x.to(tl.int32) - (x < x.to(tl.int32).to(tl.float32)).to(tl.int32)"),),
        ),
        ("libdevice", (("tl.floor(x)", "tl.extra.cuda.libdevice.floor(x)"),)),
    ),
    "dot_of_bytes": (
        (_LARGE, (("64", "256"),)),
        (
            "a reduced block",
            (
                ("tl.sum(a * b, axis=0)", "tl.reduce(a * b, 0, added)"),
                ("@triton.jit\n", "@triton.jit\ndef added(p, q):\n    return p + q\n\n\n@triton.jit\n"),
            ),
        ),
    ),
    "swap": (
        (
            "loads in the other order",
            (
                (
                    "    a = tl.load(x_ptr + i, mask=i < n)\n    b = tl.load(y_ptr + i, mask=i < n)\n",
                    "    b = tl.load(y_ptr + i, mask=i < n)\n    a = tl.load(x_ptr + i, mask=i < n)\n",
                ),
            ),
        ),
    ),
    "reverse_in_place": (("the middle, too", (("i < n // 2", "i < (n + 1) // 2"),)), (_LARGE, (("64", "512"),))),
}
