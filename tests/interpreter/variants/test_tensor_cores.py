"""Dots of tensor cores, held to the bits that an H200 made (``h100_products.npz``)."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from triton_lab.interpreter.variants import tensor_cores

MADE = np.load(Path(__file__).with_name("h100_products.npz"))
USED = json.loads(str(MADE["instructions"]))
NAMES = [name for name in MADE.files if name != "instructions"]
KINDS = {"float8_e4m3fn": ml_dtypes.float8_e4m3fn, "float8_e5m2": ml_dtypes.float8_e5m2, "float16": np.float16,
         "bfloat16": ml_dtypes.bfloat16, "float32": np.float32}  # fmt: skip
ELEMENTS = {
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
}
PRECISIONS = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")


class Frame:
    """What a dot asks of the frame that runs it: types and elements."""

    def __init__(self, element: str, half: bool) -> None:
        self.types = [SimpleNamespace(element=element, bits=8, is_integer=False, is_float=True)] * 2
        self.half = half

    def type(self, number: int) -> Any:
        return self.types[number]

    def result_type(self, op: Any) -> str:
        return "f16" if self.half else "f32"

    def spread(self, op: Any, position: int, value: Any) -> Any:
        return value

    elements = spread


def operands(m: int, n: int, k: int, kind: str) -> list[np.ndarray]:
    """Random tiles, as the GPU got them."""
    rng = np.random.default_rng(m * 1000 + n * 10 + k)
    tiles = [rng.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n))]
    if kind == "wild":
        tiles = [tile * np.exp2(rng.integers(-4, 5, tile.shape)).astype(np.float32) for tile in tiles]
    return tiles


@pytest.mark.parametrize("name", NAMES)
def test_a_product_has_the_bits_of_a_gpu(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dtype, precision, acc, m, n, k, step, _, kind, limit = name.split(" ")
    a, b, c = operands(int(m), int(n), int(k), kind)
    half = acc == "fp16"
    monkeypatch.setattr(tensor_cores, "dtype_of", lambda type: np.dtype(np.float16 if type == "f16" else np.float32))
    attributes = {
        "inputPrecision": PRECISIONS.index(precision),
        "maxNumImpreciseAcc": 0 if limit == "None" else int(limit),
    }
    op = SimpleNamespace(operands=(0, 1, 2), attributes=attributes)
    dot = tensor_cores.dots(frozenset(USED[name].split()))["tt.dot"]
    x, y = (tile.astype(KINDS[dtype])[None] for tile in (a, b))
    start = c.astype(np.float16 if half else np.float32)[None]
    found = dot(Frame(ELEMENTS[dtype], half), op, x, y, start)[0]
    assert int(step) == int(k) and np.array_equal(found.astype(np.float32), MADE[name])


def test_terms_are_cut_below_the_greatest() -> None:
    """1 and seven numbers a little below or above the last place that is kept, which is 2^-25 of it."""
    core = tensor_cores._TF32S

    def total(small: float) -> float:
        x = np.array([[1.0] + [small] * 7], np.float32)
        return float(core(x, np.ones((8, 1), np.float32), np.zeros((1, 1), np.float32))[0, 0])

    assert total(2.0**-25 - 2.0**-48) == 1.0 and total(-(2.0**-26)) == 1.0
    assert total(2.0**-25) == 1 + 2.0**-23 and total(2.0**-25 * 1.9) == 1 + 2.0**-23, "7/4 of a last place are cut"
    assert total(2.0**-24) == 1 + 3 * 2.0**-23
    zeros, start = np.zeros((2, 8), np.float32), np.full((2, 2), 3.5, np.float32)
    assert (core(zeros, zeros.T, start) == 3.5).all()
    assert core(np.full((1, 8), 1e30, np.float32), np.full((8, 1), 1e30, np.float32), start[:1, :1]) == np.inf
