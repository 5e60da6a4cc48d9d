"""Who touches the cells of tensors and of the storage that they share, against brute force lane by lane."""

from __future__ import annotations

import numpy as np
import pytest

from tests.launch.fakes import FakeAccess, FakeArgument, tile
from triton_lab.launch.maps.storage_touches import CellTouches, StorageTouches
from triton_lab.launch.places import offsets

PROGRAMS = 6
X = FakeArgument("x", (5, 4), (1, 8), offset=3)  # transposed, with gaps
Y = FakeArgument("y", (7,), (2,), offset=1)  # every other element of the same storage
ACCESSES = [
    tile(X, "load", 3, (3, 2, 1), (2, 3), lambda x, y, z, i: (2 * x, 2 * y + i), iterations=2),
    tile(Y, "store", 4, (3, 2, 1), (4,), lambda x, y, z, i: (2 * x + y,)),
]


def lanes(access: FakeAccess) -> list[tuple[int, int, int, bool]]:
    """(program, iteration, address, active) of every lane."""
    return [
        (program, turn, int(address), bool(active))
        for turn in range(access.iterations)
        for program in range(PROGRAMS)
        for address, active in zip(
            access.address(turn)[program].reshape(-1), access.mask(turn)[program].reshape(-1), strict=True
        )
    ]


def active_at(touched: CellTouches, cell: int) -> set[tuple[int, int, int | None]]:
    """(program, iteration, line) of the active lanes at a cell."""
    count = len(touched.moments)
    members = touched.table.members(int(touched.classes[cell]))
    told = [(int(m) // count, touched.moments[int(m) % count]) for m in members if m < PROGRAMS * count]
    return {(program, moment.iteration, moment.line) for program, moment in told}


def expected(addresses: list[int], accesses: list[FakeAccess]) -> set[tuple[int, int, int | None]]:
    return {
        (program, turn, access.line)
        for access in accesses
        for program, turn, address, active in lanes(access)
        if active and address in addresses
    }


@pytest.mark.parametrize(("number", "tensor"), [(0, X), (1, Y)])
@pytest.mark.parametrize("right", [1, 3])
def test_cells_of_a_tensor_know_the_lanes_of_all_their_elements(number: int, tensor: FakeArgument, right: int) -> None:
    places = tensor.address + 4 * offsets(tensor.shape, tensor.strides)
    cells = -(-len(places) // right)
    found = StorageTouches([X, Y], ACCESSES, PROGRAMS).of_elements(number, np.arange(len(places)) // right, cells)
    own = [access for access in ACCESSES if access.argument == tensor.name]
    for cell in range(cells):
        assert active_at(found, cell) == expected(places[cell * right : (cell + 1) * right].tolist(), own)


def test_cells_of_a_storage_know_the_lanes_of_all_tensors_that_lie_there() -> None:
    units = 40
    cell_of = [(tensor.offset + offsets(tensor.shape, tensor.strides))[:, None] for tensor in (X, Y)]
    found = StorageTouches([X, Y], ACCESSES, PROGRAMS).of_storage([(0, cell_of[0]), (1, cell_of[1])], units)
    for unit in range(units):
        assert active_at(found, unit) == expected([X.storage_address + 4 * unit], ACCESSES)
    shared = [unit for unit in range(units) if {line for _, _, line in active_at(found, unit)} == {3, 4}]
    assert shared, "the example has places that both tensors touch"
