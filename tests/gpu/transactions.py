"""Memory transactions, predicted against counted: run on a machine with an NVIDIA GPU and Nsight Compute.

    python tests/gpu/transactions.py                        # writes docs/transactions.md and docs/transactions.json
    python tests/gpu/transactions.py --again docs/transactions.json    # predicts anew, on any machine; counts stay

Every example and the kernels of `tests/compiled/transactions/kernels.py` run once under ncu, in one process. What is
predicted comes from the same launches on the CPU target, in processes that see no GPU. The machine code of both is
compared, and occupancy with what the driver says.
"""

from __future__ import annotations

import argparse
import csv
import ctypes
import gc
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
L1 = "l1tex__t_{}_pipe_lsu_mem_global_{}.sum"
METRICS = (
    *(L1.format(what, kind) for kind in ("op_ld", "op_st") for what in ("requests", "sectors")),
    "l1tex__data_bank_conflicts_pipe_lsu.sum",
)
# Not every version of ncu has these: they are asked for first, and left out where it refuses them.
MORE = (
    *(L1.format(what, kind) for kind in ("op_atom", "op_red") for what in ("requests", "sectors")),
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
)
PIPE = METRICS[-1]
PARTED = tuple(PIPE.replace(".sum", f"_mem_shared_{kind}.sum") for kind in ("op_ld", "op_st"))
SHARED = "bank conflicts of shared memory"  # the sum of both, which is what is predicted
COMPARED = (*METRICS[:-1], SHARED)
WAVEFRONTS = tuple(one for one in MORE if "wavefronts" in one)
PARTS, WARMING = 6, 3  # processes that predict, and that compile for the GPU
Row = dict[str, Any]


# --- The launches -----------------------------------------------------------------------------------


def cases() -> Iterator[tuple[str, Any]]:
    """Names, and what launches each on the device it is given."""
    from tests.compiled.transactions.kernels import CASES
    from triton_lab.examples import all_examples

    for example in all_examples():
        yield example.name, lambda device, each=example: each.run(**each.inputs("small", 0, device))
    for case in CASES:
        yield case.name, case.run


def predicted(target: str, part: int, parts: int) -> list[Row]:
    """What each launch should be counted as: of every so manyth case, on the CPU target."""
    import triton_lab as lab

    rows = []
    for number, (name, run) in enumerate(cases()):
        if number % parts != part:
            continue
        with lab.record() as launches:
            run("cpu")
        for k, launch in enumerate(launches):
            rows.append({"case": name, "number": number, "launch": k, **_prediction(launch.compile(target))})
    return rows


def _prediction(compiled: Any) -> Row:
    found = compiled.transactions
    occupancy = compiled.cost.occupancy
    return {
        "kernel": compiled.kernel,
        "ptx": digest(compiled.stages["ptx"]),
        "predicted": found.counters(),
        "problems": found.problems,
        "waits": bool(compiled.launch.executable.waiting_loops),
        "programs_at_once": None if occupancy is None else occupancy.programs,
        "lines": [
            {
                "line": one.line,
                "argument": one.argument,
                "way": one.way,
                "word": one.word,
                "width": one.width,
                "told": one.told,
                "requests": one.requests,
                "issued": one.issued,
                "sectors": one.sectors,
                "wanted": one.wanted,
                "lane_bytes": one.lane_bytes,
                "waits": one.joined.waits,
                "copies": one.joined.copies,
            }
            for one in found.transfers
        ],
        "shared": [
            {
                "line": line.line,
                "kind": line.kind,
                "instructions": line.instructions,
                "wavefronts": line.wavefronts,
                "conflicts": line.conflicts,
                "unknown": line.unknown,
                "opcodes": sorted({use.instruction.opcode for use in line.uses}),
            }
            for line in found.shared
        ],
    }


def digest(ptx: str) -> str:
    """Of what is computed: where the files lie is another matter on each machine."""
    code = ptx.partition("\t.section\t.debug")[0]
    lines = [line for line in code.splitlines() if not line.lstrip().startswith((".file", "//"))]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def launched(part: int = 0, parts: int = 1) -> None:
    """Run every case on the GPU, or every so manyth."""
    import torch

    for number, (_, run) in enumerate(cases()):
        if number % parts == part:
            run("cuda")
    torch.cuda.synchronize()


