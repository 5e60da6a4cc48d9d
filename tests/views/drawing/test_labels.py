"""Words in cells: the browser writes what Python writes, and black or white can be read on every colour."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.views.test_script_bundle import node
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_frame import frame
from triton_lab.views.drawing.cell_layout import layout
from triton_lab.views.drawing.drawing import DrawnText
from triton_lab.views.drawing.drawing_text import number_text
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.drawing.heatmap import Heatmap
from triton_lab.views.drawing.heatmap_drawing import heatmap_drawing
from triton_lab.views.drawing.region_labels import LINE, cell_labels, crowded, labels, run_labels
from triton_lab.views.script_bundle import FRONT

SHAPES = [(8,), (70,), (4, 6), (3, 5, 5), (), (64, 64), (2, 40), (300, 3)]
ROOMS = [(420.0, 320.0), (300.0, 260.0), (640.0, 512.0)]
PROGRAM = """
import { readFileSync } from "node:fs";
import { cellLabels, crowded, numberText, regionLabels } from "%s/drawing/labels.js";
const { numbers, pictures } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify({
  numbers: numbers.map(numberText),
  pictures: pictures.map(({ layout, room, cells }) => ({
    cells: cellLabels(layout, room, (cell) => (cells[cell] ? String(cells[cell]) : "")),
    regions: regionLabels(layout, room, Float64Array.from(cells), String),
    crowded: crowded(layout, room, Float64Array.from(cells)),
  })),
}));
"""


def in_the_browser(asked: dict[str, Any], folder: Path) -> Any:
    """What the scripts say of these numbers and pictures."""
    script = folder / "labels.mjs"
    script.write_text(PROGRAM % FRONT.as_posix(), encoding="utf-8")
    done = subprocess.run([node(), str(script)], input=json.dumps(asked), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_browser_writes_what_python_writes(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    numbers = [0.0, -0.0, 7.0, -123456.0, 1e6, 1e-5, -0.00012345, 9999.6, 3.14159, 1e300]
    numbers += (rng.normal(size=300) * 10.0 ** rng.integers(-8, 9, size=300)).tolist()
    pictures, expected = [], []
    for shape in SHAPES:
        for room in ROOMS:
            seen = layout(shape, room=room)
            for tile in (1, 3, 8):
                cells = rng.integers(0, 40, size=seen.cells) // tile if tile < 8 else np.arange(seen.cells) // 16
                words = [str(number) if number else "" for number in cells.tolist()]
                pictures.append({"layout": seen.as_scene(), "room": room, "cells": cells.tolist()})
                expected.append(
                    {
                        "cells": [list(one.as_scene()) for one in cell_labels(seen, words, room)],
                        "regions": [list(one.as_scene()) for one in labels(frame(seen, room), cells, str)],
                        "crowded": crowded(cells, frame(seen, room)),
                    }
                )
    found = in_the_browser({"numbers": numbers, "pictures": pictures}, tmp_path)
    assert found["numbers"] == [number_text(number) for number in numbers]
    assert found["pictures"] == expected
    assert any(one["cells"] for one in expected) and any(one["regions"] for one in expected)


@pytest.mark.parametrize("block", [20, 85, 100, 130])
def test_every_block_of_a_wrapped_line_bears_its_number_where_there_is_room(block: int) -> None:
    """Of rows of 64 wide cells, wherever in a row a block begins."""
    shown = layout((block * 8,), columns=64)
    cells = np.zeros(shown.cells, dtype=np.int64)
    cells[: block * 8] = 1 + np.arange(block * 8) // block
    found = labels(replace(frame(shown), cell_height=14.0), cells, str)
    assert [label.text for label in found] == [str(k) for k in range(1, 9)]
    grid = cells.reshape(shown.rows, shown.columns)
    for label in found:
        own = grid[label.row : label.row + label.rows, label.column : label.column + label.columns]
        assert (own == int(label.text)).all()


def test_a_run_of_cells_is_named_in_each_of_its_rows_and_those_below_each_other_once() -> None:
    shown = layout((4, 12))
    seen = frame(shown, style.ROOM)
    cells = np.array([[1] * 4 + [2] * 8, [1] * 4 + [2] * 8, [2] * 4 + [1] * 8, [0] * 12]).reshape(-1)
    found = {(one.row, one.column, one.rows, one.columns, one.text) for one in run_labels(seen, cells, str)}
    assert found == {(0, 0, 2, 4, "1"), (0, 4, 2, 8, "2"), (2, 0, 1, 4, "2"), (2, 4, 1, 8, "1")}
    assert run_labels(frame(shown, (12.0, 4.0)), cells, str) == []


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK], ids=["light", "dark"])
def test_a_number_can_be_read_on_every_colour_of_the_palette(theme: style.Theme) -> None:
    """Black or white, at 4.5 to one at least: what WCAG asks of words."""
    for colour in range(style.PROGRAM, style.PALETTE_SIZE):
        ground = style.luminance(style.palette(theme)[colour].tolist())
        word = style.luminance(style.rgb(style.label_colour(style.palette(theme)[colour].tolist())))
        low, high = sorted((ground, word))
        assert (high + 0.05) / (low + 0.05) >= 4.5, colour


def test_a_label_of_a_stretch_needs_its_height() -> None:
    seen = frame(layout((40, 2), room=(400.0, 200.0)), (400.0, 200.0))  # rows lower than a line of text
    assert seen.cell_height < LINE < 2 * seen.cell_height * 8
    alone = np.zeros(80, np.int64)
    alone[40:42] = 1
    assert run_labels(seen, alone, str) == []
    stacked = np.zeros((40, 2), np.int64)
    stacked[20:36] = 1
    assert [(one.text, one.rows) for one in run_labels(seen, stacked.reshape(-1), str)] == [("1", 16)]


LOOKS = """
import { readFileSync } from "node:fs";
import { inkOf } from "%s/drawing/axes.js";
const asked = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(asked.map(([look, theme, dimmed]) => inkOf(Float64Array.from(look), 0, theme, dimmed))));
"""


def test_a_label_stands_on_a_plain_ground_of_one_colour_dimmed_or_not(tmp_path: Path) -> None:
    themes = {"light": style.LIGHT, "dark": style.DARK}
    patterns = (style.PLAIN, style.STRIPES, style.HATCH, style.DOTS, style.CROSS)
    asked = [
        ((colour, style.GROUND, style.GROUND, pattern), name, dimmed)
        for colour in range(0, style.PALETTE_SIZE, 7)
        for pattern in patterns
        for name in themes
        for dimmed in (False, True)
    ]
    script = tmp_path / "looks.mjs"
    script.write_text(LOOKS % FRONT.as_posix(), encoding="utf-8")
    done = subprocess.run([node(), str(script)], input=json.dumps(asked), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for (look, name, dimmed), found in zip(asked, json.loads(done.stdout), strict=True):
        ground = style.label_ground(look, dimmed, themes[name])
        ink = style.label_colour(ground)
        assert found == {
            "ink": ink,
            "ground": f"rgb({','.join(map(str, ground))})",
            "patterned": look[3] not in (style.PLAIN, style.DOTS),
        }
        low, high = sorted(map(style.luminance, (ground, style.rgb(ink))))
        assert (high + 0.05) / (low + 0.05) >= 4.5


NAMES = """
import { readFileSync } from "node:fs";
import { widthWithNames } from "%s/drawing/axes.js";
import { frameOf } from "%s/drawing/frame.js";
const [shown, room, names] = JSON.parse(readFileSync(0, "utf8"));
const frame = frameOf(shown, room);
console.log(JSON.stringify([frame.width, widthWithNames(frame, names)]));
"""


@pytest.mark.parametrize("warps", [4, 12])
def test_names_of_narrow_panels_have_room_and_do_not_run_into_each_other(tmp_path: Path, warps: int) -> None:
    shown = layout((warps, 32, 1), room=(60.0 * warps, 300.0))
    names = [f"warp {number}" for number in range(warps)]
    heat = Heatmap(shown, np.ones(shown.cells, np.uint8), np.zeros((2, 4), np.uint16), panel_names=names)
    drawn = heatmap_drawing(heat)
    texts = [item for item in drawn.items if isinstance(item, DrawnText) and item.text in names]
    assert texts[0].text == "warp 0" and len(texts) >= warps / 2
    ends = [item.x + width_of(item.text, style.SMALL) for item in texts]
    assert all(end <= after.x for end, after in zip(ends, texts[1:], strict=False)) and max(ends) <= drawn.width
    script = tmp_path / "names.mjs"
    script.write_text(NAMES % (FRONT.as_posix(), FRONT.as_posix()), encoding="utf-8")
    asked = json.dumps([shown.as_scene(), heat.room, names])
    done = subprocess.run([node(), str(script)], input=asked, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    wide, with_names = json.loads(done.stdout)
    assert (with_names > wide) == (texts[-1].text == names[-1]), "a name is wider than its panel"
