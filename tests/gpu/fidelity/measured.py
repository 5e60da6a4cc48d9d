"""One operation on one type of number, on both sides: how far apart the results are."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.backend.operations import DTYPES
from tests.gpu.fidelity import values
from tests.gpu.fidelity.operations import EMULATED, kernel_of, known, may_reorder, results, slot, switch, width
from tests.gpu.fidelity.values import NUMPY, SCALARS, WIDTH
from triton_lab.ir import parse_plan
from triton_lab.ir.provenance import pointer_roots
from triton_lab.launch.comparison.argument_difference import Compared
from triton_lab.launch.comparison.gpu_ways import emulations
from triton_lab.launch.comparison.launch_results import read
from triton_lab.launch.comparison.numerics import in_threads
from triton_lab.launch.replay.replay_run import replay

EQUAL, ONE, TWO, TOLERANCE, DIFFERENT = "bit-equal", "1 ulp", "2 ulp", "tolerance", "different"
CLASSES = (EQUAL, ONE, TWO, TOLERANCE, DIFFERENT)
NOWHERE = "refused"
# Of the largest number that a program has computed: eleven bits, which tf32 keeps of its inputs.
TOLERATED = 2.0**-10
# MLIR's names of element types, as NumPy has them.
_ELEMENTS: dict[str, Any] = {
    **{f"i{n}": np.dtype(f"int{n}") for n in (8, 16, 32, 64)},
    **{"i1": np.dtype(np.int8), "f16": np.dtype(np.float16), "f32": np.dtype(np.float32), "f64": np.dtype(np.float64)},
    **{"bf16": NUMPY["bf16"], "f8E4M3FN": NUMPY["fp8e4nv"], "f8E5M2": NUMPY["fp8e5"]},
    **{"f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz), "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz)},
}


@dataclass(frozen=True)
class Row:
    """What was found: ``found`` is one of `CLASSES` or why there is none; ``example`` an element that is off most."""

    operation: str
    dtype: str
    found: str
    switch: str
    example: str = ""

    @property
    def is_wrong(self) -> bool:
        """Whether a difference has no switch that explains it."""
        return self.found != EQUAL and self.found != NOWHERE and not self.switch


def measure(operation: str, dtype: str, against: str) -> Row:
    """Both sides on wild numbers and on tame ones, in one launch on each."""
    told = switch(operation, dtype)
    kernel = kernel_of(operation)
    rows = values.within_rules(operation, dtype, _values(dtype, width(operation)))
    kept = len(rows) * slot(operation) * results(operation)
    try:
        ours = _run(kernel, rows, kept, dtype, "cpu")
    except Exception:
        # A GPU's compiler refuses it too, which `tests/backend/test_accepted.py` holds; some end the process.
        return Row(operation, dtype, NOWHERE, told)
    try:
        theirs = _run(kernel, rows, kept, dtype, against)
    except Exception as error:
        return Row(operation, dtype, f"refused by the GPU: {_line(error)}", told)
    worst, example = _worst(operation, dtype, theirs, ours)
    if worst == EQUAL or not told:
        return Row(operation, dtype, worst, told, example)
    name = EMULATED[operation][0] if operation in EMULATED else known(operation)
    emulated = _emulated(name, operation, rows, kept, dtype) if name else None
    if emulated is not None:
        left, where = _worst(operation, dtype, theirs, emulated)
        if left == EQUAL:
            told += f": `{name}` makes the same bits"
        elif operation in EMULATED:
            told, example = "", f"{example}; {name} leaves {left}, {where}"
    return Row(operation, dtype, worst, told, example)


def _worst(operation: str, dtype: str, theirs: _Left, ours: _Left) -> tuple[str, str]:
    """The class of all that the two have left, and an element that is off most."""
    worst, example = EQUAL, ""
    for name, a, b in _results(operation, dtype, theirs, ours):
        if name == "result" and may_reorder(operation):
            a, b = _in_order(a), _in_order(b)
        found, where = _class(a, b)
        if CLASSES.index(found) > CLASSES.index(worst):
            worst, example = found, f"{name}: {where}"
    return worst, example


@functools.cache
def _values(dtype: str, width: int) -> np.ndarray:
    """Rows of wild numbers, as many as show all of them, and 64 of tame ones."""
    found = values.wild(dtype, 64 if width == WIDTH else 1024), values.tame(dtype, 64)
    return np.concatenate([rows[:, :width] for rows in found])


@dataclass(frozen=True)
class _Left:
    """What a launch leaves: its rows, what it keeps as bytes, and the compiled kernel."""

    memory: np.ndarray
    kept: np.ndarray
    kernel: Any


def _run(kernel: Any, rows: np.ndarray, kept: int, dtype: str, side: str) -> _Left:
    """A launch on ``rows`` that may keep ``kept`` bytes."""
    device = "cuda" if side == "gpu" else "cpu"
    raw = torch.from_numpy(rows.view(f"i{rows.dtype.itemsize}").copy()).to(device)
    room = torch.zeros(kept, dtype=torch.int8, device=device)
    with lab.target(side):
        typed = triton.reinterpret(raw, getattr(tl, DTYPES[dtype]))
        compiled = kernel[(len(rows),)](typed, room, SCALARS, enable_fp_fusion=True)
    return _Left(raw.cpu().numpy(), room.cpu().numpy(), compiled)


def _emulated(name: str, operation: str, rows: np.ndarray, kept: int, dtype: str) -> _Left | None:
    """A launch by the interpreter that does what a GPU does otherwise; None where the kernel has no such switch."""
    with lab.record() as launches:
        left = _run(kernel_of(operation), rows, kept, dtype, "cpu")
    (launch,) = launches
    every = {one.name: one for one in [*emulations(launch), *in_threads(launch)]}
    if name not in every:
        return None
    memory = replay(launch, executable=every[name].executable(launch))
    raw, room = (read(memory, launch.argument(name)) for name in ("P", "O"))
    return _Left(raw.view(left.memory.dtype), room, left.kernel)


def _line(error: Exception) -> str:
    return (
        f"{type(error).__name__}: {str(error).strip().splitlines()[-1][:100]}" if str(error) else type(error).__name__
    )


def _results(operation: str, dtype: str, theirs: _Left, ours: _Left) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """The arrays to compare, each as its own type: rows, where one side has written to them, and results."""
    rows, programs = (theirs.memory, ours.memory), len(ours.memory)
    if not np.array_equal(*rows):
        yield "memory", *(side.view(NUMPY[dtype]) for side in rows)
    for number, (element, size) in enumerate(_kept(ours.kernel)):
        shape = results(operation), programs, slot(operation)
        parts = [side.kept.reshape(shape)[number][:, : size * element.itemsize] for side in (theirs, ours)]
        yield ("result", *(np.ascontiguousarray(part).view(element) for part in parts))


def _kept(compiled: Any) -> list[tuple[Any, int]]:
    """Element type and number of elements of what the kernel keeps, as its stores to ``O`` say."""
    plan = parse_plan(compiled.asm["plan"].decode())
    roots = pointer_roots(plan)
    found = []
    for function in plan.functions.values():
        for op in function.walk():
            if op.name == "tt.store" and roots.get(op.index) == frozenset({1}):
                type = function.types[op.operands[1]]
                found.append((_ELEMENTS[str(type.element)], int(np.prod(type.shape, dtype=int))))
    return found


def _in_order(rows: np.ndarray) -> np.ndarray:
    """What each program has left, by its bits: the same for any order in which it stands."""
    return np.sort(rows.view(f"u{rows.dtype.itemsize}"), axis=-1).view(rows.dtype)


def _class(a: np.ndarray, b: np.ndarray) -> tuple[str, str]:
    """How far apart two results are, and where they are most."""
    compared = Compared("it", a, b)
    if compared.same.all():
        return EQUAL, ""
    if a.dtype.kind in "iub":
        return DIFFERENT, _first(a, b, ~compared.same)
    ulps = compared.ulps
    unlike = np.isnan(ulps)
    where = _first(a, b, unlike if unlike.any() else ulps == ulps.max())
    if unlike.any():
        return DIFFERENT, where
    if ulps.max() <= 2:
        return ONE if ulps.max() <= 1 else TWO, where
    with np.errstate(all="ignore"):
        size = np.abs(np.where(compared.finite, b.astype(np.float64), 0)).max(axis=-1, keepdims=True)
        return (TOLERANCE if (compared.absolute <= TOLERATED * size).all() else DIFFERENT), where


def _first(a: np.ndarray, b: np.ndarray, flags: np.ndarray) -> str:
    index = tuple(int(one) for one in np.argwhere(flags)[0])
    return f"GPU {a[index]}, CPU {b[index]} in program {index[0]}, lane {index[-1]}; {int(flags.sum())} in all"
