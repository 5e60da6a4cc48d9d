"""Every view of a launch of a Gluon kernel, as a cell shows it: drawn, or absent with its reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell

import triton_lab as lab
from tests.gluon import cases
from triton_lab.launch.launch import Launch
from triton_lab.views.launch.card.launch_tabs import COMPILED_SHOWN, SHOWN

CELL = """
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier

LINE = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
WARP = gl.constexpr(gl.BlockedLayout([1], [32], [1], [0]))

@gluon.jit
def taking(y_ptr, buffer, full):
    mbarrier.wait(full, 0)
    taken = buffer.load(LINE) + 1
    gl.store(y_ptr + gl.arange(0, 128, layout=LINE), taken)

@gluon.jit
def giving(x_ptr, buffer, full):
    given = gl.load(x_ptr + gl.arange(0, 128, layout=WARP))
    buffer.store(given)
    mbarrier.arrive(full, count=1)

@gluon.jit
def parted(x_ptr, y_ptr):
    buffer = gl.allocate_shared_memory(gl.float32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    gl.warp_specialize([(taking, (y_ptr, buffer, full)), (giving, (x_ptr, buffer, full))], [1], [24])

x, y = torch.arange(128.0), torch.zeros(128)
parted[(1,)](x, y)
"""
# What a launch of one program without an autotuner has not.
ABSENT = ("autotune",)
# What stands in place of a picture that could not be made for no reason that a user can mend.
BROKEN = "could not be made"


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    ipython = InteractiveShell.instance()
    ipython.run_line_magic("load_ext", "triton_lab")
    yield ipython
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("view", [one for one in SHOWN if one not in ABSENT])
def test_each_view_of_a_cell(shell: InteractiveShell, view: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run_cell(f"%%triton cpu --show {view}\n{CELL}").success
    told = capsys.readouterr().out
    assert told.startswith("parted") and BROKEN not in told


def test_each_view_of_a_compiled_cell(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    words = ",".join(COMPILED_SHOWN)
    assert shell.run_cell(f"%%triton cpu --compile sm_90 --show {words}\n{CELL}").success
    told = capsys.readouterr().out
    assert "sm_90" in told and BROKEN not in told


def test_both_says_that_there_is_no_gpu(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.run_cell(f"%%triton both\n{CELL}").success
    assert "GPU" in capsys.readouterr().out
    assert shell.user_ns["y"][5].item() == 6


@pytest.fixture(scope="module")
def parted() -> Launch:
    with lab.target("cpu"), lab.record() as launches:
        cases.launch(next(one for one in cases.cases(1) if one.kernel == "three_partitions"))
    return launches[0]


def test_steps_go_through_partitions(parted: Launch) -> None:
    names = {step.name for step in parted.trace().steps if step.kind == "assign"}
    assert {"n", "fetching.k", "computing.k", "computing.value", "sending.k"} <= names
    (value,) = [one for one in parted.variables if one.name == "computing.value"]
    values = parted.values("computing.value")
    assert values.line == value.line and values.iterations == 9 and values.block == (32, 32)


@pytest.mark.parametrize("case", list(cases.cases(1)), ids=str)
def test_every_kernel_has_steps_and_values(case: cases.Case) -> None:
    with lab.target("cpu"), lab.record() as launches:
        cases.launch(case)
    assert len(launches[0].trace()) > 3
    for view in (launches[0].plot.steps(), launches[0].plot.values(), launches[0].plot.pipeline()):
        assert view.scene() and BROKEN not in view.text()
