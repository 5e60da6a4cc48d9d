"""Runs one function of this package in a fresh Python process and brings its result back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

OURS = {"TRITON_DEFAULT_BACKEND": "triton_lab"}
"""The environment of a process that launches on this project's CPU target, also where there is a GPU."""
NUMPY = {"TRITON_LAB_ENGINE": "numpy"}
"""Beside it: no kernel turns native while it is timed."""
UPSTREAM = {"TRITON_INTERPRET": "1"}
"""The environment of a process that launches in Triton's own interpreter."""


def threads(count: int) -> dict[str, str]:
    """The environment of a process in which torch and NumPy compute on ``count`` threads."""
    return {"OMP_NUM_THREADS": str(count), "OPENBLAS_NUM_THREADS": str(count)}


class ProcessFailed(RuntimeError):
    """The fresh process ended with an error; the message is the line that names its exception."""


def fresh(function: str, *arguments: Any, environment: Mapping[str, str]) -> Any:
    """Call `function` ("module:name", the module in this package) with JSON arguments; returns its JSON result."""
    # None of the variables that choose a target or an engine may leak in from the caller's shell.
    inherited = {key: value for key, value in os.environ.items() if key not in (*OURS, *NUMPY, *UPSTREAM)}
    done = subprocess.run(
        [sys.executable, "-m", "bench.process", function, json.dumps(arguments)],
        env={**inherited, **environment},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        # A message may have indented lines after the first; a traceback has nothing but indented lines before it.
        said = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith(" ")]
        raise ProcessFailed(said[-1] if said else f"exit status {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def _main() -> None:
    from importlib import import_module

    module, _, name = sys.argv[1].partition(":")
    print(json.dumps(getattr(import_module(f"bench.{module}"), name)(*json.loads(sys.argv[2]))))


if __name__ == "__main__":
    _main()
