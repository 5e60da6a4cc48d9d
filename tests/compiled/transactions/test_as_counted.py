"""What an H100 counted of launches under Nsight Compute, with Triton 3.6: docs/transactions.md has all of it."""

from __future__ import annotations

import pytest
import triton

import triton_lab as lab
from tests.compiled.transactions.kernels import CASES
from triton_lab.examples import all_examples

COUNTERS = ("requests ld", "sectors ld", "requests st", "sectors st", "requests red", "sectors red", "conflicts")
# By case, for each of its launches. Asynchronous copies are in all but three.
COUNTED = {
    "matmul_float32": [(580, 2432, 210, 944, 0, 0, 0)],
    "matmul_backward": [(510, 2292, 140, 542, 0, 0, 21_504), (490, 2028, 150, 674, 0, 0, 0)],
    "attention_causal": [(110, 1712, 26, 400, 0, 0, 0)],
    "int4_matmul": [(198, 560, 60, 139, 0, 0, 0)],
    "conv2d": [(59, 561, 10, 48, 0, 0, 3584)],
    "a pipelined product": [(128, 2048, 32, 512, 0, 0, 0)],
    "split_k_matmul": [(2000, 5024, 0, 0, 320, 1240, 0)],
    "one element for many lanes": [(64, 288, 32, 512, 0, 0, 0)],
    "rows read, columns written": [(128, 2048, 128, 2048, 0, 0, 0)],
}
OTHER = ("matmul_backward", "conv2d")  # of which later versions of Triton make other code than was counted
RUNS = {
    **{each.name: (lambda each=each: each.check("small")) for each in all_examples()},
    **{case.name: (lambda case=case: case.run("cpu")) for case in CASES},
}


@pytest.mark.parametrize("name", COUNTED)
def test_predicted_as_an_h100_counted(name):
    if name in OTHER and not triton.__version__.startswith("3.6."):
        pytest.skip("counted of what Triton 3.6 makes of it")
    with lab.record() as launches:
        RUNS[name]()
    assert [_told(launch.compile("sm_90").transactions.counters()) for launch in launches] == COUNTED[name]


def _told(counters):
    held = [
        counters.get(f"l1tex__t_{what}_pipe_lsu_mem_global_op_{kind}.sum", 0)
        for what, kind in (name.split() for name in COUNTERS[:-1])
    ]
    return (*held, sum(value for name, value in counters.items() if "bank_conflicts" in name))
