"""Wrong answers to the exercises of chapter 07."""

# ruff: noqa: E501 - a change is quoted as it stands in the answer

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
    ONCE,
    OTHER,
    OUT,
    OVERFLOW,
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

_AT = "row * stride_0 + column * stride_1"
_POWER = "BLOCK=triton.next_power_of_2(columns)"
_CENTRED = "tl.where(mask, x - mean, 0.0)"
_SHIFTED = "    e = tl.exp(x - tl.max(x, axis=0))\n"

WRONG: dict[str, tuple[Slip, ...]] = {
    "row_sum": (
        slip(GRID, FEW_PROGRAMS + "|must be|block", (_POWER, "BLOCK=64")),
        slip(GRID, FEW_PROGRAMS, ("[(rows,)]", "[(min(rows, 16),)]")),
        slip(STRIDE, NOT_CONTIGUOUS, (_AT, "row * columns + column")),
        slip(STRIDE, NOT_CONTIGUOUS, (_AT, "row * stride_0 + column")),
        slip(MASK, OTHER, (", other=0.0", "")),
        slip(MASK, OUT + "|must be", ("column < columns", "column <= columns")),
        slip(MASK, NUMBER + "|other", ("other=0.0", "other=1.0")),
        slip(
            HOST,
            HOSTED,
            (
                "(\n        x, out, columns, x.stride(0), x.stride(1),",
                "(\n        x.sum(1, keepdim=True), out, 1, 1, 1,",
            ),
        ),
        slip(HOST, NO_KERNEL, ("return out", "return x.sum(1)")),
        slip(
            HOST,
            HOSTED + "|once",
            ("x, out, columns, x.stride(0), x.stride(1)", "x.contiguous(), out, columns, columns, 1"),
        ),
        slip(RESULT, "shape", ("torch.empty(rows)", "torch.empty(rows, 1)")),
        slip(
            WORK,
            LANES,
            (
                "x = tl.load(x_ptr + row * stride_0 + column * stride_1, mask=column < columns, other=0.0)",
                "total = 0.0\n    for k in range(columns):\n        total += tl.load(x_ptr + row * stride_0 + k * stride_1)",
            ),
            ("tl.sum(x, axis=0)", "total"),
        ),
        slip(RARE, ROUNDED, ("tl.sum(x, axis=0)", "tl.sum(x.to(tl.float16), axis=0)")),
        slip(TYPE, DTYPE, ("torch.empty(rows)", "torch.empty(rows, dtype=torch.float64)")),
    ),
    "row_range": (
        slip(RARE, NUMBER + "|other", ('float("-inf")), axis', "0.0), axis")),
        slip(RARE, NUMBER + "|other", ('float("inf")), axis', "0.0), axis")),
        slip(RARE, NUMBER, ("high - low", "tl.maximum(high, 0.0) - tl.minimum(low, 0.0)")),
        slip(
            RARE,
            NUMBER,
            ('float("inf")), axis', "1000.0), axis"),
            ('float("-inf")), axis', "-1000.0), axis"),
            ("high - low", "tl.minimum(high, 10.0) - tl.maximum(low, -10.0)"),
        ),
        slip(
            WORK,
            ONCE,
            (
                "    low = tl.min(",
                "    x = tl.load(x_ptr + row * stride_0 + column * stride_1, mask=mask)\n    low = tl.min(",
            ),
        ),
        slip(MASK, OTHER + "|must be", ('tl.where(mask, x, float("-inf"))', "x")),
        slip(STRIDE, NOT_CONTIGUOUS, (_AT, "row * columns + column")),
        slip(HOST, NO_KERNEL, ("return out", "return x.amax(1) - x.amin(1)")),
        slip(
            HOST,
            HOSTED,
            ("x, out, columns, x.stride(0), x.stride(1)", "x - x.amin(1, keepdim=True), out, columns, columns, 1"),
        ),
        slip(MEANING, NUMBER, ("high - low", "high + low")),
        slip(GRID, OUT + "|must be|race|block|other", (_POWER, "BLOCK=128")),
    ),
    "softmax": (
        slip(RARE, OVERFLOW, (_SHIFTED, "    e = tl.exp(x)\n")),
        slip(
            RARE,
            OVERFLOW + "|must be",
            (_SHIFTED, "    e = tl.exp(x - tl.sum(tl.where(mask, x, 0.0), axis=0) / columns)\n"),
        ),
        slip(RARE, OVERFLOW + "|must be", (_SHIFTED, "    e = tl.exp(tl.minimum(x, 80.0))\n")),
        slip(RARE, NUMBER, ('other=float("-inf")', "other=0.0")),
        slip(RARE, NUMBER + "|nan", ('other=float("-inf")', "other=-100.0")),
        slip(RARE, ROUNDED + "|must be", (".to(tl.float32)", ".to(tl.float16)")),
        slip(MEANING, NUMBER, ("tl.exp(x -", "tl.exp2(x -")),
        slip(STRIDE, NOT_CONTIGUOUS, (_AT, "row * columns + column")),
        slip(RESULT, VIEW, ("return out", "return out.t().contiguous().t()")),
        slip(
            RESULT,
            VIEW,
            ("torch.empty((rows, columns), dtype=x.dtype)", "torch.empty((columns, rows), dtype=x.dtype).t()"),
            ("row * columns + column, e", "row + column * tl.num_programs(0), e"),
        ),
        slip(TYPE, DTYPE, ("dtype=x.dtype", "dtype=torch.float32")),
        slip(
            HOST,
            HOSTED,
            ("x, out, columns, x.stride(0), x.stride(1)", "x - x.amax(1, keepdim=True), out, columns, columns, 1"),
        ),
        slip(HOST, NO_KERNEL, ("return out", "return x.softmax(1)")),
        slip(
            WORK,
            ONCE,
            (
                "    e = tl.exp(x - tl.max(x",
                '    x = tl.load(at, mask=mask, other=float("-inf")).to(tl.float32)\n    e = tl.exp(x - tl.max(x',
            ),
        ),
        slip(GRID, FEW_PROGRAMS, ("[(rows,)]", "[(min(rows, 64),)]")),
    ),
    "long_row_sum": (
        slip(GRID, "64|block|lanes", ("BLOCK=64", _POWER)),
        slip(GRID, "must be|iteration", ("range(0, columns, BLOCK)", "range(0, 1024, BLOCK)")),
        slip(RARE, "iteration|must be", ("range(0, columns, BLOCK)", "range(0, columns // BLOCK * BLOCK, BLOCK)")),
        slip(MEANING, "overwrites|must be", ("total += tl.load", "total = tl.load")),
        slip(
            RARE,
            ROUNDED,
            ("        total += tl.load(\n", "        total += (0 * total).to(tl.float16).to(tl.float32) + tl.load(\n"),
            (
                "mask=column < columns, other=0.0\n        )",
                "mask=column < columns, other=0.0\n        ).to(tl.float16)",
            ),
        ),
        slip(MASK, OTHER, (", other=0.0", "")),
        slip(STRIDE, NOT_CONTIGUOUS, (_AT, "row * columns + column")),
        slip(HOST, NO_KERNEL, ("return out", "return x.sum(1, dtype=torch.float32)")),
        slip(HOST, HOSTED, ("(x, out, columns,", "(x.cumsum(1)[:, -1:], out, 1,")),
        slip(WORK, LANES, ("BLOCK=64", "BLOCK=1")),
    ),
    "normalise": (
        slip(
            RARE,
            ROUNDED + "|must be",
            ("tl.sum(centred * centred, axis=0) / columns", "tl.sum(x * x, axis=0) / columns - mean * mean"),
        ),
        slip(MASK, NUMBER, (_CENTRED, "x - mean")),
        slip(RARE, NUMBER, ("tl.sqrt(variance + 1e-5)", "(tl.sqrt(variance) + 1e-5)")),
        slip(RARE, NUMBER + "|nan", ("tl.sqrt(variance + 1e-5)", "tl.sqrt(variance)")),
        slip(RARE, NUMBER, ("axis=0) / columns\n    tl.store", "axis=0) / (columns - 1)\n    tl.store")),
        slip(RARE, NUMBER, ("tl.sum(x, axis=0) / columns", "tl.sum(x, axis=0) / BLOCK")),
        slip(RARE, NUMBER, ("1e-5", "1e-6")),
        slip(STRIDE, NOT_CONTIGUOUS, (_AT, "row * columns + column")),
        slip(RESULT, VIEW, ("return out", "return out.t().contiguous().t()")),
        slip(
            HOST,
            HOSTED,
            ("x, out, columns, x.stride(0), x.stride(1)", "x - x.mean(1, keepdim=True), out, columns, columns, 1"),
        ),
        slip(HOST, NO_KERNEL, ("return out", "return torch.nn.functional.layer_norm(x, x.shape[1:])")),
        slip(MASK, OTHER, (", other=0.0", "")),
    ),
}
