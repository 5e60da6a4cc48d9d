"""Whether the first suggestion of `Launch.advise` makes twenty slow kernels faster, measured on a GPU.

    python -m tests.gpu.advice_gains [FILE]    # on a machine with an H100: about three minutes
    python -m tests.gpu.advice_gains [FILE] --predict    # anywhere: the suggestions alone

Suggestions are predicted in processes that see no GPU; then the kernels and their first suggestions are measured with
Triton's `do_bench`, and the results on the GPU compared. FILE, or ``$OUT/advice.json``, gets the table as JSON. The
package need not be installed: Triton's plugin is registered in a temporary folder.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs

from __future__ import annotations

import argparse
import ast
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 18.0  # for the search of one kernel
MEASURED = 4  # suggestions of each kernel that are measured
WORKERS = max(1, min(6, (os.cpu_count() or 1) // 3))
ENOUGH = 1.02  # a smaller gain is none
PATIENCE = 150.0  # seconds that one kernel's search may take in all


def register() -> None:
    """Make Triton find its plugin `triton_lab`, in this process and in those that it starts."""
    if any(one.name == "triton_lab" for one in importlib.metadata.entry_points(group="triton.backends")):
        return
    folder = Path(tempfile.mkdtemp(prefix="triton-lab-plugin-")) / "triton_lab-0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: triton-lab\nVersion: 0\n", encoding="utf-8")
    (folder / "entry_points.txt").write_text("[triton.backends]\ntriton_lab = triton_lab.backend\n", encoding="utf-8")
    places = [str(folder.parent), str(ROOT)]
    sys.path[:0] = places
    os.environ["PYTHONPATH"] = os.pathsep.join([*places, os.environ.get("PYTHONPATH", "")])


# --- Predicting -----------------------------------------------------------------------------------


def predict(name: str, seconds: float) -> dict[str, Any]:
    """The suggestions for one kernel as plain data, with the text of edited kernels."""
    import triton_lab as lab
    from tests.gpu.slow_kernels import SLOW

    (slow,) = (one for one in SLOW if one.name == name)
    begun = time.monotonic()
    with lab.target("cpu"), lab.record() as launches:
        slow.prepare("cpu")()
    recorded = time.monotonic()
    advice = launches[-1].advise("sm_90", seconds=seconds, measure=False)
    rows = advice.as_dicts()
    for row, one in zip(rows, advice, strict=True):
        row["text"] = one.edit.text
    return {
        "kernel": name,
        "reason": slow.reason,
        "headline": advice.headline,
        "predicted": advice.original.time.seconds,
        "parts": dict(advice.original.time.parts),
        "limit": advice.original.time.limit,
        "tried": advice.tried,
        "dropped": [[one.title, one.reason] for one in advice.dropped],
        "seconds": {"recording": recorded - begun, "advice": time.monotonic() - recorded},
        "suggestions": rows,
    }


def predicted_apart(name: str, seconds: float) -> dict[str, Any]:
    """`predict` in a process that sees no GPU."""
    command = [sys.executable, "-m", "tests.gpu.advice_gains", "--one", name, "--seconds", str(seconds)]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "2"}
    begun = time.monotonic()
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        last = done.stdout.strip().split("\n")[-1]
        found = json.loads(last) if done.returncode == 0 else {"kernel": name, "error": done.stderr[-2000:]}
    except subprocess.TimeoutExpired:
        found = {"kernel": name, "error": f"no suggestions within {PATIENCE:g} s"}
    print(f"{name}: {found.get('headline', found.get('error'))} ({time.monotonic() - begun:.0f} s)", flush=True)
    return found


# --- Measuring ------------------------------------------------------------------------------------


def measure(row: dict[str, Any]) -> None:
    """Add the times of a kernel and of its first suggestions, in seconds, and whether the GPU's results agree."""
    from triton.testing import do_bench

    from tests.gpu.slow_kernels import SLOW

    (slow,) = (one for one in SLOW if one.name == row["kernel"])
    wanted = slow.prepare("cuda")
    wanted()
    expected = [_copied(one) for one in wanted.args]
    row["before"] = do_bench(wanted, return_mode="median") * 1e-3
    for suggestion in row["suggestions"][:MEASURED]:
        try:
            tried = edited(slow.prepare("cuda"), suggestion)
            tried()
            suggestion["gpu_results"] = agreement(expected, tried.args)
            suggestion["after"] = do_bench(tried, return_mode="median") * 1e-3
            # The kernel itself once more, as clocks change.
            again = do_bench(wanted, return_mode="median") * 1e-3
            suggestion["before"] = statistics.mean([row["before"], again])
            suggestion["gain"] = suggestion["before"] / suggestion["after"]
        except Exception as error:
            suggestion["error"] = f"{type(error).__name__}: {error}"[:500]


