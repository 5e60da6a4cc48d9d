"""What an error says: which argument, element, program and lane, and what to do."""

from __future__ import annotations

import functools
import signal
import traceback
from dataclasses import replace

import pytest
import torch
import triton
import triton.language as tl

from tests.backend.failing import failure, underlined, unplaced
from tests.wordings import Wording
from triton_lab.interpreter.kernel_errors import Deadlock, KernelError, StepLimit
from triton_lab.interpreter.op_registry import REGISTRY
from triton_lab.launch.recording.record import record

FAR = tl.constexpr(1 << 20)


@triton.jit
def one_line(x, y):
    tl.store(y, tl.load(x + FAR) + 1)


@triton.jit
def beyond(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n))


@triton.jit
def before(x, y):
    tl.store(y, tl.load(x - 2 - tl.arange(0, 2)[:, None] - tl.arange(0, 4)[None, :] * 2).sum())


@triton.jit
def misaligned(x, y):
    crooked = (x.to(tl.pointer_type(tl.int8)) + 2).to(tl.pointer_type(tl.float32))
    tl.store(y, tl.load(crooked))


@triton.jit
def wild(table, y):
    tl.store(y, tl.load(tl.load(table).to(tl.pointer_type(tl.float32))))


@triton.jit
def asserts(x, y):
    tl.device_assert(tl.load(x + tl.program_id(0)) < 2, "too large")


@triton.jit
def endless(x, y):
    i = 0
    while i < 10:
        i = i ^ 1
    tl.store(y, i)


@triton.jit
def waits(x, y):
    while tl.atomic_add(x, 0) == 0:
        pass


def test_an_error_names_argument_element_shape_strides_program_and_lane(wording: Wording):
    x, y = torch.zeros(5, 3)[1:].t()[1], torch.zeros(64)
    error = failure(beyond, x, y, grid=(4, 2), n=100, BLOCK=8)
    place = {"access": "load", "lane": "lane 3", "program": "program (1, 0, 0), number 1", "lanes": "42 lanes"}
    tensor = {"type": "float32", "shape": "(4,)", "strides": "(3,)", "offset": "storage offset 4"}
    wording(unplaced(error), name="x", element="element 11", last="element 10", **place, **tensor, others="5 others")


def test_an_element_before_the_first_is_named_by_its_negative_number(wording: Wording):
    error = failure(before, torch.zeros(8)[3:])
    place = {"lane": "lane (0, 1)", "program": "program (0, 0, 0)", "lanes": "6 lanes"}
    wording(unplaced(error), name="x", element="element -4", first="element -3", **place)


