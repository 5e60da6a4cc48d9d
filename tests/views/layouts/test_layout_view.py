"""A layout's picture: what stands where is what the layout itself says, in Python and in the browser's own words."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import triton_lab as lab
from tests.compiled.layouts.test_against_triton import collected
from tests.views.test_script_bundle import node
from tests.wordings import Wording
from triton_lab.compiled.layouts import Layout, LayoutError
from triton_lab.compiled.layouts.layout_parser import types_of
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Rectangle
from triton_lab.views.drawing.png import png
from triton_lab.views.drawing.raster import CHOSEN, DIMMED
from triton_lab.views.layouts.bit_matrix import matrix_drawing
from triton_lab.views.layouts.element_heatmaps import emphasis_on
from triton_lab.views.layouts.layout_colors import banks_of
from triton_lab.views.layouts.layout_positions import places_of
from triton_lab.views.layouts.layout_view import LayoutView
from triton_lab.views.notebook_output import MOST_CHARACTERS
from triton_lab.views.scene_packing import packed
from triton_lab.views.script_bundle import FRONT
from triton_lab.views.view import View

BLOCKED: dict[str, Any] = {
    "size_per_thread": [1, 4], "threads_per_warp": [8, 4], "warps_per_cta": [4, 1], "order": [1, 0],
}  # fmt: skip
MMA = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>"
PADDED = "#ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 32]}>"
CLUSTER = {**BLOCKED, "warps_per_cta": [2, 1], "cga_layout": [[1, 0]]}


def blocked(shape: tuple[int, int] = (32, 16)) -> Layout:
    return lab.layout("blocked", shape, **BLOCKED)


def all_kinds() -> dict[str, Layout]:
    """A layout of each kind, with copies, with room between elements, and of several blocks."""
    return {
        "blocked": blocked(),
        "copies": blocked((8, 16)),
        "cluster": lab.layout("blocked", (32, 16), **CLUSTER),
        "line": lab.layout("slice", (32,), dim=1, parent=blocked()),
        "cube": lab.layout("blocked", (4, 8, 16), size_per_thread=[1, 1, 4], threads_per_warp=[1, 8, 4],
                           warps_per_cta=[2, 2, 1], order=[2, 1, 0]),
        "operand": lab.layout("dot_op", (32, 32), op_idx=0, parent=MMA, k_width=2, bits=16),
        "mfma": lab.layout("amd_mfma", (64, 64), version=3, warps_per_cta=[2, 2], instr_shape=[32, 32, 8],
                           is_transposed=True),
        "swizzled": lab.layout("swizzled_shared", (32, 32), vec=8, per_phase=2, max_phase=4, order=[1, 0], bits=16),
        "padded": lab.layout(PADDED),
        "few": lab.layout("swizzled_shared", (2, 4), vec=1, per_phase=1, max_phase=1, order=[1, 0], bits=16),
        "memory": lab.layout("tensor_memory_encoding", (128, 64), block_m=128, block_n=64, col_stride=2),
        "half": lab.layout("tensor_memory_encoding", (64, 32), block_m=64, block_n=32, col_stride=1),
        "one": lab.layout("blocked", (1,), size_per_thread=[1], threads_per_warp=[32], warps_per_cta=[4], order=[0]),
    }  # fmt: skip


def of_examples() -> list[Layout]:
    """The layouts that the examples have on seven GPUs, every eighth."""
    found = []
    for told, _ in collected()[::8]:
        (each,) = types_of(told)
        found.append(Layout(each.kind, each.shape, 16))
    return found


def drawn_at(view: View, name: str) -> np.ndarray:
    """The class of each position of a picture that shows all of them: what is drawn there."""
    heatmap = getattr(view, name)
    return np.asarray(heatmap.cells, dtype=np.int64)[heatmap.layout.cell_of_position()]


@pytest.mark.parametrize("layout", all_kinds().values(), ids=all_kinds())
def test_each_place_shows_the_element_that_it_holds(layout: Layout) -> None:
    places = places_of(layout)
    held: dict[int, list[tuple[int, ...]]] = {}
    for position in np.flatnonzero(places.held >= 0).tolist():
        told = np.array([position])
        held.setdefault(int(places.held[position]), []).append(
            tuple(int(places.part(name, told)[0]) for name, _ in places.parts)
        )
    assert len(held) == np.prod(layout.shape)
    for element in list(held)[:: max(1, len(held) // 16)]:
        owners = layout.owner(*layout.linear.unpack(element))
        assert len(owners) == layout.copies
        wanted = []
        for place in owners:
            line, column = divmod(dict(place.parts).get("offset", 0), places.size("column"))
            known = {"line": line, "column": column, **dict(place.parts)}
            wanted.append(tuple(known[name] for name, _ in places.parts))
        assert sorted(held[element]) == sorted(wanted)


def test_banks_are_those_that_the_layout_tells() -> None:
    for name in ("swizzled", "padded", "few"):
        layout = all_kinds()[name]
        places = places_of(layout)
        banks = banks_of(places, places.first).reshape(layout.shape)
        assert all(banks[at] == layout.bank(*at) for at in np.ndindex(*layout.shape))


def test_the_browser_works_out_the_same_from_the_bits(tmp_path: Path) -> None:
    """`held.js`, run by Node, against Python's table: all kinds, and what the examples have on seven GPUs."""
    layouts = [*all_kinds().values(), *of_examples()]
    cases = []
    for layout in layouts:
        view = LayoutView(layout)
        scene = view.scene()
        keys = ("matrix", "inputs", "axes", "padding")
        sheets = [(scene[name]["layout"], getattr(view, name)) for name in ("tensor", "hardware")]  # type: ignore[literal-required]
        cases.append({
            "scene": {key: scene[key] for key in keys},  # type: ignore[literal-required]
            "held": view.places.held.tolist(),
            "sheets": [[sheet, each.styles.any(axis=1).tolist(), each.cells.tolist()] for sheet, each in sheets],
        })  # fmt: skip
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    script = tmp_path / "held.mjs"
    script.write_text(
        f"""import {{ heldOf, copiesOf, cellsOf }} from {json.dumps((FRONT / "layouts" / "held.js").as_uri())};
import {{ readFileSync }} from "node:fs";
import assert from "node:assert/strict";
for (const {{ scene, held, sheets }} of JSON.parse(readFileSync({json.dumps(str(tmp_path / "cases.json"))}))) {{
  const found = heldOf(scene);
  assert.deepEqual([...found.held], held);
  const elements = scene.matrix.shape.reduce((product, size) => product * size, 1);
  const copies = copiesOf(found.held, elements);
  for (let element = 0; element < elements; element += 1 + (elements >> 4)) {{
    assert.deepEqual([...copies(element)], held.flatMap((one, at) => (one === element ? [at] : [])));
  }}
  for (const [layout, there, cells] of sheets) assert.deepEqual([...cellsOf(layout, there.map(Number))], cells);
}}"""
    )
    done = subprocess.run([node(), str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]


def test_an_elements_copies_stand_out_on_both_sides(wording: Wording) -> None:
    view = blocked((8, 16)).plot(element=(3, 5))
    holders = "; ".join(f"warp {warp}, thread 13, register 1" for warp in range(4))
    wording(view.text().splitlines()[-1], element="element [3, 5]", holders=holders)
    assert view._places is not None and view._elements is not None
    assert np.flatnonzero(view._places).tolist() == [128 * warp + 4 * 13 + 1 for warp in range(4)]
    assert np.flatnonzero(view._elements).tolist() == [3 * 16 + 5]


def test_a_lanes_elements_stand_out(wording: Wording) -> None:
    view = blocked().plot(warp=1, lane=5)
    assert view.text().splitlines()[-1] == "warp 1, thread 5: [9, 4] [9, 5] [9, 6] [9, 7]"
    assert view._elements is not None
    assert np.flatnonzero(view._elements).tolist() == [9 * 16 + column for column in range(4, 8)]
    with wording.raises(LayoutError, lane=32):
        blocked().plot(lane=32)
    with pytest.raises(LayoutError, match="not both"):
        blocked().plot(element=(0, 0), lane=1)
    with wording.raises(LayoutError, dimension=0):
        blocked().plot(element=(32, 0))


def test_an_offset_stands_out_behind_what_padding_leaves_free() -> None:
    view = lab.layout(PADDED).plot(offset=40)
    assert view._places is not None
    assert np.flatnonzero(view._places).tolist() == [44]


def test_elements_of_a_thread_have_one_colour_and_those_of_two_warps_have_stripes() -> None:
    view = LayoutView(blocked())
    looks = view.tensor.styles[drawn_at(view, "tensor")]
    layout = view.asked
    threads = [layout.owner(*layout.linear.unpack(element))[0] for element in range(32 * 16)]
    hues = [(look[0] - style.TENSOR) // style.TENSOR_LEVELS for look in looks.tolist()]
    assert hues == [thread.warp for thread in threads]
    assert (
        len({(thread.warp, thread.lane, tuple(look)) for thread, look in zip(threads, looks.tolist(), strict=True)})
        == 128
    )
    assert {look[3] for look in LayoutView(blocked((8, 16))).tensor.styles[1:].tolist()} == {style.STRIPES}
    assert [key.text for key in view.tensor.legend] == ["warp 0", "warp 1", "warp 2", "warp 3"]


def test_words_stand_in_cells_with_room() -> None:
    view = LayoutView(blocked((16, 16)))
    assert [label.text for label in view.tensor.labels[:5]] == ["r0", "r1", "r2", "r3", "r0"]
    assert "r: the register" in view.tensor.title
    regions = LayoutView(blocked())
    assert [label.text for label in regions.tensor.labels] == ["warp 0", "warp 1", "warp 2", "warp 3"]


def test_words_tell_what_it_is_and_how_often_elements_are_held(wording: Wording) -> None:
    told = {name: LayoutView(layout).title() for name, layout in all_kinds().items()}
    wording(told["blocked"], "blocked", shape="32×16", parts="4 warps × 32 threads × 4 registers")
    wording(told["copies"].rpartition(": ")[2], "copies", parts="4 warps × 32 threads × 4 registers", times="4 times")
    assert told["cluster"].endswith("registers: 2 CTAs × 2 warps × 32 threads × 4 registers")
    assert told["swizzled"].endswith("in shared memory: 2,048 bytes")
    assert told["memory"].endswith("in tensor memory: 128 rows × 128 columns")
    assert "warp 0, thread 1: [0, 4] [0, 5] [0, 6] [0, 7]" in LayoutView(blocked()).text()


@pytest.mark.parametrize("name", ["copies", "cluster", "cube", "padded", "half", "one"])
def test_every_kind_is_drawn_as_png(name: str) -> None:
    assert png(LayoutView(all_kinds()[name]).figure()).startswith(b"\x89PNG")


def test_a_large_tensor_is_quickly_told_and_small_enough_to_be_saved() -> None:
    layout = lab.layout("blocked", (128, 128), **{**BLOCKED, "threads_per_warp": [2, 16]})
    LayoutView(layout).scene()
    before = time.perf_counter()
    scene = LayoutView(layout).scene()
    assert time.perf_counter() - before < 0.2
    assert len(packed(scene)) < MOST_CHARACTERS // 8
    large = lab.layout("blocked", (1024, 1024), **BLOCKED)
    assert len(packed(LayoutView(large).scene())) < MOST_CHARACTERS


def test_cells_that_stand_for_several_stand_out_where_one_of_them_does() -> None:
    view = lab.layout("blocked", (1024, 1024), **BLOCKED).plot(element=(1001, 3))
    heatmap = view.tensor
    assert heatmap.layout.binned
    levels = emphasis_on(heatmap, view._elements)
    assert levels is not None
    shown = levels[heatmap.cells].reshape(heatmap.layout.rows, heatmap.layout.columns)
    assert np.argwhere(shown == CHOSEN).tolist() == [[1001 // heatmap.layout.down, 3 // heatmap.layout.right]]
    assert (shown == DIMMED).sum() == shown.size - 1


def test_a_layout_shows_itself() -> None:
    shown, _ = blocked()._repr_mimebundle_()
    assert shown["text/plain"] == blocked().plot().text()
    assert "image/png" in shown and "application/vnd.triton-lab.scene.v1+json" in shown


@pytest.mark.parametrize("kind", all_kinds())
@pytest.mark.parametrize("lit", [0, 5])
def test_the_matrix_of_a_static_picture_has_a_cell_for_each_bit_in_its_own_place(kind: str, lit: int) -> None:
    linear = all_kinds()[kind].linear
    made = matrix_drawing(linear, lit)
    boxes = [one for one in made.items if isinstance(one, Rectangle)]
    cells, heads = [one for one in boxes if not one.radius], [one for one in boxes if one.radius]
    sizes = {(cell.width, cell.height) for cell in boxes}
    assert len(sizes) <= 1 and all(width == height for width, height in sizes), "squares, all alike"
    corners = np.array([(cell.x, cell.y) for cell in boxes]).reshape(-1, 2)
    apart = np.abs(corners[:, None] - corners).max(axis=-1) + 1e9 * np.eye(len(corners))
    assert (apart >= max((width for width, _ in sizes), default=0)).all(), "and none over another"
    bits = [(axis, bit) for axis, size in enumerate(linear.shape) for bit in range(size.bit_length() - 1)]
    columns = [basis for _, bases in linear.ins for basis in bases]
    ones = [basis[axis] >> bit & 1 for basis in columns for axis, bit in bits]
    assert [cell.fill != "untouched" for cell in cells] == [bool(one) for one in ones]
    assert all(cell.bottom <= made.height and cell.right <= made.width for cell in boxes)
    # A column is its bit and what this sets; those of the place stand out.
    assert [head.tag for head in heads] == [str(k) for k in range(len(columns))]
    assert [cell.tag for cell in cells] == [str(k) for k in range(len(columns)) for _ in bits]
    assert {box.tag for box in boxes if box.edge == "accent"} == {tag for tag in ("0", "2") if lit} & {
        *map(str, range(len(columns)))
    }
