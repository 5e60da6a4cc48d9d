"""`lab.last` is the last launch that a user recorded, in scripts as in cells."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import triton_lab as lab
from triton_lab.examples.vector_add import add
from triton_lab.launch.recording import last_launch
from triton_lab.notebook.startup import sample_launch
from triton_lab.views.launch.card.launch_card import Card


@pytest.fixture(autouse=True)
def none_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_launch, "_noted", [])


def test_there_is_none_before_the_first() -> None:
    assert not hasattr(lab, "last")
    with pytest.raises(AttributeError, match="record"):
        lab.last  # noqa: B018  (what it raises)


def test_it_is_the_last_of_all_records() -> None:
    with lab.record() as first:
        add(torch.ones(10), torch.ones(10))
    assert lab.last is first[0]
    with lab.record() as second:
        add(torch.ones(10), torch.ones(10))
        add(torch.ones(20), torch.ones(20))
    assert lab.last is second[1]
    second.clear()
    assert not hasattr(lab, "last")


def test_launches_of_the_lab_itself_do_not_count() -> None:
    with lab.record() as launches:
        add(torch.ones(10), torch.ones(10))
    with ThreadPoolExecutor(1) as other:
        other.submit(sample_launch.launch).result()
    assert lab.last is launches[0]


def test_the_card_of_the_last_launch_has_a_call_that_compares_it() -> None:
    with lab.record() as launches:
        add(torch.ones(10), torch.ones(10))
        add(torch.ones(10), torch.ones(10))
    first, last = map(Card, launches)
    assert "compare" not in first.scene()
    call = last.scene()["compare"]
    assert last.standalone().get("compare") is None
    comparison = eval(call.replace("...", "x_ptr + y_ptr"), {"lab": lab})
    assert comparison.verdict == "bit-equal"
