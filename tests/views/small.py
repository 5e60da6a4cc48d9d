"""Small launches of many kinds, each with all that its kernel does, element by element, in plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch

from tests.views.pictures import recorded
from tests.views.small_kernels import (
    add_in_place_kernel,
    beyond_kernel,
    count_kernel,
    cube_kernel,
    gather_kernel,
    prefix_kernel,
    turn_kernel,
    widen_kernel,
)
from tests.views.told import Told
from triton_lab.launch.launch import Launch
from triton_lab.launch.maps.heat import BY
from triton_lab.views.drawing import style
from triton_lab.views.drawing.cell_frame import frame, ticks
from triton_lab.views.drawing.cell_layout import layout, wrapped_words
from triton_lab.views.launch.accesses.accesses_view import Accesses
from triton_lab.views.launch.card.launch_card import SHOWN, Card
from triton_lab.views.launch.storage.storage_view import storage
from triton_lab.views.launch.tiling.grid_view import LAYERS
from triton_lab.views.launch.tiling.tiling_view import Tiling

WHICH = [3, 3, 9, 0, 7, 1, 3, 8, 2, 2]


@dataclass(frozen=True)
class Touch:
    """What one lane does: ``element`` of ``argument``, counted by rows; outside of it where it is negative or too
    large. ``iteration`` counts how often the program has come to the line before."""

    program: int
    kind: str
    argument: str
    element: int
    active: bool = True
    iteration: int = 0


@dataclass(frozen=True)
class Small:
    """A launch, and what its lanes touch."""

    run: Callable[[], object]
    touches: Callable[[], Iterator[Touch]]

    def launch(self) -> Launch:
        return recorded(self.run)


def _gather() -> Iterator[Touch]:
    for program in range(3):
        for lane in range(4):
            at = 4 * program + lane
            there = at < 10
            yield Touch(program, "load", "index_ptr", at, there)
            yield Touch(program, "load", "x_ptr", WHICH[at] if there else 0, there)
            yield Touch(program, "store", "out_ptr", at, there)


def _turn() -> Iterator[Touch]:
    for program in range(6):
        for i in range(4):
            for j in range(4):
                row, column = 4 * (program // 3) + i, 4 * (program % 3) + j
                there = row < 7 and column < 9
                # Beyond the tensor's own rows or columns a lane points at another's element, or at none.
                if there:
                    yield Touch(program, "load", "x_ptr", row * 9 + column)
                    yield Touch(program, "store", "out_ptr", column * 7 + row)


def _cube() -> Iterator[Touch]:
    for k in range(2):
        for j in range(3):
            for i in range(2):
                program = (k * 3 + j) * 2 + i
                for deep in (2 * k, 2 * k + 1):
                    yield Touch(program, "load", "x_ptr", (i * 3 + j) * 4 + deep)
                    yield Touch(program, "store", "out_ptr", (i * 3 + j) * 4 + deep)


def _count() -> Iterator[Touch]:
    for program in range(2):
        for turn in range(3):
            for lane in range(2):
                at = (3 * program + turn) * 2 + lane
                there = at < 10
                yield Touch(program, "load", "x_ptr", at, there, turn)
                yield Touch(program, "atomic", "bins_ptr", WHICH[at] if there else 0, there, turn)


def _prefix() -> Iterator[Touch]:
    for program in range(3):
        for turn in range(2 * program + 1):
            for lane in range(2):
                yield Touch(program, "load", "x_ptr", 2 * turn + lane, True, turn)
        for lane in range(2):
            yield Touch(program, "store", "out_ptr", 2 * program + lane)


def _in_place() -> Iterator[Touch]:
    for program in range(4):
        yield Touch(program, "load", "scale_ptr", 0)
        for lane in range(4):
            at = 3 * program + lane
            yield Touch(program, "load", "x_ptr", at, at < 11)
            yield Touch(program, "store", "x_ptr", at, at < 11)


def _widen() -> Iterator[Touch]:
    for program in range(2):
        for lane in range(4):
            for name, kind in (("a_ptr", "load"), ("b_ptr", "load"), ("c_ptr", "load"), ("out_ptr", "store")):
                yield Touch(program, kind, name, 4 * program + lane)


def _turned(x: torch.Tensor) -> object:
    return turn_kernel[(3, 2)](x, torch.zeros(9, 7), 7, 9, x.stride(1), x.stride(0), B=4)


def _cubed() -> object:
    x = torch.arange(48.0).reshape(4, 3, 4)[::2].permute(2, 1, 0).contiguous().permute(2, 1, 0)
    return cube_kernel[(2, 3, 2)](x, torch.zeros(2, 3, 4), *x.stride(), DEEP=2)


def _beyond() -> object:
    """Of 3 rows of 10; in the third turn six lanes reach into the next row, and at last past the end."""
    x = torch.arange(36.0).reshape(3, 12)[:, :10]
    return beyond_kernel[(3,)](x, torch.zeros(3, 10), 10, x.stride(0), BLOCK=4)


def _widened() -> object:
    a = torch.tensor([True, False] * 4)
    b = torch.linspace(-3, 4, 8, dtype=torch.float16)
    c = torch.tensor([1, 2, 0, 4, 5, 0, 7, 8], dtype=torch.int8)
    return widen_kernel[(2,)](a, b, c, torch.zeros(8, dtype=torch.float64), BLOCK=4)


_NUMBERS = torch.arange(10, dtype=torch.int16)
SMALL: dict[str, Small] = {
    "gather": Small(
        lambda: gather_kernel[(3,)](_NUMBERS * 5, torch.tensor(WHICH), torch.zeros(10).short(), 10, BLOCK=4), _gather
    ),
    "turned": Small(lambda: _turned(torch.arange(63.0).reshape(9, 7).t()), _turn),
    "part": Small(lambda: _turned(torch.arange(240.0).reshape(12, 20)[2:9, 1:19:2]), _turn),
    "cube": Small(_cubed, _cube),
    "count": Small(
        lambda: count_kernel[(2,)](torch.tensor(WHICH), torch.zeros(10, dtype=torch.int32), 10, 3, BLOCK=2), _count
    ),
    "prefix": Small(lambda: prefix_kernel[(3,)](torch.arange(10.0), torch.zeros(6), B=2), _prefix),
    "in place": Small(
        lambda: add_in_place_kernel[(4,)](torch.arange(11.0), torch.tensor(2, dtype=torch.bfloat16), 11, 3, BLOCK=4),
        _in_place,
    ),
    "widen": Small(_widened, _widen),
}
# More programs than colours.
MANY: dict[str, Callable[[], object]] = {
    "many": lambda: gather_kernel[(40,)](
        torch.arange(40).short(), torch.arange(40) * 7 % 40, torch.zeros(40).short(), 40, BLOCK=1
    ),
    "many blocks": lambda: turn_kernel[(6, 5)](torch.zeros(18, 23), torch.zeros(23, 18), 18, 23, 1, 23, B=4),
}
# What they touch depends on where they were stopped, or there is nothing.
STOPPED: dict[str, Callable[[], object]] = {
    "beyond": _beyond,
    "nothing": lambda: gather_kernel[(2,)](_NUMBERS, torch.tensor(WHICH), torch.zeros(0).short(), 0, BLOCK=4),
    "no programs": lambda: prefix_kernel[(0,)](torch.arange(4.0), torch.zeros(4), B=2),
}


def _coloured(make: Callable[[], object]) -> list[str]:
    """What has a colour by program, of a launch with many."""
    launch = recorded(make)
    told = Told()
    for name in [one.name for one in launch.arguments if one.kind == "tensor"]:
        told.view(f"tiling of {name}", Tiling(launch, name, program=20), figure=True)
    name = launch.done[-1].argument or ""
    for by in BY:
        told.view(f"{by} of {name}", Accesses(launch, name, by=by), scene=by == "program", figure=True)
    for by in LAYERS:
        told.view(f"grid by {by}", launch.plot.grid(by, sms=7, program=11), scene=by == "order", figure=True)
    return told.lines


def _lines(make: Callable[[], Launch]) -> list[str]:
    """All that is shown of a launch."""
    launch = make()
    told = Told()
    tensors = [one.name for one in launch.arguments if one.kind == "tensor"]
    for name in tensors:
        told.view(f"tiling of {name}", Tiling(launch, name, program=1 if launch.programs > 1 else None), figure=True)
        told.view(f"accesses of {name}", Accesses(launch, name, by="order"))
        told.view(f"storage of {name}", Accesses(launch, name, over="storage"), figure=name == tensors[0])
        told.view(f"timeline of {name}", launch.plot.timeline(name), figure=name == tensors[0])
        small = Tiling(launch, name, room=(40.0, 24.0))
        told.view(f"small tiling of {name}", small, figure=small.has_parts)
        if small.has_parts:
            told.scene("window", small.part(f"tiling/{name}/window/0.0.0.3.3"))
            bins = Accesses(launch, name, by="iteration", room=(40.0, 24.0))
            told.view(f"small accesses of {name}", bins)
            told.scene("window", bins.part(f"accesses/{name}/window/0.1.0.2.3"))
    for by in LAYERS:
        if launch.programs:
            picked = launch.programs - 1 if by == "shared" else None
            grid = launch.plot.grid(by, sms=2, program=picked)
            told.view(f"grid by {by}", grid, scene=by in ("order", "shared"), figure=by != "order")
    told.view("storage", launch.plot.storage(), figure=True)
    if launch.programs:
        told.view("held", launch.plot.values(program=launch.programs - 1))
        told.view("steps", launch.plot.steps(program=launch.programs - 1), figure=True)
        told.view("steps, the third", launch.plot.steps(program=0, step=2), scene=False)
        for variable in launch.variables:
            pictured = launch.plot.values(variable.name, variable.line, program=0)
            told.view(f"{variable.name} in line {variable.line}", pictured, scene=False, figure=True)
        stores = [one for one in launch.done if one.kind == "store" and one.argument in tensors]
        if stores and launch.error is None and launch.argument(stores[-1].argument).shape != (0,):
            origins = launch.plot.origins(program=0)
            told.view("origins", origins, figure=True)
            told.scene("origins of another", origins.part(f"{origins.name}/{int(origins.cells.askable()[-1])}"))
    for access in launch.done:
        if access.argument:
            told.view(f"values of {access.kind} in line {access.line}", launch.plot.accesses(access, "values"))
    kept = Card(launch, SHOWN).standalone()["parts"]
    told.lines += ["", "## kept in a page", *(f"  {name}" for name in kept)]
    for name, part in kept.items():
        if name.startswith("value/"):
            told.lines.append(name)
            told.scene(name, part)
    return told.lines


TOLD: dict[str, Callable[[], list[str]]] = {
    **{name: partial(_lines, one.launch) for name, one in SMALL.items()},
    **{name: partial(_lines, partial(recorded, run)) for name, run in STOPPED.items()},
    **{name: partial(_coloured, run) for name, run in MANY.items()},
}


SHAPES: tuple[tuple[int, ...], ...] = (
    (), (0,), (1,), (5,), (32,), (33,), (64,), (100,), (128,), (129,), (600,), (5000,), (300_000,), (7_000_000,),
    (0, 3), (1, 1), (3, 0), (3, 5), (5, 3), (40, 30), (1, 700), (700, 1), (2, 5000), (5000, 2), (900, 900), (3000, 200),
    (1, 3, 5), (2, 3, 4), (6, 3, 2), (12, 9, 9), (3, 0, 4), (2, 2, 2, 3), (200, 4, 4), (20, 300, 300), (4, 4, 1000, 30),
)  # fmt: skip
ROOMS = (style.ROOM, (90.0, 60.0), (290.0, 240.0))


def _layouts() -> list[str]:
    """Of shapes and rooms: panels, cells and bins, how large they are drawn, and the numbers beside them."""
    lines = []
    for shape, room in itertools.product(SHAPES, ROOMS):
        shifted = tuple(min(1, size // 2) + k for k, size in enumerate(shape))
        for origin in dict.fromkeys(((0,) * len(shape), shifted)):
            shown = layout(shape, origin, room=room)
            seen = frame(shown, room)
            bins = f" of {shown.down} x {shown.right}" if shown.binned else ""
            panels = f"{shown.panels} panels, {shown.across} across: " if shown.panels != 1 else ""
            lines += [
                f"{shape} from {origin} in {room[0]:g} x {room[1]:g}: {panels}{shown.rows} x {shown.columns}{bins}",
                f"  {shown.there} there; {seen.cell_width:g} x {seen.cell_height:g} pixels, "
                f"{seen.width:g} x {seen.height:g} in all, the last at {seen.corner(max(0, shown.panels - 1))}",
            ]
            if shape:
                beside = [shown.row_number(row) for row in [*ticks(shown.rows, seen.cell_height, 22)][:4]]
                above = [shown.column_number(column) for column in [*ticks(shown.columns, seen.cell_width, 44)][:4]]
                lines.append(f"  beside {' '.join(beside)}  above {' '.join(above)}  {wrapped_words(shown)}".rstrip())
    return lines


def _storages() -> list[str]:
    """Tensors that share memory, repeat themselves, leave gaps, or are empty."""
    told = Told()
    line, square = torch.arange(40.0), torch.arange(48, dtype=torch.int16).reshape(6, 8)
    wide = torch.zeros(3, 70)
    for name, tensors in {
        "rows and columns": (square, square.t()),
        "halves and all": (square[:, :3], square[:, 3:], square),
        "every other": (line[1::2], line[::3]),
        "repeated": (line[:4].expand(3, 4), line[2:3].expand(5)),
        "windows that overlap": (line.as_strided((4, 6), (3, 1), 5), line[20:24]),
        "two types": (square, square.view(torch.int32), square.view(torch.uint8)[:, ::4]),
        "nothing and one": (line[:0], torch.tensor(2.5), line[7]),
        "longer rows": (wide, wide[:, 5:60]),
        "cubes": (torch.zeros(2, 3, 4), torch.zeros(4, 3, 2).permute(2, 1, 0)),
    }.items():
        told.view(name, storage(*tensors, names=[f"t{k}" for k in range(len(tensors))]))
    large = storage(torch.zeros(900, 700)[::2, 1:], torch.zeros(10), names=["large", "small"])
    told.view("large", large, figure=True)
    for part in ("grid/0/window/0.3.5.2.4", "grid/0/window/0.449.690.1.9", "strip/0/window/0.0.8.1.12"):
        told.scene(part, large.part(f"storage/{part}"))
    return told.lines


TOLD |= {"layouts": _layouts, "storages": _storages}