def _copied(one: Any) -> Any:
    return one.clone() if hasattr(one, "clone") else one


def edited(prepared: Any, suggestion: dict[str, Any]) -> Any:
    """The launch with a suggestion."""
    from tests.gpu.slow_kernels import Prepared
    from triton_lab.launch.replay.instrumented_copy import other_function

    kernel, text = prepared.kernel, suggestion["text"]
    if text is not None:
        kernel = other_function(kernel, ast.parse(text), text, dict(kernel.__globals__))
    named = {**prepared.kwargs, **suggestion["constants"], **suggestion["options"]}
    return Prepared(kernel, tuple(suggestion["grid"]), *prepared.args, **named)


def agreement(expected: list[Any], found: Any) -> str:
    """Whether all tensors are equal, close, or different."""
    import torch

    pairs = [(a, b) for a, b in zip(expected, found, strict=True) if isinstance(a, torch.Tensor)]
    if all(torch.equal(a, b) for a, b in pairs):
        return "equal"
    worst = max(((a.double() - b.double()).abs().max() / a.double().abs().max()).item() for a, b in pairs)
    return f"close: {worst:.1e}" if worst < 1e-2 else f"different: {worst:.1e}"


# --- The table ------------------------------------------------------------------------------------


def table(rows: list[dict[str, Any]]) -> str:
    """Kernel, first suggestion, predicted and measured gain, and the best measured of the first few."""
    lines = ["| kernel | first suggestion | predicted | measured | before | after | best of the first few | results |"]
    lines.append("| --- | --- | ---: | ---: | ---: | ---: | --- | --- |")
    for row in rows:
        if not row.get("suggestions"):
            lines.append(f"| {row['kernel']} | {row.get('error', 'none')[:60]!r} | | | | | | |")
            continue
        first = row["suggestions"][0]
        best = max(row["suggestions"][:MEASURED], key=lambda one: one.get("gain", 0.0))
        gain = f"{first['gain']:.2f}" if "gain" in first else first.get("error", "-")[:40]
        times = [f"{first[key] * 1e6:.1f} µs" if key in first else "-" for key in ("before", "after")]
        lines.append(
            f"| {row['kernel']} | {first['edit']} | {first['predicted_gain']:.2f} | {gain} | {' | '.join(times)} | "
            f"{best['edit']}: {best.get('gain', 0):.2f} | {first.get('gpu_results', '-')} |"
        )
    gains = [row["suggestions"][0].get("gain", 0.0) if row.get("suggestions") else 0.0 for row in rows]
    faster = sum(gain >= ENOUGH for gain in gains)
    return "\n".join([*lines, "", f"faster with the first suggestion: {faster} of {len(rows)}"])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gpu.advice_gains", description=__doc__)
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--predict", action="store_true", help="measure nothing")
    parser.add_argument("--one", metavar="KERNEL", help="print one kernel's suggestions as JSON")
    parser.add_argument("--only", nargs="*", metavar="KERNEL")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    given = parser.parse_args(arguments)
    register()
    if given.one:
        print("\n" + json.dumps(predict(given.one, given.seconds)))
        return 0
    from tests.gpu.slow_kernels import SLOW

    begun = time.monotonic()
    names = given.only or [one.name for one in SLOW]
    out = os.environ.get("OUT")
    file = given.file or (Path(out) / "advice.json" if out else None)
    with ThreadPoolExecutor(WORKERS) as pool:
        rows = list(pool.map(lambda name: predicted_apart(name, given.seconds), names))
    about: dict[str, Any] = {"predicting": time.monotonic() - begun}
    if file is not None:
        file.write_text(json.dumps({"about": about, "rows": rows}, indent=1), encoding="utf-8")
    if not given.predict:
        import torch
        import triton

        about |= {"device": torch.cuda.get_device_name(), "triton": triton.__version__, "torch": torch.__version__}
        for row in rows:
            if row.get("suggestions"):
                measure(row)
                print(row["kernel"], [one.get("gain") for one in row["suggestions"][:MEASURED]], flush=True)
    about["seconds"] = time.monotonic() - begun
    if file is not None:
        file.write_text(json.dumps({"about": about, "rows": rows}, indent=1), encoding="utf-8")
    print(table(rows), about, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
