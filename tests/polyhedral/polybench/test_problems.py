"""PolyBench's problems: the page about them is true, and their kernels are right, race free, and compile for a GPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.examples.test_compiles_for_gpu import compiled  # noqa: F401 - a fixture
from triton_lab.launch.diagnosis.launch_assertion import check
from triton_lab.polyhedral import scop
from triton_lab.polyhedral.blocks.translation_validation import example
from triton_lab.polyhedral.core import isl_effort
from triton_lab.polyhedral.polybench.problems import BY_HAND, POLYBENCH
from triton_lab.polyhedral.polybench.results_page import PAGE, row
from triton_lab.polyhedral.related_work import page_nests

TILES = {"y": 16, "x": 16, "k": 16}


def test_there_are_thirty_and_most_become_kernels() -> None:
    rows = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ") and "kernel" in line
    ]
    assert len(POLYBENCH) == 30
    assert len(rows) >= 29


@pytest.mark.parametrize("name", POLYBENCH)
def test_the_page_says_what_becomes_of_a_problem(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kernel in the page is written anew, which runs it beside the executed schedule."""
    monkeypatch.setattr(isl_effort, "SECONDS", 60.0)  # what isl finds must not hang on how busy the machine is
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    assert row(name) in lines, "make the page anew: python -m triton_lab.polyhedral.polybench.results_page"


@pytest.mark.parametrize("name", ["gemm", "atax", "symm", "gramschmidt", "heat-3d", "nussinov", "trisolv", "lu"])
def test_kernels_are_race_free_at_other_sizes_and_in_float32(name: str) -> None:
    found = scop(POLYBENCH[name])
    kernel = BY_HAND.get(name, lambda schedule: schedule)(found.schedule).to_triton()
    bound = found.bind(**{p: 6 + k for k, p in enumerate(found.parameters)})
    arrays = {k: np.array(v, np.float32) for k, v in example(bound, seed=1).items()}
    tensors = {k: torch.from_numpy(v.copy()) for k, v in arrays.items()}
    with check():
        kernel.launch(tensors, bound)
    expected = found.schedule.run(arrays, **bound.values)
    for array, tensor in tensors.items():
        np.testing.assert_allclose(tensor.numpy(), expected[array], rtol=2e-4, atol=1e-5, err_msg=array)


@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
@pytest.mark.parametrize("name", ["symm", "correlation", "nussinov", "matmul"])
def test_kernels_compile_for_a_gpu(name: str, dtype: type, request: pytest.FixtureRequest) -> None:
    if name == "matmul":
        schedule = scop(page_nests.MATMUL).schedule.distribute("x").distribute("y").tile(TILES, statement="S1")
    else:
        schedule = BY_HAND.get(name, lambda schedule: schedule)(scop(POLYBENCH[name]).schedule)
    kernel = schedule.to_triton()
    bound = schedule.scop.bind(**dict.fromkeys(schedule.scop.parameters, 4))
    tensors = {k: torch.from_numpy(np.array(v, dtype)) for k, v in example(bound).items()}
    kernels = request.getfixturevalue("compiled")
    kernel.launch(tensors, bound)
    assert kernels and all(one.asm["cubin"] for one in kernels)