def loaded() -> list[Row]:
    """The kernels that this process has loaded: name, machine code, programs at once as the driver says."""
    from triton.runtime.jit import JITFunction

    driver = ctypes.CDLL("libcuda.so.1")
    rows = []
    for function in [one for one in gc.get_objects() if isinstance(one, JITFunction)]:
        for held in list(function.device_caches.values()):
            for kernel in list(held[0].values()):
                programs = ctypes.c_int(-1)
                meta = kernel.metadata
                status = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                    ctypes.byref(programs),
                    ctypes.c_void_p(kernel.function),
                    ctypes.c_int(meta.num_warps * 32),
                    ctypes.c_size_t(meta.shared),
                )
                rows.append(
                    {
                        "kernel": meta.name,
                        "ptx": digest(kernel.asm["ptx"]),
                        "programs_at_once": programs.value if status == 0 else None,
                    }
                )
    return rows


# --- Nsight Compute ---------------------------------------------------------------------------------


def command(ncu: str, names: Sequence[str], metrics: Sequence[str], log: Path) -> list[str]:
    """What counts ``metrics`` of the kernels called so, while `launched` runs."""
    return [
        ncu,
        "--clock-control",
        "none",
        "--csv",
        "--page",
        "raw",
        "--print-units",
        "base",
        "--kernel-name-base",
        "function",
        "--kernel-name",
        f"regex:^({'|'.join(sorted(set(names)))})$",
        "--metrics",
        ",".join(metrics),
        "--log-file",
        str(log),
        sys.executable,
        str(Path(__file__).resolve()),
        "--launch",
    ]


def counted(text: str) -> list[Row]:
    """The launches in ncu's output, in order: ``kernel`` and ``counted``, by metric.

    It is a table with a column for each metric (``--page raw``), or one with a row for each.
    """
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    if not rows:
        return []
    found: dict[str, Row] = {}
    for row in rows:
        if not (row.get("ID") or "").strip().isdigit():  # the units, under the head
            continue
        held = found.setdefault(row["ID"], {"kernel": row["Kernel Name"].partition("(")[0], "counted": {}})
        if "Metric Name" in row:
            held["counted"][row["Metric Name"]] = _number(row["Metric Value"])
        else:
            held["counted"].update({name: _number(row[name]) for name in (*METRICS, *MORE) if row.get(name)})
    return [found[key] for key in sorted(found, key=int)]


def _number(text: str) -> int | None:
    try:
        return round(float(text.replace(",", "")))
    except ValueError:
        return None


def joined(predictions: Sequence[Row], counts: Sequence[Row]) -> list[Row]:
    """Each prediction with its count: the launches of a kernel in their order. What was not counted has None."""
    waiting: dict[str, list[Row]] = defaultdict(list)
    for row in counts:
        waiting[row["kernel"]].append(row)
    rows = []
    for row in sorted(predictions, key=lambda one: (one["number"], one["launch"])):
        mine = waiting[row["kernel"]]
        rows.append({**row, "counted": mine.pop(0)["counted"] if mine else None})
    return rows


# --- The table --------------------------------------------------------------------------------------


def comparisons(rows: Sequence[Row]) -> list[tuple[str, str, int, int, str]]:
    """Of each launch and counter: what it is called, the counter, predicted, counted, and why they may differ."""
    atomics = tuple(one for one in MORE if "op_atom" in one or "op_red" in one)
    found = []
    for row in rows:
        for name in (*COMPARED, *atomics):
            expected, value = both(row, name)
            if value is not None and (value or expected or name in COMPARED):
                found.append((label(row), name, expected, value, reason(row, name)))
    return found


def both(row: Mapping[str, Any], name: str) -> tuple[int, int | None]:
    """What was predicted and what was counted (None: it was not) of a counter of a launch."""
    names = PARTED if name == SHARED else (name,)
    values = [(row["counted"] or {}).get(one) for one in names]
    expected = sum(row["predicted"].get(one, 0) for one in names)
    return expected, None if None in values else sum(value or 0 for value in values)


def label(row: Mapping[str, Any]) -> str:
    return row["case"] + (f", launch {row['launch'] + 1}" if row["launch"] else "") + f": `{row['kernel']}`"


