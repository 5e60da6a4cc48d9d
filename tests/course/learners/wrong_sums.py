"""Wrong answers to the exercises of chapter 11."""

# ruff: noqa: E501 - a change is quoted as it stands in the answer

from __future__ import annotations

from tests.course.learners.slips import (
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
    OTHER,
    OUT,
    OVERFLOW,
    RACE,
    RARE,
    RESULT,
    TYPE,
    UNWRITTEN,
    WORK,
    Slip,
    slip,
)

_TOTAL = "tl.atomic_add(out_ptr, tl.sum(x, axis=0))"
_COUNTS = "tl.atomic_add(out_ptr, tl.sum((x > 0).to(tl.int32), axis=0))"

WRONG: dict[str, tuple[Slip, ...]] = {
    "total": (
        slip(LUCK, RACE, (_TOTAL, "tl.store(out_ptr, tl.load(out_ptr) + tl.sum(x, axis=0))")),
        slip(LUCK, RACE, ("tl.atomic_add(out_ptr,", "tl.store(out_ptr,")),
        slip(WORK, "atomic|one for each", (_TOTAL, "tl.atomic_add(out_ptr + 0 * offsets, x)")),
        slip(
            WORK,
            "one program|program|grid",
            (
                "    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)\n",
                "    x = tl.zeros((BLOCK,), tl.float32)\n    for start in range(0, n, BLOCK):\n        offsets = start + tl.arange(0, BLOCK)\n        x += tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)\n",
            ),
            ("(triton.cdiv(n, 64),)", "(1,)"),
        ),
        slip(MASK, OTHER, (", other=0.0", "")),
        slip(MEANING, UNWRITTEN, ("torch.zeros(1)", "torch.empty(1)")),
        slip(GRID, FEW_PROGRAMS + "|must be", ("(triton.cdiv(n, 64),)", "(16,)")),
        slip(HOST, NO_KERNEL, ("return out", "return x.sum().reshape(1)")),
        slip(
            HOST,
            HOSTED,
            (
                "    total_kernel[(triton.cdiv(n, 64),)](x, out, n,",
                "    total_kernel[(1,)](x.sum().reshape(1), out, 1,",
            ),
        ),
        slip(
            HOST,
            NO_KERNEL + "|host",
            ("    out = torch.zeros(1)\n", "    out = torch.zeros(triton.cdiv(x.numel(), 64))\n"),
            ("tl.atomic_add(out_ptr,", "tl.store(out_ptr + tl.program_id(0),"),
            ("return out", "return out.sum(0, keepdim=True)"),
        ),
        slip(RESULT, "shape", ("return out", "return out[0]")),
    ),
    "count_positive": (
        slip(RARE, NUMBER, ("x > 0", "x >= 0"), ("other=0.0", "other=-1.0")),
        slip(
            RARE,
            OVERFLOW + "|must be",
            ("tl.sum((x > 0).to(tl.int32), axis=0)", "tl.sum(x.to(tl.int32) > 0, axis=0).to(tl.int32)"),
        ),
        slip(LUCK, RACE, (_COUNTS, "tl.store(out_ptr, tl.load(out_ptr) + tl.sum((x > 0).to(tl.int32), axis=0))")),
        slip(MASK, OTHER + "|must be", ("other=0.0", "other=1.0")),
        slip(MASK, OTHER, (", other=0.0", "")),
        slip(WORK, "atomic|one for each", (_COUNTS, "tl.atomic_add(out_ptr + 0 * offsets, 1, mask=x > 0)")),
        slip(TYPE, DTYPE, ("dtype=torch.int32", "dtype=torch.int64")),
        slip(TYPE, DTYPE, ("dtype=torch.int32", "dtype=torch.float32")),
        slip(HOST, NO_KERNEL, ("    return out", "    return (x > 0).sum(dtype=torch.int32).reshape(1)")),
        slip(HOST, HOSTED, ("(x, out, n,", "((x > 0).float(), out, n,")),
        slip(GRID, FEW_PROGRAMS + "|must be", ("[(triton.cdiv(n, 64),)]", "[(8,)]")),
    ),
    "histogram": (
        slip(
            LUCK,
            RACE,
            (
                "tl.atomic_add(out_ptr + x, 1, mask=mask)",
                "tl.store(out_ptr + x, tl.load(out_ptr + x, mask=mask) + 1, mask=mask)",
            ),
        ),
        slip(MASK, NUMBER + "|mask", ("1, mask=mask", "1")),
        slip(MEANING, UNWRITTEN, ("torch.zeros(bins", "torch.empty(bins")),
        slip(
            RARE,
            OUT + "|shape|power",
            (
                "tl.atomic_add(out_ptr + x, 1, mask=mask)",
                "tl.atomic_add(out_ptr + tl.arange(0, BLOCK), tl.histogram(x, BLOCK), mask=tl.arange(0, BLOCK) < 8)",
            ),
        ),
        slip(HOST, NO_KERNEL, ("return out", "return torch.bincount(x, minlength=bins).int()")),
        slip(HOST, HOSTED, ("(x, out, n,", "(x.sort().values, out, n,")),
        slip(TYPE, DTYPE, ("dtype=torch.int32", "dtype=torch.int64")),
        slip(GRID, FEW_PROGRAMS + "|must be", ("[(triton.cdiv(n, 64),)]", "[(8,)]")),
        slip(WORK, LANES, ("BLOCK=64", "BLOCK=1"), ("triton.cdiv(n, 64)", "n")),
    ),
    "add_at": (
        slip(
            LUCK,
            RACE,
            ("tl.atomic_add(out_ptr + index, values, mask=mask)", "tl.store(out_ptr + index, values, mask=mask)"),
        ),
        slip(
            LUCK,
            RACE,
            (
                "tl.atomic_add(out_ptr + index, values, mask=mask)",
                "tl.store(out_ptr + index, tl.load(out_ptr + index, mask=mask) + values, mask=mask)",
            ),
        ),
        slip(MEANING, UNWRITTEN, ("torch.zeros(size)", "torch.empty(size)")),
        slip(HOST, NO_KERNEL, ("return out", "return torch.zeros(size).index_add_(0, index, values)")),
        slip(
            HOST,
            HOSTED,
            ("(values, index, out, n,", "(out.clone().index_add_(0, index, values), torch.arange(size), out, size,"),
            ("(triton.cdiv(n, 64),)", "(triton.cdiv(size, 64),)"),
        ),
        slip(GRID, FEW_PROGRAMS + "|must be", ("[(triton.cdiv(n, 64),)]", "[(8,)]")),
        slip(MEANING, NUMBER, ("values, mask=mask)", "1.0, mask=mask)")),
        slip(TYPE, DTYPE, ("torch.zeros(size)", "torch.zeros(size, dtype=torch.float64)")),
        slip(RARE, NUMBER, ("values, mask=mask)", "values, mask=mask & (index > 0))")),
    ),
    "best": (
        slip(LUCK, RACE + "|lock", ("    while tl.atomic_cas(lock_ptr, 0, 1) == 1:\n        pass\n", "")),
        slip(LUCK, "barrier|race|lock|release", ("    tl.debug_barrier()\n", "")),
        slip(
            LUCK,
            RACE + "|lock",
            ("    if value > tl.load(best_ptr):", "    found = tl.load(best_ptr)\n    if value > found:"),
            (
                "    while tl.atomic_cas(lock_ptr, 0, 1) == 1:\n        pass\n    found = tl.load(best_ptr)\n",
                "    found = tl.load(best_ptr)\n    while tl.atomic_cas(lock_ptr, 0, 1) == 1:\n        pass\n",
            ),
        ),
        slip(
            LUCK,
            RACE + "|lock|must be",
            ("        tl.store(best_ptr + 1, place.to(tl.float32))\n", ""),
            (
                "    tl.atomic_xchg(lock_ptr, 0)\n",
                "    tl.atomic_xchg(lock_ptr, 0)\n    if value == tl.load(best_ptr):\n        tl.store(best_ptr + 1, place.to(tl.float32))\n",
            ),
        ),
        slip(LUCK, "lock|deadlock|wait", ("    tl.atomic_xchg(lock_ptr, 0)\n", "")),
        slip(RARE, NUMBER + "|other|-inf", ('other=float("-inf")', "other=0.0")),
        slip(MEANING, NUMBER, ("tl.program_id(0) * BLOCK + tl.argmax(x, axis=0)", "tl.argmax(x, axis=0)")),
        slip(MEANING, NUMBER, ("value > tl.load", "value < tl.load")),
        slip(HOST, NO_KERNEL, ("return kept", "return torch.stack([x.max(), x.argmax().float()])")),
        slip(
            WORK,
            "one program|program|grid|lock",
            ("(triton.cdiv(n, 64),)", "(1,)"),
            ("BLOCK=64", "BLOCK=triton.next_power_of_2(n)"),
        ),
    ),
}
