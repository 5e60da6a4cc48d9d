"""The register layouts of AMD's matrix instructions, with operands: MFMA (CDNA, 64 lanes) and WMMA (RDNA, 32 lanes).

AMD's matrix instruction calculator prints the same maps (github.com/ROCm/amd_matrix_instruction_calculator).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.compiled.layouts import attribute_rules
from triton_lab.compiled.layouts.attribute_rules import CGA
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import Distributed
from triton_lab.compiled.layouts.layout_tile import Tile
from triton_lab.compiled.layouts.linear_layout import Linear
from triton_lab.compiled.layouts.nvidia_matrix import matrix_order, without
from triton_lab.compiled.layouts.register_layouts import BEFORE_3_7
from triton_lab.localization import _
from triton_lab.messages import count


@dataclass(frozen=True)
class AmdMfma(Distributed):
    """``#ttg.amd_mfma``: the accumulator of a matrix product on CDNA (versions 1 to 4: gfx908, 90a, 942, 950)."""

    mnemonic = "ttg.amd_mfma"
    name = "MFMA"

    version: int
    warps_per_cta: tuple[int, ...]
    instr_shape: tuple[int, ...]
    is_transposed: bool
    cga_layout: CGA = ()
    tiles_per_warp: tuple[int, ...] = ()
    element_bit_width: int = 32

    def __post_init__(self) -> None:
        attribute_rules.one_of("version", self.version, (1, 2, 3, 4))
        if self.rank not in (2, 3):
            raise LayoutError(
                _("an MFMA layout has 2 dimensions, or 3 with batches; warpsPerCTA has {rank}").format(rank=self.rank)
            )
        attribute_rules.powers("warpsPerCTA", self.warps_per_cta, self.rank)
        attribute_rules.powers("tilesPerWarp", self.tiles, self.rank)
        attribute_rules.cluster(self.cga_layout, self.rank)
        if len(self.instr_shape) not in (2, 3) or tuple(self.instr_shape[:2]) not in _MFMA:
            raise LayoutError(
                _("instrShape = {instr_shape} must be M, N and K, with M x N one of ").format(
                    instr_shape=list(self.instr_shape)
                )
                + ", ".join(f"{m} x {n}" for m, n in _MFMA)
            )
        attribute_rules.one_of("elementBitWidth", self.element_bit_width, (32, 64))
        if tuple(self.instr_shape[:2]) == (64, 4) and not self.is_transposed:
            raise LayoutError(_("the 64 x 4 instruction's result is always transposed: isTransposed must be true"))

    @property
    def rank(self) -> int:
        return len(self.warps_per_cta)

    @property
    def tiles(self) -> tuple[int, ...]:
        return self.tiles_per_warp or (1,) * self.rank

    def linear(self, shape: Sequence[int]) -> Linear:
        self.check(shape)
        m, n = self.rank - 2, self.rank - 1
        rows, columns = self.instr_shape[:2]
        across, down, count = (m, n, rows) if self.is_transposed else (n, m, columns)
        run = 4 if self.element_bit_width == 32 else 1  # numbers side by side in one lane
        tile = Tile(self.rank).grow("register", down, run)
        tile.grow("lane", across, count).grow("lane", down, 64 // count)
        tile.grow("register", down, max(1, rows * columns // (64 * run)))
        _rows_of_tiles(tile, shape, columns, self.tiles, self.warps_per_cta)
        return tile.fit(shape, matrix_order(self.rank), self.cga_layout)

    def operand(self, which: int, k_width: int, shape: Sequence[int]) -> Linear:
        """The layout of an operand (0: left, 1: right) of such a product."""
        if k_width < 1 or not attribute_rules.is_power(k_width):
            raise LayoutError(
                _(
                    "kWidth is {k_width}, but must be a power of two: the number of consecutive elements of a thread"
                ).format(k_width=k_width)
            )
        order = matrix_order(self.rank, rows=which == 0)  # along k first
        k, other = order[0], order[1]
        wide = self.instr_shape[which]
        tile = Tile(self.rank).grow("register", k, k_width)
        tile.grow("lane", other, wide).grow("lane", k, 64 // wide)
        if tuple(self.instr_shape[:2]) == ((64, 4), (4, 64))[which]:
            tile.grow("register", k, 16)
        tile.grow("register", k, max(1, shape[k] // tile.shape[k])).grow("register", other, self.tiles[other])
        tile.spread("warp", self.warps_per_cta, matrix_order(self.rank))
        return tile.fit(shape, order, self.cga_layout)


def _rows_of_tiles(tile: Tile, shape: Sequence[int], columns: int, tiles: Sequence[int], warps: Sequence[int]) -> None:
    """Assign copies of an instruction's tile to registers and warps, over the whole tensor.

    All tiles along N come before the first step along M.
    """
    m, n = tile.rank - 2, tile.rank - 1
    tile.grow("register", n, tiles[n]).grow("warp", n, warps[n])
    tile.grow("register", n, max(1, shape[n] // (columns * warps[n] * tiles[n])))
    tile.grow("register", m, tiles[m]).grow("warp", m, warps[m])
    if tile.rank == 3:
        tile.grow("warp", 0, warps[0])


_MFMA = ((32, 32), (16, 16), (64, 4), (4, 64))


# M, N and K of each version's instructions, and how many adjacent numbers an operand's lane may hold (empty: any
# power of two).
_WMMA = {
    1: ((16, 16, 16),),
    2: ((16, 16, 16), (16, 16, 32)),
    3: ((16, 16, 4), (16, 16, 32), (16, 16, 64), (16, 16, 128)),
}
_WMMA_WIDTHS = {1: (8, 16), 2: (4, 8, 16), 3: (2, 8, 16) if BEFORE_3_7 else ()}


@dataclass(frozen=True)
class AmdWmma(Distributed):
    """``#ttg.amd_wmma``: the accumulator of a matrix product on RDNA and gfx1250 (versions 1 to 3).

    Tiles are assigned to registers and warps by ``cta_layout`` (Triton 3.7 and later), or by ``warps_per_cta`` and
    ``tiles_per_warp`` (before).
    """

    mnemonic = "ttg.amd_wmma"
    name = "WMMA"

    version: int
    is_transpose: bool
    warps_per_cta: tuple[int, ...] = ()
    cta_layout: tuple[tuple[str, CGA], ...] = ()
    cga_layout: CGA = ()
    tiles_per_warp: tuple[int, ...] = ()
    instr_shape: tuple[int, ...] = (16, 16, 16)

    def __post_init__(self) -> None:
        attribute_rules.one_of("version", self.version, (1, 2, 3))
        if self.rank not in (2, 3):
            raise LayoutError(_("a WMMA layout has 2 dimensions, or 3 with batches, not {rank}").format(rank=self.rank))
        for name, _bases in self.cta_layout:
            attribute_rules.one_of("ctaLayout", name, ("register", "warp"))
        if self.warps_per_cta:
            attribute_rules.powers("warpsPerCTA", self.warps_per_cta, self.rank)
            attribute_rules.powers("tilesPerWarp", self.tiles_per_warp or (1,) * self.rank, self.rank)
        attribute_rules.cluster(self.cga_layout, self.rank)
        attribute_rules.cluster(
            tuple(basis for _unused, each in self.deal for basis in each if any(basis)), self.rank, "ctaLayout", 10
        )
        if self.instr_shape not in _WMMA[self.version]:
            known = " or ".join(" x ".join(map(str, shape)) for shape in _WMMA[self.version])
            raise LayoutError(
                _(
                    "instrShape = {instr_shape}: the instructions of version {version} that are known here "
                    "compute M x N x K = {known}"
                ).format(instr_shape=list(self.instr_shape), version=self.version, known=known)
            )

    @property
    def rank(self) -> int:
        if self.warps_per_cta:
            return len(self.warps_per_cta)
        return next((len(basis) for _, each in self.cta_layout for basis in each), 2)

    @property
    def deal(self) -> tuple[tuple[str, CGA], ...]:
        """How tiles are assigned: the bases of registers and of warps, in tiles."""
        if not self.warps_per_cta:
            return self.cta_layout
        tile, order = Tile(self.rank), matrix_order(self.rank)
        for axis in order:
            tile.grow("register", axis, (self.tiles_per_warp or (1,) * self.rank)[axis])
            tile.grow("warp", axis, self.warps_per_cta[axis])
        return tuple((name, tuple(tuple(basis) for basis in tile.bases[name])) for name in ("register", "warp"))

    def linear(self, shape: Sequence[int]) -> Linear:
        self.check(shape)
        m, n = self.rank - 2, self.rank - 1
        across, down = (m, n) if self.is_transpose else (n, m)
        tile = Tile(self.rank)
        if self.version == 1:
            tile.grow("lane", across, 16).grow("lane", down, 2).grow("register", down, 8)
        else:
            tile.grow("register", down, 8).grow("lane", across, 16).grow("lane", down, 2)
        if self.warps_per_cta:
            tiles = self.tiles_per_warp or (1,) * self.rank
            _rows_of_tiles(tile, shape, self.instr_shape[1], tiles, self.warps_per_cta)
        else:
            self._deal(tile, None)
        return tile.fit(shape, matrix_order(self.rank), self.cga_layout)

    def operand(self, which: int, k_width: int, shape: Sequence[int]) -> Linear:
        """The layout of an operand (0: left, 1: right) of such a product."""
        order = matrix_order(self.rank, rows=which == 0)  # along k first
        k, other = order[0], order[1]
        wide, depth = self.instr_shape[which], self.instr_shape[2]
        across = 32 // wide  # lanes along k
        spread = k_width * across if self.version > 1 else k_width
        if not attribute_rules.is_power(k_width) or spread > max(depth, k_width):
            raise LayoutError(
                _(
                    "kWidth is {k_width}, but must be a power of two of at most {depth}: {threads} share the "
                    "{numbers} along k"
                ).format(
                    k_width=k_width,
                    depth=depth // across,
                    threads=count(across, "thread"),
                    numbers=count(depth, "number"),
                )
            )
        widths = _WMMA_WIDTHS[self.version]
        if widths and k_width not in widths:
            raise LayoutError(
                _("kWidth is {k_width}, but operands of version {version} have {widths}").format(
                    k_width=k_width, version=self.version, widths=", ".join(map(str, widths))
                )
            )
        tile = Tile(self.rank).grow("register", k, k_width).grow("lane", other, wide)
        if self.version == 1:
            tile.copy("lane", across)
        else:
            tile.grow("lane", k, across)
        if self.warps_per_cta:  # Triton 3.6: along all of k first, and then as an MFMA operand
            tile.grow("register", k, max(1, max(depth, shape[k]) // (across * k_width)))
            self._deal(tile, k)
            return tile.fit(shape, order, self.cga_layout)
        tile.grow("register", k, max(1, depth // (across * k_width)))
        self._deal(tile, k)
        return tile.fit(shape, order, without(self.cga_layout, k))

    def _deal(self, tile: Tile, shared: int | None) -> None:
        """Repeat the tile as the bases say; copies along the axis ``shared`` hold the same elements."""
        inner = list(tile.shape)
        for name, each in self.deal:
            for basis in each:
                kept = [0 if axis == shared else value for axis, value in enumerate(basis)]
                if name == "register" and shared is not None and not any(kept):
                    continue  # a lane keeps one copy of such tiles
                tile.bases[name].append([value * size for value, size in zip(kept, inner, strict=True)])
                tile.shape = [size * 2 if value else size for value, size in zip(kept, tile.shape, strict=True)]
