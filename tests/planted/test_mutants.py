"""Mutants of the examples whose mistake is one of addresses, masks or the order of programs are found.

`python -m tests.planted` counts what becomes of the mutants of all mistakes.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

import triton_lab
from tests.planted.mistakes import IN_KERNELS, IN_LAUNCHERS
from tests.planted.mutants import Mutant, mutants
from triton_lab.examples import Example
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.checks.race.barriers import around_atomics

# The mistakes that are tried here. Others may leave all accesses in place, so that the numbers alone are wrong.
TRIED = ("mask dropped", "bound off by one", "strides swapped", "barrier removed")

# What the mistake does, where it is not what its kind does elsewhere.
HARMLESS = {
    "histogram:27:58 mask dropped": "adds zero to the bins that no value fell into",
}
WRONG_NUMBERS = {
    "grouped_gemm:46:19 bound off by one": "an empty tile more, and the next product's first tile is never computed",
}


def outcome(each: Example) -> tuple[list[Any], bool]:
    """The launches of one example on its small inputs, and whether its result is torch's."""
    with triton_lab.record() as launches, contextlib.suppress(KernelError):
        try:
            each.check()
        except AssertionError:
            return launches, False
    return launches, not any(launch.error for launch in launches)


@pytest.mark.parametrize(
    "mutant", [each for each in mutants() if each.mistake in TRIED], ids=lambda mutant: mutant.name
)
def test_mutant_is_found(mutant: Mutant, tmp_path: Path) -> None:
    told, right = [], True
    for each in mutant.build(tmp_path).EXAMPLES:
        launches, agrees = outcome(each)
        right &= agrees
        # Past the end of a tensor that was reached by a loaded address lies memory of which nobody knows whose it is.
        told += [
            found
            for launch in launches
            for found in launch.findings
            if found.severity == "error" or found.kind == "unverified"
        ]
    # Triton 3.9 puts a barrier before the atomic that such a barrier is for.
    if mutant.name in HARMLESS or (mutant.mistake == "barrier removed" and around_atomics()):
        assert not told and right
    elif mutant.mistake == "strides swapped" or mutant.name in WRONG_NUMBERS:
        assert told or not right  # all addresses may be inside: then the numbers are wrong
    else:
        assert told


def test_every_kind_of_mistake_is_made() -> None:
    assert {mutant.mistake for mutant in mutants()} == {*IN_KERNELS, *IN_LAUNCHERS}


def test_the_exceptions_exist() -> None:
    assert {*HARMLESS, *WRONG_NUMBERS} <= {mutant.name for mutant in mutants()}
