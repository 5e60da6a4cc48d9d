"""Chapter 32: orders written as steps, blocks, and rows whose ends depend on the data."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Task
from triton_lab.course.launch_work import launched, once, programs, wide
from triton_lab.course.nest_exercises import OrderExercise, blocks, misses
from triton_lab.localization import N_
from triton_lab.polyhedral.cache_cost import Cache
from triton_lab.polyhedral.related_work.page_nests import TRANSPOSE

# A vector that is smoothed in place, repeatedly.
SMOOTHED = """\
for (int t = 0; t < n; t++)
  for (int i = 1; i < n - 1; i++)
    A[i] = A[i - 1] + A[i] + A[i + 1];
"""

OUTER = """\
for (int y = 0; y < n; y++)
  for (int x = 0; x < m; x++)
    C[y][x] = A[y] * B[x];
"""


def _rows(*lengths: int, width: int, layout: Any = "close") -> Case:
    """Rows of these lengths, one after the other in ``values``; row r begins at ``starts[r]``."""

    def starts(generator: Any) -> Any:
        import torch

        return torch.tensor([0, *lengths]).cumsum(0).int()

    filled = sum(lengths)
    columns = tensor(filled, dtype="int32", low=0, high=width)
    return case(values=tensor(filled, layout=layout), columns=columns, starts=starts, x=tensor(width))


def _product(values: Any, columns: Any, starts: Any, x: Any) -> Any:
    import torch

    terms = values.double() * x.double()[columns.long()]
    row = torch.repeat_interleave(torch.arange(starts.numel() - 1), starts.diff().long())
    return torch.zeros(starts.numel() - 1, dtype=torch.float64).index_add_(0, row, terms).float()


def _filtered(x: Any, filter: Any) -> Any:
    import torch

    high, wide = filter.shape
    padded = torch.nn.functional.pad(x, (0, wide - 1, 0, high - 1))
    return torch.nn.functional.conv2d(padded[:, None], filter[None, None])[:, 0]


def _longest(starts: Any) -> int:
    """The elements of the longest row."""
    return max((starts[1:] - starts[:-1]).tolist(), default=0)


EXERCISES = (
    OrderExercise(
        "few_misses",
        N_("A transpose that keeps its cache lines"),
        (
            (
                N_(
                    "B is written by columns: each element is in another cache line, and the line has left the cache "
                    "when it is needed again."
                )
            ),
            N_("Transpose smaller pieces: tiles whose lines of A and B fit into 32 lines together."),
            'order.tile({"i": 8, "j": 8})',
        ),
        nest=TRANSPOSE,
        values={"n": 64},
        asked=(misses(1024, Cache(lines=32, line_size=8)),),
    ),
    OrderExercise(
        "tiles_in_time",
        N_("Tiles over time steps"),
        (
            N_("Tiles of t and i are not legal as they are: an element needs its right neighbour of the step before."),
            N_("Skewing i by t makes all distances point forward. Then tiles are legal."),
            'order.skew("i", "t").tile({"t": 8, "i": 8})',
        ),
        nest=SMOOTHED,
        values={"n": 64},
        asked=(misses(300, Cache(lines=8, line_size=4)),),
    ),
    OrderExercise(
        "outer_blocks",
        N_("A schedule that is a kernel"),
        (
            N_("A tile becomes a program, and the points of a tile become the lanes of a block."),
            N_("40 rows in tiles of 16 are 3 programs, 100 columns in tiles of 32 are 4."),
            'order.tile({"y": 16, "x": 32})',
        ),
        nest=OUTER,
        values={"n": 40, "m": 100},
        asked=(blocks((3, 4), {"A": (40,), "B": (100,), "C": (40, 100)}),),
    ),
    Task(
        "sparse_product",
        N_("Rows of data-dependent length"),
        (
            N_("One program for each row. It loads the start of its row and the start of the next one."),
            N_("The loop ends at a loaded number: for k0 in range(begin, end, BLOCK). Its blocks need a mask."),
            N_(
                "column = tl.load(columns_ptr + k, mask=k < end, other=0); then load x_ptr + "
                "column, with the same mask."
            ),
        ),
        cases=(
            _rows(4, 2, 5, 1, width=8),
            _rows(32, 64, 33, width=100),
            _rows(0, 70, 0, 3, 0, width=17),
            _rows(5, 1, layout="steps", width=3),
            _rows(1, width=1),
            _rows(0, 0, width=4),
            _rows(width=4),
        ),
        reference=_product,
        tolerance=(1e-5, 1e-5),
        work=(
            launched(),
            programs(lambda inputs: int(inputs["starts"].numel()) - 1),
            once("values"),
            wide(8, lambda inputs: _longest(inputs["starts"])),
        ),
    ),
    Task(
        "convolve",
        N_("A filter"),
        (
            (
                N_(
                    "A program has a tile of one picture: tl.program_id(0) for the rows, tl.program_id(1) for the "
                    "columns, tl.program_id(2) for the picture."
                )
            ),
            N_(
                "Two loops over the filter: in each step a block of x, moved by i rows and j columns, times one number."
            ),
            (
                N_(
                    "The load's mask shifts too: (r + i < rows) & (c + j < columns), with other=0.0. The store's "
                    "mask does not."
                )
            ),
        ),
        cases=tuple(
            case(x=tensor(*shape), filter=tensor(*filter))
            for shape, filter in (
                ((1, 16, 16), (3, 3)),
                ((2, 20, 37), (3, 2)),
                ((3, 33, 16), (1, 4)),
                ((1, 1, 1), (2, 2)),
                ((4, 5, 50), (5, 1)),
                ((2, 17, 3), (1, 1)),
            )
        ),
        reference=_filtered,
        tolerance=(1e-5, 1e-5),
        work=(launched(), wide(16)),
    ),
)
