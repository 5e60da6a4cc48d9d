"""How often operations ran: as a replay counts them, and told without one where accesses tell."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from triton_lab.examples import all_examples
from triton_lab.launch.replay import execution_counts as module
from triton_lab.launch.replay.execution_counts import executed

ENDS = ("tt.return", "scf.yield", "scf.condition", "cf.br", "cf.cond_br", "scf.reduce.return", "tt.reduce.return")


@pytest.mark.parametrize("each", all_examples(), ids=lambda each: each.name)
def test_what_a_record_tells_is_what_a_replay_counts(each):
    with lab.record() as launches:
        each.check("small")
    for launch in launches:
        found = executed(launch)
        counting = module._Counting()
        module.replay(launch, observer=counting)
        names = {op.index: op.name for op in launch.executable.plan.walk()}
        for index, times in found.times.items():
            if names[index] not in ENDS:
                assert times == counting.times.get(index, 0), names[index]


def test_a_loop_that_touches_no_memory_is_counted_by_a_replay():
    @triton.jit
    def powers(x, n):
        value = tl.program_id(0) + 1
        for _ in range(n + tl.program_id(0)):
            value = value * 3 % 1000
        tl.store(x + tl.program_id(0), value)

    with lab.record() as launches:
        powers[(4,)](torch.zeros(4, dtype=torch.int32), 5)
    found = executed(launches[0])
    remainder = next(op.index for op in launches[0].executable.plan.walk() if op.name == "arith.remsi")
    assert (found.times[remainder], found.depth[remainder], found.problem) == (5 + 6 + 7 + 8, 1, "")
