"""Wrong answers to the exercises of chapter 04."""

from __future__ import annotations

from tests.course.learners.slips import (
    DTYPE,
    FEW_PROGRAMS,
    GRID,
    HOST,
    HOSTED,
    LUCK,
    MASK,
    MEANING,
    NO_KERNEL,
    NUMBER,
    OTHER,
    OUT,
    RACE,
    RARE,
    RESULT,
    TYPE,
    VIEW,
    Slip,
    slip,
)

WRONG: dict[str, tuple[Slip, ...]] = {
    "shift_right": (
        slip(GRID, FEW_PROGRAMS, ("[(triton.cdiv(n, 64),)]", "[(16,)]")),
        slip(
            HOST, HOSTED, ("(x, out, n, BLOCK", "(x.roll(1), out, n, BLOCK"), ("x_ptr + offsets - 1", "x_ptr + offsets")
        ),
        slip(
            HOST,
            NO_KERNEL + "|first|must be",
            ("inside & (offsets > 0), other=0", "inside & (offsets > 0)"),
            ("return out", "out[:1] = 0\n    return out"),
            ("(out_ptr + offsets, x, mask=inside)", "(out_ptr + offsets, x, mask=inside & (offsets > 0))"),
        ),
        slip(HOST, NO_KERNEL, ("return out", "out = x.roll(1)\n    out[:1] = 0\n    return out")),
        slip(MASK, OUT, ("inside & (offsets > 0)", "inside")),
        slip(MASK, OTHER, (", other=0)", ")")),
        slip(LUCK, RACE, ("torch.empty_like(x)", "x.clone()"), ("(x, out, n, BLOCK", "(out, out, n, BLOCK")),
        slip(
            MEANING,
            NUMBER,
            ("x_ptr + offsets - 1, mask=inside & (offsets > 0)", "x_ptr + offsets + 1, mask=offsets + 1 < n"),
        ),
        slip(MEANING, NUMBER, ("inside & (offsets > 0)", "inside & (tl.arange(0, BLOCK) > 0)")),
    ),
    "sum_of_three": (
        slip(GRID, FEW_PROGRAMS, ("[(triton.cdiv(n, 64),)]", "[(16,)]")),
        slip(HOST, HOSTED, ("(x, out, n, BLOCK", "(torch.nn.functional.pad(x, (1, 1)), out, n, BLOCK")),
        slip(
            HOST,
            NO_KERNEL,
            (
                "return out",
                "padded = torch.nn.functional.pad(x, (1, 1))\n    return padded[:-2] + padded[1:-1] + padded[2:]",
            ),
        ),
        slip(MASK, OUT, ("mask=offsets + 1 < n", "mask=inside")),
        slip(MASK, OTHER, ("mask=offsets + 1 < n, other=0.0", "mask=offsets + 1 < n")),
        slip(MASK, OUT, ("inside & (offsets > 0)", "inside & (offsets >= 0)")),
        slip(
            MEANING,
            NUMBER,
            (
                "mask=offsets + 1 < n, other=0.0",
                "mask=(offsets + 1 < n) & (tl.arange(0, BLOCK) < BLOCK - 1), other=0.0",
            ),
        ),
        slip(LUCK, RACE, ("torch.empty_like(x)", "x.clone()"), ("(x, out, n, BLOCK", "(out, out, n, BLOCK")),
        slip(MEANING, NUMBER, ("left + middle + right", "(left + middle + right) / 3")),
    ),
    "pad_rows": (
        slip(GRID, FEW_PROGRAMS, ("triton.cdiv(width, 32)", "triton.cdiv(columns, 32)")),
        slip(GRID, FEW_PROGRAMS, ("triton.cdiv(rows, 8)", "2")),
        slip(
            HOST,
            NO_KERNEL + "|no program|must be",
            ("torch.empty((rows, width)", "torch.zeros((rows, width)"),
            ("mask=(i < rows)[:, None] & (j < width)[None, :]", "mask=there"),
        ),
        slip(
            HOST,
            HOSTED,
            (
                "[grid](x, out, rows, columns, width",
                "[grid](torch.nn.functional.pad(x, (0, width - columns)), out, rows, width, width",
            ),
        ),
        slip(HOST, NO_KERNEL, ("return out", "out.zero_()\n    out[:, :columns] = x\n    return out")),
        slip(MASK, OTHER, ("mask=there, other=0)", "mask=there)")),
        slip(MASK, OUT + "|must be", ("there, other=0", "(i < rows)[:, None] & (j < width)[None, :], other=0")),
        slip(MEANING, NUMBER, ("other=0)", "other=1)")),
        slip(
            RESULT,
            VIEW,
            ("torch.empty((rows, width), dtype=x.dtype)", "torch.empty((rows, width + 1), dtype=x.dtype)[:, :width]"),
            ("i[:, None] * width", "i[:, None] * (width + 1)"),
        ),
        slip(TYPE, DTYPE, ("dtype=x.dtype", "dtype=torch.float64")),
    ),
    "take": (
        slip(GRID, FEW_PROGRAMS, ("[(triton.cdiv(n, 64),)]", "[(8,)]")),
        slip(
            HOST,
            HOSTED,
            ("(table, index, out, table.numel()", "(table, index.clamp(0, table.numel() - 1), out, table.numel()"),
            ("return out", "out[(index < 0) | (index >= len(table))] = 0\n    return out"),
        ),
        slip(
            HOST,
            NO_KERNEL,
            (
                "return out",
                "there = (index >= 0) & (index < len(table))\n    return torch.where(there, table[index * there], 0)",
            ),
        ),
        slip(RARE, OUT, ("(index >= 0) & (index < size)", "index < size")),
        slip(RARE, OUT, ("(index < size)", "(index <= size)")),
        slip(RARE, NUMBER, ("(index >= 0) & (index < size)", "(index > 0) & (index < size)")),
        slip(MASK, OTHER, (", other=0.0)", ")")),
        slip(MASK, OUT + "|" + OTHER, ("mask=mask, other=-1", "mask=mask")),
        slip(
            MEANING,
            NUMBER,
            ("(index >= 0) & (index < size)", "(index < size) & (index >= -size)"),
            ("table_ptr + index", "table_ptr + tl.where(index < 0, index + size, index)"),
        ),
    ),
}
