"""Live objects are found while other threads work, and those threads lose nothing by it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch

from triton_lab.backend.plugin.live_objects import instances


class Proxy:
    """Has another class than its type, and to ask for it is an error."""

    @property
    def __class__(self) -> type[object]:  # type: ignore[override]
        raise AssertionError("somebody asked for the class")


@contextmanager
def tuples_made() -> Iterator[list[SystemError]]:
    """Another thread makes tuples from generators; what went wrong there."""
    stop, wrong = threading.Event(), list[SystemError]()

    def make() -> None:
        while not stop.is_set():
            try:
                tuple(k for k in range(200))
            except SystemError as error:
                wrong.append(error)

    maker = threading.Thread(target=make)
    maker.start()
    yield wrong
    stop.set()
    maker.join()


@pytest.mark.parametrize(("kind", "reached"), [(torch.Tensor, False), (np.ndarray, True)])
def test_a_thread_that_makes_a_tuple_is_not_disturbed(kind: type[object], reached: bool) -> None:
    """Four of five searches that let Python change threads disturb it, so five show all but one in a thousand times."""
    with tuples_made() as wrong:
        for _ in range(5):
            instances(kind, reached=reached)
    assert wrong == []


def test_objects_are_found_by_their_type_and_subclasses_count() -> None:
    proxy, tensor, weight = Proxy(), torch.zeros(3), torch.nn.Parameter(torch.zeros(2))
    keeper = [np.zeros(4)]
    tensors, arrays = instances(torch.Tensor), instances(np.ndarray, reached=True)
    assert type(proxy) is Proxy
    assert any(one is tensor for one in tensors) and any(one is weight for one in tensors)
    assert any(one is keeper[0] for one in arrays)


def test_a_young_object_is_in_a_young_generation() -> None:
    gc.collect()  # so none comes soon
    tensor = torch.zeros(3)
    assert any(one is tensor for one in instances(torch.Tensor, 0, 1))
    assert not any(one is tensor for one in instances(torch.Tensor, 2))
