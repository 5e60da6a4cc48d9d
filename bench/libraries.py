"""Test suites of public Triton libraries, unchanged, under ``--triton-lab=check``: ``python -m bench.libraries``.

Each is taken from the package index as its authors publish it, sources and tests, into a folder that is given
(``--into``, kept) or is removed again; nothing of it is in this repository. Printed are pytest's last line, the tests
that failed, and each finding of severity error, which somebody then has to look at. ``--seconds`` bounds each library;
a sample of its files is run, named below.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Library:
    """A source distribution; ``needs`` is what its tests import beside torch, ``source`` where its package lies.

    ``without``: what the names of tests that are left out hold, since they take minutes each.
    """

    name: str
    version: str
    tests: tuple[str, ...]
    source: str = "."
    needs: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


LIBRARIES = (
    Library(
        "liger-kernel",
        "0.8.5",
        tuple(
            f"test/transformers/test_{name}.py"
            for name in (
                *("relu_squared", "sparsemax", "selective_log_softmax_strides", "poly_norm", "rms_norm", "geglu"),
                *("softmax", "swiglu", "kl_div", "tvd", "jsd", "layer_norm", "group_norm", "embedding", "dyt"),
            )
        ),
        "src",
        ("transformers",),
        ("2048", "4096", "8192", "32000", "128256", "large_row"),
    ),
    Library(
        "late-interaction-kernels",
        "0.4.5",
        tuple(
            f"tests/test_{name}.py"
            for name in ("edge_cases", "forward", "varlen", "topk", "normalize", "backward", "padded", "scatter")
        ),
        without=("large_batch_many_docs", "auto_selects"),
    ),
)
OPTIONS = ("-q", "-p", "no:cacheprovider", "-W", "ignore", "-o", "addopts=", "-o", "log_cli=false", "--timeout=60")


def fetched(library: Library, into: Path) -> Path:
    """The folder with the library's sources."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-build-isolation", "--no-binary", ":all:"]
    subprocess.run([*pip, f"{library.name}=={library.version}", "-d", str(into)], check=True)
    (archive,) = into.glob(f"{library.name.replace('-', '_')}-*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(into, filter="data")
    if library.needs:
        # Apart from this environment, whose NumPy and torch are to stay what they are.
        target = [sys.executable, "-m", "pip", "install", "-q", "--target", str(into / "needed")]
        subprocess.run([*target, *library.needs], check=True)
    return archive.with_name(archive.name.removesuffix(".tar.gz"))


class NotHad(RuntimeError):
    """A library could not be fetched; the message says why."""


def unpacked(library: Library, into: Path) -> Path:
    """A folder with the modules of the library's wheel, of the version named here and without what it needs.

    Raises NotHad.
    """
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--no-input"]
    named = f"{library.name}=={library.version}"
    done = subprocess.run([*pip, named, "-d", str(into)], capture_output=True, text=True, check=False)
    wheels = list(into.glob(f"{library.name.replace('-', '_')}-*.whl"))
    if done.returncode or not wheels:
        said = [line for line in done.stderr.splitlines() if line.strip() and "[notice]" not in line]
        raise NotHad(f"the wheel of {named} could not be had: {said[-1] if said else 'pip says nothing of it'}")
    folder = into / library.name
    with zipfile.ZipFile(wheels[0]) as packed:
        packed.extractall(folder)
    return folder


def run(library: Library, into: Path, seconds: int, more: Sequence[str]) -> None:
    """Run the library's tests and tell what came out."""
    folder = fetched(library, into)
    told = into / f"{library.name}.json"
    # What it needs comes last: this environment's own packages are found first.
    paths = [str(Path(__file__).parents[1]), str(folder / library.source), *sys.path[1:], str(into / "needed")]
    command = ["timeout", "-s", "INT", str(seconds), sys.executable, "-m", "pytest"]
    if not entry_points(group="pytest11", name="triton-lab"):  # it is not installed: nobody else loads the plugin
        command += ["-p", "triton_lab.testing.plugin"]
    command += ["--triton-lab=check", f"--triton-lab-json={told}", *OPTIONS, *library.tests]
    command += ["-k", " and ".join(f"not {name}" for name in library.without), *more]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    said = [line for line in done.stdout.splitlines() if re.search(r"\d (passed|failed|error|skipped)", line)]
    print(f"{library.name} {library.version}: {said[-1] if said else (done.stdout + done.stderr)[-500:]}")
    print(*(f"  {line}" for line in done.stdout.splitlines() if line.startswith("FAILED ")), sep="\n")
    if told.exists():
        print(*(_line(each) for each in json.loads(told.read_text())["found"].values() if each["severity"] == "error"))


def _line(found: dict[str, Any]) -> str:
    return (
        f"\n  {found['kind']}: {found['file']}:{found['line']} in {found['kernel']}, {found['test']}\n{found['text']}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, help="a folder for what is fetched")
    parser.add_argument("--seconds", type=int, default=240, help="how long each library's tests may take")
    parser.add_argument("--only", choices=[each.name for each in LIBRARIES])
    given, more = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        for library in LIBRARIES:
            if given.only in (None, library.name):
                into = (given.into or Path(folder)) / library.name
                into.mkdir(parents=True, exist_ok=True)
                run(library, into, given.seconds, more)


if __name__ == "__main__":
    main()
