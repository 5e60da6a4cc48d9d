"""Chapter 16: eight broken kernels of today's models. Six have two faults, and no tool is named."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import Case, Layout, case, tensor
from triton_lab.course.chapter_exercises.random_numbers import uniform_numbers
from triton_lab.course.chapter_exercises.tuning import autotuned
from triton_lab.course.exercise_kinds import Task
from triton_lab.course.launch_work import launched
from triton_lab.course.trial.program_shares import parts
from triton_lab.localization import N_

_LONG = 64  # terms of a sum that two programs or more must share


def _product(a: Any, b: Any) -> Any:
    return (a.double() @ b.double()).float()


def _with_bias(a: Any, b: Any, bias: Any) -> Any:
    return (a.double() @ b.double() + bias.double()).float()


def _scaled(x: Any, w: Any, scale: Any) -> Any:
    return (x.double() @ (w.double() * scale.double())).float()


def _log_sum(x: Any) -> Any:
    return x.double().logsumexp(1).float()


def _scale_gradient(x: Any, grad: Any) -> Any:
    wide = x.double()
    centred = wide - wide.mean(1, keepdim=True)
    return (grad.double() * centred / (centred.square().mean(1, keepdim=True) + 1e-5).sqrt()).sum(0).float()


def _dropout_sum(x: Any, y: Any, p: float, seed: int) -> Any:
    import torch

    kept = uniform_numbers(2 * x.numel(), seed).reshape(2, -1) > p
    return (torch.where(kept, torch.stack((x, y)).double(), 0.0).sum(0) / (1 - p)).float()


def _row_norms(x: Any) -> Any:
    return x.double().square().sum(1).sqrt().float()


def _decay(x: Any, y: Any, factor: float) -> Any:
    return (factor * x.double() + (1 - factor) * y.double()).float()


def _factors(m: int, k: int, n: int) -> Case:
    return case(a=tensor(m, k), b=tensor(k, n))


def _biased(m: int, k: int, n: int) -> Case:
    return case(a=tensor(m, k), b=tensor(k, n), bias=tensor(n, low=-3.0, high=3.0))


def _weights(m: int, k: int, n: int) -> Case:
    return case(x=tensor(m, k), w=tensor(k, n, dtype="int8", low=-128, high=128), scale=tensor(n, low=0.001, high=0.1))


def _rows(m: int, n: int) -> Case:
    return case(x=tensor(m, n), grad=tensor(m, n))


def _pair(n: int, p: float, seed: int) -> Case:
    return case(x=tensor(n), y=tensor(n), p=p, seed=seed)


def _state(m: int, n: int, factor: float, x: Layout = "close", y: Layout = "close") -> Case:
    return case(x=tensor(m, n, layout=x), y=tensor(m, n, layout=y), factor=factor)


EXERCISES = (
    Task(
        "banded_product",
        N_("The product in bands"),
        (
            N_("First find which tiles of `c` no program stores. Then find which elements of `a` no row has."),
            N_("80 rows are 5 rows of tiles: a band of 4 and a band of 1. And K = 40 is no multiple of 16."),
            N_("height = tl.minimum(rows - first, BAND); both masks of the loop need k < K."),
        ),
        cases=(
            _factors(64, 64, 64),
            _factors(80, 32, 48),
            _factors(64, 40, 48),
            _factors(5, 3, 7),
            _factors(100, 33, 50),
        ),
        reference=_product,
        tolerance=(1e-4, 1e-4),
        ranges=("negative",),
        work=(launched(),),
    ),
    Task(
        "log_sum",
        N_("The logarithm of a sum of exponentials"),
        (
            N_("Take a row of 33 numbers: what does the second block load, and what does it do to the sum?"),
            N_("A masked-off lane adds exp(0 - high). And the old sum refers to the old maximum, not to the new one."),
            N_('other=float("-inf"), and total = total * tl.exp(high - new) + part'),
        ),
        cases=(
            case(x=tensor(4, 32)),
            case(x=tensor(5, 64)),
            case(x=tensor(3, 100)),
            case(x=tensor(3, 50, low=-31.0, high=-29.0)),
            case(x=tensor(3, 50, low=-20100.0, high=-20000.0)),
            case(x=tensor(9, 33, layout="turned")),
            case(x=tensor(2, 1)),
        ),
        reference=_log_sum,
        tolerance=(1e-5, 1e-5),
        work=(launched(),),
        copied=False,
    ),
    Task(
        "scale_gradient",
        N_("The gradient of a layer norm's scale"),
        (
            N_("Which elements of `out` does more than one program change?"),
            N_("Between the load and the store of a program, another one may store. Its part is lost then."),
            N_("tl.atomic_add(out_ptr + j, part, mask=mask)"),
        ),
        cases=(_rows(1, 16), _rows(9, 32), _rows(7, 50), _rows(40, 5)),
        reference=_scale_gradient,
        tolerance=(1e-4, 1e-3),
        ranges=("negative", "tiny"),
        work=(launched(),),
    ),
    Task(
        "split_product",
        N_("A product with K in parts"),
        (
            N_("Which value does an element of `c` have before the first program adds to it?"),
            N_("Four programs add to each element. What must be added once?"),
            N_("c = torch.zeros(M, N), and `if part == 0:` before the bias is added."),
        ),
        cases=(_biased(16, 64, 16), _biased(20, 100, 33), _biased(5, 3, 7), _biased(16, 160, 32)),
        reference=_with_bias,
        tolerance=(1e-4, 1e-4),
        ranges=("negative",),
        work=(launched(), parts(lambda inputs: 2 if inputs["a"].shape[1] >= _LONG else 1)),
    ),
    Task(
        "dropout_sum",
        N_("Two dropouts in one kernel"),
        (
            N_("A random number is a function of the seed and of the offset. Which elements have the same offset?"),
            N_("`lanes` is the same in each program. And `x` and `y` must not share an offset."),
            N_("tl.rand(seed, i) for x, and tl.rand(seed, n + i) for y"),
        ),
        cases=(_pair(64, 0.5, 3), _pair(200, 0.25, 4), _pair(1, 0.5, 7), _pair(5001, 0.1, 123_456_789)),
        reference=_dropout_sum,
        tolerance=(1e-6, 1e-6),
        ranges=("negative",),
        work=(launched(),),
    ),
    Task(
        "row_norms",
        N_("The persistent norms"),
        (
            N_(
                "How many rows does each of 8 programs get, if there are 20? What does a program bring to its next row?"
            ),
            N_("20 // 8 is 2: the last 4 rows get no turn. And `total` still has the squares of the row before."),
            N_("turns = tl.cdiv(rows - tl.program_id(0), PROGRAMS), and total = tl.zeros(...) inside the loop"),
        ),
        cases=(
            case(x=tensor(8, 64)),
            case(x=tensor(16, 64)),
            case(x=tensor(20, 50)),
            case(x=tensor(3, 130)),
            case(x=tensor(11, 33, layout="turned")),
            case(x=tensor(9, 70, layout="inside")),
        ),
        reference=_row_norms,
        tolerance=(1e-5, 1e-6),
        work=(launched(),),
        copied=False,
    ),
    Task(
        "scaled_product",
        N_("Weights of eight bits"),
        (
            N_("Which axis of the result does a scale belong to? Compare two columns of the result with torch's."),
            N_("`i` counts the rows of the result, and `j` its columns. scale has an element for each column."),
            N_("tl.load(scale_ptr + j, mask=j < N, other=0.0)[None, :]"),
        ),
        cases=(_weights(16, 16, 16), _weights(20, 40, 33), _weights(33, 20, 7), _weights(1, 5, 50)),
        reference=_scaled,
        tolerance=(1e-4, 1e-4),
        ranges=(),
        work=(launched(),),
    ),
    Task(
        "decay",
        N_("The running mean"),
        (
            N_("How often does the first call change x? And which elements belong to x, if it is a part of a tensor?"),
            N_("Each trial of the autotuner runs on your x. And the next row is x_0 elements further on."),
            N_('restore_value=["x_ptr"], and at = x_ptr + row * x_0 + j * x_1'),
        ),
        cases=(
            _state(3, 64, 0.5),
            _state(5, 40, 0.9, x="inside"),
            _state(4, 129, 0.25, x="turned", y="steps"),
            _state(1, 1, 0.75),
        ),
        reference=_decay,
        changes=("x",),
        tolerance=(1e-6, 1e-5),
        work=(launched(), autotuned),
    ),
)
