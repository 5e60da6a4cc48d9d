"""What a product of two matrices moves if each program computes one tile of the result: a formula, without a launch.

`examples.matmul` and the kernels of the course load exactly that. What they load does not depend on their steps along
the inner axis, nor on the order of their programs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from triton_lab.compiled.cost.gpu_limits import Gpu
from triton_lab.localization import _

MOST = 1 << 16  # elements along an axis of a matrix: bytes then are whole numbers in a browser, too
LARGEST_TILE = 512  # elements along a side of a tile


@dataclass(frozen=True)
class ProductBytes:
    """Bytes of global memory: loaded of A and of B, and stored to C."""

    a: int
    b: int
    c: int

    @property
    def total(self) -> int:
        """All bytes, loaded and stored."""
        return self.a + self.b + self.c


@dataclass(frozen=True)
class TiledProduct:
    """C = A @ B, where A is (``m``, ``k``), B is (``k``, ``n``), and a program computes ``tile`` (rows, columns) of C.

    ``itemsize`` is in bytes, the same for all three; ``kind`` is the type's name among the rates of a `Gpu`. A tile
    over the edge of C loads only what lies inside A and B. Raises ValueError for sizes below 1 or above `MOST`, and for
    a side of a tile that is no power of two from 1 to `LARGEST_TILE`.
    """

    m: int
    n: int
    k: int
    itemsize: int
    kind: str
    tile: tuple[int, int]

    def __post_init__(self) -> None:
        if not all(1 <= size <= MOST for size in (self.m, self.n, self.k)):
            raise ValueError(
                _("the product of ({m}, {k}) and ({k}, {n}) elements: every size is from 1 to {most}").format(
                    m=self.m, n=self.n, k=self.k, most=f"{MOST:,}"
                )
            )
        for side in self.tile:
            if not 1 <= side <= LARGEST_TILE or side & (side - 1):
                raise ValueError(
                    _("tile={tile}: a side of a tile is a power of two from 1 to {most}").format(
                        tile=self.tile, most=LARGEST_TILE
                    )
                )

    @property
    def tiles(self) -> tuple[int, int]:
        """The rows and the columns of tiles: the programs."""
        return -(-self.m // self.tile[0]), -(-self.n // self.tile[1])

    @property
    def operations(self) -> int:
        """Multiplications and additions for the elements of C, without those that a tile adds past an edge."""
        return 2 * self.m * self.n * self.k

    @property
    def moved(self) -> ProductBytes:
        """The bytes if every program loads its own strips from memory: A for each column of tiles, B for each row."""
        down, across = self.tiles
        once = self.once
        return ProductBytes(across * once.a, down * once.b, once.c)

    @property
    def once(self) -> ProductBytes:
        """The bytes if each moves only once, whatever the tiles: a cache would keep all that programs share."""
        return ProductBytes(
            self.m * self.k * self.itemsize, self.k * self.n * self.itemsize, self.m * self.n * self.itemsize
        )

    def with_tile(self, rows: int, columns: int) -> TiledProduct:
        """The same product in other tiles."""
        return replace(self, tile=(rows, columns))

    def inside(self, row: int, column: int) -> tuple[range, range]:
        """The rows and the columns of C that the tile at (row, column) of the tiles has: those of A and B it loads.

        Raises ValueError for a tile that is not there.
        """
        down, across = self.tiles
        if not (0 <= row < down and 0 <= column < across):
            raise ValueError(
                _("there are {down} by {across} tiles, and no tile {tile}").format(
                    down=down, across=across, tile=(row, column)
                )
            )
        rows, columns = self.tile
        return (
            range(row * rows, min((row + 1) * rows, self.m)),
            range(column * columns, min((column + 1) * columns, self.n)),
        )

    @property
    def accumulator(self) -> int:
        """Bytes of the tile of sums that a program holds, 4 or more for each element."""
        return self.tile[0] * self.tile[1] * max(4, self.itemsize)

    def intensity(self, moved: ProductBytes) -> float:
        """Operations per byte (flop/byte) if this is what moves."""
        return self.operations / moved.total

    def rate(self, moved: ProductBytes, gpu: Gpu) -> float:
        """The most operations a second that a GPU's memory and arithmetic allow, if this is what moves."""
        return min(gpu.rate(self.kind), self.intensity(moved) * gpu.bytes)


def sides(size: int) -> list[int]:
    """The sides that a tile may have along an axis of so many elements: powers of two, the last of which covers it."""
    found = [1]
    while found[-1] < min(size, LARGEST_TILE):
        found.append(2 * found[-1])
    return found
