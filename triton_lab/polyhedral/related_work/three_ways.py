"""One problem in three ways: a polyhedron, a scheduling language, and a block program, run on one input."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from triton_lab.localization import _
from triton_lab.messages import count as counted
from triton_lab.messages import noun, number
from triton_lab.polyhedral.blocks.block_record import facts, lanes, recorded
from triton_lab.polyhedral.blocks.triton_kernel import jit_kernel
from triton_lab.polyhedral.cache_cost import Cache
from triton_lab.polyhedral.core.source_text import NotAScop
from triton_lab.polyhedral.display_mixin import Pictured
from triton_lab.polyhedral.related_work.halide_matmul import halide_matmul
from triton_lab.polyhedral.related_work.page_nests import MATMUL, PAGE_SPARSE
from triton_lab.polyhedral.related_work.ragged_nest import PAGE_RAGGED, Ragged
from triton_lab.polyhedral.schedule import Schedule
from triton_lab.polyhedral.to_scop import scop
from triton_lab.providers import provided

if TYPE_CHECKING:
    from triton_lab.views.polyhedral.three_ways_view import WaysView


@dataclass(frozen=True)
class Way:
    """One way: its ``result`` and ``measured`` facts in words.

    Where it cannot express the problem, the result is None, and the facts say why.
    """

    title: str
    program: str
    can: tuple[str, ...]
    cannot: tuple[str, ...]
    measured: tuple[str, ...]
    result: NDArray[np.float32] | None
    schedule: Schedule | None = None


@dataclass(frozen=True)
class Ways(Pictured):
    """The three ways and the expected result. As the last value of a cell, they are shown side by side."""

    title: str
    polyhedral: Way
    scheduling: Way
    blocks: Way
    expected: NDArray[np.float32]

    @property
    def every(self) -> tuple[Way, Way, Way]:
        return self.polyhedral, self.scheduling, self.blocks

    def plot(self) -> WaysView:
        """The ways side by side: their order, program, what each can say and cannot, and what was measured."""
        view: WaysView = provided("Ways.plot")(self)
        return view


_CACHE = Cache(lines=64, line_size=8)


def _timed(run: Callable[[], NDArray[np.float32]]) -> tuple[NDArray[np.float32], float]:
    start = time.perf_counter()
    result = run()
    return result, time.perf_counter() - start


def _agreement(result: NDArray[np.float32], expected: NDArray[np.float32]) -> str:
    return _("largest difference from NumPy: {max}").format(max=f"{np.abs(result - expected).max():.1e}")


def matmul_ways(n: int = 32, block: int = 16, seed: int = 0) -> Ways:
    """C = A B for n × n matrices, in tiles of ``block``."""
    rng = np.random.default_rng(seed)
    arrays = {name: rng.random((n, n), dtype=np.float32) for name in "ABC"}
    expected = arrays["A"] @ arrays["B"]
    nest = scop(MATMUL, n=n)
    source = nest.schedule
    start = time.perf_counter()
    automatic = source.automatic()
    legal, found = automatic.is_legal, time.perf_counter() - start
    result, seconds = _timed(lambda: automatic.run(arrays)["C"])
    polyhedral = Way(
        _("Polyhedral compilation"),
        automatic.program(),
        (_("every order that a matrix can express"), _("a proof for all n that an order computes the same")),
        (_("bounds or subscripts that depend on data"), _("the best of its many orders, without a search")),
        (
            _("schedule found and proved {which} in {found} ms").format(
                which="legal" if legal else "illegal", found=f"{found * 1e3:.0f}"
            ),
            _("{instances}, run one by one in {seconds} ms").format(
                instances=counted(nest.count(), "instance"), seconds=f"{seconds * 1e3:.0f}"
            ),
            _("{misses} in a cache of 64 lines").format(
                misses=counted(automatic.cost(_CACHE).misses, "miss", "misses")
            ),
            _agreement(result, expected),
        ),
        result,
        automatic,
    )
    halide = halide_matmul(n, block)
    result, seconds = _timed(lambda: halide.run(arrays)["C"])
    scheduling = Way(
        _("Scheduling language"),
        "\n".join(f".{step}" for step in halide.steps),
        (_("the algorithm once, separate from its order"), _("splits, vectors and threads by name")),
        (_("loops whose bounds depend on data"), _("a good order, without a person or a search")),
        (
            _("{instances}, each visited once; vectors of 8, run in {seconds} ms").format(
                instances=counted(len(halide.order()), "instance"), seconds=f"{seconds * 1e3:.0f}"
            ),
            _("{misses} in a cache of 64 lines").format(misses=counted(halide.cost(_CACHE).misses, "miss", "misses")),
            _agreement(result, expected),
        ),
        result,
        halide,
    )
    tiled = source.distribute("x").distribute("y")
    for loop in "yxk":
        tiled = tiled.split(loop, block, statement="S1")
    tiled = tiled.reorder("yo", "xo", "ko", "yi", "xi", "ki")
    kernel = tiled.to_triton()
    kernel.run(arrays)  # compiled once
    result, seconds = _timed(lambda: np.asarray(kernel.run(arrays)["C"]))
    launch = recorded(lambda: kernel.run(arrays))
    grid = launch.grid[: len(kernel.grid(nest))]
    blocks = Way(
        _("Block program (Triton)"),
        kernel.text,
        (_("the work of one block, in whole tiles"), _("any control flow around blocks, also data-dependent")),
        (
            _("the order of its lanes, which the compiler chooses"),
            _("that its blocks do not interfere: this needs a proof"),
        ),
        (
            _("{grid} programs of {block} × {block} lanes, run in {seconds} ms").format(
                grid=" × ".join(map(str, grid)), block=block, seconds=f"{seconds * 1e3:.0f}"
            ),
            *facts(launch),
            _agreement(result, expected),
        ),
        result,
        tiled,
    )
    return Ways(f"Matrix multiplication, n = {n}", polyhedral, scheduling, blocks, expected)


# One program per row and block of columns; the loop ends at the row's length.
RAGGED_KERNEL = """\
@triton.jit
def kernel(A, B, C, K, col, columns, width, most, BLOCK_J: tl.constexpr, BLOCK_K: tl.constexpr):
    i = tl.program_id(0)
    j = tl.program_id(1) * BLOCK_J + tl.arange(0, BLOCK_J)
    length = tl.load(K + i)
    acc = tl.zeros((BLOCK_J,), dtype=tl.float32)
    for k0 in range(0, length, BLOCK_K):
        k = k0 + tl.arange(0, BLOCK_K)
        at = tl.load(col + i * most + k, mask=k < length, other=0)
        a = tl.load(A + i * width + at, mask=k < length, other=0.0)
        mask = (k[:, None] < length) & (j[None, :] < columns)
        b = tl.load(B + at[:, None] * columns + j[None, :], mask=mask, other=0.0)
        acc += tl.sum(a[:, None] * b, axis=0)
    tl.store(C + i * columns + j, acc, mask=j < columns)
