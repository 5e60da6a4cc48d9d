"""The chapters as tests read them: the source of each, and in it the teacher's answer to each exercise."""

from __future__ import annotations

import functools
import json
import math
from pathlib import Path
from typing import Any

import jupytext
import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma
from triton.experimental.gluon.nvidia import hopper
from triton.tools.tensor_descriptor import TensorDescriptor

import triton_lab as lab
from triton_lab.course.edition import Notebook, checked, source_of

FOLDER = Path(__file__).parents[2] / "notebooks"


def chapter_files() -> list[Path]:
    """The sources of the chapters that have exercises of ours."""
    return [path for path in sorted(FOLDER.glob("*.py")) if "exercise(" in path.read_text(encoding="utf-8")]


@functools.cache
def _text(path: Path) -> str:
    return str(jupytext.writes(jupytext.read(path), "ipynb"))


def notebook(path: Path) -> Notebook:
    """A chapter as a notebook's file has it, not run."""
    found: Notebook = json.loads(_text(path))
    return found


def _names(cells: list[Any]) -> list[str]:
    """The first cell of a chapter, if it has functions for kernels of Gluon: all answers of the chapter use them."""
    first = next(source_of(cell) for cell in cells if cell["cell_type"] == "code")
    lines = [line for line in first.split("\n") if not line.startswith("%")]
    return ["\n".join(lines)] if "@gluon.jit" in first else []


@functools.cache
def answers() -> dict[str, str]:
    """By exercise the cells with the teacher's answer: those with a solution since the check before."""
    found: dict[str, str] = {}
    for path in chapter_files():
        cells = notebook(path)["cells"]
        names = _names(cells)
        solutions: list[str] = []
        for cell in cells:
            text = source_of(cell)
            name = checked(text) if cell["cell_type"] == "code" else None
            if name is not None:
                assert name not in found, f"{name} is checked twice"
                found[name] = "\n\n".join([*names, *solutions])
                solutions = []
            elif cell["cell_type"] == "code" and "BEGIN SOLUTION" in text:
                solutions.append(text)
    return found


_numbers = iter(range(10**9))


def defined(text: str, name: str) -> Any:
    """What ``name`` is after the cells in ``text`` have run, in a notebook that has made its imports."""
    import linecache

    file = f"<answer {next(_numbers)}>"
    # Triton reads a kernel's source by its file's name.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = {"torch": torch, "triton": triton, "tl": tl, "lab": lab, "math": math, "__name__": "answers"}
    names |= {"TensorDescriptor": TensorDescriptor, "triton_op": triton_op, "wrap_triton": wrap_triton}
    names |= {"gluon": gluon, "gl": gl, "hopper": hopper}
    names |= {"async_copy": async_copy, "mbarrier": mbarrier, "tma": tma, "fence_async_shared": fence_async_shared}
    exec(compile(text, file, "exec"), names)
    return names[name]
