"""Steps and origins as pictures, on a kernel whose arithmetic is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.launch.launch import Launch
from triton_lab.views import style
from triton_lab.views.tiling import UNTOUCHED


@triton.jit
def turned(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)[:, None]
    j = tl.arange(0, BLOCK)[None, :]
    ptrs = x_ptr + 2 * (i * BLOCK + j)
    x = tl.load(ptrs)
    tl.store(out_ptr + i * BLOCK + j, tl.trans(x), mask=i < 3)


@pytest.fixture(scope="module")
def launch() -> Launch:
    x = torch.arange(32.0).reshape(4, 8)[:, ::2]
    with lab.record() as launches:
        turned[(1,)](x, torch.zeros(4, 4), BLOCK=4)
    return launches[0]


def store_of(launch: Launch) -> Any:
    return next(access for access in launch.accesses if access.kind == "store")


def test_pointers_are_told_as_offsets_never_as_addresses(launch: Launch) -> None:
    text = launch.steps().text()
    assert "x_ptr = pointer to x_ptr + 0" in text
    assert "ptrs = 4×4 pointers to x_ptr + 0 to 30" in text
    assert "x = 4×4 float32, 0 to 30" in text


def test_a_step_knows_the_variables_alive_and_no_later_ones(launch: Launch) -> None:
    view = launch.steps(step=4)
    assert [name for name, _, _ in view.alive()][:5] == ["x_ptr", "out_ptr", "BLOCK", "i", "j"]
    data, _ = view._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG") and "step 4 of" in data["text/plain"]
    scene = view.scene()
    assert [one["kind"] for one in scene["steps"]].count("load") == 1
    assert scene["steps"][-1]["mask"] is not None, "a row of the store is masked"


def test_the_origin_of_a_moved_element_is_marked_alone(launch: Launch) -> None:
    view = launch.origins_view(store_of(launch), program=0, lane=1 * 4 + 2)
    assert view.title().startswith("out_ptr[1, 2], store in line ")
    stored, loaded = view.heatmaps
    for heatmap, index in ((stored, (1, 2)), (loaded, (2, 1))):
        looks = heatmap.styles[heatmap.cells].reshape(4, 4, 4)
        marked = (looks[..., 3] == style.PLAIN) & (looks[..., 0] >= style.SEQUENTIAL)
        assert np.argwhere(marked).tolist() == [list(index)]
        assert tuple(looks[0, 0].tolist()) == UNTOUCHED
    assert view._repr_mimebundle_()[0]["image/png"] and view.scene()["kind"] == "origins"


def test_bad_requests_say_what_there_is(launch: Launch) -> None:
    with pytest.raises(ValueError, match="program 0 has steps 0 to"):
        launch.steps(step=99)
    with pytest.raises(ValueError, match=r"the store in line .* has lanes 0 to 15, not 16"):
        launch.origins_view(store_of(launch), lane=16)
    with pytest.raises(ValueError, match="program 1 is not in the grid"):
        launch.origins_view(store_of(launch), program=1)
