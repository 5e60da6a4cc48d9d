"""The shared memory of a recorded launch: its buffers, their accesses, and the tab of the card."""

from __future__ import annotations

import pytest
import torch

import triton_lab as lab
from tests.gluon import operations
from tests.gluon.cases import cases, launch
from tests.planted import asynchronous_layouts
from triton_lab.launch.buffer_access_layouts import shared_buffers
from triton_lab.launch.launch import Launch
from triton_lab.views.launch.card.launch_card import Card


@pytest.fixture(scope="module")
def turned() -> Launch:
    with lab.target("cpu"), lab.record() as launches:
        asynchronous_layouts.turned_kernel[(1,)](torch.randn(32, 32), torch.zeros(32, 32), MENDED=False)
    return launches[0]


def test_the_costliest_access_comes_first(turned: Launch) -> None:
    found = turned.plot.shared_memory()
    assert found.moved is not None and found.moved.kind == "load" and found.buffer.name == "buffer"
    assert found.access is not None and found.access.use.ways == 32
    store = next(one for one in found.buffer.accesses if one.kind == "store")
    other = turned.plot.shared_memory("buffer", turned.lines[store.op.index].line, warp=1)  # type: ignore[union-attr]
    assert other.access is not None and other.access.use.conflicts == 0 and other.access.warp == 1


def test_what_does_not_exist_is_named(turned: Launch) -> None:
    with pytest.raises(ValueError, match="buffer"):
        turned.plot.shared_memory("ring")
    with pytest.raises(lab.LayoutError):
        turned.plot.shared_memory(warp=4)


def test_the_tab_has_each_warp_of_each_access(turned: Launch) -> None:
    panel = Card(turned).panel("shared_memory")
    names = [one["name"] for one in panel.items() or ()]
    assert names == [f"shared_memory/{access}/{warp}" for access in range(2) for warp in range(4)]
    assert Card(turned).part(names[-1])["kind"] == "drawing"
    with pytest.raises(LookupError):
        panel.view(["shared_memory", "9", "0"])


def test_views_of_a_buffer_are_at_its_bytes() -> None:
    with lab.target("cpu"), lab.record() as launches:
        operations.viewed[(1,)](torch.randn(32, 32), torch.zeros(32 * 48))
    (buffer,) = shared_buffers(launches[0].executable.plan)
    store, turned, part = buffer.accesses
    assert (turned.bytes == store.bytes.T).all() and turned.axes == (1, 0)
    assert part.bytes.shape == (32, 16) and part.bytes.min() == 0


def test_every_kernel_of_the_tests_has_its_picture() -> None:
    for case in cases(1):
        with lab.target("cpu"), lab.record() as launches:
            launch(case)
        assert launches[0].plot.shared_memory().text()
