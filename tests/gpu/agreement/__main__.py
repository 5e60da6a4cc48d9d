"""Run all cases on both sides, and print what agrees and what is named.

    python -m tests.gpu.agreement --out agreement.json --table docs/agreement.md

``--against cpu`` puts the interpreter in the GPU's place, which tries the script itself.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import argparse
import concurrent.futures
import json
import multiprocessing
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.gpu.agreement.measured import CASES, measured
from tests.gpu.agreement.table import table


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.agreement", description=__doc__)
    parser.add_argument("--against", choices=("gpu", "cpu"), default="gpu")
    parser.add_argument("--jobs", type=int, default=min(12, os.cpu_count() or 1))
    parser.add_argument("--seconds", type=float, default=240.0, help="what is not measured by then is left out")
    parser.add_argument("--only", nargs="*", help="the cases with one of these words in their name")
    parser.add_argument("--out", type=Path, help="where the results are written as JSON")
    parser.add_argument("--keep", type=Path, help="where the bytes that the kernels left are written")
    parser.add_argument("--table", type=Path, help="where the table is written; else it is printed")
    chosen = parser.parse_args(arguments)
    numbers = [k for k, case in enumerate(CASES) if not chosen.only or any(word in case.name for word in chosen.only)]
    rows: list[dict[str, Any]] = []
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
    if chosen.jobs <= 1:
        rows = [measured(number, chosen.against, bool(chosen.keep)) for number in numbers]
    else:
        pool = concurrent.futures.ProcessPoolExecutor(chosen.jobs, multiprocessing.get_context("spawn"))
        asked = {pool.submit(measured, number, chosen.against, bool(chosen.keep)): number for number in numbers}
        done, left = concurrent.futures.wait(asked, timeout=chosen.seconds)
        for future in done:
            error = future.exception()
            rows.append(future.result() if error is None else {"name": CASES[asked[future]].name, "error": str(error)})
        rows += [{"name": CASES[asked[one]].name, "error": "not measured in time"} for one in left]
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=not left, cancel_futures=True)
        for process in processes if left else ():
            process.kill()
    order = {case.name: k for k, case in enumerate(CASES)}
    rows.sort(key=lambda row: order[row["name"]])
    if chosen.keep is not None:
        left = {f"{row['name']}: {name}": one for row in rows for name, one in row.pop("arrays", {}).items()}
        np.savez_compressed(chosen.keep, **{name: one.view(f"u{one.dtype.itemsize}") for name, one in left.items()})
    if chosen.out is not None:
        chosen.out.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    text = table(rows, chosen.against)
    if chosen.table is None:
        print(text)
    else:
        chosen.table.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
