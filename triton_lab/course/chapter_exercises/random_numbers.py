"""Chapter 12: random numbers as a function of seed and offset, dropout, and its backward pass without a mask."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import Case, case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import atomics, launched, once, wide
from triton_lab.localization import N_, _

_ELEMENTS = 1_000_000


def uniform_numbers(n: int, seed: int) -> Any:
    """Numbers 0 to n - 1 of a seed, as `tl.rand` makes them: 31 of Philox's 32 bits, from 0 up to 1."""
    import torch

    from triton_lab.examples.dropout import philox

    bits = philox(seed, torch.arange(n))
    folded = torch.where(bits >= 2**31, 2**32 - 1 - bits, bits)
    return folded.float() * 4.6566127342e-10


def _uniform(rows: int, columns: int, seed: int) -> Any:
    return uniform_numbers(rows * columns, seed).reshape(rows, columns)


def _factor(x: Any, p: float, seed: int) -> Any:
    """What each element is multiplied by, in float64."""
    import torch

    keep = uniform_numbers(x.numel(), seed).reshape(x.shape) > p
    return torch.where(keep, 1 / (1 - p), 0.0).double()


def _dropout(x: Any, p: float, seed: int) -> Any:
    return (x.double() * _factor(x, p, seed)).to(x.dtype)


def _gradient_of_squares(x: Any, p: float, seed: int) -> Any:
    return (2 * x.double() * _factor(x, p, seed).square()).to(x.dtype)


def _darts(n: int, seed: int) -> Any:
    numbers = uniform_numbers(2 * n, seed).reshape(n, 2)
    return (numbers.square().sum(1) < 1).sum().int().reshape(1)


def _matrix(rows: int, columns: int, p: float, seed: int, **options: Any) -> Case:
    return case(x=tensor(rows, columns, **options), p=p, seed=seed)


def _vector(n: int, p: float, seed: int, **options: Any) -> Case:
    return case(x=tensor(n, **options), p=p, seed=seed)


EXERCISES = (
    Task(
        "uniform",
        N_("A matrix of random numbers"),
        (
            N_("tl.rand(seed, offsets) takes a block of offsets. Which offset does element (i, j) have?"),
            N_("Treat the matrix as one long row: offsets = program * BLOCK + tl.arange(0, BLOCK), as in chapter 00."),
            N_("tl.store(out_ptr + offsets, tl.rand(seed, offsets), mask=offsets < n)"),
        ),
        cases=(
            case(rows=8, columns=32, seed=3),
            case(rows=7, columns=37, seed=3),
            case(rows=1, columns=1, seed=0),
            case(rows=0, columns=5, seed=1),
            case(rows=1, columns=5001, seed=12345),
            case(rows=200, columns=300, seed=2_000_000_000),
        ),
        reference=_uniform,
        work=(launched(),),
    ),
    Task(
        "dropout",
        N_("Dropout"),
        (
            N_("The offset of the random number is the place in the matrix, and not the address: i * columns + j."),
            N_("If a program has a part of the long row `at`, then i is at // columns and j is at % columns."),
            N_("keep = tl.rand(seed, at) > p, then store tl.where(keep, x / (1 - p), 0.0)."),
        ),
        cases=(
            _matrix(8, 32, 0.5, 3),
            _matrix(7, 37, 0.25, 4),
            _matrix(9, 17, 0.5, 5, layout="turned"),
            _matrix(6, 21, 0.75, 6, layout="inside"),
            _matrix(4, 129, 0.1, 7, layout="steps"),
            _matrix(3, 50, 0.0, 8),
            _matrix(1, 1, 0.5, 3),
            _matrix(0, 9, 0.5, 3),
            _matrix(1, 257, 0.4, 12),
            _matrix(1, 5001, 0.3, 123_456_789),
            _matrix(5, 60, 0.5, 9, low=-30, high=-3),
            _matrix(4, 70, 0.2, 10, low=9000.0, high=11000.0),
            _matrix(6, 40, 0.5, 11, dtype="float16"),
        ),
        reference=_dropout,
        tolerance=(1e-6, 1e-6),
        work=(launched(), once("x"), wide(16, lambda inputs: max(inputs["x"].shape))),
        copied=False,
    ),
    Task(
        "gradient_of_squares",
        N_("A gradient with the mask drawn again"),
        (
            N_("If an element stayed, its part of the loss is (x * factor) ** 2, with factor = 1 / (1 - p)."),
            N_("The derivative of that is 2 * x * factor ** 2. It is 0 where the element was dropped."),
            N_("factor = tl.where(tl.rand(seed, at) > p, 1 / (1 - p), 0.0); store 2 * x * factor * factor"),
        ),
        cases=(
            _vector(256, 0.5, 3),
            _vector(257, 0.25, 4),
            _vector(1, 0.5, 2),
            _vector(0, 0.5, 2),
            _vector(5001, 0.1, 987_654_321),
            _vector(300, 0.75, 5, low=-20, high=-2),
            _vector(100, 0.0, 6),
        ),
        reference=_gradient_of_squares,
        tolerance=(1e-6, 1e-6),
        work=(launched(), once("x"), wide(64)),
    ),
    Question(
        "bytes_of_dropout",
        N_("What the mask would cost"),
        (
            N_("One pass with a seed: each element is loaded, 4 bytes, and a result is stored, 4 bytes."),
            N_("With a mask, one byte more for each element, in both passes: stored in one, loaded in the other."),
        ),
        right=lambda: (2 * (4 + 4 + 1) * _ELEMENTS, 2 * (4 + 4) * _ELEMENTS),
        tell=lambda answer, right: _(
            "Count for one element: what does each of the two passes load and store? Then multiply by a million."
        ),
    ),
    Task(
        "darts",
        N_("Count darts"),
        (
            N_("Two calls of tl.rand: one with the block 2 * i, one with 2 * i + 1."),
            N_("hit is a block of truth values. Lanes past n must not count: (i < n) & (...)."),
            N_("tl.atomic_add(out_ptr, tl.sum(hit.to(tl.int32), axis=0)), into a result that begins with zero"),
        ),
        cases=(
            case(n=256, seed=3),
            case(n=257, seed=4),
            case(n=1, seed=5),
            case(n=5001, seed=123_456_789),
        ),
        reference=_darts,
        work=(launched(), atomics(lambda inputs: -(-int(inputs["n"]) // 64))),
    ),
)
