"""Chapter 15: twelve broken kernels. Each is broken in another way, and another tool of the lab shows how."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_kinds import Task
from triton_lab.course.launch_work import launched
from triton_lab.localization import N_

_SIZES = (64, 65, 129, 1, 700)


def _row_max(x: Any) -> Any:
    return x.amax(1)


def _ring(x: Any) -> Any:
    return x + x.roll(-1)


def _mean(x: Any) -> Any:
    return x.double().mean(1).float()


def _softmax(x: Any) -> Any:
    return x.double().softmax(1).float()


def _product(a: Any, b: Any) -> Any:
    return (a.double() @ b.double()).float()


def _rms(x: Any) -> Any:
    wide = x.double()
    return (wide / (wide.square().mean(1, keepdim=True) + 1e-6).sqrt()).float()


def _energy(x: Any) -> Any:
    return (x.long() * x.long()).sum().int().reshape(1)


def _highest(x: Any) -> Any:
    return x.max().reshape(1)


def _rising(generator: Any) -> Any:
    """Numbers whose greatest is the last, in a block of its own."""
    import torch

    return torch.arange(577.0)


def _counts(x: Any) -> Any:
    import torch

    return torch.bincount(x.long(), minlength=8).int()


_MATRICES = (
    case(x=tensor(16, 64)),
    case(x=tensor(7, 50, layout="inside")),
    case(x=tensor(9, 33, layout="turned")),
    case(x=tensor(3, 1)),
)

EXERCISES = (
    Task(
        "negated",
        N_("The last program"),
        (
            N_("The card names a lane and an element past the end."),
            N_("A load needs a mask, just as a store does."),
            N_("tl.load(x_ptr + i, mask=i < n)"),
        ),
        cases=tuple(case(x=tensor(n)) for n in _SIZES),
        reference=lambda x: -x,
        work=(launched(),),
    ),
    Task(
        "halved",
        N_("The last elements"),
        (
            N_("The tiling shows elements that no program has."),
            N_("How many blocks of 64 does it take for 65 elements?"),
            N_("triton.cdiv(n, 64) rounds up."),
        ),
        cases=tuple(case(x=tensor(n)) for n in _SIZES),
        reference=lambda x: x / 2,
        work=(launched(),),
    ),
    Task(
        "row_means",
        N_("Right in the tests only"),
        (
            N_("Which cases are right? Look at the strides of the others."),
            N_("The kernel assumes that the next row begins `columns` elements further on."),
            N_("Pass x.stride(0) and x.stride(1), and use them."),
        ),
        cases=_MATRICES,
        reference=_mean,
        tolerance=(1e-5, 1e-5),
        work=(launched(),),
        copied=False,
    ),
    Task(
        "row_maxima",
        N_("Never below zero"),
        (
            N_("Look at the tab Values: what are the values of masked-off lanes?"),
            N_("A zero is greater than negative numbers."),
            N_('other=float("-inf")'),
        ),
        cases=(*_MATRICES, case(x=tensor(4, 37, low=-9.0, high=-1.0))),
        reference=_row_max,
        work=(launched(),),
        copied=False,
    ),
    Task(
        "rms",
        N_("Sometimes too large"),
        (
            N_("The comparison shows the place: whole rows. Which rows have a length that is not a power of two?"),
            N_("The mean divides by the number of elements, not by the number of lanes."),
            N_("tl.sum(x * x, axis=0) / columns"),
        ),
        cases=(*_MATRICES, case(x=tensor(5, 100))),
        reference=_rms,
        tolerance=(1e-4, 1e-5),
        work=(launched(),),
        copied=False,
    ),
    Task(
        "shares",
        N_("Not a number"),
        (
            N_("The finding names the line in which the first NaN appears."),
            N_("Infinity divided by infinity. Where does the infinity come from?"),
            N_("tl.exp(x - tl.max(x, axis=0))"),
        ),
        cases=(*_MATRICES, case(x=tensor(4, 50, scale=100.0))),
        reference=_softmax,
        tolerance=(1e-4, 1e-7),
        ranges=("negative", "tiny"),
        work=(launched(),),
        copied=False,
    ),
    Task(
        "energy",
        N_("A negative sum of squares"),
        (
            N_("Look at the tab Steps: which type does the product of two 8-bit numbers have?"),
            N_("100 * 100 does not fit in eight bits, so it wraps around."),
            N_("x = tl.load(...).to(tl.int32), before it is multiplied"),
        ),
        cases=tuple(case(x=tensor(n, dtype="int8", low=-128, high=128)) for n in _SIZES),
        spread=False,
        reference=_energy,
        work=(launched(),),
    ),
    Task(
        "counted",
        N_("Too few are counted"),
        (
            N_("The finding is a race: programs load a counter and store it, and others do so in between."),
            N_("An atomic operation is one step: nothing happens in between."),
            N_("tl.atomic_add(out_ptr + x, 1, mask=i < n)"),
        ),
        cases=tuple(case(x=tensor(n, dtype="int32", low=0, high=8)) for n in (64, 65, 300, 1)),
        reference=_counts,
        work=(launched(),),
    ),
    Task(
        "turned",
        N_("Right for squares only"),
        (
            N_("Open the tab Origins, and click an element of the result: which elements does its value come from?"),
            N_("out has as many rows as x has columns. What is the stride of its rows?"),
            N_("out_ptr + j[None, :] * rows + i[:, None]"),
        ),
        cases=(
            case(x=tensor(16, 16)),
            case(x=tensor(20, 33)),
            case(x=tensor(40, 7)),
            case(x=tensor(49, 97)),
            case(x=tensor(1, 5)),
        ),
        contiguous=True,
        reference=lambda x: x.t().contiguous(),
        work=(launched(),),
    ),
    Task(
        "product",
        N_("The end of K"),
        (
            N_("Which sizes are right? Those with K a multiple of 16."),
            N_("K // BLOCK steps leave out the rest of K."),
            N_("tl.cdiv(K, BLOCK) steps; the masks are there already."),
        ),
        cases=(
            case(a=tensor(16, 16), b=tensor(16, 16)),
            case(a=tensor(20, 40), b=tensor(40, 24)),
            case(a=tensor(49, 5), b=tensor(5, 49)),
        ),
        reference=_product,
        tolerance=(1e-4, 1e-4),
        work=(launched(),),
    ),
    Task(
        "ring",
        N_("Too late"),
        (
            N_(
                "A program loads its neighbour's element. Has the neighbour changed it by then? The order is undefined."
            ),
            N_("In place is safe only if no other program reads what you store to."),
            N_("Store to a separate tensor: out = torch.empty_like(x)."),
        ),
        cases=tuple(case(x=tensor(n)) for n in _SIZES),
        reference=_ring,
        tolerance=(1e-6, 1e-6),
        work=(launched(),),
    ),
    Task(
        "highest",
        N_("It never ends"),
        (
            N_("A deadlock: every program waits. Which program has the lock?"),
            N_("Only a program that has found a better value releases the lock."),
            N_("tl.atomic_xchg(lock_ptr, 0) belongs outside the `if`."),
        ),
        cases=(*(case(x=tensor(n)) for n in (64, 129, 1)), case(x=_rising)),
        spread=False,
        reference=_highest,
        work=(launched(),),
    ),
)
