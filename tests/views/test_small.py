"""Small launches: pictures have the numbers that plain Python finds."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import numpy as np
import pytest

from tests.views.small import SMALL, Touch
from triton_lab.launch.launch import Launch
from triton_lab.views.drawing.raster import CHOSEN, DIMMED, NORMAL
from triton_lab.views.launch.accesses.accesses_view import Accesses
from triton_lab.views.launch.tiling.tiling_view import Tiling

ARGUMENTS = {name: sorted({touch.argument for touch in one.touches()}) for name, one in SMALL.items()}
EVERY = [(name, argument) for name, arguments in ARGUMENTS.items() for argument in arguments]
KINDS = {"loads": {"load"}, "stores": {"store", "atomic"}, "both": {"load", "store", "atomic"}}


def layers() -> list[tuple[str, str, str]]:
    """Of each argument those that its picture has."""
    found = []
    for name, argument in EVERY:
        kinds = {touch.kind for touch in SMALL[name].touches() if touch.argument == argument}
        single = [layer for layer in ("loads", "stores") if KINDS[layer] & kinds]
        found += [(name, argument, layer) for layer in [*single, *["both"] * (len(single) - 1)]]
    return found


@cache
def launched(name: str) -> Launch:
    return SMALL[name].launch()


def touches(name: str, argument: str) -> dict[int, list[Touch]]:
    """By element of the argument, those within it, in order."""
    size = int(np.prod(launched(name).argument(argument).shape))
    found: dict[int, list[Touch]] = defaultdict(list)
    for touch in SMALL[name].touches():
        if touch.argument == argument and 0 <= touch.element < size:
            found[touch.element].append(touch)
    return found


def cells_of_elements(view: Tiling | Accesses) -> list[int]:
    """The cell of each element, row by row, of a picture in which each has one."""
    drawn, origin = (view.touches.drawn, view.touches.origin) if isinstance(view, Tiling) else (view.heat.drawn, None)
    origin = view.heat.origin if origin is None else origin  # type: ignore[union-attr]
    every = view.cells.layout if isinstance(view, Tiling) else view.layout
    assert not every.binned
    shape = view.argument.shape
    inside = tuple(slice(first, first + size) for first, size in zip(origin, shape, strict=True))
    return list(every.cell_of_position().reshape(drawn)[inside].reshape(-1).tolist())


@pytest.mark.parametrize(("name", "argument", "layer"), layers())
def test_a_tiling_has_the_programs_of_each_element(name: str, argument: str, layer: str) -> None:
    launch, found = launched(name), touches(name, argument)
    view = Tiling(launch, argument, layer=layer)
    assert view.layer == layer
    cells = cells_of_elements(view)
    for program in range(launch.programs):
        levels = view.emphasis(program)[view.heatmap.cells]
        for element, cell in enumerate(cells):
            own = [t.active for t in found[element] if t.program == program and t.kind in KINDS[layer]]
            expected = CHOSEN if any(own) else NORMAL if own else DIMMED
            assert levels[cell] == expected, (element, program)


@pytest.mark.parametrize(("name", "argument"), EVERY)
def test_a_heatmap_has_the_numbers_of_each_element(name: str, argument: str) -> None:
    found = touches(name, argument)
    view = Accesses(launched(name), argument)
    classes = [int(view.numbers[cell]) for cell in cells_of_elements(view)]
    for element, number in enumerate(classes):
        active = [touch for touch in found[element] if touch.active]
        expected = {
            "count": len(active) or -1,
            "reuse": len({touch.program for touch in active}) or -1,
            "program": min((touch.program for touch in active), default=-1),
            "iteration": min((touch.iteration for touch in active), default=-1),
        }
        got = {by: int(view.cells.by[by][number]) for by in expected}
        assert got == expected or (not active and max(got.values()) <= 0), element


@pytest.mark.parametrize("name", SMALL)
def test_a_grid_has_the_work_of_each_program(name: str) -> None:
    launch = launched(name)
    grid = launch.plot.grid()
    sizes = {argument: launch.argument(argument).itemsize for argument in ARGUMENTS[name]}
    every = list(SMALL[name].touches())
    for program in range(launch.programs):
        own = [touch for touch in every if touch.program == program and touch.active]
        loaded = sum(sizes[touch.argument] for touch in own if touch.kind in ("load", "atomic"))
        stored = sum(sizes[touch.argument] for touch in own if touch.kind in ("store", "atomic"))
        assert (grid.work.loaded[program], grid.work.stored[program]) == (loaded, stored)
        assert grid.numbers("lanes")[program] == len(own)
        assert grid.numbers("bytes")[program] == loaded + stored
        turns = 1 + max(touch.iteration for touch in every if touch.program == program)
        assert grid.numbers("iterations")[program] == turns


@pytest.mark.parametrize("name", SMALL)
def test_storage_has_every_element_at_its_place(name: str) -> None:
    launch = launched(name)
    view = launch.plot.storage(*ARGUMENTS[name])
    for number, argument in enumerate(ARGUMENTS[name]):
        tensor = launch.argument(argument)
        for index in np.ndindex(tensor.shape):
            distance = sum(i * stride for i, stride in zip(index, tensor.strides, strict=True))
            which = view.places.which(number)
            cover = view.places.covers[which]
            byte = (tensor.address - view.places.memories[which].address) + distance * tensor.itemsize
            at = int(view.places.unit_at(number, np.array([distance]))[0])
            assert (at + cover.first) * cover.unit == byte
