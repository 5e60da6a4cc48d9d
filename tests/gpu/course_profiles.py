"""What Proton and Nsight Compute say of the kernels of `triton_lab.examples.profiled_kernels`, as the course shows it.

    python -m tests.gpu.course_profiles FOLDER    # on a machine with a GPU and Nsight Compute: about 30 seconds
    python -m tests.gpu.course_profiles --launch cpu    # anywhere: whether all of them run

FOLDER gets ``proton.hatchet`` (Proton's tree), ``details.csv``, ``details.txt`` and ``raw.csv`` (of Nsight Compute),
and ``machine.json``. With ``--record FILE`` they are put together, as the course's recordings have them, with
``errors.json`` of `tests.gpu.narrow_products`.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import argparse
import csv
import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import torch
import triton

import triton_lab as lab
from triton_lab.examples.profiled_kernels import PROFILED

SECTIONS = (
    "SpeedOfLight",
    "MemoryWorkloadAnalysis",
    "MemoryWorkloadAnalysis_Tables",
    "WarpStateStats",
    "LaunchStats",
    "Occupancy",
    "SourceCounters",
)
METRICS = (
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum",
)
STALLS = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
COLLECTED = (
    *METRICS,
    *(STALLS.format(why) for why in ("long_scoreboard", "lg_throttle", "math_pipe_throttle", "wait", "barrier")),
)
"""The counters of the recording: the metrics asked for, and reasons for which warps wait, of WarpStateStats."""

ASKED = "Command line profiler metrics"  # a section with METRICS as details: the counters have them as well
REPEATED = 20  # launches of each kernel that Proton measures


def launch_all(device: str, small: bool, profiler=None) -> None:
    """Launch each kernel once before ``profiler`` starts, and once afterwards."""
    launchers = [one.prepare(device, small) for one in PROFILED.values()]
    for again in (False, True):
        if again and profiler is not None:
            torch.cuda.synchronize()
            profiler.start()
        for launch in launchers:
            launch()
    if profiler is not None:
        torch.cuda.synchronize()
        profiler.stop()


def proton(folder: Path) -> None:
    """Proton's tree of all kernels, each in a scope with its bytes and operations."""
    from triton import profiler

    launchers = {name: one.prepare("cuda", False) for name, one in PROFILED.items()}
    for launch in launchers.values():
        launch()
    torch.cuda.synchronize()
    profiler.start(str(folder / "proton"))
    for name, launch in launchers.items():
        one = PROFILED[name]
        flops = "flops16" if one.half else "flops32"
        with profiler.scope(name, {"bytes": one.bytes * REPEATED, flops: one.flops * REPEATED}):
            for _ in range(REPEATED):
                launch()
    torch.cuda.synchronize()
    profiler.finalize()


def _ncu() -> str:
    places = [*Path("/usr/local").glob("cuda*/bin/ncu"), *Path("/opt/nvidia/nsight-compute").glob("*/ncu")]
    found = shutil.which("ncu") or next(map(str, places), None)
    if found is None:
        raise FileNotFoundError("Nsight Compute's ncu is neither on PATH nor in its usual places")
    return found


def nsight_compute(folder: Path) -> str:
    """Profile one launch of each kernel; the version of ncu."""
    ncu, report = _ncu(), folder / "report.ncu-rep"
    base = [ncu, "--clock-control", "none", "--profile-from-start", "off", "-f", "-o", str(report)]
    for section in SECTIONS:
        base += ["--section", section]
    program = [sys.executable, "-m", "tests.gpu.course_profiles", "--launch", "ncu"]
    done = subprocess.run([*base, "--metrics", ",".join(METRICS), *program], capture_output=True, text=True)
    print(done.stdout[-1500:], done.stderr[-1500:], flush=True)
    for file, options in {
        "details.txt": ["--page", "details"],
        "details.csv": ["--page", "details", "--csv"],
        "raw.csv": ["--page", "raw", "--csv"],
    }.items():
        text = subprocess.run([ncu, "-i", str(report), *options], capture_output=True, text=True).stdout
        (folder / file).write_text(text, encoding="utf-8")
    report.unlink(missing_ok=True)
    version = subprocess.run([ncu, "--version"], capture_output=True, text=True).stdout
    return version.strip().splitlines()[-1]


