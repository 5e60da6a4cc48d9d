"""Switching between the CPU and a GPU; here the GPU is a stand-in, the real one is tried in `tests/gpu`."""

from __future__ import annotations

import collections
import inspect
import re
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime import driver

import triton_lab as lab
from tests.backend import fake_gpu
from tests.backend.fake_gpu import on_gpu
from tests.kernels import copy_block, double, load_through, sum_pair
from triton_lab.backend.targets import active_target
from triton_lab.backend.targets.active_target import TargetError
from triton_lab.launch.diagnosis.launch_assertion import CheckFailed
from triton_lab.launch.recording.unrecordable import NotRecorded


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


@triton.jit
def increment(x):
    tl.store(x, tl.load(x) + 1)


@triton.jit
def fails(x, n):
    tl.store(x, 7.0)
    tl.store(x + n, 8.0)


def doubled(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(x)
    double[(2,)](x, y, x.numel(), BLOCK=8)
    return y


def test_without_a_gpu_the_target_is_the_cpu():
    assert lab.target() == "cpu"
    with pytest.raises(TargetError, match="no GPU"):
        lab.target("gpu")
    assert lab.target() == "cpu"


def test_an_unknown_target_is_refused_with_those_that_exist():
    with pytest.raises(ValueError, match="'cuda': choose 'cpu', 'gpu' or 'auto'"):
        lab.target("cuda")


def test_the_page_on_shared_gpus_names_the_limits_that_hold():
    page = (Path(__file__).parents[3] / "docs/shared-gpu.md").read_text(encoding="utf-8")
    named = dict(re.findall(r"`(max_\w+)=([^`]+)`", page))
    parameters = inspect.signature(lab.target).parameters
    limits = {name: each.default for name, each in parameters.items() if name.startswith("max_")}
    assert {name: eval(value) for name, value in named.items()} == limits


def test_with_a_gpu_nothing_changes_until_asked(gpu):
    assert lab.target() == "gpu"
    assert type(driver.active) is fake_gpu.FakeDriver
    with pytest.raises(ValueError, match="cpu tensor"):
        doubled(torch.ones(10))


def test_auto_is_tritons_own_driver_again(gpu):
    lab.target("cpu")
    lab.target("gpu")
    lab.target("auto")
    assert type(driver.active) is fake_gpu.FakeDriver
    with pytest.raises(ValueError, match="cpu tensor"):
        doubled(torch.ones(10))


def test_what_the_trial_on_the_cpu_was_stopped_at_is_in_the_record(gpu):
    x, y = on_gpu(torch.ones(100)), on_gpu(torch.zeros(100))
    with lab.target("gpu"), lab.record() as launches, pytest.raises(Exception, match="out of bounds"):
        double[(4,)](x, y, 110, BLOCK=32)
    load, *_ = launches[0].accesses
    assert load.argument == "x" and load.stopped is not None
    assert load.strayed().sum() == 10 and load.strayed()[3, 4:14].all()
    assert fake_gpu.launches == []


def test_a_statement_switches_until_the_next_one(gpu):
    lab.target("cpu")
    assert lab.target() == "cpu"
    assert doubled(torch.ones(10)).tolist() == [2] * 10
    assert fake_gpu.launches == []
    lab.target("auto")
    assert lab.target() == "gpu"


def test_a_block_ends_where_it_began(gpu):
    with lab.target("cpu"):
        assert lab.target() == "cpu"
        with lab.target("gpu"):
            assert lab.target() == "gpu"
        assert lab.target() == "cpu"
        with lab.target("auto"):
            assert lab.target() == "gpu"
        assert lab.target() == "cpu"
    assert lab.target() == "gpu"


def test_a_statement_in_a_block_ends_with_the_block(gpu):
    with lab.target("cpu"):
        lab.target("gpu")
        assert lab.target() == "gpu"
    assert lab.target() == "gpu"
    lab.target("cpu")
    with lab.target("gpu"):
        lab.target("auto")
    assert lab.target() == "cpu"
    lab.target("auto")


def test_a_block_ends_on_an_error_too(gpu):
    with pytest.raises(ZeroDivisionError), lab.target("cpu"):
        1 / 0  # noqa: B018
    assert lab.target() == "gpu"


def test_blocks_of_two_threads_that_overlap_take_nothing_from_each_other(gpu):
    first, second = lab.target("cpu"), None
    first.__enter__()
    second = lab.target("gpu")
    second.__enter__()
    first.__exit__(None, None, None)
    assert lab.target() == "gpu", "the block opened last still decides"
    second.__exit__(None, None, None)
    assert lab.target() == "gpu"
    assert active_target._setting.value == "auto", "and then what was before both"


def test_a_switch_may_be_entered_again(gpu):
    switch = lab.target("cpu")
    for _ in range(2):
        with switch:
            assert lab.target() == "cpu"
        assert lab.target() == "gpu"


def test_both_targets_keep_what_they_have_compiled(gpu):
    compiled = collections.defaultdict(set)
    for _ in range(3):
        for name in ("cpu", "gpu", "auto"):
            with lab.target(name):
                x, y = on_gpu(torch.ones(4)), on_gpu(torch.zeros(4))
                compiled[name].add(id(double[(1,)](x, y, 4, BLOCK=4)))
    assert all(len(kernels) == 1 for kernels in compiled.values()), "nothing was compiled twice"
    assert len(set.union(*compiled.values())) == 3, "and no two share a kernel"


def test_tensors_of_the_cpu_run_on_the_gpu_when_asked(gpu):
    with lab.target("gpu"):
        assert doubled(torch.arange(10.0)).tolist() == [2.0 * n for n in range(10)]
    assert fake_gpu.launches == ["double", "synchronize"]


def test_tensors_of_the_gpu_are_not_mirrored_on_it(gpu):
    x, y = on_gpu(torch.ones(4)), on_gpu(torch.zeros(4))
    with lab.target("gpu"):
        double[(1,)](x, y, 4, BLOCK=4)
    assert fake_gpu.launches == ["double"], "no copy, so nothing to wait for"
    assert y.tolist() == [2] * 4


def test_a_mirror_on_the_gpu_keeps_offset_strides_and_what_is_shared(gpu):
    base = torch.arange(24.0).reshape(4, 6)
    x, y = base[0, 1:5], base[2, 2:6]
    with lab.target("gpu"):
        double[(1,)](x, y, 4, BLOCK=4)
        increment[(1,)](base[3, 5:])
    expected = torch.arange(24.0).reshape(4, 6)
    expected[2, 2:6] = expected[0, 1:5] * 2
    expected[3, 5] += 1
    assert torch.equal(base, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.bool, torch.float8_e5m2])
