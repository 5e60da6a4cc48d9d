"""Chapter 21: the last wave, kernels with a grid like the machine, and tiles through descriptors."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import described, launched, once, programs
from triton_lab.localization import N_, _

_PLACES, _TILES = 132, 200


def _product(a: Any, b: Any) -> Any:
    return (a.double() @ b.double()).to(a.dtype)


def _pair(m: int, k: int, n: int, **options: Any) -> Case:
    return case(a=tensor(m, k, **options), b=tensor(k, n, **options))


EXERCISES = (
    Question(
        "last_wave",
        N_("200 tiles"),
        (
            N_("The first wave has 132 programs. How many are left for the second?"),
            N_("The second wave has 68 programs, for 132 places."),
        ),
        right=lambda: (-(-_TILES // _PLACES), -_TILES % _PLACES),
        tell=lambda answer, right: _("Fill the first wave with 132 programs, and see how many are left for the next."),
    ),
    Task(
        "double_tiles",
        N_("Four programs for any matrix"),
        (
            N_("A program begins with the tile of its own number, and takes every fourth: range(pid, tiles, 4)."),
            N_("There are tl.cdiv(M, T) * across tiles, with across = tl.cdiv(N, T)."),
            N_("i = tile // across * T + tl.arange(0, T), j = tile % across * T + tl.arange(0, T); a mask for both"),
        ),
        cases=(
            case(x=tensor(64, 64)),
            case(x=tensor(33, 65)),
            case(x=tensor(5, 200, layout="inside")),
            case(x=tensor(100, 45, layout="turned")),
            case(x=tensor(40, 70, layout="steps")),
            case(x=tensor(1, 1)),
            case(x=tensor(0, 5)),
            case(x=tensor(200, 300, low=-50, high=-5)),
            case(x=tensor(30, 50, dtype="float16")),
        ),
        contiguous=True,
        reference=lambda x: 2 * x,
        work=(launched(), once("x"), programs(lambda inputs: 4)),
    ),
    Task(
        "turn",
        N_("A transpose by descriptors"),
        (
            N_("TensorDescriptor.from_tensor(x, [32, 32]) describes x in tiles of 32 by 32; out needs one as well."),
            N_("The tile at [i, j] of x belongs to [j, i] of the result, turned with tl.trans."),
            N_("out.store([j, i], tl.trans(x.load([i, j]))), with i and j the program ids times T"),
        ),
        cases=(
            case(x=tensor(32, 32)),
            case(x=tensor(64, 32)),
            case(x=tensor(36, 68)),
            case(x=tensor(4, 4)),
            case(x=tensor(260, 264, low=-50, high=-5)),
            case(x=tensor(40, 100, low=9000.0, high=11000.0)),
        ),
        contiguous=True,
        reference=lambda x: x.t().contiguous(),
        work=(launched(), once("x"), described),
    ),
    Task(
        "persistent_product",
        N_("A persistent product"),
        (
            N_("The outer loop is that of `double_tiles`. Within it, the accumulator begins with tl.zeros."),
            N_("i = tile // across * T is the first row of the tile. a.load([i, k]) and b.load([k, j]) need no mask."),
            N_('total = tl.dot(a.load([i, k]), b.load([k, j]), total, input_precision="ieee"); c.store([i, j], ...)'),
        ),
        points=2,
        cases=(
            _pair(32, 32, 32),
            _pair(40, 72, 56),
            _pair(100, 16, 144),
            _pair(1, 4, 4),
            _pair(200, 24, 304),
            _pair(48, 40, 64, dtype="float16"),
            case(
                a=tensor(16, 4000, dtype="float16", low=0.0, high=1.0),
                b=tensor(4000, 16, dtype="float16", low=0.0, high=1.0),
            ),
            _pair(35, 36, 40, low=-9, high=-1),
        ),
        reference=_product,
        tolerance=(1e-4, 1e-4),
        work=(launched(), programs(lambda inputs: 4), described),
    ),
)