"""

# The problem with constant bounds: rows padded to the longest, and B's rows gathered beforehand.
PADDED = """\
for (int i = 0; i < rows; i++)
  for (int j = 0; j < columns; j++)
    for (int k = 0; k < most; k++)
      C[i][j] += V[i][k] * G[i][k][j];
"""


def ragged_ways(ragged: Ragged = PAGE_RAGGED, columns: int = 4, block_k: int = 2, seed: int = 0) -> Ways:
    """C = A B over the used entries of A; B has ``columns`` columns."""
    rng = np.random.default_rng(seed)
    a = rng.random((len(ragged.columns), ragged.width), dtype=np.float32)
    b = rng.random((ragged.width, columns), dtype=np.float32)
    expected = (a * ragged.mask()) @ b
    useful = len(ragged.points) * columns
    try:
        scop(PAGE_SPARSE)
    except NotAScop as refused:
        refusal = str(refused)
    polyhedral = Way(
        _("Polyhedral compilation"),
        PAGE_SPARSE,
        (_("nothing here: K[i] is not an affine bound, and col[i, k] is not an affine subscript"),),
        (_("this nest"),),
        tuple(refusal.splitlines()[:1]),
        None,
    )
    return Ways(
        _("The irregular nest, K = {lengths}").format(lengths=", ".join(map(str, ragged.lengths))),
        polyhedral,
        _padded_way(ragged, a, b, useful, expected),
        _block_way(ragged, a, b, block_k, expected),
        expected,
    )


def _padded_way(
    ragged: Ragged, a: NDArray[np.float32], b: NDArray[np.float32], useful: int, expected: NDArray[np.float32]
) -> Way:
    lengths, col = ragged.padded()
    rows, columns = expected.shape
    inside = np.arange(col.shape[1]) < lengths[:, None]
    values = np.where(inside, np.take_along_axis(a, col.astype(np.int64), axis=1), 0).astype(np.float32)
    arrays = {"C": np.zeros_like(expected), "V": values, "G": b[col]}
    nest = scop(PADDED, rows=rows, columns=columns, most=col.shape[1])
    schedule = nest.schedule.reorder("i", "k", "j").parallel("i").vectorize("j")
    result, seconds = _timed(lambda: schedule.run(arrays)["C"])
    return Way(
        _("Scheduling language"),
        PADDED + "\n" + "\n".join(f".{step}" for step in schedule.steps),
        (_("the nest with constant bounds, once its rows are padded"), _("a good order for the padded nest")),
        (_("K[i] as a bound of k"), _("the gather of B's rows, which must come first")),
        (
            _("{instances} for {useful} useful ones, run in {seconds} ms").format(
                instances=counted(nest.count(), "instance"), useful=useful, seconds=f"{seconds * 1e3:.1f}"
            ),
            _agreement(result, expected),
        ),
        result,
        schedule,
    )


def _block_way(
    ragged: Ragged,
    a: NDArray[np.float32],
    b: NDArray[np.float32],
    block_k: int,
    expected: NDArray[np.float32],
) -> Way:
    import torch

    lengths, col = ragged.padded()
    rows, columns = expected.shape
    block_j = 1 << max(0, columns - 1).bit_length()
    kernel = jit_kernel(RAGGED_KERNEL)

    def launch() -> NDArray[np.float32]:
        c = torch.zeros(rows, columns)
        inputs = [torch.from_numpy(np.ascontiguousarray(array)) for array in (a, b)]
        index = [torch.from_numpy(array) for array in (lengths, col)]
        sizes = {"BLOCK_J": block_j, "BLOCK_K": block_k}
        kernel[(rows, -(-columns // block_j))](*inputs, c, *index, columns, ragged.width, col.shape[1], **sizes)
        return c.numpy()

    launch()  # compiled once
    result, seconds = _timed(launch)
    record = recorded(launch)
    issued, on = lanes(record, "B")
    return Way(
        _("Block program (Triton)"),
        RAGGED_KERNEL,
        (_("the nest itself: each row's loop ends with the row"), _("the gather, lane by lane")),
        (_("which lanes are idle: masks decide this at run time"),),
        (
            _(
                "{lanes} load from B in blocks of {block_k} × {block_j}, {on} of them {noun} on; run in {seconds} ms"
            ).format(
                lanes=counted(issued, "lane"),
                block_k=block_k,
                block_j=block_j,
                on=number(on),
                noun=noun(on, "is", "are"),
                seconds=f"{seconds * 1e3:.1f}",
            ),
            *facts(record),
            _agreement(result, expected),
        ),
        result,
    )