@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (2, 3)])
def test_a_recorded_launch_compares_outputs_of_every_shape(gpu, shape, dtype):
    x, y = (on_gpu(torch.zeros(shape, dtype=dtype)) for _ in range(2))
    x.fill_(1)
    with lab.target("gpu"), lab.record() as launches:
        copy[(1,)](x, y, x.numel(), BLOCK=8)
    *_, launch = launches  # the stand-in's own run on the CPU is heard of, too
    compared = [(name, theirs.shape, theirs.tolist(), ours.tolist()) for name, theirs, ours in launch.outputs]
    assert compared == [("y", torch.Size(shape), x.tolist(), x.tolist())] * bool(x.numel())


def test_bytes_that_the_kernel_left_alone_are_not_written_back(gpu, monkeypatch):
    x = torch.zeros(8)

    def meanwhile() -> None:  # another thread writes beside the kernel's element
        x[5] = 99

    with lab.target("gpu"):
        monkeypatch.setattr(fake_gpu.FakeInterface, "synchronize", staticmethod(meanwhile))
        increment[(1,)](x)
    assert x.tolist() == [1, 0, 0, 0, 0, 99, 0, 0]


@pytest.mark.filterwarnings("ignore:The given buffer is not writable")
def test_memory_that_may_only_be_read_is_an_error_to_write_on_the_gpu_too(gpu):
    data = bytes(16)
    fixed, free = torch.frombuffer(data, dtype=torch.float32), torch.zeros(4)
    with lab.target("gpu"):
        copy[(1,)](fixed, free, 4, BLOCK=4)
        with pytest.raises(lab.ArgumentError, match="only be read"):
            copy[(1,)](free + 1, fixed, 4, BLOCK=4)
        # Recorded, it is found on the CPU, with the line.
        with pytest.raises(lab.KernelError, match=r"read-only memory: .* element 0 of y"), lab.record():
            copy[(1,)](free + 1, fixed, 4, BLOCK=4)
    assert data == bytes(16)


def test_an_error_on_the_gpu_leaves_tensors_of_the_cpu_unchanged(gpu):
    x = torch.zeros(4)
    with lab.target("gpu"), pytest.raises(Exception, match="out of bounds"):
        fails[(1,)](x, 1 << 20)
    assert x.tolist() == [0, 0, 0, 0]


def test_tuples_and_reinterpreted_tensors_are_mirrored_too(gpu):
    Pair = collections.namedtuple("Pair", "left right")
    y = torch.zeros(1)
    with lab.target("gpu"):
        sum_pair[(1,)]((torch.tensor([1.0]), torch.tensor([2.0])), y)
        assert y.item() == 3
        sum_pair[(1,)](Pair(torch.tensor([3.0]), on_gpu(torch.tensor([4.0]))), y)
        assert y.item() == 7
        bits = torch.tensor([1.5]).view(torch.int32)
        increment[(1,)](triton.reinterpret(bits, tl.float32))
        assert bits.view(torch.float32).item() == 2.5


