"""Random kernels come out alike on both engines; `python -m tests.native.fuzz` runs thousands."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, reject, settings

from tests.native.fuzz import Refused, check
from tests.native.kernels import Case, cases


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(cases())
def test_random_kernels_give_the_same_bits_and_the_same_errors(case: Case) -> None:
    try:
        check(case)
    except Refused:
        reject()
