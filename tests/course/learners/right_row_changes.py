"""Right answers to chapters 07 to 14 that differ from the teacher's in blocks, launchers and habits."""

# ruff: noqa: E501 - a change is quoted as it stands in the answer

from __future__ import annotations

from tests.course.learners.slips import Changes

_LARGE = "larger blocks"
_WARPS = "num_warps and num_stages"

RIGHT: dict[str, tuple[tuple[str, Changes], ...]] = {
    "row_sum": (
        ("a larger block", (("triton.next_power_of_2(columns)", "2 * triton.next_power_of_2(columns)"),)),
        ("float64 inside", (("tl.sum(x, axis=0)", "tl.sum(x.to(tl.float64), axis=0)"),)),
        ("chosen after the load", ((", other=0.0)", ")\n    x = tl.where(column < columns, x, 0.0)"),)),
    ),
    "row_range": (
        (
            "negated",
            (
                (
                    'tl.min(tl.where(mask, x, float("inf")), axis=0)',
                    '-tl.max(tl.where(mask, -x, float("-inf")), axis=0)',
                ),
            ),
        ),
        ("a large number", (('float("-inf")', "-3.4e38"), ('float("inf")', "3.4e38"))),
    ),
    "softmax": (
        ("exp2", (("tl.exp(x - tl.max(x, axis=0))", "tl.exp2((x - tl.max(x, axis=0)) * 1.4426950408889634)"),)),
        ("tl.softmax", (("    e = tl.exp(x - tl.max(x, axis=0))\n", ""), ("e / tl.sum(e, axis=0)", "tl.softmax(x)"))),
        (
            "logarithm of the sum",
            (("e / tl.sum(e, axis=0)", "tl.exp(x - tl.max(x, axis=0) - tl.log(tl.sum(e, axis=0)))"),),
        ),
        (_WARPS, (("BLOCK=triton", "num_warps=8, num_stages=4, BLOCK=triton"),)),
        ("a product by the reciprocal", (("e / tl.sum(e, axis=0)", "e * (1.0 / tl.sum(e, axis=0))"),)),
    ),
    "long_row_sum": (("partial sums", (("        total += tl.load(\n", "        total = total + tl.load(\n"),)),),
    "normalise": (
        ("rsqrt", (("centred / tl.sqrt(variance + 1e-5)", "centred * tl.rsqrt(variance + 1e-5)"),)),
        ("other=", (("x - mean, 0.0)", "x - mean, 0)"),)),
    ),
    "layer_norm": (
        ("rsqrt", (("centred / tl.sqrt(variance + 1e-5)", "centred * tl.rsqrt(variance + 1e-5)"),)),
        ("float64 inside", ((".to(tl.float32)", ".to(tl.float64)"),)),
        ("fma", (("* weight + bias", "* weight\n    y = y + bias"),)),
    ),
    "recurrence": (("other=1", (("mask=mask, other=0.0)\n    b", "mask=mask, other=1.0)\n    b"),)),),
    "running_sums": (
        (
            "a scan with tl.associative_scan",
            (
                ("tl.cumsum(x, axis=0)", "tl.associative_scan(x, 0, added)"),
                ("@triton.jit\n", "@triton.jit\ndef added(p, q):\n    return p + q\n\n\n@triton.jit\n"),
            ),
        ),
    ),
    "matmul": (
        ("a sum of products", (("accumulator = tl.dot(a, b, accumulator, ", "accumulator += tl.dot(a, b, "),)),
        (
            "small tiles",
            (
                ("triton.cdiv(M, 32), triton.cdiv(N, 32)", "triton.cdiv(M, 16), triton.cdiv(N, 16)"),
                ("BLOCK=32", "BLOCK=16"),
            ),
        ),
        (
            "large tiles",
            (
                ("triton.cdiv(M, 32), triton.cdiv(N, 32)", "triton.cdiv(M, 64), triton.cdiv(N, 64)"),
                ("BLOCK=32", "BLOCK=64"),
            ),
        ),
        (
            "converted at the end",
            (("N + j[None, :], accumulator,", "N + j[None, :], accumulator.to(c_ptr.dtype.element_ty),"),),
        ),
        (
            "wrapped indices",
            (
                ("i[:, None] * am", "(i % M)[:, None] * am"),
                ("j[None, :] * bn", "(j % N)[None, :] * bn"),
                ("(i < M)[:, None] & inside[None, :]", "inside[None, :]"),
                ("inside[:, None] & (j < N)[None, :]", "inside[:, None]"),
            ),
        ),
        (
            "numbers of steps",
            (
                (
                    "    for start in range(0, K, BLOCK):\n        inside",
                    "    for step in range(tl.cdiv(K, BLOCK)):\n        start = step * BLOCK\n        inside",
                ),
            ),
        ),
    ),
    "layer": (
        (
            "the weight transposed in registers",
            (
                (
                    "k[:, None] * wk + j[None, :] * wn, mask=w_mask, other=0.0)",
                    "j[:, None] * wn + k[None, :] * wk, mask=(j < N)[:, None] & (k < K)[None, :], other=0.0)",
                ),
                ("tl.dot(x, w,", "tl.dot(x, tl.trans(w),"),
            ),
        ),
        (
            "the bias first",
            (
                (
                    "tl.zeros((BLOCK, BLOCK), tl.float32)",
                    "tl.zeros((BLOCK, BLOCK), tl.float32) + tl.load(bias_ptr + j, mask=j < N, other=0.0)[None, :]",
                ),
                ("    bias = tl.load(bias_ptr + j, mask=j < N, other=0.0)\n", ""),
                ("accumulator + bias[None, :]", "accumulator"),
            ),
        ),
    ),
    "batched": (
        (
            "a launcher with lambda meta",
            (
                (
                    "batched_kernel[grid]",
                    "batched_kernel[lambda meta: (triton.cdiv(M, meta['BLOCK']), triton.cdiv(N, meta['BLOCK']), products)]",
                ),
            ),
        ),
    ),
    "quantised": (
        (
            "scaled before the product",
            (
                ("    scale = tl.load(scale_ptr + j, mask=j < N, other=0.0)\n", ""),
                (
                    "    accumulator = tl.zeros",
                    "    scale = tl.load(scale_ptr + j, mask=j < N, other=0.0)\n    accumulator = tl.zeros",
                ),
                ("b.to(tl.float32), acc", "b.to(tl.float32) * scale[None, :], acc"),
                ("accumulator * scale[None, :]", "accumulator"),
            ),
        ),
    ),
    "total": (
        ("relaxed", (("axis=0))", "axis=0), sem='relaxed')"),)),
        (_LARGE, (("64", "1024"),)),
        ("new_zeros", (("torch.zeros(1)", "x.new_zeros(1)"),)),
    ),
    "count_positive": (("chosen", (("(x > 0).to(tl.int32)", "tl.where(x > 0, 1, 0)"),)),),
    "histogram": (("relaxed", (("mask=mask)\n    # END", "mask=mask, sem='relaxed')\n    # END"),)),),
    "add_at": (("relaxed", (("values, mask=mask)", "values, mask=mask, sem='relaxed')"),)),),
    "best": (
        (
            "another loop",
            (("    while tl.atomic_cas(lock_ptr, 0, 1) == 1:\n", "    while tl.atomic_cas(lock_ptr, 0, 1) != 0:\n"),),
        ),
        (
            "max with indices",
            (
                (
                    "    value = tl.max(x, axis=0)\n    place = tl.program_id(0) * BLOCK + tl.argmax(x, axis=0)\n",
                    "    value, at = tl.max(x, axis=0, return_indices=True)\n    place = tl.program_id(0) * BLOCK + at\n",
                ),
            ),
        ),
    ),
    "dropout": (("multiplied", (("x / (1 - p)", "x * (1 / (1 - p))"),)), (_LARGE, (("256", "1024"),))),
    "uniform": (("a smaller block", (("256", "64"),)),),
    "log_sum_exp": (
        (
            "exp2",
            (
                (
                    "total * tl.exp(high - new) + tl.sum(tl.exp(x - new), axis=0)",
                    "total * tl.exp2((high - new) * 1.4426950408889634) + tl.sum(tl.exp2((x - new) * 1.4426950408889634), axis=0)",
                ),
            ),
        ),
    ),
    "attention": (
        ("small blocks", (("triton.cdiv(tokens, 32)", "triton.cdiv(tokens, 16)"), ("BLOCK=32", "BLOCK=16"))),
        ("large blocks", (("triton.cdiv(tokens, 32)", "triton.cdiv(tokens, 64)"), ("BLOCK=32", "BLOCK=64"))),
        ("exp2", (("1 / math.sqrt(dim)", "1.4426950408889634 / math.sqrt(dim)"), ("tl.exp(", "tl.exp2("))),
        ("the query scaled", (("other=0.0)\n    high", "other=0.0)\n    q = (q * 1.0).to(q.dtype)\n    high"),)),
        (
            "an accumulator in dot",
            (
                (
                    'result * shrink[:, None] + tl.dot(weights.to(v.dtype), v, input_precision="ieee")',
                    'tl.dot(weights.to(v.dtype), v, result * shrink[:, None], input_precision="ieee")',
                ),
            ),
        ),
    ),
    "causal_attention": (
        ("exp2", (("1 / math.sqrt(dim)", "1.4426950408889634 / math.sqrt(dim)"), ("tl.exp(", "tl.exp2("))),
        ("a large negative number", (('scores, float("-inf"))', "scores, -1.0e30)"),)),
    ),
    "delta_of": (("a smaller block", (("rows, 32)", "rows, 16)"), ("BLOCK=32", "BLOCK=16"))),),
    "gradient_of_v": (
        ("exp2", (("tl.exp(scores - lse[:, None])", "tl.exp2((scores - lse[:, None]) * 1.4426950408889634)"),)),
    ),
    "gradient_of_q": (
        ("exp2", (("tl.exp(scores - lse[:, None])", "tl.exp2((scores - lse[:, None]) * 1.4426950408889634)"),)),
    ),
    "merge": (
        (
            "divided first",
            (
                (
                    "total = tl.sum(weights[:, None] * parts, axis=0)",
                    "weights = weights / tl.sum(weights, axis=0)\n    total = tl.sum(weights[:, None] * parts, axis=0)",
                ),
                ("total / tl.sum(weights, axis=0)", "total"),
            ),
        ),
    ),
}
