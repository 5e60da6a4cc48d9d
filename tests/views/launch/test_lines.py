"""Pictures tell of what is pointed at which lines of the kernel touched it: the editor lights those."""

from __future__ import annotations

import numpy as np
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.launch import Launch
from triton_lab.views.drawing.cell_scenes import Buffer
from triton_lab.views.launch.accesses.timeline_view import TimelineView
from triton_lab.views.launch.values.origins_view import Origins


@triton.jit
def neighbours(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    left = tl.load(x_ptr + i)
    right = tl.load(x_ptr + i + 1)
    y = tl.load(y_ptr + i)
    tl.store(out_ptr + i, left + 2 * right + y)


FIRST = neighbours.fn.__code__.co_firstlineno
LEFT, RIGHT, OTHER, STORE = (FIRST + k for k in (3, 4, 5, 6))


def launched() -> Launch:
    with lab.record() as launches:
        neighbours[(1,)](torch.arange(9.0), torch.arange(8.0), torch.empty(8), 8, BLOCK=8)
    return launches[0]


def numbers(packed: Buffer) -> list[int]:
    return [int(one) for one in np.frombuffer(packed["bytes"], np.dtype(packed["type"]))]


def test_rows_of_a_timeline_tell_their_lines() -> None:
    launch = launched()
    assert TimelineView(launch, "x_ptr").scene()["lines"] == [[LEFT], [RIGHT]]
    assert TimelineView(launch, "out_ptr").scene()["lines"] == [[STORE]]


def test_origins_tell_which_line_loaded_which_element() -> None:
    launch = launched()
    (store,) = (access for access in launch.accesses if access.line == STORE)
    scene = Origins(launch, store, lane=3).scene()
    assert scene["stored"] is not None and scene["stored"]["line"] == STORE
    x, y = scene["shown"]["pictures"]
    assert numbers(x["cells"]) == [3, 4]
    assert x["lines"] == [LEFT, RIGHT] and [numbers(one) for one in x["loads"]] == [[3], [4]]
    # One line loaded all of it: nothing more need be said.
    assert (y["lines"], y["loads"]) == ([OTHER], [])
