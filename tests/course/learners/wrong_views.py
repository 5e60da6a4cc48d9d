"""Wrong answers to the exercises of chapter 03."""

from __future__ import annotations

from tests.course.learners.slips import (
    DTYPE,
    FEW_PROGRAMS,
    GRID,
    HOST,
    HOSTED,
    LANES,
    MASK,
    MEANING,
    NO_KERNEL,
    NOT_CONTIGUOUS,
    NUMBER,
    OUT,
    RARE,
    RESULT,
    STRIDE,
    TYPE,
    VIEW,
    WORK,
    Slip,
    slip,
)

_TILES_32 = "grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 32))"
_TILES_16 = "grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 16))"

WRONG: dict[str, tuple[Slip, ...]] = {
    "copy_any": (
        slip(GRID, FEW_PROGRAMS, (_TILES_32, "grid = (8, 8)")),
        slip(
            HOST,
            HOSTED,
            (
                "[grid](x, out, rows, columns, x.stride(0), x.stride(1),",
                "[grid](x.contiguous(), out, rows, columns, columns, 1,",
            ),
        ),
        slip(HOST, NO_KERNEL, ("return out", "return x.clone()")),
        slip(HOST, HOSTED, ("return out", "return out.copy_(x)")),
        slip(
            STRIDE,
            NOT_CONTIGUOUS,
            ("i[:, None] * stride_0 + j[None, :] * stride_1", "i[:, None] * columns + j[None, :]"),
        ),
        slip(STRIDE, NOT_CONTIGUOUS, ("+ j[None, :] * stride_1", "+ j[None, :]")),
        slip(STRIDE, NUMBER + "|stride", ("x.stride(0), x.stride(1)", "abs(x.stride(0)), max(x.stride(1), 1)")),
        slip(RESULT, VIEW, ("return out", "return out.t().contiguous().t()")),
        slip(
            RESULT,
            VIEW,
            ("torch.empty((rows, columns), dtype=x.dtype)", "torch.empty_like(x)"),
            ("out_ptr + i[:, None] * columns + j[None, :]", "out_ptr + i[:, None] * stride_0 + j[None, :] * stride_1"),
        ),
        slip(TYPE, DTYPE, ("dtype=x.dtype", "dtype=torch.float32")),
        slip(MASK, OUT + "|must be|race", ("i < rows", "i <= rows")),
        slip(WORK, LANES, ("ROWS=16, COLUMNS=32", "ROWS=1, COLUMNS=1"), (_TILES_32, "grid = (rows, columns)")),
    ),
    "add_one_in_place": (
        slip(GRID, FEW_PROGRAMS + "|must be", (_TILES_32, "grid = (3, 3)")),
        slip(HOST, NO_KERNEL, ("    add_one_in_place_kernel[", "    x += 1\n    0 and add_one_in_place_kernel[")),
        slip(
            HOST,
            HOSTED + "|must be",
            ("    add_one_in_place_kernel[grid](x,", "    x += 1\n    add_one_in_place_kernel[grid](x,"),
            ("mask=mask) + 1", "mask=mask)"),
        ),
        slip(
            MEANING,
            NUMBER + "|not changed",
            ("[grid](x, rows, columns, x.stride(0), x.stride(1)", "[grid](x.contiguous(), rows, columns, columns, 1"),
        ),
        slip(STRIDE, NOT_CONTIGUOUS + "|outside|around", ("x.stride(0), x.stride(1)", "columns, 1")),
        slip(STRIDE, NOT_CONTIGUOUS + "|outside|around|out of bounds", ("x.stride(0), x.stride(1)", "x.stride(0), 1")),
        slip(
            RARE,
            "outside|around|must be|out of bounds",
            ("(j < columns)[None, :]", "(j < tl.cdiv(columns, 4) * 4)[None, :]"),
        ),
        slip(WORK, LANES, ("ROWS=16, COLUMNS=32", "ROWS=1, COLUMNS=1"), (_TILES_32, "grid = (rows, columns)")),
    ),
    "transpose": (
        slip(GRID, FEW_PROGRAMS, (_TILES_16, "grid = (5, 5)")),
        slip(GRID, FEW_PROGRAMS, (_TILES_16, "grid = (triton.cdiv(rows, 16),) * 2")),
        slip(
            HOST,
            HOSTED,
            (
                "[grid](x, out, rows, columns, x.stride(0), x.stride(1),",
                "[grid](x.t().contiguous(), out, rows, columns, 1, rows,",
            ),
        ),
        slip(HOST, NO_KERNEL, ("return out", "return x.t().contiguous()")),
        slip(HOST, NO_KERNEL + "|contiguous|strides", ("return out", "return x.t()")),
        slip(
            RESULT,
            VIEW,
            ("torch.empty((columns, rows), dtype=x.dtype)", "torch.empty((rows, columns), dtype=x.dtype)"),
            ("j[None, :] * rows + i[:, None]", "i[:, None] * columns + j[None, :]"),
            ("return out", "return out.t()"),
        ),
        slip(RESULT, "shape", ("torch.empty((columns, rows), dtype", "torch.empty((rows, columns), dtype")),
        slip(STRIDE, NOT_CONTIGUOUS, ("x.stride(0), x.stride(1)", "columns, 1")),
        slip(STRIDE, NUMBER, ("j[None, :] * rows + i[:, None]", "j[None, :] * columns + i[:, None]")),
        slip(
            MASK,
            OUT + "|must be|race|no program",
            ("(i < rows)[:, None] & (j < columns)[None, :]", "(i < columns)[:, None] & (j < rows)[None, :]"),
        ),
        slip(TYPE, DTYPE, ("dtype=x.dtype", "dtype=torch.float64")),
    ),
    "diagonal": (
        slip(GRID, FEW_PROGRAMS, ("[(triton.cdiv(n, 64),)]", "[(1,)]")),
        slip(HOST, HOSTED, ("(x, out, n, x.stride(0) + x.stride(1),", "(x.diagonal().contiguous(), out, n, 1,")),
        slip(
            HOST,
            HOSTED + "|once|elements",
            ("(x, out, n, x.stride(0) + x.stride(1),", "(x.contiguous(), out, n, x.shape[1] + 1,"),
        ),
        slip(HOST, NO_KERNEL, ("    return out", "    return x.diagonal().clone()")),
        slip(STRIDE, NOT_CONTIGUOUS + "|must be", ("x.stride(0) + x.stride(1)", "x.shape[1] + 1")),
        slip(STRIDE, NOT_CONTIGUOUS + "|must be", ("x.stride(0) + x.stride(1)", "x.stride(0) + 1")),
        slip(RARE, "shape|out of bounds", ("min(x.shape)", "x.shape[0]")),
        slip(RESULT, VIEW + "|no kernel", ("    return out", "    return x.diagonal()")),
        slip(RESULT, "shape", ("    return out", "    return out[None]")),
    ),
}
