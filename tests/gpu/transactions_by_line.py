"""Memory transactions line by line, predicted against counted: run on a machine with an NVIDIA GPU and Nsight Compute.

    python tests/gpu/transactions_by_line.py      # writes docs/transactions-by-line.md and .json
    python tests/gpu/transactions_by_line.py --again docs/transactions-by-line.json    # predicts anew; counts stay
    python tests/gpu/transactions_by_line.py --page docs/transactions-by-line.json     # only the page

The launches are those of `transactions.py`. Nsight Compute counts by instruction (its source page, which lists the
machine code in order): the k-th instruction on memory there is the k-th of ours, if both list the same, and ours says
which statement of the source it comes from. Compared are, by (launch, line, kind): of global memory lanes that were on,
lines of L1 and sectors; of shared memory bank conflicts. To predict anew takes the Triton that was counted
with, which makes that machine code, and no GPU.
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[2])]

from tests.gpu import transactions as whole  # noqa: E402  it is found by the line before

Row = dict[str, Any]
# What ncu calls its columns; which of them there are depends on its version.
COLUMNS = {
    "ran": "Instructions Executed",
    "lanes": "Predicated-On Thread Instructions Executed",
    "tags": "L1 Tag Requests Global",
    "sectors": "L2 Theoretical Sectors Global",
    "wavefronts": "L1 Wavefronts Shared",
    "ideal": "L1 Wavefronts Shared Ideal",
}
# The first letters of an instruction on memory, and what it does there: global memory's load or store, or shared's.
KINDS = {
    "LDG": "global load",
    "STG": "global store",
    "LDGSTS": "asynchronous copy",
    "ATOMG": "global atomic",
    "REDG": "global atomic",
    "LDS": "shared load",
    "LDSM": "shared load",
    "STS": "shared store",
    "ATOMS": "shared atomic",
}
# A copy's mask turns no lane off: what is masked is filled with zeros.
COMPARED = dict.fromkeys(("global load", "global store", "global atomic"), ("lanes", "tags", "sectors"))
COMPARED |= {"asynchronous copy": ("tags", "sectors")}
COMPARED |= dict.fromkeys(("shared load", "shared store", "shared atomic"), ("conflicts",))
# PTX's words for transfers, as the machine code has them.
_WORDS = {"ld": "global load", "st": "global store", "cp.async": "asynchronous copy"}
_WORDS |= {"atom": "global atomic", "red": "global atomic"}
_LINE = 128  # bytes that a tag of L1 stands for
_OPCODE = re.compile(r"(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")


# --- What is predicted --------------------------------------------------------------------------------


def predicted(compiled: Any) -> Row:
    """``sass``: (opcode, line) of each instruction on memory in order; ``lines``: numbers by line and kind.

    A line is the first of its statement: what a compiler says of a call over several lines may be any of them.
    """
    lines, found = compiled.lines, compiled.transactions
    starts = statements(compiled.launch.compiled[0].fn)
    sass = []
    for text, trail in zip(compiled.stages["sass"].split("\n"), lines.trails("sass"), strict=False):
        opcode = spelled(text.rpartition("\t")[2])
        if kind_of(opcode):
            written = [one.line for one in lines.written(trail) if one.function == 0]
            sass.append((opcode, starts.get(written[-1], written[-1]) if written else None))
    by_line: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for one in found.transfers:
        kind = _WORDS.get(one.word)
        if kind and one.line is not None and one.width:
            numbers = {"lanes": one.lane_bytes // one.width, "sectors": one.sectors}
            if one.argument is not None:  # else it is not known where its memory begins
                numbers["tags"] = tags(one, compiled.launch)
            by_line[starts.get(one.line, one.line), kind].update(numbers)
    for each in found.shared:
        if each.line is not None:
            by_line[starts.get(each.line, each.line), f"shared {each.kind}"].update(conflicts=each.conflicts)
    return {
        "kernel": compiled.kernel,
        "sass": sass,
        "waits": bool(compiled.launch.executable.waiting_loops),
        "early": sorted({starts.get(one.line, one.line) for one in found.transfers if one.joined.waits}),
        "unknown": sorted(
            {starts.get(one.line, one.line) for one in found.shared if one.unknown and one.line is not None}
        ),
        "lines": [[line, kind, dict(numbers)] for (line, kind), numbers in sorted(by_line.items())],
    }


def statements(kernel: Any) -> dict[int, int]:
    """For each line of a kernel's simple statements the first of the statement."""
    source = textwrap.dedent("".join(kernel.raw_src))
    first = kernel.starting_line_number - 1
    simple = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.stmt) and not hasattr(node, "body")]
    return {
        first + line: first + node.lineno for node in simple for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }


