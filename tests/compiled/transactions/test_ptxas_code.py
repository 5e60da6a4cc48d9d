"""What ptxas makes of atomics and of loads alike: by its machine code, and by rule where there is no text of it."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.compiled.transactions.kernels import CASES
from triton_lab.compiled.transactions.ptx_parser import Ptx
from triton_lab.compiled.transactions.ptxas_code import PtxasCode
from triton_lab.examples import all_examples

ATOM, RED = (f"l1tex__t_requests_pipe_lsu_mem_global_op_{kind}.sum" for kind in ("atom", "red"))


@triton.jit
def counting(x, y, OP: tl.constexpr, SEM: tl.constexpr, USED: tl.constexpr):
    k = tl.arange(0, 128)
    if OP == "add":
        found = tl.atomic_add(x + k, 1, sem=SEM)
    elif OP == "max":
        found = tl.atomic_max(x + k, 1, sem=SEM)
    elif OP == "and":
        found = tl.atomic_and(x + k, 1, sem=SEM)
    elif OP == "xchg":
        found = tl.atomic_xchg(x + k, 1, sem=SEM)
    else:
        found = tl.atomic_cas(x + k, k * 0, k * 0 + 1, sem=SEM)
    if USED:
        tl.store(y + k, found)


def counted(op, sem, used, dtype=torch.int32):
    x, y = torch.zeros(128, dtype=dtype), torch.zeros(128, dtype=dtype)
    with lab.record() as launches:
        counting[(1,)](x, y, OP=op, SEM=sem, USED=used)
    return launches[0].compile("sm_90")


SEMS = ("relaxed", "release", "acquire", "acq_rel")
ATOMICS = [*(("add", sem, False) for sem in SEMS), ("add", "relaxed", True), ("max", "release", True)]
ATOMICS += [(op, "relaxed", False) for op in ("max", "and", "xchg", "cas")]


@pytest.mark.parametrize(("op", "sem", "used"), ATOMICS)
def test_an_atomic_whose_result_nobody_uses_asks_for_none(op, sem, used):
    compiled = counted(op, sem, used)
    red = op in ("add", "max", "and") and sem in ("relaxed", "release") and not used
    assert any(name.startswith("RED") for name in compiled.metadata.opcodes) == red
    assert any(name.startswith("ATOM") for name in compiled.metadata.opcodes) != red
    held = compiled.transactions.counters()
    assert (held.get(RED, 0), held.get(ATOM, 0)) == ((4, 0) if red else (0, 4))
    # And the rule says it without the machine code.
    machine = PtxasCode(compiled.transactions.ptx, {})
    # (Later versions of Triton write `red` themselves.)
    atomics = [one for one in machine.ptx.instructions if one.parts[0] in ("atom", "red")]
    assert atomics
    assert [machine.reduces(one) for one in atomics] == [red] * len(atomics)
    assert PtxasCode.of(machine.ptx, compiled.stages).made


def test_half_a_word_cannot_be_added_without_an_answer():
    compiled = counted("add", "relaxed", False, torch.float16)
    machine = PtxasCode(compiled.transactions.ptx, {})
    atomics = [one for one in machine.ptx.instructions if one.parts[0] in ("atom", "red")]
    red = any(name.startswith("RED") for name in compiled.metadata.opcodes)
    assert [machine.reduces(one) for one in atomics] == [red] * len(atomics)


def test_what_another_load_fetches_is_known_by_the_machine_code():
    (case,) = [each for each in CASES if each.name == "one element for many lanes"]
    with lab.record() as launches:
        case.run("cpu")
    compiled = launches[0].compile("sm_90")
    machine = PtxasCode.of(compiled.transactions.ptx, compiled.stages)
    wide = [one for one in machine.ptx.instructions if one.opcode == "ld.global.v4.b32"]
    assert [machine.merged(one) for one in wide] == [False, True]
    assert sum(name == "LDG.E.128" for name in compiled.metadata.opcodes.elements()) == 1


def test_without_a_text_of_the_machine_code_nothing_is_known_to_be_merged():
    text = "ld.global.b32 { %r1 }, [ %rd1 + 0 ];\nld.global.b32 { %r2 }, [ %rd1 + 0 ];"
    machine = PtxasCode.of(Ptx(text), {})
    first, second = machine.ptx.instructions
    assert (first.line, second.line) == (1, 2)
    assert not machine.merged(first)
    assert not machine.merged(second)
    line = PtxasCode(machine.ptx, {1: ("LDG.E",)})
    assert [line.merged(first), line.merged(second)] == [False, True]


def test_a_load_that_another_does_is_not_counted_twice():
    (case,) = [each for each in CASES if each.name == "one element for many lanes"]
    with lab.record() as launches:
        case.run("cpu")
    row, element, _ = launches[0].compile("sm_90").transactions.transfers
    # Rows of 64 floats, 16 bytes a lane, 8 programs of 4 warps: both halves of 16 alike rows are the same addresses.
    assert (row.requests, row.sectors) == (8 * 4, 8 * 4 * 64 * 4 // 32)
    assert (element.requests, element.sectors) == (32, 32)


def test_loads_that_wait_for_a_branch_are_told():
    with lab.record() as launches:
        example = next(each for each in all_examples() if each.name == "grouped_gemm")
        example.check("small")
    found = launches[0].compile("sm_90").transactions
    machine = PtxasCode.of(found.ptx, found.stages)
    waiting = [one for one in found.ptx.instructions if machine.waits(one)]
    # Of an example's sizes, the depth of a product and the addresses are wanted for a tile alone.
    assert [one.opcode for one in waiting] == ["ld.global.b32", *["ld.global.b64"] * 3]
    assert [one.problem != "" for one in found.transfers[:6]] == [False, False, True, True, True, True]
    assert not PtxasCode(found.ptx, machine.made).waits(waiting[0])
    assert "inside a branch" in found.problems[0]
