"""The legend of programs says what the picture shows: no colour without its swatch, no swatch without its colour."""

from __future__ import annotations

import json
import subprocess
from itertools import pairwise
from math import prod
from pathlib import Path

import numpy as np
import pytest

from tests.launch.fakes import FakeArgument, FakeLaunch, tile
from tests.views.test_script_bundle import node
from triton_lab import messages
from triton_lab.views.drawing import style
from triton_lab.views.drawing.heatmap import Heatmap
from triton_lab.views.launch.accesses.accesses_view import Accesses
from triton_lab.views.launch.tiling.grid_view import GridView
from triton_lab.views.launch.tiling.program_scale import BAR, program_scale, program_ticks
from triton_lab.views.launch.tiling.tiling_view import Tiling
from triton_lab.views.script_bundle import FRONT

GRIDS = [(1, 1, 1), (2, 1, 1), (8, 1, 1), (12, 1, 1), (4, 3, 1), (3, 2, 2)]
LARGER = [(13, 1, 1), (4, 4, 1), (3, 3, 3), (100, 1, 1)]


def launch(grid: tuple[int, int, int], over: int = 0) -> FakeLaunch:
    """Each program stores eight elements of its own, and ``over`` of the next one's."""
    x, y, _ = grid
    argument = FakeArgument("x", (8 * prod(grid) + over,), (1,))
    access = tile(argument, "store", 3, grid, (8 + over,), lambda px, py, pz, i: (8 * (px + x * (py + y * pz)),))
    return FakeLaunch(grid, (argument,), [access])


def pictures(made: FakeLaunch) -> dict[str, Heatmap]:
    """Every picture in which programs have colours."""
    return {
        "tiling": Tiling(made, "x").heatmap,
        "accesses": Accesses(made, "x", "program").heatmap,
        "storage": Accesses(made, "x", "program", over="storage").heatmap,
        "grid": GridView(made).heatmaps[0],
        "beside the grid": GridView(made).heatmaps[1],
    }


@pytest.mark.parametrize("grid", GRIDS)
def test_each_of_a_few_programs_has_a_swatch_of_its_own(grid: tuple[int, int, int]) -> None:
    count = prod(grid)
    names = [str(p) if grid[1:] == (1, 1) else str(messages.coordinates(p, grid)) for p in range(count)]
    names[0] = f"program {names[0]}"
    expected = [((style.PROGRAM + p,) * 3 + (style.PLAIN,), name) for p, name in enumerate(names)]
    for what, heatmap in pictures(launch(grid)).items():
        assert [(key.style, key.text) for key in heatmap.legend][:count] == expected, what
        assert heatmap.ramp is None and not heatmap.ticks
        drawn = {tuple(look) for look in heatmap.styles[np.unique(heatmap.cells)].tolist() if look[0] >= style.PROGRAM}
        assert drawn == {look for look, _ in expected}, what


@pytest.mark.parametrize("grid", LARGER)
def test_many_programs_have_a_colour_bar_with_their_numbers(grid: tuple[int, int, int]) -> None:
    count = prod(grid)
    for what, heatmap in pictures(launch(grid)).items():
        assert heatmap.ramp == (style.SEQUENTIAL, style.LEVELS, 0, count - 1), what
        assert heatmap.ticks[0] == (0, "0") and heatmap.ticks[-1] == (count - 1, str(count - 1))
        assert not any(key.text.startswith("program") for key in heatmap.legend), what
        styles = heatmap.styles[heatmap.cells][:, 0]
        owner = np.arange(len(styles)) // (1 if what == "grid" else 8)
        if grid[1:] == (1, 1):
            there = owner < count
            assert (styles[there] == style.program_colours(owner[there], grid)).all(), what


def test_only_programs_with_a_colour_in_the_picture_have_a_swatch() -> None:
    x = FakeArgument("x", (40,), (1,))
    access = tile(x, "store", 3, (5, 1, 1), (8,), lambda px, py, pz, i: (16 * px,))  # 3 and 4 are masked all over
    view = Tiling(FakeLaunch((5, 1, 1), (x,), [access]), "x")
    assert [key.text for key in view.heatmap.legend] == ["program 0", "1", "2", "not accessed"]


@pytest.mark.parametrize("grid", [(3, 1, 1), (40, 1, 1)])
def test_elements_of_several_programs_have_their_own_mark_in_the_legend(grid: tuple[int, int, int]) -> None:
    heatmap = Tiling(launch(grid, over=4), "x").heatmap
    key = next(key for key in heatmap.legend if key.text == "several programs")
    looks = heatmap.styles[heatmap.cells]
    striped = looks[looks[:, 3] == style.STRIPES]
    assert key.style[3] == style.STRIPES and list(key.style) in striped.tolist()
    assert (striped[:, 0] != striped[:, 1]).all()
    if prod(grid) > 12:
        assert (striped[:, 0] == style.GROUND).all(), "a number is read on the ground"
        assert (striped[:, 1] == striped[:, 2]).all(), "the next program's colour is too like this one's"


def test_a_legend_says_how_many_programs_were_looked_at() -> None:
    assert program_scale((8, 1, 1), [0, 3], 2).keys[-1].text == "3; 2 of 8 programs shown"
    assert program_scale((1221, 1, 1), [], 105).name == "program number, 105 of 1,221 programs shown"
    assert program_scale((1221, 1, 1), []).name == "program number"


@pytest.mark.parametrize("count", [13, 14, 16, 17, 100, 1000, 10**4, 10**6, 10**9, 2**31])
def test_ticks_go_up_from_the_first_to_the_last_and_do_not_touch(count: int) -> None:
    ticks = program_ticks(count)
    values = [value for value, _ in ticks]
    assert values == sorted(set(values)) and (values[0], values[-1]) == (0, count - 1)
    ends = [
        (
            value / (count - 1) * BAR - len(word) * style.CHARACTER / 2,
            value / (count - 1) * BAR + len(word) * style.CHARACTER / 2,
        )
        for value, word in ticks
    ]
    assert all(end < start for (_, end), (start, _) in pairwise(ends))


def test_the_browser_gives_programs_the_same_colours(tmp_path: Path) -> None:
    script = tmp_path / "colours.mjs"
    script.write_text(
        f'import {{ programColour }} from "{FRONT.as_posix()}/launch/programs.js";\n'
        "console.log(JSON.stringify([1, 2, 8, 12, 13, 64, 65, 100, 997].map((count) =>"
        " Array.from({ length: count }, (_, p) => programColour(p, count)))));",
        encoding="utf-8",
    )
    done = subprocess.run([node(), str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for found in json.loads(done.stdout):
        assert found == style.program_colours(np.arange(len(found)), (len(found), 1, 1)).tolist()