def machine(ncu: str) -> dict[str, str]:
    """The machine, the versions and the day of a recording."""
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return {
        "device": torch.cuda.get_device_name(),
        "driver": subprocess.run(query, capture_output=True, text=True).stdout.strip(),
        "triton": triton.__version__,
        "torch": torch.__version__,
        "ncu": ncu,
        "day": datetime.now(UTC).date().isoformat(),
    }


def recorded(folder: Path) -> dict[str, object]:
    """The files of ``folder`` as one recording, as `triton_lab.examples.profiles` reads it."""
    about = json.loads((folder / "machine.json").read_text(encoding="utf-8"))
    details = list(csv.DictReader(_table(folder / "details.csv")))
    counters, units, *raw = csv.reader(_table(folder / "raw.csv"))
    order = list(dict.fromkeys(row["ID"] for row in details))
    launches: dict[str, object] = {}
    for name, number, counted in zip(PROFILED, order, raw, strict=True):
        rows = [row for row in details if row["ID"] == number]
        figures = [
            [row["Section Name"], row["Metric Name"], row["Metric Unit"], _number(row["Metric Value"])]
            for row in rows
            if row["Metric Name"] and row["Section Name"] != ASKED
        ]
        of = dict(zip(counters, zip(units, counted, strict=True), strict=True))
        figures += [["Counters", metric, of[metric][0], _number(of[metric][1])] for metric in COLLECTED if metric in of]
        advice = [[row["Section Name"], row["Rule Description"]] for row in rows if row["Rule Description"]]
        launches[name] = {"kernel": rows[0]["Kernel Name"], "figures": figures, "advice": advice}
    sums = json.loads((folder / "errors.json").read_text(encoding="utf-8"))
    return {"machine": about, "launches": launches, "proton": _scopes(folder / "proton.hatchet"), "sums": sums}


def _table(file: Path) -> list[str]:
    """The lines of ``file`` from the header of its table on: ncu may print others before it."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return lines[next(k for k, line in enumerate(lines) if line.startswith('"ID"')) :]


def _number(text: str) -> float | str:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return text


def _scopes(file: Path) -> list[dict[str, object]]:
    """Proton's tree: below its root, a scope for each name, and in it the kernel with its time in nanoseconds."""
    root = json.loads(file.read_text(encoding="utf-8"))[0]
    found: list[dict[str, object]] = []
    for scope in root["children"]:
        name, one = scope["frame"]["name"], PROFILED[scope["frame"]["name"]]
        kernel = max(scope["children"], key=lambda child: child["metrics"]["time (ns)"])
        figures = kernel["metrics"]
        found.append(
            {
                "name": name,
                "kernel": kernel["frame"]["name"],
                "seconds": figures["time (ns)"] / figures["count"] / 1e9,
                "runs": figures["count"],
                "bytes": one.bytes,
                "flops": one.flops,
            }
        )
    return sorted(found, key=lambda row: list(PROFILED).index(str(row["name"])))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.course_profiles", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--launch", choices=("cpu", "ncu"), help="only launch the kernels")
    parser.add_argument("--record", type=Path, metavar="FILE", help="only put the files of FOLDER together")
    given = parser.parse_args(arguments)
    if given.launch == "cpu":
        launch_all("cpu", True)
    elif given.record:
        text = json.dumps(recorded(given.folder), separators=(",", ":"), ensure_ascii=False)
        given.record.write_text(text + "\n", encoding="utf-8")
    elif given.launch == "ncu":
        with lab.target("gpu"):
            launch_all("cuda", False, torch.cuda.profiler)
    else:
        given.folder.mkdir(parents=True, exist_ok=True)
        version = nsight_compute(given.folder)
        (given.folder / "machine.json").write_text(json.dumps(machine(version)), encoding="utf-8")
        with lab.target("gpu"):
            proton(given.folder)


if __name__ == "__main__":
    sys.exit(main())
