"""The interpreter's fidelity: what must be bit-equal on a GPU is, and the script that measures it can be trusted."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.gpu.fidelity import measured, values
from tests.gpu.fidelity.measured import DIFFERENT, EQUAL, NOWHERE, ONE, TOLERANCE, Row, measure
from tests.gpu.fidelity.operations import EMULATED, NAMES, may_reorder, switch
from tests.gpu.fidelity.table import text_of
from tests.wordings import Wording


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


@pytest.mark.gpu
def test_all_that_must_be_bit_equal_on_a_gpu_is(tmp_path: Path) -> None:
    table = tmp_path / "fidelity.md"
    command = [sys.executable, "-m", "tests.gpu.fidelity", "--out", str(table), "--seconds", "300"]
    done = subprocess.run(command, capture_output=True, text=True)
    print(table.read_text(encoding="utf-8"))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("operation", "dtype"),
    [("a + b", "bf16"), ("to float8e5", "fp32"), ("a // b", "i8"), ("a << b", "u16"), ("max with its index", "fp16"),
     ("dot", "fp8e5"), ("store with a mask", "i1"), ("atomic_add", "fp32"), ("s * t", "fp64"), ("sort", "i64")],
)  # fmt: skip
def test_the_interpreter_is_bit_equal_to_itself(operation: str, dtype: str) -> None:
    assert measure(operation, dtype, "cpu").found == EQUAL


def test_what_the_language_does_not_have_is_no_row_and_no_difference() -> None:
    row = measure("a & b", "fp32", "cpu")
    assert row.found == NOWHERE and not row.is_wrong


@pytest.mark.parametrize(
    ("off", "found"),
    [(lambda bits: bits, EQUAL), (lambda bits: bits + (bits > 0), ONE), (lambda bits: bits + 40, TOLERANCE),
     (lambda bits: bits ^ np.int32(1 << 28), DIFFERENT)],
)  # fmt: skip
def test_a_gpu_that_is_off_is_found_out(off: Any, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = measured._run

    def planted(kernel: Any, rows: np.ndarray, room: int, dtype: str, side: str) -> Any:
        left = run(kernel, rows, room, dtype, "cpu")
        if side == "gpu":
            bits, numbers = left.kept.view(np.int32), left.kept.view(np.float32)
            finite = np.isfinite(numbers) & (np.abs(numbers) > 1e-3)
            bits[...] = np.where(finite & (np.abs(numbers) < 1e30), off(bits), bits)
        return left

    monkeypatch.setattr(measured, "_run", planted)
    row = measure("a + b", "fp32", "gpu")
    assert row.found == found and row.is_wrong == (found != EQUAL)
    assert bool(row.example) == (found != EQUAL)


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "fp8e5", "fp8e4nv", "i8", "u16"])
def test_all_patterns_of_narrow_formats_are_tried(dtype: str) -> None:
    kind = values.NUMPY[dtype]
    rows = values.wild(dtype, 1024)[:, : values.LANES].view(f"u{kind.itemsize}")
    assert len(np.unique(rows)) == 1 << (8 * kind.itemsize)


@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
def test_wide_formats_are_tried_at_all_exponents_and_where_they_are_special(dtype: str) -> None:
    found = values.samples(dtype)
    info = np.finfo(found.dtype)
    with np.errstate(all="ignore"):
        exponents = np.unique(np.frexp(found[np.isfinite(found)])[1])
        assert len(exponents) > info.maxexp - info.minexp
        assert np.isnan(found).any() and np.isinf(found).any()
        assert (np.signbit(found) & (found == 0)).any() and (np.abs(found[found != 0]) < info.tiny).any()


def test_arithmetic_comparisons_casts_and_memory_have_no_excuse() -> None:
    strict = ["a + b", "a * b", "-a", "a < b", "to float16", "to int32", "bits as int16", "load", "store", "where"]
    strict += ["fma", "maximum", "abs(a)", "floor(a)", "sqrt_rn(a)", "div_rn"]
    assert not [name for name in strict for dtype in ("fp16", "bf16", "fp32", "fp64", "i32") if switch(name, dtype)]
    floats = {"a / b", "s / t", "a / 1.5", "a / half", "a / int", "fdiv", "softmax of float32", "sum in float32"}
    floats |= {"dot_scaled e4m3", "dot_scaled e5m2", "dot_scaled bf16"}
    assert not [name for name in NAMES if switch(name, "i32") and name not in floats and "(a)" not in name
                and not name.startswith("libdevice")]  # fmt: skip
    assert not [dtype for dtype in ("i1", "i8", "i16", "u8", "u16") if switch("sum in float32", dtype)]


@pytest.mark.parametrize(
    ("operation", "apart", "scalars"), [("//", 16373, 269), ("<<", 16395, 259), (">>", 16395, 259)]
)
def test_what_an_h100_made_otherwise_of_one_bit_has_no_meaning(operation: str, apart: int, scalars: int) -> None:
    """So many lanes differed, with 1 on the GPU: divided by zero, or shifted by the one bit that there is."""
    rows = values.wild("i1", 1024)
    a, b = rows[:, : values.LANES], rows[:, values.LANES : 2 * values.LANES]
    s, t = rows[:, values.SCALARS], rows[:, values.SCALARS + 1]
    without = int(operation != "//")
    assert np.count_nonzero((a == 1) & (b == without)) == apart
    assert np.count_nonzero((s == 1) & (t == without)) == scalars
    kept = values.within_rules(f"a {operation} b", "i1", rows)
    assert not (kept[:, values.LANES : 2 * values.LANES] == without).any()
    assert not (values.within_rules(f"s {operation} t", "i1", rows)[:, values.SCALARS + 1] == without).any()


@pytest.mark.parametrize(
    ("dtype", "apart"), [("i1", 65064), ("i8", 128665), ("i16", 129023), ("i32", 129023), ("i64", 129023)]
)
def test_what_may_stand_in_any_order_is_compared_in_any(dtype: str, apart: int) -> None:
    """An H100 gives `cat` in turns, one of each: in so many places it differed from one after the other."""
    rows = values.wild(dtype, 1024)
    a, b = rows[:, : values.LANES], rows[:, values.LANES : 2 * values.LANES]
    theirs, ours = np.stack([a, b], axis=-1).reshape(1024, -1), np.concatenate([a, b], axis=1)
    assert np.count_nonzero(theirs != ours) == apart
    assert np.array_equal(measured._in_order(theirs), measured._in_order(ours))
    theirs[5, 7] ^= 1
    assert not np.array_equal(measured._in_order(theirs), measured._in_order(ours))
    assert may_reorder("cat") and not may_reorder("join")


def test_the_table_says_what_it_is(tmp_path: Path, wording: Wording) -> None:
    rows = [
        Row("a + b", "fp32", EQUAL, ""),
        Row("exp(a)", "fp32", ONE, "approximate"),
        Row("a | b", "fp32", NOWHERE, ""),
        Row("a | b", "i32", DIFFERENT, ""),
        Row("softmax", "", EQUAL, ""),
    ]
    text = text_of(rows, 3, "cpu", ["a + b", "exp(a)", "a | b"], ["fp32", "i32"])
    sentences = re.split(r"(?<=[.:])\s", text)
    assert any("no measurement" in one for one in sentences)
    wording(next(one for one in text.splitlines() if "3 of 8" in one), "time", left="3 of 8")
    assert r"| `a \| b` |  | ≠ | **nobody knows** |" in text
    assert "| `exp(a)` | 1 | ? | approximate |" in text and "| softmax | bit-equal |  |" in text


@pytest.mark.parametrize(("operation", "dtype"), [("s % t", "bf16"), ("argmax of a block", "fp32")])
def test_a_reason_is_told_where_its_switch_leaves_nothing(
    operation: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The GPU's side is what the interpreter makes of the switch, and then one bit off."""
    run = measured._run
    off = 0

    def planted(kernel: Any, rows: np.ndarray, kept: int, dtype: str, side: str) -> Any:
        if side == "cpu":
            return run(kernel, rows, kept, dtype, side)
        left = measured._emulated(EMULATED[operation][0], operation, rows, kept, dtype)
        assert left is not None
        left.kept[:1] ^= off
        return left

    monkeypatch.setattr(measured, "_run", planted)
    row = measure(operation, dtype, "gpu")
    assert row.found == DIFFERENT and row.switch.startswith(EMULATED[operation][1]) and not row.is_wrong
    assert row.switch.endswith("makes the same bits")
    off = 1
    row = measure(operation, dtype, "gpu")
    assert row.is_wrong and "leaves" in row.example


def test_of_several_reasons_the_types_are_told() -> None:
    rows = [
        Row("dot", "fp16", TOLERANCE, "the order"),
        Row("dot", "fp32", DIFFERENT, "tf32"),
        Row("dot", "bf16", ONE, "the order"),
    ]
    text = text_of(rows, 0, "cpu", ["dot"], ["fp16", "bf16", "fp32"])
    assert "| the order (fp16, bf16); tf32 (fp32) |" in text
