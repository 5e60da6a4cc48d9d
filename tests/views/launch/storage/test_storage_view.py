"""The storage picture: names, tables, colours by place, bad requests."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.views.drawing import style
from triton_lab.views.drawing.heatmap import Mark
from triton_lab.views.launch.storage.storage_view import StorageView, storage

GLOBAL_TENSOR = torch.zeros(3)


def levels(view: StorageView, number: int) -> np.ndarray:
    """(rows, columns) how far along the storage each element's colour is."""
    grid = view.grids[number]
    colours = grid.styles[grid.cells, 0].astype(int)
    return ((colours - style.TENSOR) % style.TENSOR_LEVELS).reshape(grid.layout.rows, grid.layout.columns)


def test_names_are_those_of_the_callers_variables() -> None:
    original = torch.arange(24.0).reshape(4, 6)
    _hidden, seen = original.t(), original.t()
    assert [tensor.name for tensor in storage(original, seen, GLOBAL_TENSOR).tensors] == [
        "original",
        "seen",
        "GLOBAL_TENSOR",
    ]
    assert [tensor.name for tensor in storage(original, _hidden).tensors] == ["original", "tensor 2"]
    assert storage(original.t()).tensors[0].name == "tensor"
    assert [tensor.name for tensor in storage(original, seen, names=("a", "b")).tensors] == ["a", "b"]


def test_the_table_of_the_split_demo() -> None:
    original = torch.arange(24.0).reshape(4, 6)
    left, right = torch.split(original, [2, 4], dim=1)
    copy = right.contiguous()
    view = storage(left, right, copy)
    assert view.table() == [
        ("left", "(4, 2)", "(6, 1)", "0 (0 bytes)", "float32", "32", "False", "A"),
        ("right", "(4, 4)", "(6, 1)", "2 (8 bytes)", "float32", "64", "False", "A"),
        ("copy", "(4, 4)", "(4, 1)", "0 (0 bytes)", "float32", "64", "True", "B"),
    ]
    assert view.overlaps() == []
    assert "Is contiguous" in repr(view) and "0x" not in repr(view)


def test_colours_tell_contiguous_transposed_and_expanded_apart() -> None:
    x = torch.zeros(8, 8)
    contiguous, transposed, expanded = (levels(storage(t), 0) for t in (x, x.t(), x[0].expand(8, 8)))
    assert (np.diff(contiguous.reshape(-1)) >= 0).all(), "darker in reading order"
    assert (transposed == contiguous.T).all(), "darker down the columns"
    assert (expanded == expanded[0]).all(), "every row the same"


def test_the_strip_shows_who_covers_each_place(wording: Wording) -> None:
    x = torch.zeros(4, 6)
    left, right = x[:, :2], x[:, 1:4]
    strip = storage(left, right).strips[0]
    patterns = strip.styles[strip.cells, 3].reshape(4, 6).tolist()
    assert patterns == [[style.PLAIN, style.STRIPES, style.PLAIN, style.PLAIN, style.DOTS, style.DOTS]] * 4
    hues = (strip.styles[strip.cells, 0].reshape(4, 6)[0].astype(int) - style.TENSOR) // style.TENSOR_LEVELS
    assert hues[[0, 2]].tolist() == [0, 1]
    (shared,) = storage(left, right).overlaps()
    wording(shared, one="left", other="right", bytes="16 bytes")


def test_several_elements_at_one_place_are_striped_with_the_ground(wording: Wording) -> None:
    strip = storage(torch.zeros(3).expand(4, 3)).strips[0]
    assert (strip.styles[strip.cells, 1] == style.GROUND).all()
    (tensor, several) = [key.text for key in strip.legend]
    assert tensor == "tensor"
    wording(several)


def test_labels_are_offsets_in_storage() -> None:
    x = torch.zeros(4, 6)
    assert [label.text for label in storage(x[1:, 2:4]).grids[0].labels] == ["8", "9", "14", "15", "20", "21"]


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor(1.0),
        torch.zeros(0, 3),
        torch.zeros(2, 3, 4).permute(2, 0, 1),
        torch.zeros(1 << 20),
        torch.zeros(1 << 21)[::2],
        torch.zeros(8).as_strided((3, 4), (2, 1)),
        torch.zeros(4, 4).view(torch.uint8),
        torch.zeros(3, dtype=torch.bfloat16),
        torch.zeros(3, device="meta"),
        torch.zeros(300, 2, 2),
    ],
    ids=["0-d", "empty", "permuted", "million", "gaps", "windows", "bytes", "bf16", "meta", "many slices"],
)
def test_every_kind_of_tensor_has_a_picture(tensor: torch.Tensor) -> None:
    data, _ = storage(tensor)._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")


def test_bad_requests() -> None:
    with pytest.raises(TypeError, match=r"storage\(x\)"):
        storage()
    with pytest.raises(ValueError, match="2 tensors, but 1 name: a"):
        storage(GLOBAL_TENSOR, GLOBAL_TENSOR, names=["a"])
    array = np.zeros(3)
    with pytest.raises(TypeError, match=r"array .*ndarray"):
        storage(array)  # type: ignore[arg-type]


@triton.jit
def gather_kernel(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + tl.load(index_ptr + at)))


def outlined(marks: tuple[Mark, ...], columns: int) -> list[int]:
    return sorted(
        row * columns + column
        for mark in marks
        for _, top, left, rows, wide in mark.runs
        for row in range(top, top + rows)
        for column in range(left, left + wide)
    )


@given(
    st.sampled_from(["rows and columns", "every other column", "a stretch", "transposed"]),
    st.lists(st.integers(0, 63), min_size=16, max_size=16),
)
@settings(max_examples=25, deadline=None)
def test_lanes_outside_a_view_stand_in_its_storage_where_they_are(what: str, units: list[int]) -> None:
    """Lanes are sent to units of a storage of 64, through a view of it."""
    whole = torch.arange(64.0).reshape(8, 8)
    view = {
        "rows and columns": whole[2:6, 1:5],
        "every other column": whole[:, ::2],
        "a stretch": whole.reshape(-1)[20:40],
        "transposed": whole.T[1:, :4],
    }[what]
    index = torch.tensor(units) - view.storage_offset()
    with lab.target("cpu"), lab.record() as launches:
        gather_kernel[(4,)](view, index, torch.zeros(16), BLOCK=4)
    picture = launches[0].plot.storage()
    inside = set(view.to(int).reshape(-1).tolist())  # each element holds its place in the storage
    number = picture.places.which(0)
    strip = picture.strips[number]
    assert (strip.layout.cells, picture.places.covers[number].unit) == (64, 4)
    outside = sorted(set(units) - inside)
    assert outlined(tuple(strip.marks), strip.layout.columns) == outside
    told = [f"touched through x_ptr, outside its view: {len(outside)} element{'s' * (len(outside) > 1)}"]
    assert [mark.text for mark in strip.marks] == (told if outside else [])

    touching, through = picture.lanes.touching, picture.lanes.seen_through(0)
    assert touching is not None
    touched = touching.of_cells([touching.along_storage(*through, 1)], 64)
    some = np.arange(64)[::-1].copy()
    asked = touching.of_cells([touching.at_units(*through, some)], 64)
    for unit in range(64):
        programs = {k // 4 for k, place in enumerate(units) if place == unit}
        for found, cell in ((touched, unit), (asked, 63 - unit)):
            members = found.table.members(int(found.classes[cell]))
            assert set((members // len(found.moments)).tolist()) == programs
