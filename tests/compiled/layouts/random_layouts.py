"""Random layouts with shapes, as TTGIR spells them, for hypothesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.compiled.layouts.triton_version import BEFORE_3_7


@dataclass(frozen=True)
class Asked:
    """A layout with a shape, and the type of Triton's that has it."""

    spelled: str
    shape: tuple[int, ...]
    element: str = "f16"
    lane: int = 32
    block: int = 1

    @property
    def type(self) -> str:
        inside = f"{'x'.join(map(str, self.shape))}x{self.element}, {self.spelled}"
        if self.spelled.startswith("#ttng."):
            return f"!ttg.memdesc<{inside}, #ttng.tensor_memory, mutable>"
        if "shared" in self.spelled:
            return f"!ttg.memdesc<{inside}, #ttg.shared_memory, mutable>"
        return f"tensor<{inside}>"


def divided(draw: Any, exponent: int, rank: int, first: int = 0) -> list[int]:
    """Powers of two whose product is ``2**exponent``, one for each axis from ``first`` on."""
    found = [1] * rank
    for _ in range(exponent):
        found[draw(st.integers(first, rank - 1))] *= 2
    return found


def dealt(draw: Any, rank: int, count: int, *, zeros: bool) -> list[list[int]]:
    """Bases that fill a box in some order of axes, zeros among them."""
    size, found = [1] * rank, []
    for _ in range(count):
        basis = [0] * rank
        if not (zeros and draw(st.integers(0, 3)) == 0):
            axis = draw(st.integers(0, rank - 1))
            basis[axis] = size[axis]
            size[axis] *= 2
        found.append(basis)
    return found


@st.composite
def clusters(draw: Any, rank: int) -> tuple[str, int]:
    """A CGALayout and how many blocks it has."""
    bases = dealt(draw, rank, draw(st.integers(0, 2)), zeros=True)
    return (f", CGALayout = {bases}" if bases else ""), 1 << len(bases)


@st.composite
def blocked(draw: Any, rank: int, cluster: str) -> str:
    order = draw(st.permutations(range(rank)))
    size = divided(draw, draw(st.integers(0, 4)), rank)
    return (
        f"#ttg.blocked<{{sizePerThread = {size}, threadsPerWarp = {divided(draw, 5, rank)}, "
        f"warpsPerCTA = {divided(draw, 2, rank)}, order = {order}{cluster}}}>"
    )


@st.composite
def mma(draw: Any, rank: int, cluster: str, version: int) -> str:
    if version == 2:
        warps, instruction = divided(draw, 2, rank), [1] * (rank - 2) + [16, 8]
    else:
        warps, instruction = [4, 1], [16, 8 << draw(st.integers(0, 5)), 16]
    return (
        f"#ttg.nvidia_mma<{{versionMajor = {version}, versionMinor = 0, warpsPerCTA = {warps}{cluster}, "
        f"instrShape = {instruction}}}>"
    )


@st.composite
def mfma(draw: Any, rank: int, cluster: str) -> str:
    shapes = [(32, 32, 8), (16, 16, 16), (32, 32, 16), (4, 64, 4), (64, 4, 4)]
    instruction = draw(st.sampled_from(shapes))
    turned = "true" if instruction[0] == 64 else draw(st.sampled_from(["true", "false"]))
    tiles = f", tilesPerWarp = {divided(draw, draw(st.integers(0, 2)), rank, rank - 2)}" if draw(st.booleans()) else ""
    wide = ", elementBitWidth = 64" if instruction[0] == 16 and draw(st.booleans()) else ""
    return (
        f"#ttg.amd_mfma<{{version = {draw(st.sampled_from([3, 4]))}, warpsPerCTA = {divided(draw, 2, rank)}, "
        f"instrShape = {list(instruction)}, isTransposed = {turned}{cluster}{tiles}{wide}}}>"
    )


@st.composite
def wmma(draw: Any, cluster: str, version: int) -> str:
    turned = draw(st.sampled_from(["true", "false"]))
    instruction = ", instrShape = [16, 16, 32]" if version == 3 else ""
    if BEFORE_3_7:
        tiles = f", tilesPerWarp = {divided(draw, draw(st.integers(0, 2)), 2)}" if draw(st.booleans()) else ""
        deal = f"warpsPerCTA = {divided(draw, 2, 2)}{tiles}"
    else:
        bases = dealt(draw, 2, 4, zeros=False)
        among = draw(st.permutations(range(4)))
        warps, registers = [bases[at] for at in sorted(among[:2])], [bases[at] for at in sorted(among[2:])]
        deal = f"ctaLayout = {{register = {registers}, warp = {warps}}}"
    return f"#ttg.amd_wmma<{{version = {version}, isTranspose = {turned}, {deal}{cluster}{instruction}}}>"


