"""Scops of launches: domains and access functions against what launches recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.polyhedral.recorded import scop
from tests.wordings import Wording
from triton_lab.examples import all_examples, example
from triton_lab.polyhedral.kernels import from_launch
from triton_lab.polyhedral.kernels.access_statement import KernelStatement
from triton_lab.polyhedral.kernels.launch_scop import KernelScop

NAMES = [e.name for e in all_examples()]


@pytest.fixture(autouse=True)
def _on_cpu() -> Iterator[None]:
    with lab.target("cpu"):
        yield


@cache
def launches(name: str) -> list[Any]:
    found = example(name)
    with lab.target("cpu"), lab.record() as recorded:
        found.run(**found.inputs("small", 0, "cpu"))
    return recorded


def recorded_elements(launch: Any, statement: KernelStatement) -> dict[tuple[int, ...], int]:
    """(program ids, number of the execution, lanes) -> address, of every active lane."""
    (access,) = [a for a in launch.accesses if a.op == statement.op]
    found = {}
    for iteration in range(access.iterations):
        addresses, active = access.address(iteration), access.mask(iteration)
        for place in zip(*np.nonzero(active), strict=True):
            found[(iteration, *map(int, place))] = int(addresses[place])
    return found


def modelled_elements(launch: Any, model: KernelScop, statement: KernelStatement) -> dict[tuple[int, ...], int]:
    """The same from the statement's own domain and access function, point by point."""
    found: dict[tuple[int, ...], int] = {}
    kinds = {a.kind for a in statement.accesses}
    for access in [a for a in statement.accesses if a.kind == min(kinds)]:
        argument = launch.argument(access.array)
        rank = len(argument.shape)
        strides = argument.strides if len(access.subscripts) == rank else (1,)
        domain = access.domain
        for point in domain.points({}).tolist():
            values = dict(zip(statement.iterators, point, strict=True))
            program = 0
            for axis, name in reversed(list(enumerate(model.programs))):
                program = program * launch.grid[axis] + values[name]
            place = [int(e.evaluate(values)) for e in access.expressions]
            offset = sum(index * stride for index, stride in zip(place, strides, strict=True))
            rounds = tuple(point[len(model.programs) : len(point) - len(statement.block)])
            lanes = tuple(values[name] for name in statement.lanes)
            found[(*rounds, program, *lanes)] = argument.address + offset * argument.itemsize
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_example_is_verified_against_its_record(name: str) -> None:
    for launch in launches(name):
        assert scop(launch).verification.complete


@pytest.mark.parametrize(
    "name", ["vector_add", "add_one", "matmul_float32", "attention_causal", "prefix_sum", "conv2d"]
)
def test_points_and_subscripts_are_those_recorded(name: str) -> None:
    """Through the isl sets and the printed expressions, with nothing of the verification's own code."""
    launch = launches(name)[0]
    model = scop(launch)
    for statement in model.kernel_statements:
        modelled = modelled_elements(launch, model, statement)
        recorded = recorded_elements(launch, statement)
        # Loops that start at 0 and have the same bounds in all programs: executions are rounds.
        steps = sorted(
            {key[: len(statement.iterators) - len(model.programs) - len(statement.block)] for key in modelled}
        )
        count = {step: number for number, step in enumerate(steps)}
        head = len(steps[0])
        assert recorded == {(count[key[:head]], *key[head:]): address for key, address in modelled.items()}


@pytest.mark.parametrize("name", NAMES)
def test_everything_that_is_recorded_is_modelled_or_named_as_a_gap(name: str) -> None:
    for launch in launches(name):
        model = scop(launch)
        lines = {s.line for s in model.kernel_statements} | {g.line for g in model.gaps if g.what == "address"}
        assert {a.line for a in launch.accesses} <= lines


def test_a_wrong_model_is_found_out() -> None:
    launch = launches("matmul_float32")[0]
    right = from_launch.numbers(launch)
    for touch in right.touches:
        for wrong in _sabotaged(touch):
            touches = tuple(wrong if t is touch else t for t in right.touches)
            model = from_launch._Builder(replace(right, touches=touches)).scop()
            assert not model.verification.holds
            assert not model.races.proof.startswith("all")


