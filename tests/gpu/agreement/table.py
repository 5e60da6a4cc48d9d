"""The results of all cases as a page of Markdown."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any


def table(rows: Sequence[dict[str, Any]], against: str) -> str:
    """A summary, and a row for each case."""
    done = [row for row in rows if "error" not in row]
    elements = sum(row["elements"] for row in done)
    differing = [row for row in done if row["differ"]]
    unknown = [row for row in differing if not row["known"]]
    off = sum(row["differ"] for row in differing)
    explained = sum(row["differ"] for row in differing if row["known"])
    lines = [
        "# Kernels that stand in no example, on a GPU and on the CPU",
        "",
        f"{_machine(against)} `python -m tests.gpu.agreement` runs each kernel on both sides and asks `lab.compare` "
        "for the cause of what differs. The inputs have subnormal numbers, infinities and NaN where a kernel takes "
        "them element by element.",
        "",
        f"Of {elements:,} elements in {len(done)} kernels {elements - off:,} are bit-equal "
        f"({_share(elements - off, elements)}). {len(differing)} kernels differ, of which {len(unknown)} have no "
        f"named cause; a cause is named for {explained:,} of {off:,} differing elements ({_share(explained, off)}).",
        "",
        "| kernel | elements | differ | verdict | cause |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        if "error" in row:
            lines.append(f"| {row['name']} | | | not measured | {row['error'].splitlines()[0]} |")
        else:
            cause = row["cause"] if row["differ"] else ""
            lines.append(f"| {row['name']} | {row['elements']:,} | {row['differ']:,} | {row['verdict']} | {cause} |")
    return "\n".join(lines) + "\n"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "all"


def _machine(against: str) -> str:
    import torch
    import triton

    if against == "cpu":
        return "**The interpreter beside itself: this is no measurement of a GPU.**"
    return (
        f"Measured on one {torch.cuda.get_device_name()}, with Triton {triton.__version__}, torch {torch.__version__}, "
        f"Python {platform.python_version()}."
    )
