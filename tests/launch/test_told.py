"""One fault, told in a script's error, a finding, a card, a static page and by check(): everywhere the same, once."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.diagnosis.finding import Finding
from triton_lab.launch.launch import Launch
from triton_lab.views.html_page import page
from triton_lab.views.launch.card.launch_card import Card


@triton.jit
def reaches_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + lane, tl.load(x_ptr + lane))


@triton.jit
def masked_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lane = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + lane, tl.load(x_ptr + lane, mask=lane < n), mask=lane < 1)


@triton.jit
def either_kernel(x_ptr, y_ptr, out_ptr, far):
    pointer = tl.where(far > 0, x_ptr, y_ptr)
    tl.store(out_ptr, tl.load(pointer + far))


@triton.jit
def crooked_kernel(x_ptr, out_ptr):
    pointer = (x_ptr.to(tl.pointer_type(tl.int8)) + 2).to(tl.pointer_type(tl.float32))
    tl.store(out_ptr, tl.load(pointer))


@triton.jit
def table_kernel(table_ptr, out_ptr):
    tl.store(out_ptr, tl.load(tl.load(table_ptr).to(tl.pointer_type(tl.float32))))


@triton.jit
def asserts_kernel(x_ptr):
    tl.device_assert(tl.load(x_ptr + tl.program_id(0)) < 2, "x must be small")


@triton.jit
def waits_kernel(flag_ptr):
    while tl.atomic_add(flag_ptr, 0) == 0:
        pass


@triton.jit
def gathers_kernel(index_ptr, out_ptr):
    lane = tl.arange(0, 4)
    tl.store(out_ptr + lane, tl.gather(lane, tl.load(index_ptr + lane), 0))


@dataclass(frozen=True)
class Told:
    """A launch that fails: its error in a script, its record, what check() raises, and the finding that tells of it."""

    error: str
    launch: Launch
    finding: Finding
    check: str


CASES: dict[str, Callable[[], Any]] = {
    "no mask": lambda: reaches_kernel[(2, 2)](torch.zeros(5), torch.zeros(64), BLOCK=4),
    "one axis": lambda: reaches_kernel[(2,)](torch.zeros(5), torch.zeros(64), BLOCK=4),
    "a mask": lambda: masked_kernel[(1,)](torch.zeros(9)[1:].view(2, 4).t(), torch.zeros(64), 11, BLOCK=16),
    "one of two": lambda: either_kernel[(1,)](*torch.zeros(8).split(4), torch.zeros(1), 1 << 22),
    "misaligned": lambda: crooked_kernel[(1,)](torch.zeros(4), torch.zeros(1)),
    "null pointer": lambda: table_kernel[(1,)](torch.zeros(1, dtype=torch.int64), torch.zeros(1)),
    "assertion": lambda: asserts_kernel[(4,)](torch.tensor([1.0, 2.0, 1.0, 3.0]), debug=True),
    "deadlock": lambda: waits_kernel[(2,)](torch.zeros(1, dtype=torch.int32)),
    "gather": lambda: gathers_kernel[(1,)](torch.tensor([0, 9, 1, 2]), torch.zeros(4, dtype=torch.int32)),
}
_TOLD: dict[str, Told] = {}


@pytest.fixture(params=CASES)
def told(request: pytest.FixtureRequest) -> Told:
    if request.param not in _TOLD:
        run = CASES[request.param]
        with pytest.raises(KernelError) as script:
            run()
        with triton_lab.record() as launches, pytest.raises(KernelError):
            run()
        with pytest.raises(KernelError) as checked, triton_lab.check():
            run()
        (stopped,) = (one for one in launches[0].findings if one.stopped)
        _TOLD[request.param] = Told(str(script.value), launches[0], stopped, str(checked.value))
    return _TOLD[request.param]


def comparable(text: str) -> str:
    """Two tensors of one launch may lie in another order in the next."""
    return re.sub(r"(touches element |storage (begins|ends) (at|after) element )-?\d+|\(\w+ lies there\)", r"\1", text)


def test_a_fault_is_told_alike_and_with_the_same_advice_wherever_it_is_told(told: Told) -> None:
    finding, error = told.finding, str(told.launch.error)
    assert comparable(error) == comparable(told.error) == comparable(told.check)
    assert f"  {finding.hint}" in error.split("\n")
    if finding.kind != "deadlock":  # there the record knows more: who waits, for what, and where
        assert error.split("\n")[0] in finding.message
        assert all(line in error for line in finding.excerpt)


def test_a_card_tells_once_what_stopped_the_launch(told: Told) -> None:
    card = Card(told.launch, show=())
    text, scene = card.text(), card.scene()
    assert text.count(told.finding.hint) == 1 and text.count(told.finding.message) == 1
    assert f"line {told.finding.line}: {told.finding.message}" in text
    assert all(line in text for line in told.finding.excerpt)
    first = scene["findings"][0]
    assert first["stopped"] and scene["told"] and first["message"] == told.finding.message
    # The error itself, with the calls that led there, is at hand behind a fold.
    assert scene["failure"] == str(told.launch.error)


def test_a_static_page_says_the_same(told: Told) -> None:
    (packed,) = re.findall(r'<script type="application/gzip">([^<]*)<', page(Card(told.launch, show=())))
    scene = json.loads(gzip.decompress(base64.b64decode(packed)))
    first = scene["findings"][0]
    assert (first["message"], first["hint"], first["line"]) == (
        told.finding.message,
        told.finding.hint,
        told.finding.line,
    )
    assert scene["told"] and scene["failure"] == str(told.launch.error)


def test_no_message_counts_one_as_many_or_tells_an_address_where_a_name_is_known(told: Told) -> None:
    card = Card(told.launch, show=("tiling", "accesses", "grid", "storage", "findings"))
    for text in (told.error, str(told.finding), card.text()):
        assert not re.search(r"(?<![\d,.])1 (programs|lanes|elements|iterations|bytes|times|findings)\b", text), text
        known = text.replace("touches address 0x0, which belongs to no tensor", "")
        assert "address 0x" not in known, text


def test_an_error_that_no_finding_tells_stands_in_the_card() -> None:
    with triton_lab.record() as launches, pytest.raises(KernelError), triton_lab.limits(max_steps=10):
        waits_long_kernel[(1,)](torch.zeros(1))
    card = Card(launches[0], show=())
    assert not card.told() and str(launches[0].error).split("\n")[0] in card.text()


@triton.jit
def waits_long_kernel(out_ptr):
    i = 0
    while i < 10:
        i = i ^ 1
    tl.store(out_ptr, i)
