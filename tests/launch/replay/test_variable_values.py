"""`launch.values`: what a kernel's variables held, against arithmetic done by hand in torch."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.examples.producer_consumer import produce_consume
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.replay_error import CannotReplay
from triton_lab.launch.replay.instrumented_copy import Variable
from triton_lab.launch.replay.variable_values import Assignment, Values


@triton.jit
def both(a):
    return a + 1, a * 2


@triton.jit
def every_kind(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """One variable of each kind."""
    pid = tl.program_id(0)
    alias = pid
    one, two = both(pid)
    unused = pid * 3  # noqa: F841 - that nobody uses it is the point
    constant = 4
    large = 4294967295
    word: tl.constexpr = "word"  # noqa: F841
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for i in range(0, n):
        for j in tl.static_range(2):
            acc += tl.load(x_ptr + offsets) * (i + j)
    merged = 0
    if pid > 1:
        merged = 5
    while merged > 3:
        merged -= 1
    tl.store(out_ptr + offsets, acc + constant + merged + one + two + alias + large)


PROGRAMS, BLOCK, N = 4, 16, 3


@pytest.fixture(scope="module")
def launch() -> Launch:
    x = torch.arange(PROGRAMS * BLOCK, dtype=torch.float32)
    with lab.record() as launches:
        every_kind[(PROGRAMS,)](x, torch.empty_like(x), N, BLOCK=BLOCK)
    x.fill_(-1)  # what happens later must not change what is remembered
    return launches[0]


def line_of(text: str) -> int:
    """The line of this file on which ``text`` stands in the kernel."""
    source, first = every_kind.raw_src, every_kind.starting_line_number
    return next(first + k for k, line in enumerate(source) if text in line)


PIDS = torch.arange(PROGRAMS)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pid", PIDS),
        ("alias", PIDS),
        ("one", PIDS + 1),
        ("two", PIDS * 2),
        ("unused", PIDS * 3),
        ("constant", torch.full((PROGRAMS,), 4)),
        ("large", torch.full((PROGRAMS,), 4294967295)),
        ("n", torch.full((PROGRAMS,), N)),
        ("offsets", PIDS[:, None] * BLOCK + torch.arange(BLOCK)),
    ],
)
def test_a_variable_holds_what_the_source_says(launch: Launch, name: str, expected: torch.Tensor) -> None:
    values = launch.values(name)
    assert values.iterations == 1
    assert values.at().tolist() == expected.tolist()


def test_an_accumulator_is_seen_in_every_iteration(launch: Launch) -> None:
    values = launch.values("acc", line=line_of("acc +="))
    assert values.iterations == 2 * N
    x = torch.arange(PROGRAMS * BLOCK, dtype=torch.float32).reshape(PROGRAMS, BLOCK)
    acc = torch.zeros_like(x)
    for iteration, factor in enumerate(i + j for i in range(N) for j in range(2)):
        acc += x * factor
        assert values.at(iteration).tolist() == acc.tolist()


def test_loop_variables_count(launch: Launch) -> None:
    assert [launch.values("i").at(k)[0] for k in range(N)] == [0, 1, 2]
    assert [launch.values("j").at(k)[0] for k in range(2 * N)] == [0, 1] * N


def test_a_branch_is_reached_by_the_programs_that_take_it(launch: Launch) -> None:
    values = launch.values("merged", line=line_of("merged = 5"))
    assert values.reached().tolist() == [False, False, True, True]
    assert values.at().tolist() == [0, 0, 5, 5]


def test_a_loop_that_ends_at_different_times_has_iterations_of_its_own(launch: Launch) -> None:
    values = launch.values("merged", line=line_of("merged -= 1"))
    assert values.iterations == 2
    assert values.at(1).tolist() == [0, 0, 3, 3]


def test_what_the_compiler_fixed_is_told(launch: Launch) -> None:
    assert launch.values("word").fixed == "word"


def test_chosen_programs_alone_are_replayed(launch: Launch) -> None:
    values = launch.values("pid", programs=[1, 3])
    assert values.at().tolist() == [1, 3]


def test_an_unknown_variable_lists_what_there_is(launch: Launch) -> None:
    with pytest.raises(LookupError, match=rf"no variable 'accc'; it has .*acc \(line {line_of('acc = ')}, "):
        launch.values("accc")


def test_a_line_without_the_variable_names_its_lines(launch: Launch) -> None:
    with pytest.raises(LookupError, match=f"'acc' .*\\bline 1 of every_kind, .*line {line_of('acc = ')}"):
        launch.values("acc", line=1)


def test_a_program_outside_the_grid_is_refused(launch: Launch) -> None:
    with pytest.raises(LookupError, match=r"number 4: .*\(4, 1, 1\) has 4 programs"):
        launch.values("pid", programs=[4])


def test_what_was_not_kept_cannot_be_replayed() -> None:
    x = torch.zeros(PROGRAMS * BLOCK)
    with lab.record(max_bytes=16) as launches:
        every_kind[(PROGRAMS,)](x, torch.empty_like(x), N, BLOCK=BLOCK)
    with pytest.raises(CannotReplay, match=r"record\(max_bytes=512\)"):
        launches[0].values("pid")


def test_a_program_that_waits_for_others_is_seen_although_these_run_too() -> None:
    x = torch.arange(300.0)
    with lab.record() as launches:
        produce_consume(x, block=128)
    sums = [float((part * part).sum()) for part in x.split(128)]
    total = launches[0].values("chunk", programs=[1])
    assert total.programs.tolist() == [1]
    assert float(total.at()[0].sum()) == sums[1]
    steps = launches[0].trace(2).steps
    assert [float(step.values) for step in steps if step.kind == "store"] == [sums[2]]


class Counted(list[Assignment]):
    """Assignments that count how often they are gone through."""

    rounds = 0

    def __iter__(self) -> Iterator[Assignment]:
        self.rounds += 1
        return super().__iter__()


def test_each_of_many_iterations_is_found_without_a_look_at_the_others() -> None:
    random = np.random.default_rng(0)
    programs, done, made = np.arange(3), [0, 0, 0], []
    held: dict[tuple[int, int], float] = {}
    for order in range(500):
        there = programs[random.random(3) < 0.6]
        values = random.random(len(there))
        for program, value in zip(there.tolist(), values.tolist(), strict=True):
            held[program, done[program]] = value
            done[program] += 1
        made.append(Assignment(order, Variable(0, "x", 1), there, values))
    assignments = Counted(made)
    found = Values("x", 1, programs, assignments, None)
    rounds = assignments.rounds
    assert found.iterations == max(done)
    for iteration in range(found.iterations):
        assert found.at(iteration).tolist() == [held.get((p, iteration), 0.0) for p in range(3)]
        assert found.reached(iteration).tolist() == [iteration < done[p] for p in range(3)]
    assert assignments.rounds == rounds
