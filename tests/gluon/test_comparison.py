"""The rules of comparison follow rounding through shared memory, wgmma and TMA, and leave no room for errors."""

from __future__ import annotations

import numpy as np
import pytest

import triton_lab as lab
from tests.gluon.cases import Case, cases, launch
from tests.gluon.hopper_cases import hopper_cases
from triton_lab.launch.comparison.argument_difference import DIFFERENT, EQUAL, NEAR, Compared
from triton_lab.launch.comparison.bounds.error_bounds import bounds
from triton_lab.launch.comparison.launch_results import of_launch

# By how much of the greatest element a result may not be off.
ROUNDED = {
    "attention-1": 0.03,
    "fed_product-4": 0.03,
    "in_tensor_memory-4": 0.03,
    "product_from_registers-1": 0.03,
    "product_in_flight": 0.03,
    "product_of_rows-bf16": 0.03,
    "product_of_rows-e4m3": 0.5,  # tensor cores sum them with few digits
    "product_of_rows-tf32": 0.03,
    "two_products": 0.03,
    "persistent-5": 0.03,
}
EXACT = ("tiles-3", "three_partitions-4", "parts_of_parts", "reduced-MAX", "turned_by-swizzled", "rows-1")
CASES = {str(case): case for case in [*cases(1), *hopper_cases()]}


def compared(case: Case, change: float = 0.0) -> Compared:
    """A launch's result beside torch's, whose element 7 is changed by a part of the greatest one."""
    with lab.target("cpu"), lab.record() as launches:
        _result, wanted = launch(case)
    found = of_launch(launches[0], "cpu")
    (name,) = found.written
    other = np.array(wanted.float().numpy(), order="C")
    other.reshape(-1)[7] += change * np.abs(other).max()
    mine = found.arrays[name].astype(np.float32)
    return Compared(name, mine, other, bound=bounds(launches[0])[name])


@pytest.mark.parametrize("name", [*ROUNDED, *EXACT])
def test_what_rounding_explains_is_no_difference_and_an_error_is_one(name: str) -> None:
    allowed = (EQUAL,) if name in EXACT else (EQUAL, NEAR)
    assert compared(CASES[name]).verdict in allowed
    assert compared(CASES[name], ROUNDED.get(name, 1e-6)).verdict == DIFFERENT
