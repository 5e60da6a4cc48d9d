"""Memory transactions line by line, predicted against counted: run on a machine with an NVIDIA GPU and Nsight Compute.

    python tests/gpu/transactions_by_line.py      # writes docs/transactions-by-line.md and .json
    python tests/gpu/transactions_by_line.py --again docs/transactions-by-line.json    # anew, anywhere

The launches are those of `transactions.py`. Nsight Compute counts by instruction (its source page, which lists the
machine code in order): the k-th instruction on memory there is the k-th of ours, if both list the same, and ours says
which line of the source it comes from. Sectors of global memory and wavefronts of shared memory are compared, by
(launch, line, kind); how often instructions ran is told beside, and compared with requests.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from tests.gpu import transactions as whole  # noqa: E402  it is found by the line before

Row = dict[str, Any]
# What ncu calls its columns; which of them there are depends on its version.
COLUMNS = {
    "ran": "Instructions Executed",
    "sectors": "L2 Theoretical Sectors Global",
    "wavefronts": "L1 Wavefronts Shared",
    "ideal": "L1 Wavefronts Shared Ideal",
}
# The first letters of an instruction on memory, and what it does there: global memory's load or store, or shared's.
KINDS = {
    "LDG": "global load",
    "STG": "global store",
    "LDS": "shared load",
    "LDSM": "shared load",
    "STS": "shared store",
}
COMPARED = {"global load": ("ran", "sectors"), "global store": ("ran", "sectors")}
COMPARED |= {"shared load": ("conflicts",), "shared store": ("conflicts",)}
_OPCODE = re.compile(r"(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")


# --- What is predicted --------------------------------------------------------------------------------


def predicted(compiled: Any) -> Row:
    """``sass``: (opcode, line) of each instruction on memory in order; ``lines``: numbers by line and kind."""
    lines, found = compiled.lines, compiled.transactions
    sass = []
    for text, trail in zip(compiled.stages["sass"].split("\n"), lines.trails("sass"), strict=False):
        opcode = spelled(text.rpartition("\t")[2])
        if kind_of(opcode):
            written = [one.line for one in lines.written(trail) if one.function == 0]
            sass.append((opcode, written[-1] if written else None))
    by_line: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for one in found.transfers:
        kind = {"ld": "global load", "st": "global store"}.get(one.word)
        if kind and one.line is not None:
            by_line[one.line, kind].update(ran=one.requests, sectors=one.sectors)
    for each in found.shared:
        if each.line is not None:
            by_line[each.line, f"shared {each.kind}"].update(conflicts=each.conflicts)
    return {
        "kernel": compiled.kernel,
        "sass": sass,
        "waits": bool(compiled.launch.executable.waiting_loops),
        "early": sorted({one.line for one in found.transfers if one.joined.waits}),
        "unknown": sorted({one.line for one in found.shared if one.unknown and one.line is not None}),
        "lines": [[line, kind, dict(numbers)] for (line, kind), numbers in sorted(by_line.items())],
    }


def spelled(text: str) -> str:
    """The opcode of an instruction's text: ``LDG.E.128`` of ``@!P0 LDG.E.128 R4, ...``."""
    found = _OPCODE.match(text.strip())
    return found[1] if found else ""


def kind_of(opcode: str) -> str:
    """What it does to memory; "" for all that is not compared."""
    return KINDS.get(opcode.partition(".")[0], "")


# --- What was counted ---------------------------------------------------------------------------------


def counted(text: str) -> list[Row]:
    """The kernels on ncu's source pages, in order: ``kernel``, and ``instructions``, each with its text and numbers.

    A page is a table with a row for each instruction, under a head that has the columns "Source" and "Instructions
    Executed"; the kernel's name stands in a row before it.
    """
    pages: list[Row] = []
    name, head = "", []
    for row in csv.reader(text.splitlines()):
        if "Source" in row and COLUMNS["ran"] in row:
            head = row
            pages.append({"kernel": name, "instructions": []})
        elif len(row) >= 2 and row[0].strip().rstrip(":") in ("Kernel Name", "Function Name"):
            name, head = row[1].partition("(")[0].strip(), []
        elif head and len(row) == len(head):
            held = dict(zip(head, row, strict=True))
            numbers = {key: whole._number(held[column]) for key, column in COLUMNS.items() if column in held}
            pages[-1]["instructions"].append([held["Source"].strip(), numbers])
        elif len(row) == 1 and re.fullmatch(r"\s*[\w]+(?:\(.*\))?(?:, Context.*)?\s*", row[0]):
            name, head = row[0].partition("(")[0].partition(",")[0].strip(), []
    return pages


def by_line(prediction: Mapping[str, Any], instructions: Sequence[Any]) -> dict[tuple[int, str], Counter[str]] | None:
    """What was counted by line and kind; None where the machine code is another one."""
    ours = [tuple(one) for one in prediction["sass"]]
    theirs = [(opcode, numbers) for text, numbers in instructions if kind_of(opcode := spelled(text))]
    if [opcode for opcode, _ in ours] != [opcode for opcode, _ in theirs]:
        return None
    found: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for (opcode, line), (_, numbers) in zip(ours, theirs, strict=True):
        if line is not None:
            known = {key: value for key, value in numbers.items() if value is not None}
            if "wavefronts" in known and "ideal" in known:
                known["conflicts"] = known["wavefronts"] - known["ideal"]
            found[line, kind_of(opcode)].update(known)
    return found


# --- The table ----------------------------------------------------------------------------------------


