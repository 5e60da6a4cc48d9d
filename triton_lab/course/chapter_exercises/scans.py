"""Chapter 08: mean and variance without lost digits, running sums, and a recurrence as a scan."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched, once, wide
from triton_lab.localization import N_, _


def _norm(rows: int, columns: int, **options: Any) -> Case:
    return case(x=tensor(rows, columns, **options), weight=tensor(columns, low=-2.0, high=2.0), bias=tensor(columns))


def _layer_norm(x: Any, weight: Any, bias: Any) -> Any:
    exact = x.double()
    centred = exact - exact.mean(1, keepdim=True)
    deviation = (centred.square().mean(1, keepdim=True) + 1e-5).sqrt()
    return (centred / deviation * weight.double() + bias.double()).to(x.dtype)


def _moments(x: Any) -> Any:
    exact = x.double()
    mean = exact.mean(1, keepdim=True)
    return mean[:, 0].float(), (exact - mean).square().mean(1).float()


def _running_sums(x: Any) -> Any:
    return x.double().cumsum(1).to(x.dtype)


def _recurrence(a: Any, b: Any) -> Any:
    import torch

    out = torch.empty(a.shape, dtype=torch.float64)
    h = torch.zeros(a.shape[0], dtype=torch.float64)
    for t in range(a.shape[1]):
        h = a[:, t].double() * h + b[:, t].double()
        out[:, t] = h
    return out.float()


def _steps(rows: int, columns: int, low: float = -1.0, high: float = 1.0, **options: Any) -> Case:
    return case(a=tensor(rows, columns, low=low, high=high), b=tensor(rows, columns, **options))


def _shorter_side(inputs: Any) -> int:
    """A block goes along the rows, or along the columns."""
    return int(min(next(iter(inputs.values())).shape))


_LONG = (
    case(x=tensor(3, 64)),
    case(x=tensor(4, 65)),
    case(x=tensor(5, 63, layout="inside")),
    case(x=tensor(7, 129, layout="turned")),
    case(x=tensor(3, 200, layout="steps")),
    case(x=tensor(6, 1)),
    case(x=tensor(0, 70)),
    case(x=tensor(2, 5001)),
    case(x=tensor(3, 150, low=-20, high=-5)),
)

EXERCISES = (
    Task(
        "layer_norm",
        N_("Layer norm of a row in a block"),
        (
            N_("First the mean, then the differences from it, then the mean of their squares, as in `normalise`."),
            N_("Lanes past the end are 0 when loaded, but not after the mean is subtracted: use tl.where."),
            N_("y = centred / tl.sqrt(variance + 1e-5) * weight + bias, with weight and bias loaded for each column."),
        ),
        cases=(
            _norm(5, 64),
            _norm(7, 100),
            _norm(3, 33, layout="inside"),
            _norm(9, 17, layout="turned"),
            _norm(4, 129, layout="steps"),
            _norm(6, 1),
            _norm(0, 8),
            _norm(200, 300),
            _norm(3, 40, scale=0.01),
            _norm(4, 50, low=-9, high=-2),
            _norm(3, 100, low=10000.0, high=10008.0),
            _norm(6, 70, dtype="float16"),
            _norm(3, 200, dtype="float16", low=400.0, high=402.0),  # their sum is no float16
        ),
        contiguous=True,
        reference=_layer_norm,
        tolerance=(1e-3, 5e-3),
        work=(launched(), once("x"), wide(16, _shorter_side)),
        copied=False,
    ),
    Task(
        "moments",
        N_("Mean and variance in one pass"),
        (
            N_(
                "Before the loop count, mean and M2 are 0.0. Each step makes the triple of its block, and puts both "
                "together as `together` does."
            ),
            N_(
                "The last block has fewer elements: here = tl.minimum(columns - start, BLOCK). Its mean is "
                "tl.sum(x, axis=0) / here, with other=0.0."
            ),
            N_("M2 of a block: tl.sum of the squares of tl.where(j < columns, x - middle, 0.0)."),
        ),
        cases=(*_LONG, case(x=tensor(3, 300, low=10000.0, high=10008.0)), case(x=tensor(3, 130, scale=0.01))),
        reference=_moments,
        tolerance=(1e-3, 1e-6),
        work=(launched(), once("x"), wide(64)),
        points=2,
    ),
    Task(
        "running_sums",
        N_("Running sums of long rows"),
        (
            N_("In each step: tl.cumsum of the block, plus the sum of all blocks before it."),
            N_("After each step the sum of all blocks before grows by tl.sum(x, axis=0). Load with other=0."),
            N_("tl.store(out_ptr + row * columns + j, before + tl.cumsum(x, axis=0), mask=j < columns)"),
        ),
        cases=(
            *_LONG,
            case(x=tensor(3, 100, low=9000.0, high=11000.0)),
            case(x=tensor(4, 130, dtype="int32", low=-1000, high=100)),
            case(x=tensor(2, 300, dtype="int32", low=1 << 20, high=1 << 22)),  # their sums are no float32
        ),
        contiguous=True,
        reference=_running_sums,
        tolerance=(1e-5, 1e-3),
        work=(launched(), once("x"), wide(64)),
    ),
    Question(
        "two_subtractions",
        N_("An operation that is not associative"),
        (
            N_("One after the other: ((9 - 4) - 2) - 1."),
            N_("In pairs: first 9 - 4 and 2 - 1, then the first result minus the second."),
        ),
        right=lambda: (9 - 4 - 2 - 1, (9 - 4) - (2 - 1)),
        tell=lambda answer, right: _("Write both with brackets: ((9 - 4) - 2) - 1, and (9 - 4) - (2 - 1)."),
    ),
    Task(
        "recurrence",
        N_("Solve the recurrence"),
        (
            N_("`composed` is `then` from above, with four arguments: a1, b1 of the first step, a2, b2 of the second."),
            N_("Before the first step h is 0, so h after step t is the b of steps 0 to t put together."),
            N_("a, h = tl.associative_scan((a, b), 0, composed): the second part of each pair is the result."),
        ),
        cases=(
            _steps(3, 64),
            _steps(4, 65),
            _steps(7, 100, low=0.5, high=1.0),
            _steps(5, 1),
            _steps(0, 9),
            _steps(1, 5001, low=0.0, high=1.0),
            _steps(40, 90),
            _steps(3, 80, low=-3, high=3),
            _steps(3, 70, low=0.0, high=0.9, scale=10000.0),
        ),
        reference=_recurrence,
        tolerance=(1e-4, 1e-3),
        work=(launched(), once("a"), once("b"), wide(16, _shorter_side)),
    ),
)
