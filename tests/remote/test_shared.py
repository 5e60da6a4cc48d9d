"""Launches on a worker of a real scheduler, over TLS: results, memory, errors and records are those of one here."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import pytest
import torch
import triton
from triton.runtime.errors import OutOfResources
from triton.tools.tensor_descriptor import TensorDescriptor

import triton_lab as lab
from tests.kernels import copy_block, double, load_through, sum_pair
from tests.remote.kernels import copy_turned, crashes, goes_astray, says, strays, takes_much, tallies
from tests.wordings import Wording
from triton_lab.examples.softmax import softmax_forward

pytest.importorskip("distributed", reason="needs Dask: pip install 'triton-lab[dask]'")

from tests.remote.clusters import Shared
from triton_lab.remote import cluster
from triton_lab.remote.job import Job

KINDS = ("cpu", "gpu")


def at(school: Shared, kind: str, **options: Any) -> Any:
    return lab.target(kind, scheduler=school.address, security=school.certificates.security, **options)


@pytest.fixture(params=KINDS)
def there(request: pytest.FixtureRequest, school: Shared) -> str:
    """Launches run on the worker: in the interpreter, or on its GPU."""
    at(school, request.param)
    return request.param


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The jobs on their way."""
    from triton_lab.remote.wire_data import unpacked

    found: list[Job] = []
    run = cluster.Cluster.run
    monkeypatch.setattr(
        cluster.Cluster,
        "run",
        lambda self, job, *rest: (found.append(unpacked(job, 1 << 30)), run(self, job, *rest))[1],
    )
    return found


def test_a_launch_there_gives_what_one_here_gives(there: str) -> None:
    assert lab.target() == there
    x = torch.randn(37, 100, generator=torch.Generator().manual_seed(1))
    made = softmax_forward(x)
    with lab.target("cpu"):  # machine code here, if the kernel is hot, whose exponentials are within an ulp of NumPy's
        torch.testing.assert_close(made, softmax_forward(x), rtol=3 * torch.finfo(torch.float32).eps, atol=0.0)


def test_views_of_one_storage_travel_as_one_copy_with_their_strides(there: str, sent: list[Job]) -> None:
    whole = torch.arange(1024.0)
    x, y = whole[512:].as_strided((16, 16), (32, 1), 514), whole.as_strided((16, 16), (16, 1), 3)
    expected = whole.clone()
    expected.as_strided((16, 16), (16, 1), 3).copy_(x + 1)
    copy_turned[(1,)](x, y, 32, 16, N=16)
    assert torch.equal(whole, expected)
    assert {len(job.memory) for job in sent} == {1} and len(sent[-1].memory[0].data) == 4096


def test_arguments_that_overlap_see_each_other(there: str) -> None:
    x = torch.arange(101.0)
    double[(2,)](x[:100], x[1:], 50, BLOCK=32)
    expected = torch.arange(101.0)
    with lab.target("cpu"):
        double[(2,)](expected[:100], expected[1:], 50, BLOCK=32)
    assert torch.equal(x, expected)


def test_tuples_descriptors_and_other_types_travel(there: str) -> None:
    y = torch.zeros(1)
    sum_pair[(1,)]((torch.full((1,), 3.0), torch.full((1,), 4.0)), y)
    assert y.item() == 7
    a, b = torch.randn(16, 16).to(torch.float16), torch.zeros(16, 16, dtype=torch.float16)
    copy_block[(1,)](TensorDescriptor.from_tensor(a, [16, 16]), TensorDescriptor.from_tensor(b, [16, 16]))
    assert torch.equal(a, b)
    raw = torch.tensor([1, 2, 3, 4], dtype=torch.int8)
    out = torch.zeros(4, dtype=torch.uint8)
    import triton.language as tl

    double[(1,)](triton.reinterpret(raw, tl.uint8), out, 4, BLOCK=4)
    assert out.tolist() == [2, 4, 6, 8]