def test_an_element_that_lies_in_another_argument_is_said_to():
    buffer = torch.zeros(1 << 12)
    x = torch.from_numpy(buffer.numpy()[:4])
    y = torch.from_numpy(buffer.numpy()[64:128])
    distance = y.data_ptr() - x.data_ptr()
    error = failure(beyond, x, y, n=1 << 20, BLOCK=distance // 4)
    message = str(error).split("\n")[0]
    assert "element 4 of x" in message and "element 3;" in message
    error = failure(beyond, y, x, n=4, BLOCK=8)
    assert "lane 4 of program (0, 0, 0)" in str(error) and "element 4 of y" in str(error)


def test_a_misaligned_pointer_is_said_to_be(wording: Wording):
    error = failure(misaligned)
    wording(unplaced(error), name="x", byte="byte 2", size="4 bytes", program="program (0, 0, 0)")


def test_a_null_pointer_is_said_to_be(wording: Wording):
    error = failure(wild, torch.zeros(1, dtype=torch.int64))
    wording(unplaced(error), address="0x0", program="program (0, 0, 0)")


def test_an_assertion_names_the_first_program_that_broke_it():
    error = failure(asserts, torch.tensor([1.0, 2.0, 3.0, 1.0]), grid=(4,), debug=True)
    assert "too large" in str(error).split("\n")[0]
    assert "program (1, 0, 0) and 1 other" in str(error)
    assert underlined(error) == ['tl.device_assert(tl.load(x + tl.program_id(0)) < 2, "too large")']


def test_a_deadlock_says_what_to_do():
    error = failure(waits, torch.zeros(1, dtype=torch.int32), grid=(2,))
    assert isinstance(error, Deadlock)
    assert "program (0, 0, 0) and 1 other" in str(error) and "Release every lock" in str(error)


def test_a_step_limit_says_how_to_raise_it():
    from triton_lab.backend.targets.loop_and_memory_limits import limits

    with limits(max_steps=1000):
        error = failure(endless)
    assert isinstance(error, StepLimit)
    assert "more than 1,000" in str(error) and "lab.limits(max_steps=...)" in str(error)


def test_an_error_is_clean_of_its_way_through_the_interpreter():
    error = failure(one_line)
    assert error.__cause__ is None and error.__suppress_context__
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    assert not any("interpreter" in file for file in files)


def test_the_same_error_comes_again_at_the_next_launch():
    assert str(failure(one_line)) == str(failure(one_line))


@triton.jit
def adds(x, y):
    tl.atomic_add(x + tl.arange(0, 8), 1.0)


def test_an_access_without_a_mask_is_not_said_to_have_one(wording: Wording):
    """The front end gives every atomic a mask, which nobody wrote."""
    error = failure(adds, torch.zeros(4))
    wording(str(error).split("\n")[-2].strip(), name="x")


@triton.jit
def hinted(src, dst, count, wide, BLOCK: tl.constexpr, HOW: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if HOW == "bare":
        v = tl.load(src + i)
    elif HOW == "before":
        v = tl.load(src + (i - 3))
    elif HOW == "wide":
        below = i < wide
        v = tl.load(src + i, mask=below)
    elif HOW == "low":
        v = tl.load(src + (i - 3), mask=i - 3 < count)
    else:
        v = tl.load(src + i * 2, mask=i < count)
    tl.store(dst + i, v, mask=i < count)


# What the advice names.
HINTS = {
    "bare": {"mask": "i < count"},
    "before": {"mask": "i - 3 >= 0"},
    "wide": {"name": "src", "asked": "i < wide", "elements": "10 elements", "bound": "count"},
    "low": {"asked": "i - 3 < count", "mask": "i - 3 >= 0"},
    "other": {"name": "src", "offsets": "i * 2"},
}


@pytest.mark.parametrize("how", HINTS)
def test_the_advice_names_what_the_kernel_has_and_says_one_thing(how: str, wording: Wording):
    src, dst = torch.zeros(10), torch.zeros(16)
    with pytest.raises(KernelError) as raised:
        hinted[(1,)](src, dst, 10, 12, BLOCK=16, HOW=how)
    with record() as launches, pytest.raises(KernelError):
        hinted[(1,)](src, dst, 10, 12, BLOCK=16, HOW=how)
    (stopped,) = [one for one in launches[0].findings if one.stopped]
    wording(stopped.hint, how, **HINTS[how])
    assert stopped.hint in str(raised.value)


@pytest.mark.parametrize("handler", ["function", "method", "partial", "object"])
def test_what_a_signal_handler_raises_inside_an_operation_comes_out_as_it_is(handler: str, monkeypatch):
    class Alarm:
        def ring(self, *_: object) -> None:
            raise TimeoutError("too long")

        __call__ = ring

    def ring(*_: object) -> None:
        raise TimeoutError("too long")

    handlers = {"function": ring, "method": Alarm().ring, "partial": functools.partial(ring), "object": Alarm()}
    before = signal.signal(signal.SIGUSR1, handlers[handler])
    entry = REGISTRY["tt.addptr"]
    monkeypatch.setitem(REGISTRY, "tt.addptr", replace(entry, run=lambda *_: signal.raise_signal(signal.SIGUSR1)))
    try:

        @triton.jit
        def shifted(x, n):
            tl.store(x + n, 1.0)

        with pytest.raises(TimeoutError, match="too long"):
            shifted[(1,)](torch.zeros(8), 4)
    finally:
        signal.signal(signal.SIGUSR1, before)