@st.composite
def register_layouts(draw: Any, blocks: int | None = None) -> Asked:
    """Any layout in registers; with ``blocks`` (1 or 2) one of a matrix, of 32 lanes, for a cluster of so many."""
    kinds = ["blocked", "mma2", "mma3", "wmma"]
    kind = draw(st.sampled_from(kinds if blocks else [*kinds, "mfma"]))
    if blocks is not None:
        rank, cluster = 2, f", CGALayout = {draw(st.sampled_from([[1, 0], [0, 1], [0, 0]]))}" if blocks > 1 else ""
        cluster = cluster.replace("= [", "= [[").replace("]", "]]")
    else:
        rank = 2 if kind in ("mma3", "wmma") else draw(st.sampled_from([2, 2, 3] if kind != "blocked" else [1, 2, 3]))
        cluster, blocks = draw(clusters(rank))
        return draw(_around(kind, rank, cluster, blocks, ["", "operand", "slice"]))
    return draw(_around(kind, rank, cluster, blocks, ["", "operand"]))


@st.composite
def _around(draw: Any, kind: str, rank: int, cluster: str, blocks: int, arounds: list[str]) -> Asked:
    """A layout of a kind, by itself, as the parent of an operand, or of a slice."""
    version = draw(st.sampled_from([1, 2, 3]))
    made = {
        "blocked": lambda: blocked(rank, cluster),
        "mma2": lambda: mma(rank, cluster, 2),
        "mma3": lambda: mma(rank, cluster, 3),
        "mfma": lambda: mfma(rank, cluster),
        "wmma": lambda: wmma(cluster, version),
    }[kind]()
    spelled = draw(made)
    least = 4 if kind == "wmma" else 0
    shape = [1 << draw(st.integers(least, 8 if rank < 3 else 5)) for _ in range(rank)]
    lane = 64 if kind == "mfma" else 32
    around = draw(st.sampled_from(arounds))
    if around == "operand" and rank > 1:
        operand = 0 if kind == "mma3" else draw(st.integers(0, 1))
        widths = {
            "mma2": [1, 2, 4, 8],
            "mma3": [1, 2, 4],
            "mfma": [1, 4, 8, 16],
            "wmma": {1: [8, 16], 2: [4, 8], 3: [8, 16]}[version],
        }
        width = f", kWidth = {draw(st.sampled_from(widths[kind]))}" if kind in widths else ""
        spelled = f"#ttg.dot_op<{{opIdx = {operand}, parent = {spelled}{width}}}>"
    elif around == "slice" and rank > 1 and kind != "wmma":
        axis = draw(st.integers(0, rank - 1))
        spelled = f"#ttg.slice<{{dim = {axis}, parent = {spelled}}}>"
        del shape[axis]
    return Asked(spelled, tuple(shape), lane=lane, block=blocks)


@st.composite
def shared_layouts(draw: Any) -> Asked:
    kind = draw(st.sampled_from(["swizzled", "nvmma", "accumulator", "scales"]))
    rank = 2 if kind in ("accumulator", "scales") else draw(st.sampled_from([2, 2, 3]))
    cluster, blocks = draw(clusters(rank))
    powers = [1 << draw(st.integers(0, 3)) for _ in range(3)]
    if kind == "swizzled":
        order = draw(st.permutations(range(rank)))
        parameters = f"vec = {powers[0]}, perPhase = {powers[1]}, maxPhase = {powers[2]}, order = {order}{cluster}"
        shape = tuple(1 << draw(st.integers(2, 7)) for _ in range(rank))
        return Asked(f"#ttg.swizzled_shared<{{{parameters}}}>", shape, block=blocks)
    if kind == "nvmma":
        swizzle, bits = draw(st.sampled_from([0, 32, 64, 128])), draw(st.sampled_from([8, 16, 32]))
        turned = draw(st.booleans())
        if turned and not swizzle:
            rank, cluster, blocks = 2, "", 1
        padded = swizzle == 128 and bits == 8 and draw(st.booleans())
        shape = tuple(1 << draw(st.integers(5, 9 if rank < 3 else 6)) for _ in range(rank))
        parameters = (
            f"swizzlingByteWidth = {swizzle}, transposed = {str(turned).lower()}, elementBitWidth = {bits}"
            f"{', fp4Padded = true' if padded else ''}{cluster}{', rank = 3' if rank == 3 else ''}"
        )
        return Asked(f"#ttg.nvmma_shared<{{{parameters}}}>", shape, f"i{bits}", block=blocks)
    if kind == "scales":
        shape = (16 << draw(st.integers(0, 4)), 1 << draw(st.integers(1, 5)))
        return Asked(f"#ttng.tensor_memory_scales_encoding<{cluster.lstrip(', ')}>", shape, "i8", block=blocks)
    rows, columns = draw(st.sampled_from([64, 128])), 8 << draw(st.integers(0, 4))
    shape = (512, 8 << draw(st.integers(2, 5)))
    spelled = f"blockM = {rows}, blockN = {columns}, colStride = {draw(st.sampled_from([1, 2]))}{cluster}"
    return Asked(f"#ttng.tensor_memory_encoding<{spelled}>", shape, block=blocks)