def test_what_a_kernel_prints_is_printed_here(there: str, capsys: pytest.CaptureFixture[str]) -> None:
    says[(3,)](torch.tensor([1.0, 2.0, 3.0]))
    assert capsys.readouterr().out.splitlines() == [f"pid ({i}, 0, 0) idx () x: {i + 1}.000000" for i in range(3)]


def test_an_empty_grid_and_empty_tensors_are_nothing_to_send(there: str, sent: list[Job]) -> None:
    double[(0,)](torch.ones(4), torch.ones(4), 4, BLOCK=4)
    assert not sent
    double[(1,)](torch.ones(0), torch.ones(0), 0, BLOCK=4)
    assert [job.memory for job in sent[-1:]] == [()]


def test_memory_that_lies_behind_addresses_is_refused(there: str, school: Shared, wording: Wording) -> None:
    x = torch.ones(4)
    with wording.raises(lab.ArgumentError, kernel="load_through"):
        load_through[(1,)](torch.tensor([x.data_ptr()]), torch.zeros(1))
    x = torch.ones(1 << 20)
    at(school, there, max_bytes=1 << 20)
    with wording.raises(lab.ArgumentError, kernel="double", held="4 MB", most="1 MB"):
        double[(1,)](x[:4], torch.ones(4), 4, BLOCK=4)


def test_an_error_of_the_interpreter_is_the_one_of_a_launch_here(school: Shared, wording: Wording) -> None:
    def told() -> list[str]:
        x = torch.zeros(128)
        with pytest.raises(lab.KernelError) as caught:
            strays[(1,)](x, 64)
        assert caught.value.op is not None and caught.value.fault is not None
        return [*str(caught.value).splitlines(), str(x.sum().item())]

    with lab.target("cpu"):
        here = told()
    at(school, "cpu")
    there = told()
    assert "kernels.py, line" in here[2] and "strays" in here[2]
    assert there[:-2] == here[:-2]
    assert there[-1] == "0.0"
    wording(there[-2], worker=there[-2].split()[3][:-1])


def test_an_error_of_a_gpu_is_the_one_of_a_launch_here_and_is_nobody_elses(school: Shared) -> None:
    at(school, "gpu")
    x = torch.zeros(4)
    with pytest.raises(RuntimeError, match=r"illegal memory access(?s:.*)goes_astray on tls://(?s:.*)lab\.record\(\)"):
        goes_astray[(1,)](x)
    with pytest.raises(OutOfResources, match="shared memory, Required: 300000"):
        takes_much[(1,)](x)
    with pytest.raises(lab.RemoteError, match=r"crashes on tls://(?s:.*)SIGSEGV"):
        crashes[(1,)](x)
    assert x.tolist() == [0] * 4
    double[(1,)](torch.ones(4), x, 4, BLOCK=4)
    assert x.tolist() == [2] * 4


def test_a_recorded_launch_is_tried_here_and_run_there(school: Shared) -> None:
    at(school, "gpu")
    x, y = torch.arange(10.0), torch.zeros(10)
    with lab.record() as launches:
        double[(2,)](x, y, 10, BLOCK=8)
    (launch,) = launches
    assert launch.target == "gpu" and torch.equal(y, x * 2)
    assert "tls://127.0.0.1:" in launch.remark
    assert [name for name, _, _ in launch.outputs] == ["y"] and 0 < launch.seconds < 1
    assert lab.compare(launch).verdict == "bit-equal"
    with pytest.raises(lab.KernelError, match="not started"), lab.record() as launches:
        strays[(1,)](torch.zeros(128), 64)


def test_the_shared_gpu_is_the_gpu_from_then_on(school: Shared) -> None:
    with at(school, "gpu"):
        pass
    assert lab.target() == "cpu"
    with lab.target("gpu"):
        assert lab.target() == "gpu"
        y = torch.zeros(4)
        double[(1,)](torch.ones(4), y, 4, BLOCK=4)
        assert y.tolist() == [2] * 4