def reason(row: Mapping[str, Any], name: str) -> str:
    """Why a counter of a launch cannot be foretold; "" where it can."""
    if row["waits"]:
        return "programs wait for one another: how often they look is a matter of timing"
    early = sorted({one["line"] for one in row["lines"] if one["waits"]})
    if "op_ld" in name and early:
        return (
            f"ptxas puts the loads of lines {', '.join(map(str, early))} behind the branch around the loop that needs "
            "them; where it does not run, they do not either"
        )
    same = [one for one in row["lines"] if one["word"] in ("atom", "red") and one["lane_bytes"] > one["wanted"]]
    if "sectors" in name and "_ld" not in name and "_st" not in name and same:
        return (
            "not explained: several lanes of a request change the same element, and it then asks for more than each "
            "sector once; where all lanes' elements differ, sectors are within 1 % of what is predicted"
        )
    if name == SHARED and any(line["unknown"] for line in row["shared"]):
        return "the kernel's data decide the banks"
    return ""


def page(data: Mapping[str, Any]) -> str:
    """docs/transactions.md."""
    rows = data["rows"]
    compared = comparisons(rows)
    equal = sum(expected == value for _, _, expected, value, _ in compared)
    lines = [
        "# Memory transactions: predicted and counted",
        "",
        f"`python tests/gpu/transactions.py` made this page on {data['device']}, with Triton {data['triton']}: every "
        "example and kernels with bad access, run once under Nsight Compute, beside what `compiled.transactions` says "
        "of the same launch on the CPU.",
        "",
        *(
            ["It was predicted anew since, against the same counts, on another machine.", ""]
            if data.get("again")
            else []
        ),
        f"{equal} of {len(compared)} counters are equal ({equal / max(1, len(compared)):.1%}).",
        *_what_is_compared(rows, compared),
    ]
    other = [row for row in rows if row.get("same_code") is False]
    if other:
        names = ", ".join(sorted({f"`{row['kernel']}`" for row in other}))
        lines += ["", f"The machine code that ran is not the one that was looked at: {names}."]
    differing = [one for one in compared if one[2] != one[3]]
    if differing:
        lines += [
            "",
            "## Differences",
            "",
            "| launch | counter | predicted | counted | why |",
            "|---|---|---:|---:|---|",
        ]
        lines += [
            f"| {name} | `{short(counter)}` | {expected:,} | {value:,} | {why or 'not explained'} |"
            for name, counter, expected, value, why in differing
        ]
    lines += ["", "## All", "", f"| launch | {' | '.join(f'`{short(name)}`' for name in COMPARED)} |"]
    lines += ["|---|" + "---:|" * len(COMPARED)]
    for row in rows:
        lines.append(f"| {label(row)} | {' | '.join(_cell(row, name) for name in COMPARED)} |")
    lines += ["", "Where two numbers stand, the first was predicted.", *_pipe(rows), *_wavefronts(rows)]
    return "\n".join([*lines, *_occupancies(rows)]) + "\n"


def _what_is_compared(rows: Sequence[Row], compared: Sequence[tuple[str, str, int, int, str]]) -> list[str]:
    asked = [one for one in compared if one[2] or one[3]]
    pipe = [(both(row, SHARED)[0], both(row, PIPE)[1]) for row in rows if both(row, PIPE)[1] is not None]
    others = [one for one in compared if one[1] != SHARED]
    equal = sum(one[2] == one[3] for one in others) + sum(one == other for one, other in pipe)
    return [
        f"Without those that are 0 and foretold as 0, it is {sum(one[2] == one[3] for one in asked)} of {len(asked)}.",
        "",
        f"Bank conflicts are predicted of shared memory, and so compared with those that ncu counts of shared memory: "
        f"`{PARTED[0]}` and its twin for stores, added up. `{PIPE}` is another counter: it also holds how often "
        "accesses to global memory meet in the banks of L1, of which nothing is predicted here. If it stood in the "
        f"other's place, {equal} of {len(others) + len(pipe)} would be equal; its numbers are below.",
    ]


