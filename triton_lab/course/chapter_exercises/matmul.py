"""Chapter 09: blocks of a product, the order of programs, and how often data is loaded."""

from __future__ import annotations

import math
from typing import Any

from triton_lab.course.cases import Maker, case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched, loads
from triton_lab.localization import N_, _

_TILE = 16  # the smallest block of tl.dot


def _tiles(size: int) -> int:
    return -(-size // _TILE)


def _product(a: Any, b: Any) -> Any:
    return (a.double() @ b.double()).to(a.dtype)


def _shares(inputs: Any) -> int:
    """How often elements of a are loaded, if each is loaded once for each block of columns of the result."""
    *others, rows, steps = inputs["a"].shape  # tiles are whole: the rows of the last one may be loaded twice, wrapped
    return int(math.prod(others) * _tiles(rows) * _TILE * steps * _tiles(inputs["b"].shape[-1]))


def _layer(x: Any, weight: Any, bias: Any) -> Any:
    return (x.double() @ weight.double().t() + bias.double()).clamp(min=0).to(x.dtype)


def _dequantised(a: Any, b: Any, scale: Any) -> Any:
    return (a.double() @ (b.double() * scale.double()[None, :])).float()


def _bytes(*shape: int) -> Maker:
    return tensor(*shape, dtype="int8", low=-128, high=128)


def _scale(columns: int) -> Maker:
    return tensor(columns, low=0.01, high=0.1)


_CASES = (
    case(a=tensor(32, 32), b=tensor(32, 32)),
    case(a=tensor(40, 70), b=tensor(70, 50)),
    case(a=tensor(33, 65, layout="inside"), b=tensor(65, 17, layout="inside")),
    case(a=tensor(20, 45, layout="turned"), b=tensor(45, 70, layout="steps")),
    case(a=tensor(1, 5), b=tensor(5, 1)),
    case(a=tensor(50, 100, dtype="float16"), b=tensor(100, 36, dtype="float16")),
    case(
        a=tensor(16, 4000, dtype="float16", low=0.0, high=1.0),
        b=tensor(4000, 16, dtype="float16", low=0.0, high=1.0),
    ),
)

_ONCE = "a program keeps its tile of the result, and loads each block of a once for it"

EXERCISES = (
    Task(
        "matmul",
        N_("A matrix product"),
        (
            N_(
                "A program computes one tile of the result. It loops over K, and loads a block of a and a block of b "
                "in each step."
            ),
            N_(
                "The accumulator is tl.zeros((M, N), tl.float32), before the loop; "
                "tl.dot(a, b, accumulator) adds to it."
            ),
            N_(
                "Masks in the loop: the rows of a, the columns of b, and k < K - start for both, with other=0.0. Use "
                'input_precision="ieee" for full precision.'
            ),
        ),
        points=2,
        cases=_CASES,
        contiguous=True,
        reference=_product,
        tolerance=(1e-4, 1e-4),
        work=(launched(), loads("a", _shares, _ONCE)),
        copied=False,
    ),
    Question(
        "bytes_of_a",
        N_("How often is a loaded?"),
        (
            N_("Each tile of the result needs all of its rows of a. How many tiles are in a row?"),
            N_("256 columns in tiles of 32 are 8 tiles: so a is loaded 8 times, 4 bytes for each of its elements."),
        ),
        right=lambda: 8 * 256 * 256 * 4,
        tell=lambda answer, right: _("Count the tiles in a row of the result: each of them loads the same rows of a."),
    ),
    Question(
        "tile_of_program",
        N_("Which tile does program 5 compute?"),
        (
            N_("Two rows of tiles are one band. In a band programs go down first: (0, 0), (1, 0), (0, 1), (1, 1), ..."),
            N_("Program 4 begins the third column of the band."),
        ),
        right=lambda: (1, 2),
        tell=lambda answer, right: _("Write the numbers 0 to 7 into two rows of four tiles, column by column."),
    ),
    Task(
        "layer",
        N_("A layer in one kernel"),
        (
            (
                N_(
                    "It is the matrix product with one more step: add the bias and set negative values to 0 before "
                    "you store the tile."
                )
            ),
            N_(
                "The weight has the shape (outputs, inputs), as in torch. Its transpose is the same memory with the "
                "strides exchanged."
            ),
            N_("accumulator += bias[None, :]; tl.store(..., tl.maximum(accumulator, 0.0))"),
        ),
        cases=(
            case(x=tensor(32, 32), weight=tensor(32, 32), bias=tensor(32)),
            case(x=tensor(5, 70), weight=tensor(45, 70), bias=tensor(45)),
            case(x=tensor(33, 20), weight=tensor(70, 20, layout="inside"), bias=tensor(70)),
            case(x=tensor(18, 35, layout="turned"), weight=tensor(97, 35, layout="steps"), bias=tensor(97)),
        ),
        reference=_layer,
        tolerance=(1e-4, 1e-4),
        work=(launched(),),
    ),
    Task(
        "batched",
        N_("Many small products"),
        (
            N_("The grid has three dimensions: rows, columns, and the number of the product."),
            N_("A product's matrices begin at tl.program_id(2) times the first stride."),
            N_("Advance a_ptr, b_ptr and c_ptr at the start. The rest of the kernel stays the same."),
        ),
        cases=(
            case(a=tensor(3, 32, 32), b=tensor(3, 32, 32)),
            case(a=tensor(4, 20, 35), b=tensor(4, 35, 40)),
            case(a=tensor(2, 33, 5, layout="inside"), b=tensor(2, 5, 97, layout="turned")),
            case(a=tensor(2, 9, 40, layout="steps"), b=tensor(2, 40, 7)),
            case(a=tensor(1, 1, 1), b=tensor(1, 1, 1)),
        ),
        contiguous=True,
        reference=_product,
        tolerance=(1e-4, 1e-4),
        work=(launched(),),
    ),
    Task(
        "quantised",
        N_("8-bit weights"),
        (
            N_("b holds integers from -128 to 127. Each stands for b * scale, with one scale for each column."),
            N_("A block of b becomes float32 with .to(tl.float32) before it goes into tl.dot."),
            N_("The scale is constant along K: multiply the accumulator by scale[None, :], once, after the loop."),
        ),
        cases=(
            case(a=tensor(32, 32), b=_bytes(32, 32), scale=_scale(32)),
            case(a=tensor(9, 70), b=_bytes(70, 45), scale=_scale(45)),
            case(a=tensor(40, 33), b=_bytes(33, 97), scale=_scale(97)),
        ),
        ranges=("negative", "tiny"),
        reference=_dequantised,
        tolerance=(1e-4, 1e-3),
        work=(launched(),),
    ),
)
