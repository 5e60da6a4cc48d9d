"""What Proton and Nsight Compute say of the kernels of `triton_lab.examples.profiled_kernels`, as the course shows it.

    python -m tests.gpu.course_profiles FOLDER    # on a machine with a GPU and Nsight Compute: about 30 seconds
    python -m tests.gpu.course_profiles --launch cpu    # anywhere: whether all of them run

FOLDER gets ``proton.hatchet`` (Proton's tree), ``details.csv``, ``details.txt`` and ``raw.csv`` (of Nsight Compute),
and ``machine.json``.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import argparse
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


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.course_profiles", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--launch", choices=("cpu", "ncu"), help="only launch the kernels")
    given = parser.parse_args(arguments)
    if given.launch == "cpu":
        launch_all("cpu", True)
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
