"""Wrong answers to the exercises of chapters 00 to 02."""

from __future__ import annotations

from tests.course.learners.slips import (
    CHANGED,
    DTYPE,
    FEW_PROGRAMS,
    GRID,
    HOST,
    HOSTED,
    LANES,
    LUCK,
    MASK,
    MEANING,
    NO_KERNEL,
    NUMBER,
    OUT,
    RACE,
    RARE,
    RESULT,
    SHAPE,
    TYPE,
    WORK,
    Slip,
    slip,
)

_PAIRS_GRID = "grid = (triton.cdiv(rows, 8), triton.cdiv(columns, 16))"

WRONG: dict[str, tuple[Slip, ...]] = {
    "add_constant": (
        slip(GRID, FEW_PROGRAMS, ("[(triton.cdiv(n, 128),)]", "[(8,)]")),
        slip(GRID, FEW_PROGRAMS, ("[(triton.cdiv(n, 128),)]", "[(n // 128,)]")),
        slip(GRID, FEW_PROGRAMS, ("BLOCK=128", "BLOCK=64")),
        slip(HOST, NO_KERNEL, ("return out", "return x + value")),
        slip(HOST, HOSTED, ("(x, out, n, value,", "(x + value, out, n, 0,")),
        slip(HOST, HOSTED, ("return out", "out += 0 * value\n    return out.copy_(x).add_(value)")),
        slip(RESULT, CHANGED, ("torch.empty_like(x)", "x")),
        slip(RESULT, SHAPE, ("return out", "return out[:, None]")),
        slip(TYPE, DTYPE, ("torch.empty_like(x)", "torch.empty(x.shape, dtype=torch.float64)")),
        slip(MASK, OUT, (", mask=mask)\n    # END", ")\n    # END")),
        slip(MASK, OUT, ("offsets < n", "offsets <= n")),
        slip(MEANING, NUMBER, ("+ value", "+ tl.program_id(0)")),
    ),
    "scale_and_shift": (
        slip(GRID, FEW_PROGRAMS, ("[(triton.cdiv(n, 64),)]", "[(16,)]")),
        slip(GRID, FEW_PROGRAMS, ("[(triton.cdiv(n, 64),)]", "[(n // 64 if n > 64 else 1,)]")),
        slip(HOST, HOSTED, ("(x, y, out, n, a,", "(a * x + y, torch.zeros_like(y), out, n, 1.0,")),
        slip(HOST, HOSTED, ("(x, y, out, n, a,", "(a * x, y, out, n, 1.0,")),
        slip(HOST, NO_KERNEL, ("return out", "return torch.add(y, x, alpha=a)")),
        slip(RARE, NUMBER, ("a * x + y", "tl.abs(a) * x + y")),
        slip(TYPE, DTYPE, ("return out", "return out.half()")),
        slip(MEANING, NUMBER, ("a * x + y", "a * (x + y)")),
        slip(RESULT, CHANGED, ("torch.empty_like(x)", "y")),
    ),
    "relu": (
        slip(GRID, FEW_PROGRAMS, ("[(triton.cdiv(n, 128),)]", "[(4,)]")),
        slip(HOST, HOSTED, ("(x, out, n, BLOCK", "(x.clamp(min=0), out, n, BLOCK")),
        slip(HOST, NO_KERNEL, ("return out", "return x.relu()")),
        slip(HOST, NO_KERNEL, ("return out", "out[x < 0] = 0\n    return torch.where(x > 0, x, 0)")),
        slip(RARE, NUMBER, ("tl.where(x > 0, x, 0.0)", "tl.where(x > 0, x, -0.0 * x + 0.001 * (x < -3))")),
        slip(MEANING, NUMBER, ("tl.where(x > 0, x, 0.0)", "tl.abs(x)")),
        slip(MEANING, NUMBER, ("tl.where(x > 0, x, 0.0)", "tl.minimum(x, 0.0)")),
        slip(MASK, "no value|no program stored|never", (", 0.0), mask=mask)", ", 0.0), mask=mask & (x > 0))")),
        slip(
            TYPE,
            DTYPE,
            ("torch.empty_like(x)", "torch.empty(n_of(x), dtype=torch.int32)"),
            ("def relu(x)", "n_of = len\n\n\ndef relu(x)"),
        ),
    ),
    "square_in_place": (
        slip(GRID, FEW_PROGRAMS + "|must be", ("[(triton.cdiv(n, 128),)]", "[(2,)]")),
        slip(HOST, NO_KERNEL, ("    square_in_place_kernel", "    x *= x\n    0 and square_in_place_kernel")),
        slip(
            HOST,
            NO_KERNEL + "|must be",
            ("(x, n, BLOCK", "(x.clone(), n, BLOCK"),
            ("BLOCK=128)", "BLOCK=128)\n    x.square_()"),
        ),
        slip(
            LUCK,
            RACE + "|more than once|twice|must be",
            ("triton.cdiv(n, 128),)](x, n, BLOCK=128", "triton.cdiv(n, 64),)](x, n, BLOCK=128"),
        ),
        slip(MEANING, NUMBER, ("(x, n, BLOCK=128)", "(x.clone(), n, BLOCK=128)")),
        slip(MEANING, NUMBER, ("x * x", "x + x")),
        slip(MASK, OUT, ("offsets < n", "offsets < n + 1")),
        slip(WORK, LANES, ("BLOCK=128", "BLOCK=1"), ("triton.cdiv(n, 128)", "n")),
    ),
    "fused": (
        slip(GRID, FEW_PROGRAMS, ("[(triton.cdiv(n, 512),)]", "[(4,)]")),
        slip(HOST, HOSTED, ("(x, y, out, n, a,", "((a * x).relu(), y, out, n, 1.0,")),
        slip(HOST, HOSTED, ("    return out", "    return out.copy_((a * x).relu() + y)")),
        slip(MEANING, NUMBER, ("tl.maximum(a * x, 0.0) + y", "tl.maximum(a * x + y, 0.0)")),
        slip(RARE, NUMBER, ("tl.maximum(a * x, 0.0)", "a * tl.maximum(x, 0.0)")),
        slip(
            WORK,
            "once|launch|loads|twice",
            (
                "x, y, out, n, a, BLOCK=512)",
                "x, y, out, n, a, BLOCK=512)\n    fused_kernel[(triton.cdiv(n, 512),)](x, y, out, n, a, BLOCK=512)",
            ),
        ),
        slip(MASK, OUT, ("mask = offsets < n", "mask = offsets < n + a")),
    ),
    "reverse": (
        slip(GRID, FEW_PROGRAMS, ("[(triton.cdiv(n, 64),)]", "[(16,)]")),
        slip(HOST, HOSTED, ("(x, out, n, BLOCK", "(x.flip(0), out, n, BLOCK"), ("(n - 1 - offsets)", "offsets")),
        slip(HOST, NO_KERNEL, ("return out", "return out.flip(0)"), ("(n - 1 - offsets)", "offsets")),
        slip(MEANING, NUMBER, ("(n - 1 - offsets)", "(tl.program_id(0) * BLOCK + BLOCK - 1 - tl.arange(0, BLOCK))")),
        slip(MASK, OUT, ("n - 1 - offsets", "n - offsets")),
        slip(RESULT, CHANGED, ("out = torch.empty_like(x)", "out = x")),
        slip(TYPE, DTYPE, ("torch.empty_like(x)", "torch.empty(len(x), dtype=torch.float16)")),
        slip(
            LUCK, RACE, ("out = torch.empty_like(x)", "out = x.clone()"), ("(x, out, n, BLOCK", "(out, out, n, BLOCK")
        ),
    ),
    "outer_sum": (
        slip(GRID, FEW_PROGRAMS, (_PAIRS_GRID, "grid = (8, 8)")),
        slip(GRID, OUT + "|" + FEW_PROGRAMS, (_PAIRS_GRID, "grid = (triton.cdiv(columns, 8), triton.cdiv(rows, 16))")),
        slip(HOST, NO_KERNEL, ("return out", "return x[:, None] + y")),
        slip(
            HOST,
            HOSTED,
            ("[grid](x, y, out,", "[grid](x, (y + 0).add_(x[0] - x[0]), out,"),
            ("return out", "return (x.reshape(-1, 1) + y.reshape(1, -1)).to(out.dtype)"),
        ),
        slip(RESULT, "contiguous|strides|shape", ("return out", "return out.t()")),
        slip(MEANING, NUMBER, ("i[:, None] * columns + j[None, :]", "i[:, None] + j[None, :] * rows")),
        slip(MASK, NUMBER + "|no program stored|out of bounds", ("(j < columns)[None, :]", "(j < rows)[None, :]")),
        slip(
            MASK,
            NUMBER + "|out of bounds|race",
            (
                "mask = (i < rows)[:, None] & (j < columns)[None, :]",
                "mask = (i[:, None] * columns + j[None, :]) < rows * columns",
            ),
        ),
        slip(TYPE, DTYPE, ("dtype=x.dtype", "dtype=torch.float64")),
    ),
    "add_bias": (
        slip(GRID, FEW_PROGRAMS, ("triton.cdiv(columns, 32))", "1)")),
        slip(GRID, FEW_PROGRAMS, ("grid = (triton.cdiv(rows, 8), triton.cdiv(columns, 32))", "grid = (4, 4)")),
        slip(HOST, HOSTED, ("(x, bias, out,", "(x + bias, torch.zeros_like(bias), out,")),
        slip(
            HOST,
            HOSTED,
            ("(x, bias, out,", "(bias.expand_as(x).contiguous(), x, out,"),
            ("return out", "return out.copy_(x + bias)"),
        ),
        slip(
            MEANING,
            NUMBER + "|out of bounds|shapes",
            ("bias_ptr + j, mask=j < columns", "bias_ptr + i, mask=i < rows"),
            ("bias[None, :]", "bias[:, None]"),
        ),
        slip(
            RARE,
            OUT + "|" + NUMBER,
            ("j[None, :]\n", "j[None, :] * (columns // columns)\n"),
            ("i[:, None] * columns", "i[:, None] * COLUMNS"),
        ),
        slip(MASK, OUT, ("bias_ptr + j, mask=j < columns", "bias_ptr + j")),
        slip(RESULT, CHANGED, ("torch.empty_like(x)", "x")),
    ),
    "double_by_four": (
        slip(GRID, "4|grid|number of programs", ("[(4,)]", "[(triton.cdiv(x.numel(), 64),)]")),
        slip(GRID, "4|grid|number of programs", ("[(4,)]", "[(1,)]")),
        slip(
            GRID,
            FEW_PROGRAMS + "|must be|no value|loop",
            (
                "range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK)",
                "range(tl.program_id(0) * BLOCK, 512, tl.num_programs(0) * BLOCK)",
            ),
        ),
        slip(
            WORK,
            "same|twice|more than once|race|program|loads",
            ("range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK)", "range(0, n, BLOCK)"),
        ),
        slip(HOST, HOSTED, ("(x, out,", "(2 * x, out,"), ("2 * tl.load", "tl.load")),
        slip(
            MEANING,
            "no value|no program stored|must be",
            ("tl.num_programs(0) * BLOCK)", "4 * tl.num_programs(0) * BLOCK)"),
        ),
        slip(MASK, OUT, ("mask = offsets < n", "mask = offsets < tl.cdiv(n, BLOCK) * BLOCK")),
        slip(WORK, LANES, ("BLOCK=64", "BLOCK=1")),
    ),
    "outer_relu": (
        slip(GRID, FEW_PROGRAMS, (_PAIRS_GRID, "grid = (4, 4)")),
        slip(
            HOST,
            HOSTED,
            ("[grid](x, y, out,", "[grid](torch.outer(x, y).relu(), y, out,"),
            ("return out", "return out.copy_(torch.outer(x, y).relu())"),
        ),
        slip(HOST, NO_KERNEL, ("tl.maximum(products, 0.0)", "products"), ("return out", "return out.relu()")),
        slip(RARE, NUMBER, ("x[:, None] * y[None, :]", "tl.maximum(x, 0.0)[:, None] * tl.maximum(y, 0.0)[None, :]")),
        slip(MEANING, NUMBER, ("x[:, None] * y[None, :]", "x[:, None] + y[None, :]")),
        slip(
            MASK, OUT, ("(i < rows)[:, None] & (j < columns)[None, :]", "(i < rows)[:, None] | (j < columns)[None, :]")
        ),
        slip(
            RESULT,
            "contiguous|strides",
            ("torch.empty((rows, columns), dtype=x.dtype)", "torch.empty((rows, 2 * columns), dtype=x.dtype)[:, ::2]"),
            ("i[:, None] * columns + j[None, :]", "i[:, None] * 2 * columns + 2 * j[None, :]"),
        ),
    ),
}
