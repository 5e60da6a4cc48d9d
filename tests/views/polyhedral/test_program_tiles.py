"""The elements of a kernel's argument by program: tiles, their names and their colours."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.polyhedral.kernels.launch_scop import KernelScop
from triton_lab.views.drawing.drawing import DrawnText
from triton_lab.views.polyhedral.kernel_view import KernelView
from triton_lab.views.polyhedral.legend_box import entries
from triton_lab.views.polyhedral.polyhedral_style import BOTH


@pytest.fixture(autouse=True)
def _on_cpu() -> Iterator[None]:
    with lab.target("cpu"):
        yield


@triton.jit
def add_one(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1, mask=at < n)


@triton.jit
def fill(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(x_ptr + m, mask=m < rows)
    at = out_ptr + m[:, None] * columns + n[None, :]
    tl.store(at, row[:, None], mask=(m[:, None] < rows) & (n[None, :] < columns))


@triton.jit
def two_cases(out_ptr, BLOCK: tl.constexpr):
    half = tl.program_id(0) // 2
    at = tl.where(half == 0, tl.program_id(0), 7 - tl.program_id(0)) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, 1.0)


@triton.jit
def overlapping(out_ptr, columns, row_stride, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0) * row_stride + column, 1.0, mask=column < columns)


def view(launch: Callable[[], object], line: int | None = None) -> KernelView:
    with lab.record() as launches:
        launch()
    scop = lab.polyhedral.scop(launches[0])
    assert isinstance(scop, KernelScop)
    return KernelView(scop, line=line)


def boxes(shown: KernelView) -> dict[str, tuple[float, ...]]:
    assert shown.tiles is not None
    found = zip(shown.tiles.picture.tile_names, shown.tiles.picture.tiles, strict=True)
    return {name: (*tile.min(axis=0).round(2).tolist(), *tile.max(axis=0).round(2).tolist()) for name, tile in found}


def test_each_program_of_a_vector_has_a_tile_and_a_colour() -> None:
    shown = view(lambda: add_one[(4,)](torch.zeros(13), torch.zeros(13), 13, BLOCK=4))
    assert boxes(shown) == {
        "0": (-0.42, -0.42, 0.42, 3.42), "1": (-0.42, 3.58, 0.42, 7.42),
        "2": (-0.42, 7.58, 0.42, 11.42), "3": (-0.42, 11.58, 0.42, 12.42),
    }  # fmt: skip
    assert shown.time is not None
    names = {item.text for item in shown.time.drawing().items if isinstance(item, DrawnText)}
    assert {"0", "1", "2", "3"} <= names
    told = [entry.text for entry in entries(shown.time.picture, False)]
    assert told[:4] == [f"program {k}" for k in range(4)]
    (domain,) = shown.picture.layers
    assert domain.owners is not None
    assert (domain.owners == domain.points[:, 0]).all()  # the rows of the domain are programs, too
    assert "program 3: out_ptr[12..12]" in shown.text()


def test_the_legend_has_each_program_that_is_drawn_with_or_without_a_tile() -> None:
    shown = view(lambda: overlapping[(4,)](torch.zeros(4, 10), 10, 8, BLOCK=16))
    assert shown.time is not None
    drawn = shown.time.picture
    assert len(drawn.tiles) < 4, "the elements of most programs are no rectangle"
    (layer,) = drawn.layers
    assert layer.owners is not None and set(layer.owners.tolist()) == {-1, 0, 1, 2, 3}
    circles = [(entry.text, entry.colour) for entry in entries(drawn, False) if entry.sign == "circle"]
    assert circles[:-1] == [(f"program {k}", BOTH.parts[k]) for k in range(4)]
    assert circles[-1][1] == BOTH.statement


def test_tiles_of_a_grid_are_named_by_both_ids() -> None:
    shown = view(lambda: fill[(3, 2)](torch.zeros(10), torch.zeros(10, 7), 10, 7, BLOCK=4))
    found = boxes(shown)
    assert list(found) == ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)", "(2, 0)", "(2, 1)"]
    assert found["(2, 1)"] == (7.58, 3.58, 9.42, 6.42)
    (domain,) = shown.picture.layers
    assert domain.owners is not None
    several = {
        tuple(point) for point, owner in zip(domain.points.tolist(), domain.owners.tolist(), strict=True) if owner < 0
    }
    assert several == {(pid, j) for pid in range(3) for j in range(3)}  # lane 3 of the second column has no elements


def test_programs_that_share_elements_share_a_tile() -> None:
    run = lambda: fill[(3, 2)](torch.zeros(10), torch.zeros(10, 7), 10, 7, BLOCK=4)  # noqa: E731
    with lab.record() as launches:
        run()
    load = next(access.line for access in launches[0].accesses if access.kind == "load")
    assert list(boxes(view(run, load))) == ["(0, 0–1)", "(1, 0–1)", "(2, 0–1)"]


def test_an_address_by_cases_touches_in_each_case_its_own_elements() -> None:
    shown = view(lambda: two_cases[(4,)](torch.zeros(32), BLOCK=4))
    assert {name: box[1::2] for name, box in boxes(shown).items()} == {
        "0": (-0.42, 3.42), "1": (3.58, 7.42), "2": (19.58, 23.42), "3": (15.58, 19.42)
    }  # fmt: skip
    assert shown.scene()["time"] is not None