def _sabotaged(touch: Any) -> Iterator[Any]:
    (piece,) = touch.pointer.pieces
    yield replace(touch, pointer=replace(touch.pointer, pieces=(replace(piece, value=piece.value + 4),)))
    yield replace(touch, pointer=replace(touch.pointer, pieces=(replace(piece, value=piece.value * 2),)))
    (case,) = touch.mask.cases
    yield replace(touch, mask=replace(touch.mask, cases=(case[1:],)))
    yield replace(touch, mask=replace(touch.mask, cases=()))


def test_the_matmul_reads_as_its_source() -> None:
    model = scop(launches("matmul_float32")[0])
    assert [(s.kind, s.line, s.argument) for s in model.kernel_statements] == [
        ("load", 62, "a_ptr"),
        ("load", 63, "b_ptr"),
        ("store", 70, "c_ptr"),
    ]
    a, b, c = model.statements
    assert a.iterators == ("pid", "start", "i", "j")
    assert a.accesses[0].text == "a_ptr[i + 64pid - 128⌊pid/2⌋, j + start]"
    assert b.accesses[0].text == "b_ptr[i + start, j + 64⌊pid/2⌋]"
    assert c.accesses[0].text == "c_ptr[i + 64pid - 128⌊pid/2⌋, j + 64⌊pid/2⌋]"
    assert not model.gaps


def test_gaps_have_line_and_reason(wording: Wording) -> None:
    model = scop(launches("sparse_matmul")[0])
    assert [(g.line, g.argument, g.cause) for g in model.gaps if g.what == "address"] == [
        (36, "columns_ptr", 35),
        (37, "values_ptr", 35),
        (38, "dense_ptr", 36),
    ]
    wording(model.gaps[-1], line=39, access="store", argument="out_ptr", cause=29)


def test_the_schedule_and_dependences_of_a_kernel_are_those_of_a_scop() -> None:
    model = scop(launches("recurrence")[0])
    assert model.schedule.is_legal
    assert "pid" in str(model.schedule)
    model.bind()


