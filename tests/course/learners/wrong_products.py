"""Wrong answers to the exercises of chapters 09 and 10."""

# ruff: noqa: E501 - a change is quoted as it stands in the answer

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
    NOT_CONTIGUOUS,
    NUMBER,
    OTHER,
    OUT,
    OVERFLOW,
    RACE,
    RARE,
    RESULT,
    ROUNDED,
    STRIDE,
    TYPE,
    VIEW,
    WORK,
    Slip,
    slip,
)

_TILES = "(triton.cdiv(M, 32), triton.cdiv(N, 32))"

WRONG: dict[str, tuple[Slip, ...]] = {
    "matmul": (
        slip(GRID, FEW_PROGRAMS, (_TILES, "(4, 4)")),
        slip(GRID, FEW_PROGRAMS, (_TILES, "(M // 32, N // 32)")),
        slip(GRID, FEW_PROGRAMS, (_TILES, "(triton.cdiv(M, 32), triton.cdiv(M, 32))")),
        slip(RARE, "tf32|" + ROUNDED, (', input_precision="ieee"', "")),
        slip(RARE, ROUNDED + "|type", ("accumulator, mask=mask", "accumulator.to(tl.float16), mask=mask")),
        slip(RARE, "must be|iteration", ("range(0, K, BLOCK)", "range(0, K // BLOCK * BLOCK, BLOCK)")),
        slip(MASK, OUT + "|must be", ("(i < M)[:, None] & inside[None, :]", "(i < M)[:, None]")),
        slip(
            MASK,
            OTHER,
            ("inside[None, :], other=0.0", "inside[None, :]"),
            ("(j < N)[None, :], other=0.0", "(j < N)[None, :]"),
        ),
        slip(STRIDE, NOT_CONTIGUOUS, ("*a.stride(), *b.stride()", "K, 1, N, 1")),
        slip(STRIDE, NOT_CONTIGUOUS, ("*b.stride()", "N, 1")),
        slip(RESULT, VIEW, ("return c", "return c.t().contiguous().t()")),
        slip(TYPE, DTYPE, ("dtype=a.dtype", "dtype=torch.float32")),
        slip(HOST, NO_KERNEL, ("return c", "return a @ b")),
        slip(
            HOST,
            HOSTED,
            (
                "[grid](a, b, c, M, N, K, *a.stride(), *b.stride()",
                "[grid](a.contiguous(), b.contiguous(), c, M, N, K, K, 1, N, 1",
            ),
        ),
        slip(
            HOST,
            HOSTED,
            (
                "[grid](a, b, c, M, N, K, *a.stride(), *b.stride()",
                "[grid](torch.eye(M, dtype=a.dtype), a @ b, c, M, N, M, M, 1, N, 1",
            ),
        ),
        slip(MEANING, NUMBER + "|overwrites", ("tl.dot(a, b, accumulator, ", "tl.dot(a, b, ")),
    ),
    "layer": (
        slip(GRID, FEW_PROGRAMS, (_TILES, "(4, 4)")),
        slip(
            MEANING,
            NUMBER,
            ("tl.maximum(accumulator + bias[None, :], 0.0)", "tl.maximum(accumulator, 0.0) + bias[None, :]"),
        ),
        slip(MEANING, NUMBER, ("accumulator + bias[None, :]", "accumulator")),
        slip(RARE, "tf32|" + ROUNDED, (', input_precision="ieee"', "")),
        slip(
            RARE,
            "must be|nan|bound",
            ("tl.maximum(accumulator + bias[None, :], 0.0)", "tl.abs(accumulator + bias[None, :])"),
        ),
        slip(STRIDE, NOT_CONTIGUOUS + "|must be", ("*x.stride(), *weight.stride()", "K, 1, K, 1")),
        slip(
            STRIDE,
            NUMBER + "|out of bounds",
            ("k[:, None] * wk + j[None, :] * wn", "k[:, None] * wn + j[None, :] * wk"),
        ),
        slip(
            HOST,
            HOSTED,
            (
                "[grid](x, weight, bias, y, M, N, K, *x.stride(), *weight.stride()",
                "[grid](x, weight.t().contiguous(), bias, y, M, N, K, *x.stride(), 1, N",
            ),
        ),
        slip(HOST, NO_KERNEL, ("    return y", "    return (x @ weight.t() + bias).relu()")),
        slip(
            HOST,
            HOSTED,
            ("y = tl.maximum(accumulator + bias[None, :], 0.0)", "y = accumulator + bias[None, :]"),
            ("    return y", "    return y.relu_()"),
        ),
        slip(RESULT, VIEW, ("    return y", "    return y.t().contiguous().t()")),
        slip(MASK, OUT, ("bias_ptr + j, mask=j < N, other=0.0", "bias_ptr + j")),
    ),
    "batched": (
        slip(GRID, FEW_PROGRAMS, (", products)", ", 2)")),
        slip(GRID, FEW_PROGRAMS, ("(triton.cdiv(M, 32), triton.cdiv(N, 32), products)", "(2, 2, products)")),
        slip(
            HOST,
            "launch|" + HOSTED,
            (
                "    batched_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), BLOCK=32)",
                "    for p in range(products):\n        batched_kernel[grid[:2]](a[p], b[p], c[p], M, N, K, *a.stride(), *b.stride(), BLOCK=32)",
            ),
        ),
        slip(HOST, NO_KERNEL, ("    return c", "    return torch.bmm(a, b)")),
        slip(
            HOST,
            HOSTED,
            (
                "(a, b, c, M, N, K, *a.stride(), *b.stride()",
                "(a.contiguous(), b.contiguous(), c, M, N, K, M * K, K, 1, K * N, N, 1",
            ),
        ),
        slip(MEANING, NUMBER + "|program id", ("+ product * an", "")),
        slip(MEANING, RACE + "|no program|must be", ("c_ptr + product * M * N", "c_ptr")),
        slip(RARE, NUMBER + "|out of bounds|race|no program", ("product * M * N", "product * M * M")),
        slip(STRIDE, NOT_CONTIGUOUS, ("*a.stride(), *b.stride()", "M * K, K, 1, *b.stride()")),
        slip(STRIDE, NOT_CONTIGUOUS, ("*b.stride()", "K * N, N, 1")),
        slip(RARE, "tf32|" + ROUNDED, (', input_precision="ieee"', "")),
    ),
    "quantised": (
        slip(RARE, NUMBER + "|" + OVERFLOW, ("b.to(tl.float32)", "b.to(tl.uint8).to(tl.float32)")),
        slip(RARE, "tf32|" + ROUNDED, (', input_precision="ieee"', "")),
        slip(
            RARE,
            ROUNDED,
            ("tl.dot(a, b.to(tl.float32), accumulator", "tl.dot(a.to(tl.float16), b.to(tl.float16), accumulator"),
        ),
        slip(MEANING, NUMBER, ("accumulator * scale[None, :]", "accumulator / scale[None, :]")),
        slip(
            MEANING,
            NUMBER + "|shapes|out of bounds",
            ("scale_ptr + j, mask=j < N", "scale_ptr + i, mask=i < M"),
            ("scale[None, :]", "scale[:, None]"),
        ),
        slip(MEANING, NUMBER, ("scale_ptr + j, mask=j < N, other=0.0", "scale_ptr + 0 * j, mask=j < N, other=0.0")),
        slip(HOST, HOSTED, ("(a, b, scale, c,", "(a, b * scale, torch.ones_like(scale), c,")),
        slip(
            HOST,
            HOSTED,
            ("    return c", "    return c.mul_(scale)"),
            ("accumulator * scale[None, :]", "accumulator + 0 * scale[None, :]"),
        ),
        slip(HOST, NO_KERNEL, ("    return c", "    return a @ (b * scale)")),
        slip(GRID, FEW_PROGRAMS, (_TILES, "(3, 3)")),
        slip(MASK, OUT, ("scale_ptr + j, mask=j < N, other=0.0", "scale_ptr + j")),
    ),
    "bands": (
        slip(RARE, NUMBER + "|out of bounds|no program", ("tl.minimum(rows - first_row, BAND)", "BAND")),
        slip(MEANING, NUMBER, ("within % height, within // height", "within // columns, within % columns")),
        slip(
            MEANING,
            NUMBER,
            (
                "row, column = first_row + within % height, within // height",
                "row, column = program // columns, program % columns",
            ),
        ),
        slip(MEANING, NUMBER + "|no program", ("[(rows * columns,)]", "[(rows * columns - 1,)]")),
        slip(
            HOST,
            NO_KERNEL,
            (
                "return out",
                "order = [(r, c) for f in range(0, rows, band) for c in range(columns) for r in range(f, min(f + band, rows))]\n    for p, (r, c) in enumerate(order):\n        out[r, c] = p\n    return out",
            ),
        ),
        slip(TYPE, DTYPE, ("dtype=torch.int32", "dtype=torch.int64")),
        slip(GRID, FEW_PROGRAMS, ("[(rows * columns,)]", "[(64,)]")),
    ),
    "add_scaled": (
        slip(LUCK, "restore|first|must be", (', restore_value=["x_ptr"]', "")),
        slip(
            GRID,
            FEW_PROGRAMS + "|must be",
            ('[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)]', "[(triton.cdiv(n, 256),)]"),
        ),
        slip(WORK, "config|two|autotun", (', triton.Config({"BLOCK": 256})', "")),
        slip(HOST, HOSTED + "|must be", ("(x, y, n, factor)", "(x.add_(y, alpha=factor), y, n, 0.0)")),
        slip(HOST, NO_KERNEL, ("    tuned_axpy()[", "    x.add_(y, alpha=factor)\n    0 and tuned_axpy()[")),
        slip(MEANING, NUMBER, ("x + factor * y", "factor * x + y")),
        slip(MASK, OUT, ("mask=at < n)\n    # END", "mask=at < n + 1)\n    # END")),
    ),
}
