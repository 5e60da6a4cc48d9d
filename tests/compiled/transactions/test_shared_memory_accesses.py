"""Shared memory: registers by thread against arithmetic, banks against counting, widths against the machine code."""

from __future__ import annotations

import operator
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import triton_lab as lab
from tests.compiled.transactions import by_hand
from tests.compiled.transactions.kernels import CASES
from triton_lab.compiled.transactions.ptx_parser import Ptx
from triton_lab.compiled.transactions.ptx_registers import evaluated
from triton_lab.compiled.transactions.shared_memory_accesses import shared_uses
from triton_lab.examples import all_examples

THREADS = 64
HEAD = ".version 8.0\n.visible .entry kernel()\n{\n"
EXAMPLES = {each.name: each for each in all_examples()}


def ptx(*lines):
    return Ptx(HEAD + "".join(f"\t{line}\n" for line in lines) + "\tret;\n}\n")


def uses(*lines, threads=THREADS):
    return shared_uses(ptx(*lines), threads)


# --- Registers --------------------------------------------------------------------------------------

SHIFTS = ("shl.b32", "shr.s32")
OPERATIONS = ("add.s32", "sub.s32", "mul.lo.s32", "and.b32", "or.b32", "xor.b32", *SHIFTS)

COMPUTE = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": operator.lshift,
    "shr": operator.rshift,
}


@st.composite
def programs(draw):
    """Straight code on the thread's number, and on one that all threads share."""
    lines = ["mov.u32 %r0, %tid.x;", "mov.u32 %r1, %ctaid.x;"]
    for number in range(2, draw(st.integers(3, 9))):
        opcode = draw(st.sampled_from(OPERATIONS))
        first = f"%r{draw(st.integers(0, number - 1))}"
        if opcode in SHIFTS:
            second = str(draw(st.integers(0, 4)))
        elif draw(st.booleans()):
            second = str(draw(st.sampled_from([1, 2, 4, 7, 12, 16, 64, 100, -16, 1008])))
        else:
            second = f"%r{draw(st.integers(0, number - 1))}"
        lines.append(f"{opcode} %r{number}, {first}, {second};")
    return lines


def computed(lines, shared):
    """What Python's integers make of it; `shared` is the number that all threads share."""
    held = {"%r0": np.arange(THREADS), "%r1": np.full(THREADS, shared)}
    for line in lines[2:]:
        opcode, into, *given = re.findall(r"[%\w.-]+", line)
        a, b = (held[one] if one in held else np.full(THREADS, int(one)) for one in given)
        held[into] = COMPUTE[opcode.partition(".")[0]](a, b)
    return held


@settings(max_examples=200, deadline=None)
@given(programs(), st.integers(0, 500))
def test_what_is_known_of_a_register_holds_for_every_program(lines, shared):
    name = f"%r{len(lines) - 1}"
    found = evaluated(ptx(*lines).instructions, THREADS, [name])[name]
    if found is None:
        return
    apart = computed(lines, shared)[name] - found.values
    assert (apart == apart[0]).all()
    assert apart[0] == 0 if not found.step else apart[0] % found.step == 0


def test_a_loop_adds_what_all_threads_share():
    found = evaluated(
        ptx(
            "mov.u32 %r0, %tid.x;",
            "shl.b32 %r1, %r0, 2;",
            "mov.b32 %r2, 0;",
            "$L__BB0_1:",
            "add.s32 %r3, %r1, %r2;",
            "add.s32 %r2, %r2, 512;",
            "setp.lt.s32 %p1, %r2, 4096;",
            "@%p1 bra $L__BB0_1;",
        ).instructions,
        THREADS,
        ["%r3"],
    )["%r3"]
    assert found is not None
    assert found.step == 512
    assert (found.values % 512 == np.arange(THREADS) * 4).all()


def test_blocks_know_how_many_loops_are_around_them():
    held = ptx(
        "mov.u32 %r0, %tid.x;",
        "$L__BB0_1:",
        "add.s32 %r1, %r0, 1;",
        "$L__BB0_2:",
        "add.s32 %r2, %r0, 2;",
        "@%p1 bra $L__BB0_2;",
        "add.s32 %r3, %r0, 3;",
        "@%p2 bra $L__BB0_1;",
        "add.s32 %r4, %r0, 4;",
    )
    depths = [held.depths[one.block] for one in held.instructions]
    assert depths == [0, 1, 2, 2, 1, 1, 0, 0]


