"""The page's Halide matmul, in our scheduling language."""

from __future__ import annotations

from triton_lab.polyhedral.related_work.page_nests import MATMUL
from triton_lab.polyhedral.schedule import Schedule
from triton_lab.polyhedral.to_scop import scop


def halide_matmul(n: int, block_size: int) -> Schedule:
    """The page's schedule, line by line; Halide lists loops from the innermost, we from the outermost.

    In Halide's ``matmul(x, y)``, x runs fastest, so its element is our ``C[y][x]``. Its two definitions are two loop
    nests; our algorithm is one nest, so it is distributed first.
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
