from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.backend.operations import DTYPES
from tests.gpu.fidelity.operations import NAMES
from tests.gpu.fidelity.run import run, tasks
from tests.gpu.fidelity.table import text_of


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.fidelity", description=__doc__)
    parser.add_argument("--out", type=Path, help="where the table is written; else it is printed")
    parser.add_argument("--against", choices=("gpu", "cpu"), default="gpu")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, default=85.0, help="what is not measured by then is counted")
    parser.add_argument("--operations", nargs="*", default=list(NAMES))
    parser.add_argument("--dtypes", nargs="*", default=list(DTYPES))
    parser.add_argument("--examples", nargs="*", help="by name; all, where not given")
    chosen = parser.parse_args(arguments)
    from triton_lab.examples import all_examples

    examples = [each.name for each in all_examples()] if chosen.examples is None else chosen.examples
    todo = tasks(chosen.operations, chosen.dtypes, examples)
    rows, left = run(todo, chosen.against, chosen.jobs, chosen.seconds)
    text = text_of(rows, left, chosen.against, chosen.operations, chosen.dtypes)
    if chosen.out is None:
        print(text)
    else:
        chosen.out.write_text(text, encoding="utf-8")
    wrong = [row for row in rows if row.is_wrong]
    for row in wrong:
        print(f"{row.operation} of {row.dtype or 'the example'}: {row.found}. {row.example}", file=sys.stderr)
    print(f"{len(rows)} rows, {len(wrong)} without a reason, {left} not measured in time", file=sys.stderr)
    return 1 if wrong or left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