def _pipe(rows: Sequence[Row]) -> list[str]:
    """What the counter of bank conflicts of the whole pipe says, beside those of shared memory."""
    held = [(row, both(row, SHARED)[1], both(row, PIPE)[1]) for row in rows]
    told = [(row, shared, pipe) for row, shared, pipe in held if pipe and shared is not None]
    if not told:
        return []
    lines = [
        "",
        "## Bank conflicts of the whole pipe",
        "",
        f"`{PIPE}` where it is not 0. What is more than shared memory's are conflicts of global memory with the banks "
        "of L1. They are no whole number a request even where all requests are alike (strides of 2, 4 and 32), so the "
        "addresses of a request alone do not decide them, and no rule is given.",
        "",
        "| launch | whole pipe | shared memory | requests of global memory |",
        "|---|---:|---:|---:|",
    ]
    for row, shared, pipe in told:
        requests = sum(value or 0 for name, value in row["counted"].items() if "t_requests" in name)
        lines.append(f"| {label(row)} | {pipe:,} | {shared:,} | {requests:,} |")
    return lines


def _wavefronts(rows: Sequence[Row]) -> list[str]:
    """How often shared memory's banks were asked: told, and not part of the share."""
    found = []
    for row in rows:
        for name, kind in zip(WAVEFRONTS, ("load", "store"), strict=True):
            value = (row["counted"] or {}).get(name)
            if value is not None:
                foretold = sum(line["wavefronts"] for line in row["shared"] if line["kind"] == kind)
                found.append((label(row), kind, foretold, value))
    asked = [one for one in found if one[2] or one[3]]
    if not asked:
        return []
    wrong = [one for one in asked if one[2] != one[3]]
    lines = [
        "",
        "## Wavefronts of shared memory",
        "",
        f"Of {len(asked)} that are not 0, {len(asked) - len(wrong)} are as predicted. They are not among the counters "
        "above, and these are not explained:",
        "",
        "| launch | kind | predicted | counted |",
        "|---|---|---:|---:|",
    ]
    return lines + [f"| {name} | {kind} | {one:,} | {other:,} |" for name, kind, one, other in wrong]


def _cell(row: Mapping[str, Any], name: str) -> str:
    expected, value = both(row, name)
    if value is None:
        return f"{expected:,} / not counted"
    return f"{value:,}" if value == expected else f"**{expected:,} / {value:,}**"


def _occupancies(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    known = [row for row in rows if row.get("driver_says") is not None and row["programs_at_once"] is not None]
    wrong = [row for row in known if row["driver_says"] != row["programs_at_once"]]
    if not known:
        return []
    told = [
        "",
        "## Occupancy",
        "",
        f"`cuOccupancyMaxActiveBlocksPerMultiprocessor` says of {len(known) - len(wrong)} of {len(known)} launches "
        "what `compiled.cost.occupancy` says.",
    ]
    return told + [
        f"- `{row['kernel']}` ({row['case']}): {row['programs_at_once']}, the driver says {row['driver_says']}"
        for row in wrong
    ]


def short(name: str) -> str:
    """A metric without what all have in common."""
    for what in ("requests", "sectors"):
        if f"__t_{what}_" in name:
            return f"{what} {name.rpartition('_op_')[2].removesuffix('.sum')}"
    return name.removeprefix("l1tex__data_").removesuffix(".sum")


# --- Running it -------------------------------------------------------------------------------------


def run(arguments: Sequence[str], **environment: str) -> subprocess.Popen[str]:
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).resolve()), *arguments],
        env={**os.environ, "PYTHONPATH": paths, **environment},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )


def predict_all(target: str, folder: Path) -> list[subprocess.Popen[str]]:
    """Processes that each write ``part-k.json``; they see no GPU."""
    return [
        run(["--predict", target, str(k), str(folder / f"part-{k}.json")], CUDA_VISIBLE_DEVICES="")
        for k in range(PARTS)
    ]


def finished(processes: Sequence[subprocess.Popen[str]]) -> None:
    for process in processes:
        out, err = process.communicate()
        if process.returncode:
            raise SystemExit(f"{' '.join(map(str, process.args))} failed:\n{out[-2000:]}\n{err[-6000:]}")


def predictions(target: str, folder: Path) -> list[Row]:
    finished(predict_all(target, folder))
    return _parts(folder)


def _parts(folder: Path) -> list[Row]:
    return [row for k in range(PARTS) for row in json.loads((folder / f"part-{k}.json").read_text(encoding="utf-8"))]


