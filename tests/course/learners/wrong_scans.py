"""Wrong answers to the exercises of chapter 08."""

# ruff: noqa: E501 - a change is quoted as it stands in the answer

from __future__ import annotations

from tests.course.learners.slips import (
    DTYPE,
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
    RARE,
    RESULT,
    ROUNDED,
    STRIDE,
    TYPE,
    UNWRITTEN,
    VIEW,
    WORK,
    Slip,
    slip,
)

_AT = "row * stride_0 + column * stride_1"
_POWER = "BLOCK=triton.next_power_of_2(columns)"
_WIDE = "BLOCK = triton.next_power_of_2(columns)"
_CENTRED = "tl.where(mask, x - mean, 0.0)"

WRONG: dict[str, tuple[Slip, ...]] = {
    "layer_norm": (
        slip(
            RARE,
            ROUNDED + "|must be",
            ("tl.sum(centred * centred, axis=0) / columns", "tl.sum(x * x, axis=0) / columns - mean * mean"),
        ),
        slip(RARE, ROUNDED + "|must be", (".to(tl.float32)", "")),
        slip(MASK, NUMBER, (_CENTRED, "x - mean")),
        slip(MEANING, NUMBER, ("* weight + bias", "* (weight + bias)")),
        slip(MEANING, NUMBER, ("* weight + bias", "* weight")),
        slip(RARE, NUMBER, ("axis=0) / columns\n    weight", "axis=0) / (columns - 1)\n    weight")),
        slip(RARE, NUMBER, ("tl.sqrt(variance + 1e-5)", "tl.maximum(tl.sqrt(variance), 1e-2)")),
        slip(STRIDE, NOT_CONTIGUOUS, (_AT, "row * columns + column")),
        slip(TYPE, DTYPE, ("dtype=x.dtype", "dtype=torch.float32")),
        slip(RESULT, VIEW, ("return out", "return out.t().contiguous().t()")),
        slip(MASK, OUT, ("weight_ptr + column, mask=mask", "weight_ptr + column")),
        slip(
            HOST,
            HOSTED,
            ("(x, weight, bias, out, columns, *x.stride()", "(x.contiguous(), weight, bias, out, columns, columns, 1"),
        ),
        slip(
            HOST,
            NO_KERNEL,
            (
                "return out",
                "return torch.nn.functional.layer_norm(x, x.shape[1:], weight.to(x.dtype), bias.to(x.dtype))",
            ),
        ),
        slip(
            WORK,
            ONCE,
            (
                "    centred = tl.where",
                "    x = tl.load(x_ptr + row * stride_0 + column * stride_1, mask=mask, other=0.0).to(tl.float32)\n    centred = tl.where",
            ),
        ),
        slip(GRID, OUT + "|must be|block|grid", (_WIDE, "BLOCK = 64")),
    ),
    "moments": (
        slip(
            RARE,
            ROUNDED + "|must be",
            (
                "        m2 += tl.sum(centred * centred, axis=0) + apart * apart * count * here / both\n        mean += apart * here / both\n",
                "        m2 += tl.sum(x * x, axis=0)\n        mean += tl.sum(x, axis=0) / columns\n",
            ),
            ("m2 / columns", "m2 / columns - mean * mean"),
        ),
        slip(RARE, NUMBER, ("tl.minimum(columns - start, BLOCK).to(tl.float32)", "BLOCK")),
        slip(MASK, NUMBER, ("tl.where(j < columns, x - middle, 0.0)", "x - middle")),
        slip(MEANING, NUMBER, (" + apart * apart * count * here / both", "")),
        slip(MEANING, NUMBER, ("m2 / columns", "m2 / (columns - 1)")),
        slip(MEANING, NUMBER, ("mean += apart * here / both", "mean += apart / 2")),
        slip(MEANING, "must be|shape|infinite|nan", ("return mean, variance", "return variance, mean")),
        slip(
            WORK,
            ONCE,
            (
                "        centred = tl.where",
                "        x = tl.load(x_ptr + row * stride_0 + j * stride_1, mask=j < columns, other=0.0)\n        centred = tl.where",
            ),
        ),
        slip(GRID, "64|lanes|block", ("BLOCK=64", _POWER)),
        slip(STRIDE, NOT_CONTIGUOUS, ("*x.stride(), BLOCK", "columns, 1, BLOCK")),
        slip(HOST, NO_KERNEL, ("return mean, variance", "return x.mean(1), x.var(1, correction=0)")),
        slip(HOST, NO_KERNEL, ("return mean, variance", "return mean, x.var(1, correction=0)")),
        slip(
            HOST,
            HOSTED,
            (
                "(x, mean, variance, columns, *x.stride()",
                "(x - x.mean(1, keepdim=True), mean, variance, columns, columns, 1",
            ),
            ("return mean, variance", "return mean.add_(x.mean(1)), variance"),
        ),
    ),
    "running_sums": (
        slip(MEANING, NUMBER, ("        before += tl.sum(x, axis=0)\n", "")),
        slip(MEANING, NUMBER + "|overwrites", ("before += tl.sum", "before = 0 * before + tl.sum")),
        slip(MEANING, NUMBER, ("before + tl.cumsum(x, axis=0)", "before + tl.cumsum(x, axis=0) - x")),
        slip(
            RARE,
            ROUNDED + "|must be|type",
            ("tl.zeros((1,), out_ptr.dtype.element_ty)", "tl.zeros((1,), tl.float32)"),
            ("tl.sum(x, axis=0)\n", "tl.sum(x.to(tl.float32), axis=0)\n"),
        ),
        slip(TYPE, DTYPE, ("dtype=x.dtype", "dtype=torch.float32")),
        slip(TYPE, DTYPE + "|int64", ("dtype=x.dtype", "dtype=torch.int64 if x.dtype == torch.int32 else x.dtype")),
        slip(RESULT, VIEW, ("return out", "return out.t().contiguous().t()")),
        slip(STRIDE, NOT_CONTIGUOUS, ("*x.stride(), BLOCK", "columns, 1, BLOCK")),
        slip(MASK, NUMBER + "|" + OTHER + "|no value", (", other=0)", ")")),
        slip(GRID, "iteration|must be|no value", ("range(0, columns, BLOCK)", "range(0, 512, BLOCK)")),
        slip(HOST, NO_KERNEL, ("return out", "return x.cumsum(1, dtype=x.dtype)")),
        slip(HOST, HOSTED, ("(x, out, columns, *x.stride()", "(x.contiguous(), out, columns, columns, 1")),
        slip(WORK, LANES, ("BLOCK=64", "BLOCK=1")),
    ),
    "recurrence": (
        slip(MEANING, NUMBER, ("a1 * a2, a2 * b1 + b2", "a1 * a2, a1 * b2 + b1")),
        slip(MEANING, NUMBER, ("a1 * a2, a2 * b1 + b2", "a2, a2 * b1 + b2")),
        slip(RARE, NUMBER, ("a1 * a2, a2 * b1 + b2", "a1 * a2, b1 + b2")),
        slip(
            HOST,
            "no kernel|must be",
            (
                "return out",
                "h = torch.zeros(rows)\n    for t in range(columns):\n        h = a[:, t] * h + b[:, t]\n        out[:, t] = h\n    return out",
            ),
        ),
        slip(
            WORK,
            LANES,
            (
                "    a, h = tl.associative_scan((a, b), 0, composed)\n    tl.store(out_ptr + at, h, mask=mask)",
                "    h = 0.0\n    for t in range(columns):\n        k = tl.program_id(0) * columns + t\n        h = tl.load(a_ptr + k) * h + tl.load(b_ptr + k)\n        tl.store(out_ptr + k, h)",
            ),
        ),
        slip(GRID, OUT + "|must be|no value|block", (_POWER, "BLOCK=64")),
        slip(MEANING, NUMBER, ("tl.store(out_ptr + at, h,", "tl.store(out_ptr + at, a,")),
        slip(MASK, OUT + "|must be|race", ("tl.arange(0, BLOCK) < columns", "at < columns * tl.num_programs(0)")),
        slip(
            MEANING,
            UNWRITTEN + "|must be",
            ("tl.associative_scan((a, b), 0, composed)", "tl.associative_scan((a, b), 0, composed, reverse=True)"),
        ),
    ),
}