def tags(one: Any, launch: Any) -> int:
    """How many lines of 128 bytes each instruction of a warp asks for, added up; memory of a GPU begins with a line."""
    events, start = one.access.completed, launch.argument(one.argument).storage_address
    total = 0
    for event in events.parts(0) if one.joined.once and events.events else events.events:
        addresses, on = one.dealt.lanes(event)
        asked = np.sort(np.where(on, (addresses - start) // _LINE, -1), axis=-1)
        new = np.concatenate([asked[..., :1] >= 0, asked[..., 1:] != asked[..., :-1]], axis=-1)
        total += int(np.count_nonzero(new & (asked >= 0)))
    return total


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
        foretold = with_instructions(row, found)
        for line, kind in sorted(found):
            expected = foretold.get((line, kind))
            for name in COMPARED[kind]:
                if name in found[line, kind] and (expected is None or name in expected):
                    number = 0 if expected is None else expected[name]
                    yield whole.label(row), line, kind, name, number, found[line, kind][name], reason(row, line, kind)


def with_instructions(row: Row, found: Collection[tuple[int, str]]) -> dict[tuple[int, str], Counter[str]]:
    """What is predicted of lines that have an instruction.

    Of stores in two branches a compiler may make one: what is predicted of a line that has none belongs to the only one
    of that kind that has some, if there is one.
    """
    foretold = {(line, kind): Counter(numbers) for line, kind, numbers in row["lines"]}
    for line, kind in [each for each in foretold if each not in found]:
        hosts = [other for other, what in found if what == kind]
        if len(hosts) == 1:
            foretold.setdefault((hosts[0], kind), Counter()).update(foretold.pop((line, kind)))
    return foretold


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
    asked = [one for one in rows if one[4] or one[5]]
    other = sorted({row["kernel"] for row in data["rows"] if not _known(row)})
    lines = [
        "# Memory transactions line by line: predicted and counted",
        "",
        f"`python tests/gpu/transactions_by_line.py` made this page on {data['device']}, with Triton {data['triton']}. "
        "Nsight Compute counted by instruction, and these are added up by statement of the source, whose first line is "
        "told. `lanes` are those that were on (thread instructions predicated on), `tags` the lines of 128 bytes that "
        "an instruction of a warp asks L1 for, `sectors` those of 32 bytes of global memory, and `conflicts` the "
        "wavefronts of shared memory beyond the least possible. Where two statements share an instruction, the first "
        "stands for both. How often instructions ran is not compared: one that ran with all lanes off asks memory for "
        "nothing.",
        "",
        *(["It was predicted anew since, against the same counts, without a GPU.", ""] if data.get("again") else []),
        f"{equal} of {len(rows)} (launch, line, counter) are equal ({equal / max(1, len(rows)):.1%}). Without those "
        f"that are 0 and foretold as 0, it is {sum(one[4] == one[5] for one in asked)} of {len(asked)}.",
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
    """Every launch on the CPU, and what its machine code should be counted as."""
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
    data = {"device": torch.cuda.get_device_name(), "triton": triton.__version__, "target": target}
    write({**data, "rows": beside(rows, counts_of({"text": text}))}, into)
    print(f"{time.perf_counter() - begun:.0f} s")


def kept(instructions: Sequence[Any]) -> list[Any]:
    """Of the instructions on memory the opcode and the numbers that are asked of them."""
    found = []
    for text, numbers in instructions:
        kind = kind_of(opcode := spelled(text))
        asked = {"wavefronts", "ideal"} if kind.startswith("shared") else set(COMPARED.get(kind, ()))
        if kind:
            found.append([opcode, {key: n for key, n in numbers.items() if key in asked and n is not None}])
    return found


def beside(rows: Sequence[Row], counts: Sequence[Row]) -> list[Row]:
    """Each prediction with what was counted: the launches of a kernel in their order, None where there is none."""
    waiting: dict[str, list[Row]] = defaultdict(list)
    for one in counts:
        waiting[one["kernel"]].append(one)
    found = []
    for row in rows:
        mine = waiting[row["kernel"]]
        found.append({**row, "instructions": mine.pop(0)["instructions"] if mine else None})
    return found


def counts_of(data: Mapping[str, Any]) -> list[Row]:
    """What was counted, out of ncu's text or out of a file that was written before."""
    if "text" in data:
        return [{**one, "instructions": kept(one["instructions"])} for one in counted(data["text"])]
    return [
        {"kernel": row["kernel"], "instructions": row["instructions"]} for row in data["rows"] if row["instructions"]
    ]


def write(data: Mapping[str, Any], into: Path) -> None:
    """The file, a line for each launch, and the page."""
    head = {key: value for key, value in data.items() if key not in ("rows", "text")}
    lines = [json.dumps(row, separators=(",", ":")) for row in data["rows"]]
    text = json.dumps(head)[:-1] + ', "rows": [\n' + ",\n".join(lines) + "\n]}\n"
    (into / "transactions-by-line.json").write_text(text, encoding="utf-8")
    (into / "transactions-by-line.md").write_text(page(data), encoding="utf-8")
    compared = list(comparisons(data["rows"]))
    print(f"{sum(one[4] == one[5] for one in compared)} of {len(compared)} are equal")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=whole.DOCS, help="the folder to write to")
    parser.add_argument("--again", type=Path, help="a transactions-by-line.json to read and predict anew for")
    parser.add_argument("--page", type=Path, help="a transactions-by-line.json to write the page of")
    given = parser.parse_args()
    if given.again:
        held = json.loads(given.again.read_text(encoding="utf-8"))
        write({**held, "again": True, "rows": beside(predict(held["target"]), counts_of(held))}, given.out)
    elif given.page:
        held = json.loads(given.page.read_text(encoding="utf-8"))
        (given.out / "transactions-by-line.md").write_text(page(held), encoding="utf-8")
    else:
        measure(given.out)
