"""Random numbers whose offsets lack the place of their elements."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from tests.planted.innocents_by_kind import each
from tests.planted.plant import plant


@triton.jit
def dropout_kernel(x_ptr, out_ptr, n, p, seed, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    at = tl.program_id(0) * BLOCK + lane
    kept = tl.rand(seed, at if MENDED else lane) > p  # BUG
    tl.store(out_ptr + at, tl.where(kept, tl.load(x_ptr + at, mask=at < n) / (1 - p), 0.0), mask=at < n)


@plant(dropout_kernel, "repeated-random", shown=True)
def each_block_has_the_same_mask(mended: bool) -> None:
    """The offsets of the random numbers are the lanes, and not the elements."""
    dropout_kernel[(4,)](torch.rand(200), torch.zeros(200), 200, 0.5, 7, MENDED=mended, BLOCK=64)


@triton.jit
def noise_kernel(out_ptr, columns, seed, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    for start in range(0, columns, BLOCK):
        column = start + lane
        offset = row * columns + column
        number = tl.randn(seed, offset if MENDED else row * columns + lane)  # BUG
        tl.store(out_ptr + offset, number, mask=column < columns)


@plant(noise_kernel, "repeated-random")
def each_step_of_a_row_has_the_same_noise(mended: bool) -> None:
    """The offsets have the row, and lack the step of the loop."""
    noise_kernel[(3,)](torch.zeros(3, 100), 100, 11, MENDED=mended, BLOCK=32)


@triton.jit
def samples_kernel(sums_ptr, seed, MENDED: tl.constexpr, BLOCK: tl.constexpr):
    sample = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.rand(seed + sample if MENDED else seed, offsets)  # BUG
    y = tl.rand(seed + 1000, sample * BLOCK + offsets)
    tl.store(sums_ptr + sample, tl.sum((x * x + y * y < 1.0).to(tl.int32)))


@plant(samples_kernel, "repeated-random")
def each_program_draws_one_sample_again(mended: bool) -> None:
    """Of a point's two coordinates one is the same in all programs; mended, each program has a seed of its own."""
    samples_kernel[(5,)](torch.zeros(5, dtype=torch.int32), 3, MENDED=mended, BLOCK=64)


@triton.jit
def drawn_kernel(out_ptr, seeds_ptr, n, seed, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """One random number for each element, each way with other numbers in each program."""
    program, lane = tl.program_id(0), tl.arange(0, BLOCK)
    at = program * BLOCK + lane
    if HOW == "randn":
        number = tl.randn(seed, at)
    elif HOW == "randint":
        number = (tl.randint(seed, at) % 100).to(tl.float32)
    elif HOW == "four at once":
        number, _second, _third, _fourth = tl.rand4x(seed, at)
    elif HOW == "a seed of its own":
        number = tl.rand(seed + program, lane)
    elif HOW == "a loaded seed":
        number = tl.rand(tl.load(seeds_ptr + program), lane)
    elif HOW == "wide offsets":
        number = tl.rand(seed, program.to(tl.int64) * BLOCK + lane)
    elif HOW == "counted from the end":
        number = tl.rand(seed, n - 1 - at)
    elif HOW == "in the second counter":
        first, _second, _third, _fourth = tl.philox(seed, lane, program, lane * 0, lane * 0)
        number = tl.uint_to_uniform_float(first)
    elif HOW == "one coin for all":
        number = tl.where(tl.rand(seed, n) > 0.5, at, 0).to(tl.float32)
    elif HOW == "a coin for each program":
        number = tl.where(tl.rand(seed, program) > 0.5, at, 0).to(tl.float32)
    elif HOW == "another generator":
        number = (tl.umulhi(lane.to(tl.uint32), 0x9E3779B9) % 10).to(tl.float32)
    else:
        number = tl.rand(seed, at)
    tl.store(out_ptr + at, number, mask=at < n)


def numbers_of_programs(how: str) -> None:
    drawn_kernel[(4,)](torch.zeros(200), torch.arange(4), 200, 5, HOW=how, BLOCK=64)


@triton.jit
def steps_kernel(out_ptr, columns, seed, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """A row of random numbers, in steps of a loop."""
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    at = row * columns + lane
    for start in range(0, columns, BLOCK):
        if HOW == "offsets that go on":
            number = tl.rand(seed, at)
        elif HOW == "a seed for each step":
            number = tl.rand(seed + row * columns + start, lane)
        else:
            number = tl.rand(seed, row * columns + start + lane)
        tl.store(out_ptr + at, number, mask=start + lane < columns)
        at += BLOCK


def numbers_of_steps(how: str) -> None:
    steps_kernel[(3,)](torch.zeros(3, 100), 100, 5, HOW=how, BLOCK=32)


@triton.jit
def blocks_in_turn_kernel(out_ptr, n, seed, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        at = block * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + at, tl.rand(seed, at), mask=at < n)


def blocks_in_turn(programs: int) -> None:
    """A grid that is smaller than the number of blocks, or has one program."""
    blocks_in_turn_kernel[(programs,)](torch.zeros(500), 500, 3, BLOCK=64)


@triton.jit
def tiles_kernel(out_ptr, rows, columns, seed, SIDE: tl.constexpr):
    i = tl.program_id(0) * SIDE + tl.arange(0, SIDE)[:, None]
    j = tl.program_id(1) * SIDE + tl.arange(0, SIDE)[None, :]
    at = i * columns + j
    tl.store(out_ptr + at, tl.rand(seed, at), mask=(i < rows) & (j < columns))


def tiles(rows: int, columns: int) -> None:
    grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 16))
    tiles_kernel[grid](torch.zeros(rows, columns), rows, columns, 9, SIDE=16)


WAYS = (
    *("rand", "randn", "randint", "four at once", "a seed of its own", "a loaded seed", "wide offsets"),
    *("counted from the end", "in the second counter", "one coin for all", "a coin for each program"),
    "another generator",
)
INNOCENTS = [
    *each("numbers of programs", numbers_of_programs, WAYS),
    *each("numbers of steps", numbers_of_steps, ("offsets that go on", "a seed for each step", "offsets of elements")),
    *each("blocks in turn", blocks_in_turn, (1, 3)),
    *each("tiles", tiles, [(20, 40), (10, 40)]),
]
