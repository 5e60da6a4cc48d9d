"""A worker with a real GPU, as a class shares one: results, times and errors of a launch on the GPU here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.examples import example

pytest.importorskip("distributed", reason="needs Dask: pip install 'triton-lab[dask]'")

from tests.remote.clusters import Shared, shared

pytestmark = pytest.mark.gpu


@triton.jit
def far_away(x, n):
    tl.store(x + n, 1.0)


@triton.jit
def increment(x, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    folder = tmp_path_factory.mktemp("school") / "cluster"
    with shared(folder, "--resources", "GPU=1", TRITON_LAB_FAKE_GPU="") as made:
        yield made
    from triton_lab.remote.cluster_target import disconnect

    disconnect()


def at(school: Shared) -> Any:
    return lab.target("gpu", scheduler=school.address, security=school.certificates.security)


@pytest.mark.parametrize("name", ["vector_add", "softmax", "matmul_float16", "layer_norm"])
def test_a_shared_gpu_gives_the_bits_of_the_one_here(name: str, school: Shared) -> None:
    each = example(name)
    with lab.target("gpu"):
        here = each.run(**each.inputs("small", 0, "cpu"))
    with at(school):
        there = each.run(**each.inputs("small", 0, "cpu"))
    for one, other in zip(*(made if isinstance(made, tuple) else (made,) for made in (here, there)), strict=True):
        assert torch.equal(one, other)


def test_it_is_named_and_its_time_is_the_gpus(school: Shared) -> None:
    x = torch.zeros(1 << 20)
    with at(school), lab.record() as launches:
        increment[(1 << 10,)](x, 1 << 20, BLOCK=1024)
    (launch,) = launches
    assert torch.equal(x, torch.ones(1 << 20)), "repeats for the time leave no trace"
    assert torch.cuda.get_device_name() in launch.remark
    on_card = torch.zeros(1 << 20, device="cuda")
    milliseconds = triton.testing.do_bench(lambda: increment[(1 << 10,)](on_card, 1 << 20, BLOCK=1024))
    print(f"{launch.seconds * 1e6:.1f} µs on the worker, {milliseconds * 1e3:.1f} µs by do_bench")
    assert 0 < launch.seconds < 1e-3


def test_an_illegal_access_is_the_jobs_alone(school: Shared) -> None:
    x = torch.zeros(4)
    with at(school):
        with pytest.raises(RuntimeError, match="illegal memory access"):
            far_away[(1,)](x, 1 << 40)
        increment[(1,)](x, 4, BLOCK=4)
    assert x.tolist() == [1] * 4
