"""Launches of examples recorded on a GPU, for users without one: `recording`, and the script that records them.

    python -m triton_lab.examples.gpu_recordings    # on a machine with a GPU; a minute

Each file in the course's ``recordings/`` is one saved launch: its arguments, the results of the GPU and of the
interpreter, the GPU's time and name, and the findings. Beside them ``sweeps.json`` has sweeps that a GPU measured:
`measurement`.
"""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triton_lab.data_folders import course_folders
from triton_lab.examples.example import Example
from triton_lab.localization import _
from triton_lab.messages import count, number

if TYPE_CHECKING:
    from triton_lab.launch.benchmark.benchmark_result import Sweep
    from triton_lab.launch.launch import Launch

_FOLDERS = [folder / "recordings" for folder in course_folders()]
FOLDER = next((folder for folder in _FOLDERS if folder.is_dir()), _FOLDERS[0])
SUFFIX = ".launch"
SWEEPS = "sweeps.json"
MOST = 2 << 20
"""The most bytes of all files together: they are part of the course."""

# Recording -> its example. Split-K is recorded twice: atomic additions of floats differ from run to run.
RECORDED: dict[str, str] = {
    **{name: name for name in ("vector_add", "softmax", "matmul_float16", "matmul_float32", "layer_norm")},
    **{"attention": "attention_full", "split_k_matmul": "split_k_matmul", "split_k_matmul_again": "split_k_matmul"},
}


def recordings() -> list[str]:
    """The names of the recordings that exist, for `recording`."""
    return [name for name in RECORDED if (FOLDER / f"{name}{SUFFIX}").exists()]


def recording(name: str) -> Launch:
    """A launch of an example, recorded on a GPU and opened by `lab.load`: ``launch.time.device`` names the GPU.

    It holds the interpreter's results for the same arguments; ``lab.compare(launch)`` computes them again. Raises
    KeyError for an unknown name, FileNotFoundError for a missing file.

    >>> lab.examples.recording("nonsense")
    Traceback (most recent call last):
        ...
    KeyError: "there is no recording 'nonsense'; there are vector_add, softmax, matmul_float16, matmul_float32,...
    """
    if name not in RECORDED:
        raise KeyError(
            _("there is no recording {name}; there are {recorded}").format(
                name=repr(name), recorded=", ".join(RECORDED)
            )
        )
    file = FOLDER / f"{name}{SUFFIX}"
    if not file.exists():
        there = ", ".join(recordings()) or "none"
        raise FileNotFoundError(
            _(
                "{name} is not recorded on a GPU yet (recorded: {there}). On a machine with a GPU, run "
                "python -m triton_lab.examples.gpu_recordings"
            ).format(name=name, there=there)
        )
    from triton_lab.launch.saving.launch_reader import load

    return load(file)


def measurement(name: str) -> Sweep:
    """A sweep that was measured on a GPU, by its name; its times name the GPU.

    ``tests/gpu/course_sweeps.py`` makes them. Raises KeyError for an unknown name, FileNotFoundError without any.

    >>> lab.examples.measurement("nonsense")
    Traceback (most recent call last):
        ...
    KeyError: "there is no measurement 'nonsense'; there are programs, again, stride, chain, norms, order,...
    """
    from triton_lab.backend.targets.gpu_timer import Time
    from triton_lab.launch.benchmark.benchmark_result import Peaks, Sweep, SweepRow

    found = json.loads((FOLDER / SWEEPS).read_text(encoding="utf-8"))
    if name not in found:
        raise KeyError(
            _("there is no measurement {name}; there are {measured}").format(name=repr(name), measured=", ".join(found))
        )
    given = found[name]
    rows = tuple(SweepRow(**{**row, "time": row["time"] and Time(**row["time"])}) for row in given["rows"])
    return Sweep(
        rows,
        given["target"],
        given["peaks"] and Peaks(**given["peaks"]),
        tuple(given["remarks"]),
        given.get("axis", ""),
    )


def make(folder: Path = FOLDER, launched: Callable[[Example], Launch] | None = None) -> list[Path]:
    """Record all launches into ``folder``. ``launched`` launches an example; by default this machine's GPU does.

    Raises TargetError without a GPU, ValueError if the files are too large.
    """
    from triton_lab.examples import example

    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, of in RECORDED.items():
        files.append(folder / f"{name}{SUFFIX}")
        (launched or on_gpu)(example(of)).save(files[-1])
        _without_places(files[-1])
    size = sum(file.stat().st_size for file in files)
    if size > MOST:
        raise ValueError(
            _("the recordings have {bytes}, but at most {most} are allowed: record smaller launches").format(
                bytes=count(size, "byte"), most=number(MOST)
            )
        )
    return files


def on_gpu(each: Example) -> Launch:
    """The last launch of an example on small inputs, on the GPU and on the CPU, timed; its remark names the GPU."""
    import torch
    import triton

    from triton_lab.backend.targets.active_target import target
    from triton_lab.launch.recording.record import record

    with target("gpu"):
        each.run(**each.inputs("small", 0, "cpu"))  # compiled and autotuned before it is recorded
        with record(time=True) as launches:
            each.run(**each.inputs("small", 0, "cpu"))
    launch = launches[-1]
    device = launch.time.device if launch.time is not None else ""
    where = _("recorded on one {device} with Triton {triton} and torch {torch}").format(
        device=device, triton=triton.__version__, torch=torch.__version__
    )
    return replace(launch, remark="; ".join(filter(None, (launch.remark, where))))


def _without_places(file: Path) -> None:
    """Write the file again with paths relative to the packages, not to this machine's folders."""
    import triton

    import triton_lab

    roots = [str(Path(str(one.__file__)).resolve().parents[1]) + "/" for one in (triton_lab, triton)]
    with zipfile.ZipFile(file) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    for name in [name for name in members if name.endswith(".json")]:
        for root in roots:
            members[name] = members[name].replace(root.encode(), b"")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in members.items():
            # A date would make each file different.
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)


def main(arguments: Sequence[str]) -> None:
    """Record the launches, into the package or into the named folder, and print them."""
    import argparse

    parser = argparse.ArgumentParser(prog="python -m triton_lab.examples.gpu_recordings", description=__doc__)
    parser.add_argument(
        "folder", nargs="?", type=Path, default=FOLDER, help=_("the folder for the recordings; default: the package")
    )
    folder = parser.parse_args(arguments).folder
    from triton_lab.launch.saving.launch_reader import load

    for file in make(folder):
        found: Any = load(file)
        time = "" if found.time is None else f"{found.time.median * 1e6:.1f} µs, {found.time.runs} runs"
        print(
            _("{name}: {bytes}, {kernel}, {time}; {remark}").format(
                name=file.name,
                bytes=count(file.stat().st_size, "byte"),
                kernel=found.kernel,
                time=time,
                remark=found.remark,
            )
        )


if __name__ == "__main__":
    main(sys.argv[1:])
