"""Kernels that Triton's front end refuses: each is told with its line and a remedy, without Triton's own names."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import re
import sys
import tempfile
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path

import torch

import triton_lab  # noqa: F401 - the target "cpu"
from tests.hostile.outcome import Outcome, Try
from tests.hostile.refused_kernels import REFUSED
from triton_lab.notebook.cell.error_display import places, refused
from triton_lab.notebook.mistakes.mistake_table import explained

# Words of Triton's own code, which say nothing to the author of a kernel.
_INSIDES = re.compile(r"constexpr_type|_semantic|__\w+__|incompatible function arguments|has no attribute|constexpr\[")
_numbers = itertools.count()


def tries(seed: int) -> Iterator[Try]:
    """One try for each kernel."""
    with tempfile.TemporaryDirectory() as folder, _silent():
        for name in REFUSED:
            yield tried(name, Path(folder))


def tried(name: str, folder: Path) -> Try:
    """What a launch of one kernel tells: refused, or survived if this version of Triton accepts it."""
    body, above = REFUSED[name]
    module = f"refused_{next(_numbers)}"
    file = folder / f"{module}.py"
    lines = [
        "import torch, triton, triton.language as tl",
        above,
        "@triton.jit",
        "def kernel(x_ptr, n, BLOCK: tl.constexpr):",
    ]
    file.write_text("\n".join([*lines, textwrap.indent(body, "    "), ""]), encoding="utf-8")
    specification = importlib.util.spec_from_file_location(module, file)
    assert specification is not None and specification.loader is not None
    made = importlib.util.module_from_spec(specification)
    sys.modules[module] = made
    try:
        specification.loader.exec_module(made)
        made.kernel[(1,)](torch.ones(4096), 64, BLOCK=16)
    except Exception as error:
        return Try(name, *_judged(error))
    finally:
        del sys.modules[module]
    return Try(name, "survived")


def _judged(error: Exception) -> tuple[Outcome, str]:
    found = refused(error)
    if found is None:
        return "wrong", f"told as {type(error).__name__}: {error}"
    refusal, told = found
    if _INSIDES.search(told.message) or not told.message:
        return "wrong", told.message
    if not told.advice and explained(refusal) is None:
        return "wrong", f"no remedy: {told.message}"
    # A function that Triton does not know is looked for in the kernel.
    return ("refused", "") if places(refusal, told) else ("wrong", f"no place: {told.message}")


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Without MLIR's messages and Triton's warnings, which go to the process's standard error."""
    before, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nothing)