def test_places_inside_of_inline_assembly_are_not_those_of_the_source():
    held = ptx(
        ".loc 1 21 9",
        "// begin inline asm",
        ".loc 1 21 9",
        "mov.u32 %r1, 0x0;",
        ".loc 1 22 9",
        "@%p1 ld.global.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ];",
        "// end inline asm",
        ".loc 2 5 1, function_name $L, inlined_at 1 30 28",
        "add.s32 %r1, %r0, 1;",
        ".loc 2 7 3, function_name $L, inlined_at 2 5 1",
        "add.s32 %r1, %r0, 1;",
    )
    chains = {one.opcode: one.chain for one in held.instructions}
    assert chains["ld.global.v4.b32"] == ((21, 9),)
    assert chains["add.s32"] == ((7, 3), (5, 1), (30, 28))
    load = next(one for one in held.instructions if one.opcode.startswith("ld"))
    assert (load.lane_bytes, load.guard, load.operands[1]) == (16, ("%p1", False), "[ %rd1 + 0 ]")


# --- Banks ------------------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from([("b8", 1), ("b16", 2), ("b32", 4), ("v2.b32", 8), ("v4.b32", 16)]),
    st.sampled_from([1, 2, 3, 4, 8, 16, 17, 32, 33]),
    st.integers(0, 5),
    st.integers(0, 63),
)
def test_conflicts_are_those_that_one_counts_by_hand(kind, stride, turn, most):
    (word, width) = kind
    (found,) = uses(
        "mov.u32 %r0, %tid.x;",
        f"xor.b32 %r1, %r0, {turn};",
        f"mul.lo.s32 %r2, %r1, {stride * width};",
        f"setp.le.u32 %p1, %r0, {most};",
        f"@%p1 st.shared.{word} [%r2], %r9;",
    )
    for warp in range(2):
        lanes = [(lane ^ turn) * stride * width if lane <= most else None for lane in range(32 * warp, 32 * warp + 32)]
        asked, ideal = by_hand.conflicts(lanes, width)
        assert (int(found.wavefronts[warp]), int(found.ideal[warp])) == (asked, ideal)


def test_a_column_of_a_row_major_tile_meets_in_one_bank():
    (found,) = uses("mov.u32 %r0, %tid.x;", "shl.b32 %r1, %r0, 7;", "ld.shared.b32 %r2, [%r1+4];", threads=32)
    assert found.conflicts == 31
    ((name, counts),) = found.parts()
    assert (name, counts.tolist()) == ("warp 0", [0, 32, *[0] * 30])


def test_matrices_of_eight_rows_are_read_one_after_the_other():
    rows = (
        "mov.u32 %r0, %tid.x;",
        "mul.lo.s32 %r1, %r0, {};",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%r2}}, [%r1];",
    )
    (straight,) = uses(*(line.format(16) for line in rows), threads=32)
    assert (int(straight.wavefronts.sum()), straight.conflicts) == (4, 0)
    (wide,) = uses(*(line.format(128) for line in rows), threads=32)
    assert (int(wide.wavefronts.sum()), wide.conflicts) == (32, 28)


def test_what_data_decide_is_not_counted():
    (found,) = uses("ld.global.b32 %r1, [%rd1];", "st.shared.b32 [%r1], %r2;")
    assert found.addresses is None
    assert found.conflicts == 0


@pytest.mark.parametrize(
    "name", ["matmul_float32", "matmul_backward", "attention_full", "int4_matmul", "conv2d", "softmax"]
)
def test_loads_are_as_wide_as_in_the_machine_code(name):
    with lab.record() as launches:
        EXAMPLES[name].check("small")
    for launch in launches:
        stages = launch.compile("sm_90").stages
        sass = "\n".join(line for line in str(stages["sass"]).splitlines() if "@!PT" not in line)
        real = Counter(re.findall(r"\b(LDS(?:\.128|\.64)?)(?:\.U\d+|\.S\d+|\.U)* ", sass))
        text = str(stages["ptx"])
        found = [
            one for one in shared_uses(Ptx(text), 128) if one.kind == "load" and "matrix" not in one.instruction.opcode
        ]
        assert Counter({16: "LDS.128", 8: "LDS.64"}.get(one.width, "LDS") for one in found) == real


def test_a_product_that_reads_a_tile_the_wrong_way_has_conflicts():
    with lab.record() as launches:
        EXAMPLES["matmul_backward"].check("small")
    found = launches[0].compile("sm_90").transactions
    assert sum(value for name, value in found.counters().items() if "bank_conflicts" in name) > 1000
    assert "bank conflicts" in " ".join(str(found).splitlines()[-3:])


def test_a_reduction_in_a_helper_is_told_at_the_line_that_calls_it():
    case = next(each for each in CASES if each.name == "a sum over a loop")
    with lab.record() as launches:
        case.run("cpu")
    launch = launches[0]
    store = launch.accesses[-1]
    shared = launch.compile("sm_90").transactions.shared
    assert {line.line for line in shared} == {store.line}
    assert all(times == 8 for line in shared for times in line.times)
