"""Wrong answers to the exercises of chapters 13 and 14."""

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
    ONCE,
    OTHER,
    OUT,
    OVERFLOW,
    RARE,
    RESULT,
    ROUNDED,
    STRIDE,
    TYPE,
    WORK,
    Slip,
    slip,
)

_QUERIES = "grid = (triton.cdiv(tokens, 32), heads)"
_NEW = "new = tl.maximum(high, tl.max(scores, axis=1))"
_SEEN = 'tl.where((key < tokens)[None, :], scores, float("-inf"))'
_CAUSAL = "key[None, :] <= query[:, None]"
_STRIDES = "(*q.stride()[:2], *k.stride()[:2], *v.stride()[:2])"
_DENSE = "(tokens * dim, dim) * 3"

WRONG: dict[str, tuple[Slip, ...]] = {
    "log_sum_exp": (
        slip(
            RARE,
            OVERFLOW + "|must be",
            ("new = tl.maximum(high, tl.max(x, axis=0))", "new = 0.0 * tl.maximum(high, 0.0)"),
            ('high = float("-inf")', "high = 0.0"),
        ),
        slip(MEANING, NUMBER, ("total * tl.exp(high - new) +", "total +")),
        slip(MEANING, NUMBER, ("high + tl.log(total)", "tl.log(total)")),
        slip(RARE, NUMBER, ('mask=j < columns, other=float("-inf")', "mask=j < columns, other=0.0")),
        slip(
            RARE,
            NUMBER + "|nan|iteration",
            ('high = float("-inf")', "high = -100.0"),
            ("high + tl.log(total)", "high + tl.log(total + 1e-30)"),
        ),
        slip(
            WORK,
            ONCE,
            (
                "        total = total *",
                '        x = tl.load(x_ptr + row * stride_0 + j * stride_1, mask=j < columns, other=float("-inf"))\n        total = total *',
            ),
        ),
        slip(STRIDE, NOT_CONTIGUOUS, ("x.stride(0), x.stride(1)", "columns, 1")),
        slip(GRID, "32|lanes|block", ("BLOCK=32", "BLOCK=triton.next_power_of_2(columns)")),
        slip(HOST, NO_KERNEL, ("return out", "return x.logsumexp(1)")),
        slip(HOST, HOSTED, ("(x, out, columns, x.stride(0), x.stride(1)", "(x.contiguous(), out, columns, columns, 1")),
        slip(MASK, OTHER + "|nan", (', other=float("-inf"))', ")")),
    ),
    "attention": (
        slip(
            RARE,
            OVERFLOW + "|must be",
            (_NEW, "new = tl.zeros((BLOCK,), tl.float32) + 0 * high"),
            ('tl.full((BLOCK,), float("-inf"), tl.float32)', "tl.zeros((BLOCK,), tl.float32)"),
        ),
        slip(RARE, NUMBER, (f"        scores = {_SEEN}\n", "")),
        slip(MEANING, NUMBER, ("result * shrink[:, None]", "result")),
        slip(MEANING, NUMBER, ("total * shrink", "total")),
        slip(MEANING, NUMBER, ("1 / math.sqrt(dim)", "1 / dim")),
        slip(MEANING, NUMBER, ("1 / math.sqrt(dim)", "1 / math.sqrt(32)")),
        slip(STRIDE, NOT_CONTIGUOUS, (_STRIDES, _DENSE)),
        slip(STRIDE, NOT_CONTIGUOUS, ("*v.stride()[:2]", "*k.stride()[:2]")),
        slip(RARE, "tf32|" + ROUNDED, ('tl.trans(k), input_precision="ieee"', "tl.trans(k)")),
        slip(
            RARE,
            ROUNDED + "|must be",
            (
                "total * shrink + tl.sum(weights, axis=1)",
                "(total * shrink + tl.sum(weights, axis=1)).to(tl.float16).to(tl.float32)",
            ),
        ),
        slip(GRID, FEW_PROGRAMS, (_QUERIES, "grid = (2, heads)")),
        slip(GRID, FEW_PROGRAMS, (_QUERIES, "grid = (triton.cdiv(tokens, 32), 2)")),
        slip(TYPE, DTYPE, ("dtype=q.dtype", "dtype=torch.float32")),
        slip(HOST, NO_KERNEL, ("return out", "return torch.nn.functional.scaled_dot_product_attention(q, k, v)")),
        slip(
            HOST,
            HOSTED,
            (
                "[grid](q, k, v, out, tokens, 1 / math.sqrt(dim), *strides",
                "[grid](q.contiguous(), k.contiguous(), v.contiguous(), out, tokens, 1 / math.sqrt(dim), *(tokens * dim, dim) * 3",
            ),
        ),
        slip(
            HOST, HOSTED, ("(q, k, v, out, tokens, 1 / math.sqrt(dim)", "(q / math.sqrt(dim), k, v, out, tokens, 1.0")
        ),
    ),
    "causal_attention": (
        slip(
            MEANING,
            NUMBER,
            (_CAUSAL, "key[None, :] < tokens"),
            ("end = tl.minimum(tokens, (tl.program_id(0) + 1) * BLOCK)", "end = tokens"),
        ),
        slip(MEANING, NUMBER + "|nan", (_CAUSAL, "key[None, :] < query[:, None]")),
        slip(MEANING, NUMBER, (_CAUSAL, "key[None, :] >= query[:, None]")),
        slip(
            WORK,
            "skip|blocks|loads|elements|once",
            ("end = tl.minimum(tokens, (tl.program_id(0) + 1) * BLOCK)", "end = tokens"),
        ),
        slip(MEANING, NUMBER + "|iteration", ("(tl.program_id(0) + 1) * BLOCK", "tl.program_id(0) * BLOCK")),
        slip(RARE, NUMBER, ('scores, float("-inf"))', "scores, 0.0)")),
        slip(STRIDE, NOT_CONTIGUOUS, (_STRIDES, _DENSE)),
        slip(GRID, FEW_PROGRAMS, (_QUERIES, "grid = (3, heads)")),
        slip(TYPE, DTYPE, ("dtype=q.dtype", "dtype=torch.float32")),
        slip(
            HOST,
            NO_KERNEL,
            ("return out", "return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)"),
        ),
        slip(MEANING, NUMBER, ("result / total[:, None]", "result")),
    ),
    "delta_of": (
        slip(STRIDE, NOT_CONTIGUOUS, ("*dout.stride()", "*out.stride()")),
        slip(STRIDE, NOT_CONTIGUOUS, ("*out.stride(), *dout.stride()", "tokens * dim, dim, 1, tokens * dim, dim, 1")),
        slip(
            HOST,
            HOSTED,
            (
                "out, dout, delta, rows, tokens, *out.stride(), *dout.stride()",
                "out, dout.contiguous(), delta, rows, tokens, *out.stride(), tokens * dim, dim, 1",
            ),
        ),
        slip(HOST, NO_KERNEL, ("return delta", "return (out.float() * dout.float()).sum(-1)")),
        slip(RARE, ROUNDED, (".to(tl.float32)", "")),
        slip(MEANING, NUMBER, ("tl.sum(o * g, axis=1)", "tl.sum(o + g, axis=1)")),
        slip(MEANING, NUMBER, ("row // tokens, row % tokens", "row % tokens, row // tokens")),
        slip(GRID, FEW_PROGRAMS, ("(triton.cdiv(rows, 32),)", "(triton.cdiv(tokens, 32),)")),
        slip(TYPE, DTYPE, ("torch.empty((heads, tokens))", "torch.empty((heads, tokens), dtype=out.dtype)")),
        slip(RESULT, "shape", ("return delta", "return delta[..., None]")),
        slip(
            WORK,
            ONCE,
            (
                "    tl.store(delta_ptr",
                "    o = tl.load(out_ptr + o_at, mask=mask, other=0.0).to(tl.float32)\n    tl.store(delta_ptr",
            ),
        ),
    ),
    "gradient_of_v": (
        slip(
            LUCK, "must be|nan|mask", ("tl.where(there[:, None], tl.exp(scores - lse[:, None]), 0.0)", "tl.exp(scores)")
        ),
        slip(MEANING, NUMBER + "|shapes", ("tl.trans(weights), dout", "weights, dout")),
        slip(MEANING, NUMBER, ("1 / math.sqrt(dim)", "1 / dim")),
        slip(
            RARE,
            "tf32|" + ROUNDED,
            ('tl.dot(tl.trans(weights), dout, input_precision="ieee")', "tl.dot(tl.trans(weights), dout)"),
        ),
        slip(RARE, ROUNDED, ("tl.trans(weights), dout,", "tl.trans(weights).to(tl.bfloat16), dout.to(tl.bfloat16),")),
        slip(GRID, FEW_PROGRAMS, (_QUERIES, "grid = (2, heads)")),
        slip(HOST, NO_KERNEL, ("return dv", "return ((q @ k.mT / math.sqrt(dim)).softmax(-1)).mT @ dout")),
        slip(
            HOST,
            HOSTED,
            ("[grid](q, k, lse,", "[grid](q / math.sqrt(dim), k, lse,"),
            ("tokens, 1 / math.sqrt(dim)", "tokens, 1.0"),
        ),
        slip(MEANING, "overwrites|must be", ("dv += tl.dot", "dv = tl.dot")),
        slip(RARE, "must be|iteration", ("range(0, tokens, BLOCK)", "range(0, tokens // BLOCK * BLOCK, BLOCK)")),
    ),
    "gradient_of_q": (
        slip(MEANING, NUMBER, ("dq * scale", "dq")),
        slip(MEANING, NUMBER, (" - delta[:, None])", ")")),
        slip(MEANING, NUMBER, (" - delta[:, None])", " + delta[:, None])")),
        slip(RARE, "tf32|" + ROUNDED, ('tl.dot(change, k, input_precision="ieee")', "tl.dot(change, k)")),
        slip(MEANING, "overwrites|must be", ("dq += tl.dot", "dq = tl.dot")),
        slip(MEANING, NUMBER, ("tl.dot(change, k,", "tl.dot(change, v,")),
        slip(GRID, FEW_PROGRAMS, (_QUERIES, "grid = (1, heads)")),
        slip(MASK, OTHER + "|out of bounds", ("k_ptr + k_at, mask=mask, other=0.0", "k_ptr + k_at, mask=mask")),
        slip(
            HOST,
            HOSTED,
            (
                "        q, k, v, lse, delta, dout, dq, tokens, 1 / math.sqrt(dim)",
                "        q, k / math.sqrt(dim), v, lse, delta, dout, dq, tokens, 1.0",
            ),
        ),
        slip(RESULT, "shape|must be", ("return dq", "return dq.transpose(0, 1)")),
    ),
    "merge": (
        slip(RARE, OVERFLOW + "|must be", ("tl.exp(lse - tl.max(lse, axis=0))", "tl.exp(lse)")),
        slip(MEANING, NUMBER, ("total / tl.sum(weights, axis=0)", "total / splits")),
        slip(MEANING, NUMBER, ("tl.exp(lse - tl.max(lse, axis=0))", "tl.where(s < splits, lse, 0.0)")),
        slip(RARE, NUMBER, ('other=float("-inf")', "other=0.0")),
        slip(GRID, FEW_PROGRAMS, ("[(heads,)]", "[(2,)]")),
        slip(GRID, "must be|block|splits|out of bounds", ("SPLITS=triton.next_power_of_2(splits)", "SPLITS=4")),
        slip(HOST, NO_KERNEL, ("    return out", "    return (lse.softmax(1)[..., None] * parts).sum(1)")),
        slip(HOST, HOSTED, ("[(heads,)](parts, lse,", "[(heads,)](parts, lse - lse.amax(1, keepdim=True),")),
        slip(MASK, OUT + "|must be", ("mask=(s < splits)[:, None], other=0.0", "mask=(s >= 0)[:, None], other=0.0")),
    ),
}
