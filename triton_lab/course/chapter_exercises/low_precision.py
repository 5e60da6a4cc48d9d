"""Chapter 22: numbers of eight and four bits with scales, and many small products in one launch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import apart, launched, programs, wide
from triton_lab.localization import N_, _

if TYPE_CHECKING:
    import torch

_GREATEST = 448.0  # of e4m3
_GROUP = 32  # elements that share a scale
_BIAS = 127  # a scale of e8m0 is 2 ** (byte - 127)
_STEP = 16 // 2**3  # of e4m3 from 16 to 32: eight numbers, since three bits of the fraction are stored


@dataclass(frozen=True)
class _Scales:
    """A maker of scales of e8m0: as many bytes as there are groups of a row, of neither too great nor too small scales.

    It is no `tensor`: its sizes follow from those of the numbers, and no other sizes can be made up for it.
    """

    rows: int
    depth: int
    low: int = 120
    high: int = 131

    def __call__(self, generator: torch.Generator) -> torch.Tensor:
        import torch

        shape = (self.rows, self.depth // _GROUP)
        return torch.randint(self.low, self.high, shape, generator=generator).to(torch.uint8)


@dataclass(frozen=True)
class _Ends:
    """A maker of the rows after the last of each expert, from the numbers of their rows."""

    counts: tuple[int, ...]

    def __call__(self, generator: torch.Generator) -> torch.Tensor:
        import torch

        return torch.tensor(self.counts).cumsum(0).int()


def _quantised(x: Any) -> Any:
    import torch

    greatest = x.abs().amax(1)
    scales = torch.where(greatest > 0, greatest / _GREATEST, 1.0)
    return (x / scales[:, None]).to(torch.float8_e4m3fn), scales


def _quotients(x: Any) -> tuple[Any, None]:
    """The numbers of `_quantised` before their rounding."""
    return x.double() / _quantised(x)[1].double()[:, None], None


def _widened(values: Any, scales: Any) -> Any:
    import torch

    factors = torch.exp2(scales.double() - _BIAS).repeat_interleave(_GROUP, dim=1)
    return values.double() * factors


def _mx_product(a: Any, a_scale: Any, b: Any, b_scale: Any) -> Any:
    return (_widened(a, a_scale) @ _widened(b, b_scale).T).float()


def _mx(m: int, k: int, n: int, **options: Any) -> Case:
    narrow = {"dtype": "float8_e4m3fn", **options}
    return case(a=tensor(m, k, **narrow), a_scale=_Scales(m, k), b=tensor(n, k, **narrow), b_scale=_Scales(n, k))


def _tiles(ends: Any, tile: int, programs: int) -> Any:
    import torch

    out = torch.full((programs, 2), -1, dtype=torch.int32)
    program, begin = 0, 0
    for expert, end in enumerate(ends.tolist()):
        for first in range(begin, end, tile):
            out[program] = torch.tensor([expert, first])
            program += 1
        begin = end
    return out


def _group(*counts: int, tile: int) -> Case:
    """As many programs as can be needed at most: a full tile for all rows, and one more for each expert."""
    return case(ends=_Ends(counts), tile=tile, programs=sum(counts) // tile + len(counts))


EXERCISES = (
    Question(
        "e4m3_steps",
        N_("Steps of e4m3"),
        (
            N_("e4m3 stores three bits of the fraction. So there are 2**3 numbers from 16 up to 32, without 32."),
            N_("Eight steps of equal size lead from 16 to 32. A number between two is rounded to the nearer one."),
        ),
        right=lambda: (_STEP, _STEP // 2),
        tell=lambda answer, right: _(
            "From 16 to 32 there are 2**3 equal steps. The nearer of two neighbours is half a step away at most."
        ),
    ),
    Task(
        "quantise_rows",
        N_("A scale for each row"),
        (
            N_("The scale of a row is its greatest absolute value divided by 448. Two passes: find it, then divide."),
            N_("tl.max(tl.abs(x), axis=0) needs other=0.0. Where it is 0: tl.where(most > 0, most / 448, 1.0)."),
            N_("tl.store(q_ptr + row * columns + j, (x / scale).to(tl.float8e4nv), mask=mask)"),
        ),
        cases=(
            case(x=tensor(5, 64)),
            case(x=tensor(7, 100)),
            case(x=tensor(9, 17, scale=100.0)),
            case(x=tensor(6, 1)),
            case(x=tensor(3, 32, low=0, high=1)),
            case(x=tensor(4, 130, low=-50, high=-5)),
            case(x=tensor(0, 8)),
            case(x=tensor(3, 40, scale=1e-9)),
        ),
        contiguous=True,
        reference=_quantised,
        exact=_quotients,
        tolerance=(1e-6, 1e-30),
        work=(launched(), apart("x"), wide(16, lambda inputs: int(inputs["x"].shape[1]))),
    ),
    Task(
        "mx_product",
        N_("A product with scales for 32"),
        (
            N_("Scales are loaded like the numbers. A step of BK numbers along K has BK // 32 scales for each row."),
            N_("tl.dot_scaled takes a (BM, BK), a_scale (BM, BK // 32), b (BK, BN) and b_scale (BN, BK // 32)."),
            N_('total = tl.dot_scaled(a, a_scale, "e4m3", b, b_scale, "e4m3", total)'),
        ),
        points=2,
        cases=(
            _mx(32, 64, 32),
            _mx(40, 32, 50),
            _mx(70, 96, 33),
            _mx(1, 32, 1),
            _mx(16, 1056, 16, scale=20.0),
            _mx(130, 160, 100),
        ),
        reference=_mx_product,
        tolerance=(1e-4, 1e-3),
        work=(launched(), wide(16, lambda inputs: inputs["a"].numel())),
        copied=False,
    ),
    Task(
        "tile_table",
        N_("The tiles of many products"),
        (
            N_("An expert with n rows has tl.cdiv(n, TILE) tiles, none if it has no rows. n is end minus begin."),
            N_("Walk through the experts, and subtract their tiles from the program's number until it is less."),
            N_(
                "In one block: upto = tl.cumsum(tiles, axis=0); the expert is tl.sum((upto <= program).to(tl.int32)), "
                "and the tiles before it are tl.sum(tl.where(e < expert, tiles, 0))."
            ),
        ),
        points=2,
        cases=(
            _group(7, 130, 1, 64, 0, 200, 31, 32, 33, tile=32),
            _group(64, 64, tile=32),
            _group(50, 3, 40, tile=16),
            _group(0, 5, 0, 33, 0, tile=16),
            _group(1, tile=16),
            _group(16, 0, 0, 16, tile=16),
            _group(*(5, 0, 17, 1) * 33, tile=16),
        ),
        reference=_tiles,
        work=(launched(), programs(lambda inputs: int(inputs["programs"]))),
    ),
)