def test_descriptors_of_tensors_of_the_cpu_are_mirrored(gpu):
    from triton.tools.tensor_descriptor import TensorDescriptor

    x, y = torch.randn(16, 16), torch.zeros(16, 16)
    with lab.target("gpu"):
        copy_block[(1,)](TensorDescriptor.from_tensor(x, [16, 16]), TensorDescriptor.from_tensor(y, [16, 16]))
    assert torch.equal(x, y)


def test_a_table_of_cpu_pointers_is_refused_on_the_gpu(gpu):
    x = torch.ones(1)
    table = torch.tensor([x.data_ptr()])
    with lab.target("gpu"), pytest.raises(TypeError, match="addresses"):
        load_through[(1,)](table, torch.zeros(1))


def autotuned():
    @triton.autotune([triton.Config({"BLOCK": 4}), triton.Config({"BLOCK": 8})], key=["n"])
    @triton.jit
    def tuned(x, y, n, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)

    return tuned


def test_a_choice_made_on_one_target_is_not_used_on_the_other(gpu):
    tuned = autotuned()
    x, y = on_gpu(torch.ones(8)), on_gpu(torch.zeros(8))
    grid = lambda meta: (triton.cdiv(8, meta["BLOCK"]),)  # noqa: E731
    tuned[grid](x, y, 8)
    assert len(fake_gpu.benchmarks) == 2
    on_the_gpu = dict(tuned.cache)
    with lab.target("cpu"):
        assert tuned.cache == {}
        tuned[grid](x, y, 8)
        assert len(fake_gpu.benchmarks) == 2, "measured anew, by the CPU's own means"
        on_the_cpu = dict(tuned.cache)
    assert tuned.cache == on_the_gpu
    tuned[grid](x, y, 8)
    assert len(fake_gpu.benchmarks) == 2
    with lab.target("cpu"):
        assert tuned.cache == on_the_cpu


def test_an_autotuner_first_used_on_the_cpu_is_measured_by_the_gpu_on_the_gpu(gpu):
    tuned = autotuned()
    with lab.target("cpu"):
        tuned[(2,)](torch.ones(8), torch.zeros(8), 8)
    with lab.target("gpu"):
        tuned[(2,)](torch.ones(8), torch.zeros(8), 8)
    assert len(fake_gpu.benchmarks) == 2


def test_a_gpus_kernel_is_loaded_and_launched_by_the_gpu_while_the_cpu_is_active(gpu):
    # torch.compile compiles for its tensors' device, and loads with the active driver.
    x, y = on_gpu(torch.ones(4)), on_gpu(torch.zeros(4))
    kernel = double.warmup(x, y, 4, BLOCK=4, grid=(1,))
    with lab.target("cpu"):
        kernel[(1, 1, 1)](x, y, 4, 4)
    assert fake_gpu.launches == ["double"] and y.tolist() == [2] * 4


def test_a_gpus_kernel_is_refused_where_there_is_no_gpu():
    from triton_lab.backend.plugin.kernel_loading import Utils

    with pytest.raises(RuntimeError, match="for a GPU"):
        Utils.load_binary("double", b"\x7fELF", 0, 0)


@pytest.mark.parametrize("watch", [lab.record, lab.check], ids=["record", "check"])
def test_a_launch_that_tritons_own_driver_makes_is_refused_by_a_record(gpu, watch) -> None:
    """Nobody has chosen a target: the GPU's driver is Triton's, and tells nobody what its launches do."""
    x, y = on_gpu(torch.ones(4)), on_gpu(torch.zeros(4))
    with pytest.raises(NotRecorded, match=r"double .*lab\.target\('cpu'\)"), watch():
        double[(1,)](x, y, 4, BLOCK=4)
    assert not y.any(), "the kernel did not run"
    for target in ("gpu", "cpu"):
        with lab.record() as launches, lab.target(target):
            double[(1,)](x, y, 4, BLOCK=4)
        assert launches[-1].target == target  # the stand-in for a GPU runs on the CPU, and is heard there, too


def test_a_launch_on_the_gpu_that_the_cpu_cannot_run_is_told(gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_lab.backend.targets import both_targets
    from triton_lab.interpreter.kernel_errors import Unsupported
    from triton_lab.launch.recording.record import LaunchNotRecorded

    def refused(*_: object, **__: object) -> None:
        raise Unsupported("the CPU target cannot run the operation tt.elementwise_inline_asm")

    monkeypatch.setattr(both_targets, "prepared", refused)
    x = on_gpu(torch.ones(1))
    with lab.target("gpu"):
        with pytest.warns(LaunchNotRecorded, match="increment"), lab.check():
            increment[(1,)](x)
        failed = pytest.raises(CheckFailed, match="increment")
        with pytest.warns(LaunchNotRecorded), failed, lab.check(strict=True):
            increment[(1,)](x)
    assert x.item() == 3.0
