"""Wrong answers to the exercises of chapter 12."""

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
    ONCE,
    OUT,
    RACE,
    RARE,
    RESULT,
    STRIDE,
    TYPE,
    UNWRITTEN,
    VIEW,
    WORK,
    Slip,
    slip,
)

WRONG: dict[str, tuple[Slip, ...]] = {
    "uniform": (
        slip(MEANING, NUMBER, ("tl.rand(seed, offsets)", "tl.rand(seed + tl.program_id(0), tl.arange(0, BLOCK))")),
        slip(MEANING, NUMBER, ("tl.rand(seed, offsets)", "tl.rand(0, offsets)")),
        slip(MEANING, NUMBER, ("tl.rand(seed, offsets)", "tl.randn(seed, offsets)")),
        slip(HOST, NO_KERNEL + "|must be", ("return out", "return torch.rand(rows, columns)")),
        slip(GRID, FEW_PROGRAMS, ("(triton.cdiv(n, 256),)", "(8,)")),
        slip(MASK, OUT, ("mask=offsets < n", "mask=offsets <= n")),
        slip(
            RESULT,
            VIEW + "|must be",
            ("torch.empty((rows, columns))", "torch.empty((columns, rows))"),
            ("return out", "return out.t()"),
        ),
        slip(TYPE, DTYPE, ("torch.empty((rows, columns))", "torch.empty((rows, columns), dtype=torch.float64)")),
    ),
    "dropout": (
        slip(MEANING, NUMBER, ("tl.rand(seed, at) > p", "tl.rand(seed, at) < p")),
        slip(MEANING, NUMBER, ("x / (1 - p)", "x")),
        slip(MEANING, NUMBER, ("x / (1 - p)", "x / p")),
        slip(MEANING, NUMBER, ("tl.rand(seed, at)", "tl.rand(seed, tl.arange(0, BLOCK))")),
        slip(STRIDE, NOT_CONTIGUOUS, ("at // columns * stride_0 + at % columns * stride_1", "at")),
        slip(RARE, NUMBER, ("tl.rand(seed, at)", "tl.rand(seed, at // columns * stride_0 + at % columns * stride_1)")),
        slip(
            HOST,
            HOSTED,
            ("(x, out, n, x.shape[1], *x.stride(), p", "(x.contiguous(), out, n, x.shape[1], x.shape[1], 1, p"),
        ),
        slip(HOST, NO_KERNEL + "|must be", ("    return out", "    return torch.nn.functional.dropout(x, p)")),
        slip(TYPE, DTYPE, ("dtype=x.dtype", "dtype=torch.float32")),
        slip(RESULT, VIEW, ("    return out", "    return out.t().contiguous().t()")),
    ),
    "gradient_of_squares": (
        slip(MEANING, NUMBER, ("2 * x * factor * factor", "2 * x * factor")),
        slip(MEANING, NUMBER, ("2 * x * factor * factor", "x * factor * factor")),
        slip(RARE, NUMBER, ("2 * x * factor * factor", "2 * tl.abs(x) * factor * factor")),
        slip(MEANING, NUMBER, ("tl.rand(seed, at) > p", "tl.rand(seed + 1, at) > p")),
        slip(WORK, ONCE, ("2 * x * factor * factor", "(x + tl.load(x_ptr + at, mask=at < n)) * factor * factor")),
        slip(HOST, HOSTED, ("(x, out, n, p,", "(2 * x, out, n, p,"), ("2 * x * factor", "x * factor")),
        slip(GRID, FEW_PROGRAMS, ("(triton.cdiv(n, 256),)", "(4,)")),
    ),
    "darts": (
        slip(
            MEANING,
            NUMBER,
            ("tl.rand(seed, 2 * i), tl.rand(seed, 2 * i + 1)", "tl.rand(seed, i), tl.rand(seed, i + 1)"),
        ),
        slip(MASK, NUMBER, ("(i < n) & ", "")),
        slip(
            LUCK,
            RACE,
            (
                "tl.atomic_add(out_ptr, tl.sum(hit.to(tl.int32), axis=0))",
                "tl.store(out_ptr, tl.load(out_ptr) + tl.sum(hit.to(tl.int32), axis=0))",
            ),
        ),
        slip(
            WORK,
            "atomic|one for each",
            ("tl.atomic_add(out_ptr, tl.sum(hit.to(tl.int32), axis=0))", "tl.atomic_add(out_ptr + 0 * i, 1, mask=hit)"),
        ),
        slip(GRID, FEW_PROGRAMS + "|must be", ("(triton.cdiv(n, 256),)", "(16,)")),
        slip(TYPE, DTYPE, ("dtype=torch.int32", "dtype=torch.int64")),
        slip(MEANING, UNWRITTEN, ("torch.zeros(1", "torch.empty(1")),
    ),
}