def found_ncu() -> str:
    """Nsight Compute, where it is mostly."""
    return shutil.which("ncu") or next(
        (str(path) for path in sorted(Path("/usr/local").glob("cuda*/bin/ncu"), reverse=True)), "ncu"
    )


def count(names: Sequence[str], folder: Path) -> tuple[list[Row], str]:
    """What ncu counts, and what it said where it refused some metrics."""
    ncu = found_ncu()
    said = ""
    for metrics in ((*METRICS, *MORE), METRICS):
        log = folder / "ncu.csv"
        paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run(
            command(ncu, names, metrics, log),
            env={**os.environ, "PYTHONPATH": paths},
            text=True,
            capture_output=True,
            cwd=ROOT,
        )
        text = log.read_text(encoding="utf-8") if log.exists() else ""
        rows = counted(text)
        if rows:
            return rows, said
        said += f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}\n{text[-4000:]}\n"
    raise SystemExit(f"ncu counted nothing:\n{said}")


def with_driver(rows: list[Row], driver: Mapping[tuple[str, str], Row]) -> list[Row]:
    """Whether each ran as the machine code that was looked at, and how many programs the driver says fit."""
    for row in rows:
        same = driver.get((row["kernel"], row["ptx"]))
        row["same_code"] = same is not None
        row["driver_says"] = same and same["programs_at_once"]
    return rows


def measure(into: Path) -> None:
    import torch
    import triton

    begun = time.perf_counter()
    major, minor = torch.cuda.get_device_capability()
    target = f"sm_{major}{minor}"
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        predicting = predict_all(target, folder)
        # These fill Triton's cache, so that little is compiled under ncu.
        warming = [run(["--warm", str(k), str(folder / f"loaded-{k}.json")]) for k in range(WARMING)]
        finished([*predicting, *warming])
        print(f"predicted and compiled in {time.perf_counter() - begun:.0f} s")
        guesses = _parts(folder)
        held_by = [json.loads((folder / f"loaded-{k}.json").read_text(encoding="utf-8")) for k in range(WARMING)]
        driver = {(row["kernel"], row["ptx"]): row for rows in held_by for row in rows}
        counts, said = count([row["kernel"] for row in guesses], folder)
    rows = with_driver(joined(guesses, counts), driver)
    data = {
        "device": torch.cuda.get_device_name(),
        "target": target,
        "triton": triton.__version__,
        "seconds": round(time.perf_counter() - begun, 1),
        "said": said,
        "counts": counts,
        "loaded": list(driver.values()),
        "rows": rows,
    }
    write(data, into)


def write(data: Mapping[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "transactions.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (folder / "transactions.md").write_text(page(data), encoding="utf-8")
    compared = comparisons(data["rows"])
    equal = sum(expected == value for _, _, expected, value, _ in compared)
    print(f"{equal} of {len(compared)} counters are equal; {data['seconds']} s; see {folder / 'transactions.md'}")


def again(path: Path, folder: Path) -> None:
    """Predict anew, and compare with what was counted then."""
    data = json.loads(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as held:
        guesses = predictions(data["target"], Path(held))
    driver = {(row["kernel"], row["ptx"]): row for row in data["loaded"]}
    rows = with_driver(joined(guesses, data["counts"]), driver)
    write({**data, "rows": rows, "again": True}, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=DOCS, help="the folder to write to")
    parser.add_argument("--again", type=Path, help="a transactions.json to predict anew for")
    parser.add_argument("--launch", action="store_true", help="only launch, as under ncu")
    parser.add_argument(
        "--warm", nargs=2, metavar=("PART", "FILE"), help="only launch a part, and write what it loaded"
    )
    parser.add_argument("--predict", nargs=3, metavar=("TARGET", "PART", "FILE"), help="only predict a part")
    given = parser.parse_args()
    if given.predict:
        target, part, file = given.predict
        Path(file).write_text(json.dumps(predicted(target, int(part), PARTS)), encoding="utf-8")
    elif given.launch:
        launched()
    elif given.warm:
        launched(int(given.warm[0]), WARMING)
        Path(given.warm[1]).write_text(json.dumps(loaded()), encoding="utf-8")
    elif given.again:
        again(given.again, given.out)
    else:
        measure(given.out)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