def test_an_autotuner_chooses_by_times_from_there(there: str) -> None:
    tuned = triton.autotune([triton.Config({"BLOCK": block}) for block in (8, 16)], key=["n"])(triton.jit(double.fn))
    y = torch.zeros(16)
    tuned[lambda meta: (triton.cdiv(16, meta["BLOCK"]),)](torch.ones(16), y, 16)
    assert y.tolist() == [2] * 16
    assert all(0 < time < 1000 for times in tuned.configs_timings.values() for time in times)
    with lab.target("cpu"):
        assert tuned.cache == {}


def test_the_parts_of_a_checked_launch_run_there(school: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[int] = []
    run_all = cluster.Cluster.run_all
    monkeypatch.setattr(
        cluster.Cluster, "run_all", lambda self, *rest: (jobs.append(len(rest[0])), run_all(self, *rest))[1]
    )
    x, total, y = torch.arange(1024, dtype=torch.int32), torch.zeros(3, dtype=torch.int32), torch.empty(1000)
    with at(school, "cpu"):
        with lab.record(parts=4) as launches:
            double[(10,)](torch.arange(1000.0), y, 1000, BLOCK=128)
            tallies[(8,)](x, total, BLOCK=128)
            assert torch.equal(y, torch.arange(1000.0) * 2)
        with pytest.raises(lab.CheckFailed, match=r"1,000 lanes"), lab.check(parts=2):
            double[(10,)](torch.empty(1000), y, 1000, BLOCK=128)
    assert jobs == [4, 4, 2]
    assert [(one.dropped.split(" parts")[0], one.remark) for one in launches] == [("it ran in 4", "")] * 2
    assert total.tolist() == [int(x[k::3].sum()) for k in range(3)]
    (idle,) = launches[0].findings
    assert (idle.kind, idle.count) == ("idle-program", 2)


def some_of_a_suite(fine: bool) -> int:
    print("here")
    with lab.check() as launches:
        double[(2,)](torch.ones(64) if fine else torch.empty(64), torch.empty(64), 64, BLOCK=32)
    return len(launches)


def test_calls_are_spread_and_come_back_in_order(school: Shared) -> None:
    calls = [partial(some_of_a_suite, True), partial(some_of_a_suite, False), partial(os._exit, 3), lambda: 7]
    found = lab.spread(calls, scheduler=school.address, security=school.certificates.security)
    assert [one.error for one in found][::3] == [None, None]
    assert [one.value for one in found] == [1, None, None, 7]
    fine, failed, gone, _ = found
    assert fine.printed == "here\n" and fine.error is None and fine.seconds > 0 and fine.worker.startswith("tls://")
    assert isinstance(failed.error, lab.CheckFailed) and "never written" in str(failed.error)
    assert isinstance(gone.error, lab.RemoteError) and "the call of _exit" in str(gone.error)


class Particular(Exception):
    """No error that is known here."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}")


class Opaque:
    """No data."""


def fails_particularly() -> None:
    raise Particular("this", "that")


def test_what_does_not_survive_the_way_back_is_an_error_of_its_call_alone(school: Shared) -> None:
    calls = [fails_particularly, Opaque, lambda: (bytearray(1 << 33), 7)[1], lambda: 7]
    found = lab.spread(calls, scheduler=school.address, security=school.certificates.security)
    particular, opaque, greedy, fine = (one.error for one in found)
    assert fine is None and found[3].value == 7
    assert isinstance(particular, RuntimeError) and str(particular).startswith("Particular: this: that\n")
    assert type(opaque) is TypeError and "test_shared.Opaque" in str(opaque) and "NumPy" in str(opaque)
    assert isinstance(greedy, lab.RemoteError) and "max_bytes=" in str(greedy)
    assert not any("the launch of" in str(error) for error in (particular, opaque, greedy))
