"""Launches that a record cannot see are errors, and no silence."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.recording.unrecordable import NotRecorded


def fill(out_ptr):
    tl.store(out_ptr + tl.program_id(0), 1.0)


compiled = triton.jit(fill)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> object:
    """The kernel as Triton's interpreter has it; the variable is unset again."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    kernel = triton.jit(fill)
    monkeypatch.delenv("TRITON_INTERPRET")
    return kernel


@pytest.mark.parametrize("watch", [lab.record, lab.check], ids=["record", "check"])
def test_a_record_begins_with_an_error_while_triton_interprets(watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(NotRecorded, match=r"TRITON_INTERPRET.*del os\.environ"), watch():
        pytest.fail("nothing should run")


@pytest.mark.parametrize("watch", [lab.record, lab.check], ids=["record", "check"])
def test_a_kernel_that_was_defined_for_the_interpreter_is_an_error_at_the_end(watch, interpreted) -> None:
    out = torch.zeros(2)

    def block() -> None:
        with watch():
            compiled[(2,)](torch.zeros(2))
            interpreted[(2,)](out)

    with pytest.raises(NotRecorded, match="TRITON_INTERPRET"):
        block()
    assert out.tolist() == [1.0, 1.0], "the kernel itself ran"


def test_what_the_interpreter_ran_before_or_after_is_nobodys_business(interpreted) -> None:
    interpreted[(2,)](torch.zeros(2))
    with lab.check(strict=True) as launches:
        compiled[(2,)](torch.zeros(2))
    interpreted[(2,)](torch.zeros(2))
    assert len(launches) == 1


def test_the_error_of_the_block_is_the_one_that_is_seen(interpreted) -> None:
    def block() -> None:
        with lab.record():
            interpreted[(1,)](torch.zeros(2))
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        block()


def test_records_leave_no_hook_behind() -> None:
    before = list(triton.knobs.runtime.launch_enter_hook.calls)
    with lab.record(), lab.record():
        assert len(triton.knobs.runtime.launch_enter_hook.calls) == len(before) + 2
    assert triton.knobs.runtime.launch_enter_hook.calls == before