def comparisons(rows: Sequence[Row]) -> Iterator[tuple[str, int, str, str, int, int, str]]:
    """Launch, line, kind, counter, predicted, counted, and why they may differ."""
    for row in rows:
        found = by_line(row, row["instructions"]) if row["instructions"] is not None else None
        if found is None:
            continue
        foretold = {(line, kind): numbers for line, kind, numbers in row["lines"]}
        for line, kind in sorted({*foretold, *found}):
            for name in COMPARED[kind]:
                if name in found.get((line, kind), {}):
                    expected = foretold.get((line, kind), {}).get(name, 0)
                    yield whole.label(row), line, kind, name, expected, found[line, kind][name], reason(row, line, kind)


def reason(row: Mapping[str, Any], line: int, kind: str) -> str:
    """Why what was counted may be another number; "" where nothing is known that would make it so."""
    if row["waits"]:
        return "programs wait for one another: how often they look is a matter of timing"
    if kind.startswith("global") and line in row["early"]:
        return "ptxas puts the load behind the branch around the loop that needs it"
    if kind.startswith("shared") and line in row["unknown"]:
        return "the kernel's data decide the banks"
    return ""


def page(data: Mapping[str, Any]) -> str:
    """docs/transactions-by-line.md."""
    rows = list(comparisons(data["rows"]))
    equal = sum(one[4] == one[5] for one in rows)
    other = sorted({row["kernel"] for row in data["rows"] if not _known(row)})
    lines = [
        "# Memory transactions line by line: predicted and counted",
        "",
        f"`python tests/gpu/transactions_by_line.py` made this page on {data['device']}, with Triton {data['triton']}. "
        "Nsight Compute counted by instruction, and these are added up by line of the source. `ran` is how often "
        "instructions were executed, beside the requests that are predicted: one whose lanes are all turned off makes "
        "none.",
        "",
        f"{equal} of {len(rows)} (launch, line, counter) are equal ({equal / max(1, len(rows)):.1%}).",
    ]
    if other:
        lines += [
            "",
            "Not compared, as other machine code ran or none was listed: " + ", ".join(f"`{one}`" for one in other),
        ]
    lines += [
        "",
        "| launch | line | access | counter | predicted | counted | why |",
        "|---|---:|---|---|---:|---:|---|",
    ]
    lines += [
        f"| {name} | {line} | {kind} | {counter} | {expected:,} | {value:,} | {why or 'not explained'} |"
        for name, line, kind, counter, expected, value, why in rows
        if expected != value
    ]
    return "\n".join(lines) + "\n"


def _known(row: Mapping[str, Any]) -> bool:
    return row["instructions"] is not None and by_line(row, row["instructions"]) is not None


# --- Running it ---------------------------------------------------------------------------------------


def predict(target: str) -> list[Row]:
    import triton_lab as lab

    rows = []
    for number, (name, run) in enumerate(whole.cases()):
        with lab.target("cpu"), lab.record() as launches:
            run("cpu")
        rows += [
            {"case": name, "number": number, "launch": k, **predicted(one.compile(target))}
            for k, one in enumerate(launches)
        ]
    return rows


def count(names: Sequence[str], folder: Path) -> str:
    """ncu's source pages. It counts into a report first, which is then printed."""
    report = folder / "lines.ncu-rep"
    raw = whole.command(whole.found_ncu(), names, ["smsp__inst_executed.sum"], folder / "unused.csv")
    ncu, launched = raw[0], raw[raw.index(sys.executable) :]
    kernels = raw[raw.index("--kernel-name-base") : raw.index("--metrics")]
    paths = os.pathsep.join([str(whole.ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    counting = [ncu, "--clock-control", "none", *kernels, "--section", "SourceCounters", "-f", "-o", str(report)]
    printing = [ncu, "--import", str(report), "--page", "source", "--print-source", "sass", "--csv"]
    for arguments in ([*counting, *launched], [*printing, "--print-units", "base"]):
        done = subprocess.run(
            arguments, env={**os.environ, "PYTHONPATH": paths}, text=True, capture_output=True, cwd=whole.ROOT
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def measure(into: Path) -> None:
    import torch
    import triton

    begun = time.perf_counter()
    major, minor = torch.cuda.get_device_capability()
    target = f"sm_{major}{minor}"
    rows = predict(target)
    with tempfile.TemporaryDirectory() as folder:
        text = count([row["kernel"] for row in rows], Path(folder))
    data = {"device": torch.cuda.get_device_name(), "triton": triton.__version__, "target": target, "text": text}
    write({**data, "rows": rows}, into)
    print(f"{time.perf_counter() - begun:.0f} s")


def write(data: Mapping[str, Any], into: Path) -> None:
    """Read ncu's text, and write what it says beside what was predicted."""
    waiting: dict[str, list[Row]] = defaultdict(list)
    for one in counted(data["text"]):
        waiting[one["kernel"]].append(one)
    for row in data["rows"]:
        mine = waiting[row["kernel"]]
        row["instructions"] = mine.pop(0)["instructions"] if mine else None
    (into / "transactions-by-line.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (into / "transactions-by-line.md").write_text(page(data), encoding="utf-8")
    compared = list(comparisons(data["rows"]))
    print(f"{sum(one[4] == one[5] for one in compared)} of {len(compared)} are equal")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=whole.DOCS, help="the folder to write to")
    parser.add_argument("--again", type=Path, help="a transactions-by-line.json to read and predict anew for")
    given = parser.parse_args()
    if given.again:
        held = json.loads(given.again.read_text(encoding="utf-8"))
        write({**held, "rows": predict(held["target"])}, given.out)
    else:
        measure(given.out)
