"""The Halide matmul of the page, in our scheduling language."""

from __future__ import annotations

from triton_lab.polyhedral.related_work.page_nests import MATMUL
from triton_lab.polyhedral.schedule import Schedule
from triton_lab.polyhedral.to_scop import scop


def halide_matmul(n: int, block_size: int) -> Schedule:
    """The page's schedule line by line; Halide names loops from the innermost, we from the outermost.

    Halide's ``matmul(x, y)`` has x run fastest, so its element is ours at ``C[y][x]``. Its two definitions are two
    loop nests: what the algorithm writes into one nest is distributed first.
    """
    algorithm = scop(MATMUL, n=n).schedule.distribute("x").distribute("y")
    return (
        algorithm
        # matmul.vectorize(x, 8)
        .split("x", 8, "x", "xv", statement="S0")
        .vectorize("xv")
        # matmul.update(0)
        .split("x", block_size, "x", "xi", statement="S1")
        .split("xi", 8, "xi", "xii")
        .split("y", block_size, "y", "yi", statement="S1")
        .split("yi", 4, "yi", "yii")
        .split("k", block_size, "k", "ki")
        .reorder("y", "x", "k", "yi", "ki", "xi", "yii", "xii", statement="S1")
        .parallel("y", statement="S1")
        .vectorize("xii")
        .unroll("xi")
        .unroll("yii")
    )