@triton.jit
def wrapping_kernel(x_ptr, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = (offsets * factor) & 63
    tl.store(x_ptr + place, 1.0 * offsets)


def test_numbers_that_wrap_around_are_not_affine(wording: Wording) -> None:
    with lab.record() as found:
        wrapping_kernel[(2,)](torch.zeros(64), 2_000_000_011, BLOCK=16)
        wrapping_kernel[(2,)](torch.zeros(64), 3, BLOCK=16)
    wraps, fits = map(scop, found)
    (gap,) = wraps.gaps
    assert gap.what == "address"
    wording(gap.reason, bits=32)
    assert not fits.gaps and fits.verification.complete


@triton.jit
def stepping_kernel(x_ptr, n, step, ROUNDS: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in range(ROUNDS):
        total += tl.load(x_ptr + offsets, mask=(offsets >= 0) & (offsets < n), other=0.0)
        offsets += step
    tl.store(x_ptr + (offsets & 63), total)


def test_numbers_that_wrap_around_in_a_loop_are_not_affine() -> None:
    with lab.record() as found:
        stepping_kernel[(2,)](torch.ones(64), 64, 2**29, ROUNDS=6, BLOCK=32)
        stepping_kernel[(2,)](torch.ones(64), 64, 2**29, ROUNDS=3, BLOCK=32)
    wraps, fits = map(scop, found)
    assert all("wraps around at 32 bits" in gap.reason for gap in wraps.gaps) and wraps.verification.holds
    assert {gap.what for gap in wraps.gaps} == {"address", "mask"}
    assert not fits.gaps and fits.verification.complete


@triton.jit
def carried_kernel(x_ptr, out_ptr, rounds, stride, BLOCK: tl.constexpr):
    lane = tl.arange(0, BLOCK)
    here, before = x_ptr + lane, x_ptr + lane
    total = tl.zeros((BLOCK,), tl.float32)
    count = 0
    for turn in range(2, rounds, 3):
        total += tl.load(here) + tl.load(before)
        before = here
        here += stride
        count += 2
        if turn > 4:
            tl.store(out_ptr + lane + count * BLOCK, total)
    tl.store(out_ptr + lane + count * BLOCK, total, mask=lane < rounds)


@pytest.mark.parametrize("rounds", [0, 2, 3, 12, 13, 14])
def test_pointers_that_go_round_a_loop_have_closed_forms(rounds: int) -> None:
    with lab.record() as found:
        carried_kernel[(1,)](torch.zeros(200), torch.zeros(400), rounds, 20, BLOCK=16)
    model = scop(found[0])
    assert not model.gaps and model.verification.complete
    assert model.general.at(found[0].accesses[-1].line)


@triton.jit
def left_behind_kernel(out_ptr, rounds, n, FORM: tl.constexpr):  # type: ignore[no-untyped-def]
    program = tl.program_id(0)
    at = 0
    if FORM == 5:
        at = tl.where(program < 2, 7, 1)
    if FORM == 7:
        rounds = program
    for turn in range(1, rounds + 1):
        if FORM == 0:
            at += 2
        if FORM == 1:
            at = turn
        if FORM == 2:
            at = tl.minimum(turn, 3)
        if FORM == 3:
            at = tl.where(program < 1, turn, 2 * turn)
        if FORM == 4:
            at = tl.where(turn < n, turn, 5)
        if FORM == 5:
            at += 3
        if FORM == 6:
            at = program
        if FORM == 7:
            at = turn + 4
        if FORM == 8:
            at = tl.where(program < 2, turn + 2, turn)
        tl.store(out_ptr + 64 + at, 2.0)
    tl.store(out_ptr + at, 1.0)


@pytest.mark.parametrize("rounds", [0, 1, 5])
@pytest.mark.parametrize("form", range(9))
def test_what_a_loop_leaves_behind_is_what_was_recorded(form: int, rounds: int) -> None:
    with lab.record() as found:
        left_behind_kernel[(3,)](torch.zeros(128), rounds, 3, FORM=form)
    model = scop(found[0])
    assert model.verification.holds
    for part in model.kernel_statements:
        if not any(gap.line == part.line for gap in model.gaps):
            recorded = set(recorded_elements(found[0], part).values())
            assert set(modelled_elements(found[0], model, part).values()) == recorded
    assert not model.gaps or form in (2, 4), model.gaps


@triton.jit
def descriptor_kernel(x_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [ROWS, COLUMNS])
    out = tl.make_tensor_descriptor(out_ptr, [columns, rows], [rows, 1], [COLUMNS, ROWS])
    row, column = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    out.store([column, row], x.load([row, column]).T)


def test_descriptors_turn_off_lanes_outside_the_tensor() -> None:
    x, out = torch.arange(20.0 * 28).reshape(20, 28), torch.zeros(28, 20)
    with lab.record() as found:
        descriptor_kernel[(3, 4)](x, out, 20, 28, ROWS=8, COLUMNS=8)
    assert torch.equal(out, x.T)
    model = scop(found[0])
    assert model.verification.complete and not model.gaps
    assert [a.text for a in model.accesses] == ["x_ptr[i + 8pid_0, j + 8pid_1]", "out_ptr[i + 8pid_1, j + 8pid_0]"]
    assert model.is_race_free


@triton.jit
def helper(x_ptr, place):
    return tl.load(x_ptr + place)


@triton.jit
def choosing_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    source = x_ptr
    if program % 2 == 1:
        source = y_ptr
    flipped = tl.where(offsets < n // 2, offsets, n - 1 - offsets)
    tl.store(out_ptr + offsets, helper(source, flipped), mask=offsets < n)


def test_a_pointer_chosen_by_the_program_reads_from_either_argument() -> None:
    x, y, out = (torch.arange(64.0) + 100 * k for k in range(3))
    with lab.record() as found:
        choosing_kernel[(4,)](x, y, out, 64, BLOCK=16)
    model = scop(found[0])
    assert model.verification.complete and not model.gaps
    load = model.kernel_statements[0]
    assert {a.array for a in load.accesses} == {"x_ptr", "y_ptr"} and load.argument is None
    assert model.footprint("x_ptr").of(1).size == 0
    np.testing.assert_array_equal(model.footprint("y_ptr").of(3), np.arange(16))


def test_footprints_and_reuse_of_a_matmul() -> None:
    launch = launches("matmul_float32")[0]
    model = scop(launch)
    reuse = model.reuse("a_ptr")
    # Two tiles of columns: each row of a is wanted twice.
    assert (reuse.touches, reuse.distinct, reuse.factor) == (7000, 3500, 2.0)
    assert reuse.matrix.tolist() == [[3200, 0, 3200, 0], [0, 300, 0, 300], [3200, 0, 3200, 0], [0, 300, 0, 300]]
    assert reuse.shared(0, 2) == 3200 and reuse.shared(0, 1) == 0
    assert model.reuse("c_ptr").factor == 1.0
    assert model.footprint("c_ptr").counts.sum() == 70 * 90


@pytest.mark.parametrize("name", ["matmul_float32", "attention_causal", "layer_norm", "split_k_matmul"])
def test_footprints_are_what_was_recorded(name: str) -> None:
    launch = launches(name)[0]
    model = scop(launch)
    for argument in {a.array for a in model.accesses}:
        for kind in ("load", "store", "atomic"):
            found = model.footprint(argument, kind)  # type: ignore[arg-type]
            pairs = set()
            for access in launch.accesses:
                if access.argument == argument and access.kind == kind:
                    for iteration in range(access.iterations):
                        active = access.mask(iteration)
                        programs = np.nonzero(active)[0]
                        pairs |= set(
                            zip(programs.tolist(), access.element(iteration=iteration)[active].tolist(), strict=True)
                        )
            assert set(zip(found.programs.tolist(), found.elements.tolist(), strict=True)) == pairs


def test_explanations_say_what_was_proved(wording: Wording) -> None:
    text = scop(launches("vector_add")[0]).explain()
    assert "store out_ptr[lane + 128pid]" in text
    assert "0 ≤ pid ≤ 7, 0 ≤ lane ≤ 127, lane + 128pid ≤ 999" in text
    assert "24 executions of 3 accesses" in text
    wording(text.splitlines()[-1], parameters="n, grid")
    assert "columns <= 100" in scop(launches("softmax")[0]).explain()


@triton.jit
def ends_kernel(out_ptr, n):  # type: ignore[no-untyped-def]
    if tl.program_id(0) == 0:
        tl.store(out_ptr, 1.0)
    if tl.program_id(0) == n - 1:
        tl.store(out_ptr + 1, 2.0)


@pytest.mark.parametrize("grid", [1, 2, 5])
def test_first_and_last_programs_of_any_grid_are_there(grid: int) -> None:
    with lab.record() as recorded:
        ends_kernel[(4,)](torch.zeros(2), 4)
    model = scop(recorded[0]).general
    assert model.parameters == ("n", "grid")
    for n in (1, 3, 9):
        counts = [statement.domain.count({"n": n, "grid": grid}) for statement in model.statements]
        assert counts == [1, int(n <= grid)]


def test_values_ask_for_other_sizes() -> None:
    launch = launches("vector_add")[0]
    model = lab.polyhedral.scop(launch, n=300, grid=3)
    assert isinstance(model, KernelScop)
    assert model.values == {"n": 300, "grid": 3}
    assert model.statements[0].domain.count(model.values) == 300


def test_what_record_gives_is_a_source_and_all_else_says_what_to_write() -> None:
    recorded = launches("vector_add")
    (launch,) = recorded
    assert str(lab.polyhedral.scop(recorded)) == repr(scop(launch)) == scop(launch).explain()
    access = launch.accesses[0]
    for source, said in (
        ([launch, launch], r"here are 2 launches.*scop\(launches\[0\]\)"),
        (access, rf"scop\(launch\)\.at\({access.line}\)"),
        (stepping_kernel, r"with lab.record\(\) as launches: kernel\[grid\]"),
        (stepping_kernel[(2,)], r"with lab.record\(\) as launches: kernel\[grid\]"),
    ):
        with pytest.raises(TypeError, match=said):
            lab.polyhedral.scop(source)
