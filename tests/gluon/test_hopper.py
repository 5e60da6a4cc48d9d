"""Kernels that an H100 runs, too (`tests.gpu.gluon_cases`): right on the CPU target, with one result at all times."""

from __future__ import annotations

import pytest
import torch

import triton_lab as lab
from tests.gluon.cases import Case, launch, right
from tests.gluon.hopper_cases import hopper_cases


@pytest.mark.parametrize("case", list(hopper_cases()), ids=str)
def test_a_kernel_is_right_under_each_schedule(case: Case) -> None:
    found, wanted = launch(case)
    assert found.shape == wanted.shape and right((found, wanted))
    for schedule in ("eager", "random:1"):
        with lab.limits(schedule=schedule):
            assert torch.equal(launch(case)[0], found), schedule
