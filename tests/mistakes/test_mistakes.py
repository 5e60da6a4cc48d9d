"""Every mistake is in the picture: where the card opens, in its scene and in the pixels of its PNG; else in words."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from triton.compiler.errors import CompilationError

import triton_lab as lab
from tests.mistakes import MISTAKES, values
from tests.mistakes.mistake import Mistake, Place
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.checks.rule import rules
from triton_lab.launch.launch import Launch
from triton_lab.notebook.cell.error_display import rendering
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import MARGIN
from triton_lab.views.drawing.heatmap import Mark
from triton_lab.views.drawing.heatmap_drawing import LEFT, TOP
from triton_lab.views.drawing.png import SCALE, png
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.tiling.tiled_cells import ERROR_STATE, STOPPED_STATE
from triton_lab.views.launch.tiling.tiling_view import Tiling

ANSI = re.compile(r"\x1b\[[0-9;]*m")
Pixels = NDArray[np.uint8]


def named(mistake: Mistake) -> str:
    return mistake.name


def launched(mistake: Mistake) -> Launch:
    with lab.record() as launches, contextlib.suppress(KernelError):
        mistake.run()
    return launches[-1]


def placed(tiling: Tiling, places: Iterable[Place]) -> set[int]:
    """The cells of elements, in a picture that has one for each."""
    found, layout = tiling.cells.touches, tiling.heatmap.layout
    assert not layout.binned
    index = np.array(sorted(places), np.int64).reshape(-1, len(found.drawn)) + np.array(found.origin)
    return set(layout.cells_at(np.ravel_multi_index(tuple(index.T), tuple(found.drawn))).tolist())


def struck(tiling: Tiling) -> set[int]:
    """The cells at which the launch was stopped."""
    return set(np.flatnonzero(np.isin(tiling.cells.state[tiling.cells.numbers], (ERROR_STATE, STOPPED_STATE))).tolist())


def within(marks: Iterable[Mark], tiling: Tiling) -> set[int]:
    """The cells within outlines."""
    layout = tiling.heatmap.layout
    return {
        (panel * layout.rows + row + down) * layout.columns + column + right
        for mark in marks
        for panel, row, column, rows, columns in mark.runs
        for down in range(rows)
        for right in range(columns)
    }


def corners(tiling: Tiling, panel: int, row: int, column: int, rows: int = 1, columns: int = 1) -> tuple[int, ...]:
    """Left, top, right and bottom of some cells in the tiling's PNG, in its pixels."""
    seen = tiling.heatmap.frame
    right, down = seen.corner(panel)
    words = sum(piece.height for piece in tiling.pieces()[:-1])
    above = words + (18 if any(tiling.heatmap.panel_names) else 0) + TOP
    left, top = MARGIN + LEFT + right + column * seen.cell_width, MARGIN + above + down + row * seen.cell_height
    sides = (left, top, left + columns * seen.cell_width, top + rows * seen.cell_height)
    return tuple(SCALE * round(side) for side in sides)


def share(pixels: Pixels, colour: str) -> float:
    """How much of an area is of a colour, 0 to 1."""
    return float((pixels == style.rgb(colour)).all(axis=-1).mean())


def is_red(picture: Pixels, tiling: Tiling, cell: int) -> bool:
    """Whether a cell is crossed out in the colour of errors."""
    layout = tiling.heatmap.layout
    rows, column = divmod(cell, layout.columns)
    left, top, right, bottom = corners(tiling, *divmod(rows, layout.rows), column)
    return share(picture[top:bottom, left:right], style.LIGHT.error) > 0.4


def is_outlined(picture: Pixels, tiling: Tiling, run: tuple[int, ...]) -> bool:
    """Whether a dark line leads round the cells of a run: on each side, but where another crosses it."""
    left, top, right, bottom = corners(tiling, *run)
    thick = SCALE
    sides = (
        picture[top:bottom, left - 2 * thick : left],
        picture[top:bottom, right : right + 2 * thick],
        picture[top - 2 * thick : top, left:right],
        picture[bottom : bottom + 2 * thick, left:right],
    )
    return all(share(side, style.LIGHT.ink) > 0.4 for side in sides)


def check_the_gravest(card: Card, mistake: Mistake) -> None:
    """What the card tells first."""
    worst = card.gravest[0]
    assert (worst.kind, worst.argument) == (mistake.kind, mistake.argument)
    assert card.scene()["findings"][0]["line"] in mistake.lines
    assert mistake.programs is None or set(worst.programs.tolist()) == mistake.programs
    assert mistake.says in card.text()


@pytest.mark.parametrize("mistake", [each for each in MISTAKES if each.drawn], ids=named)
def test_the_card_opens_on_the_fault_and_its_picture_shows_it(mistake: Mistake) -> None:
    launch = launched(mistake)
    card = Card(launch)
    scene = card.scene()
    check_the_gravest(card, mistake)
    assert scene["opened"] == "tiling"
    parts = scene["parts"]
    assert list(parts) == ["tiling", f"tiling/{mistake.drawn}"]  # the choice, and what is chosen in it

    tiling = card.tilings[0]
    assert isinstance(tiling, Tiling)
    stopped = mistake.kind == "out-of-bounds"
    marks = (
        [] if stopped else [mark for mark in tiling.heatmap.marks if mark.text.startswith(rules()[mistake.kind].mark)]
    )
    assert (struck(tiling) if stopped else within(marks, tiling)) == placed(tiling, mistake.places)
    picture = np.asarray(Image.open(io.BytesIO(png(tiling.figure()))).convert("RGB"))
    if stopped:
        assert [cell for cell in struck(tiling) if not is_red(picture, tiling, cell)] == []
    assert [run for mark in marks for run in mark.runs if not is_outlined(picture, tiling, run)] == []
    assert card._repr_mimebundle_()[0]["image/png"]


def test_what_masked_lanes_bring_is_mended_by_an_edit_to_copy() -> None:
    (found,) = launched(values.missing_other).findings
    assert found.fix is not None and "masks" not in found.hint and "masked-off lanes" in found.hint
    (edit,) = found.fix.edits
    assert edit.after == edit.before.replace("column < n)", 'column < n, other=float("inf"))') != edit.before
    # Lanes that no mask turns off are no matter of `other=`.
    assert [one.fix for one in launched(values.zero_by_zero).findings] == [None]


@pytest.mark.parametrize("mistake", [each for each in MISTAKES if each.kind == "refused"], ids=named)
def test_what_triton_refuses_is_told_with_its_line(mistake: Mistake) -> None:
    with pytest.raises((CompilationError, TypeError, RuntimeError)) as caught:
        mistake.run()
    file = inspect.getfile(mistake.kernel.fn)
    text = ANSI.sub("", "\n".join(rendering(caught.value, file)))
    assert mistake.says in text
    (line,) = mistake.lines
    assert re.search(rf"\bline {line}(\n|, in {mistake.name}\b)", text)


def test_there_are_thirty_and_each_is_a_cell_of_its_own() -> None:
    assert len(MISTAKES) >= 30
    assert len({each.name for each in MISTAKES}) == len(MISTAKES)
    assert all(each.drawn for each in MISTAKES if each.kind != "refused")
    for each in MISTAKES:
        assert each.lines and "BUG" not in each.cell and each.why
        compile(each.cell.split("\n", 1)[1], each.name, "exec")
