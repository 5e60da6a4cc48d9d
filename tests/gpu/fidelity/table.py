"""The table, as Markdown: a row for each operation, a column for each type of number, a sign for how near they are."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Sequence

from tests.gpu.fidelity.measured import CLASSES, DIFFERENT, EQUAL, NOWHERE, ONE, TOLERANCE, TWO, Row

_SIGNS = {EQUAL: "=", ONE: "1", TWO: "2", TOLERANCE: "~", DIFFERENT: "≠", NOWHERE: ""}


def text_of(rows: Sequence[Row], left: int, against: str, operations: Sequence[str], dtypes: Sequence[str]) -> str:
    """All of it."""
    found = {(row.operation, row.dtype): row for row in rows}
    used = [dtype for dtype in dtypes if any(found.get((name, dtype)) for name in operations)]
    counts = Counter(row.found for row in rows if row.dtype)
    refused = sum(1 for row in rows if row.found.startswith("refused by"))
    lines = [
        "# How near the interpreter is to a GPU",
        "",
        _machine(against),
        "",
        "Each operation is tried on 2^16 values of each operand: all patterns of formats of 8 and 16 bits; of wide "
        "ones all exponents, subnormal numbers, zeros of both signs, infinities, NaNs, and what lies near the borders "
        "of other formats; then on numbers around 1. Any NaN counts as any other. Left out is what has no meaning: "
        "integers divided by zero, shifts by as many bits as there are. What `can_reorder` allows is compared in any "
        "order. The sign is that of the worst lane: "
        "`=` the same bits, `1` and `2` so many units in the last place at most, `~` within 2^-10 of the largest "
        "number that a program has computed, `≠` farther, as where numbers overflow or are subnormal; no sign where "
        "the language has no such operation, `?` where it was not measured in time, `!` where the GPU alone refuses "
        "it.",
        "",
        "; ".join(f"{counts[name]} {name}" for name in CLASSES if counts[name])
        + f". Refused by the GPU alone: {refused}."
        + (f" Not measured in time: {left} of {len(rows) + left} rows." if left else ""),
        "",
        "| operation | " + " | ".join(used) + " | why it may differ, and the switch |",
        "|" + "---|" * (len(used) + 2),
    ]
    for name in operations:
        here = [found.get((name, dtype)) for dtype in used]
        if not any(row is not None and row.found != NOWHERE for row in here):
            continue
        signs = ["?" if row is None else _SIGNS.get(row.found, "!") for row in here]
        told = _reasons([row for row in here if row is not None and row.found not in (EQUAL, NOWHERE)])
        lines.append(f"| `{name.replace('|', chr(92) + '|')}` | {' | '.join(signs)} | {told.strip()} |")
    lines += ["", "## Examples", "", "| example | found | cause |", "|---|---|---|"]
    lines += [f"| {row.operation} | {row.found} | {row.switch} |" for row in rows if not row.dtype]
    return "\n".join(lines) + "\n"


def _reasons(rows: Sequence[Row]) -> str:
    """Why they may differ; where that is not the same for all, of which types each is told."""
    dtypes: dict[str, list[str]] = {}
    for row in rows:
        dtypes.setdefault(row.switch, []).append(row.dtype)
    several = len(dtypes) > 1
    told = [f"{reason} ({', '.join(of)})" if several else reason for reason, of in dtypes.items() if reason]
    return "; ".join(told) + (" **nobody knows**" if "" in dtypes else "")


def _machine(against: str) -> str:
    import torch
    import triton

    with_what = f"Triton {triton.__version__}, torch {torch.__version__}, Python {platform.python_version()}"
    if against == "cpu":
        return f"**The interpreter beside itself: this is no measurement of a GPU.** {with_what}."
    return f"Measured on one {torch.cuda.get_device_name()}, with {with_what}, by `python -m tests.gpu.fidelity`."
