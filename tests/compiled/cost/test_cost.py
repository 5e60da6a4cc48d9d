"""Bytes, operations, occupancy and roofs: against counting by hand, and against what calculators of NVIDIA's say."""

from __future__ import annotations

import dataclasses

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.wordings import Wording
from triton_lab.compiled.cost import GPUS, Roof, gpu, occupancy
from triton_lab.compiled.cost.cost import told
from triton_lab.compiled.resource_facts import Metadata
from triton_lab.examples import all_examples
from triton_lab.examples.matmul import matmul
from triton_lab.examples.vector_add import add

EXAMPLES = {each.name: each for each in all_examples()}
NONE = Metadata(32, 0, 0, 0, None, None, None, 4, 32, 3, 1)


def recorded(run, target="sm_90"):
    with lab.record() as launches:
        run()
    return [launch.compile(target) for launch in launches]


@pytest.mark.parametrize("name", ["vector_add", "softmax", "matmul_float16", "sparse_matmul", "histogram", "add_one"])
def test_bytes_that_must_be_moved_are_those_of_each_byte_once(name):
    for compiled in recorded(lambda: EXAMPLES[name].check("small")):
        read, written, asked = set(), set(), 0
        for access in compiled.launch.accesses:
            for iteration in range(access.iterations):
                on = access.mask(iteration)
                for address in access.address(iteration)[on].tolist():
                    touched = range(address, address + access.itemsize)
                    asked += access.itemsize
                    read.update(touched if access.kind != "store" else ())
                    written.update(touched if access.kind != "load" else ())
        assert compiled.cost.bytes.ideal == len(read) + len(written)
        assert compiled.cost.bytes.asked == asked


def test_vector_addition_computes_one_sum_an_element():
    (compiled,) = recorded(lambda: add(torch.zeros(1 << 16), torch.zeros(1 << 16), block=1024))
    cost = compiled.cost
    assert (cost.arithmetic.floats, cost.arithmetic.products) == (1 << 16, {})
    assert (cost.bytes.ideal, cost.bytes.asked, cost.bytes.moved) == (3 << 18, 3 << 18, 3 << 18)
    assert cost.intensity == 1 / 12
    assert cost.kind == "float32"


def test_a_product_counts_two_operations_for_each_number_of_the_inner_dimension():
    a, b = torch.zeros(256, 128, dtype=torch.float16), torch.zeros(128, 192, dtype=torch.float16)
    (compiled,) = recorded(lambda: matmul(a, b))
    assert compiled.cost.arithmetic.products == {"float16": 2 * 256 * 192 * 128}
    assert compiled.cost.kind == "float16"


def test_a_reduction_joins_all_but_one():
    @triton.jit
    def total(x, y, N: tl.constexpr):
        k = tl.arange(0, N)
        tl.store(y + tl.program_id(0), tl.sum(tl.load(x + tl.program_id(0) * N + k)))

    (compiled,) = recorded(lambda: total[(4,)](torch.zeros(4 * 64), torch.zeros(4), N=64))
    assert compiled.cost.arithmetic.floats == 4 * 63


def test_what_runs_in_a_loop_counts_as_often():
    @triton.jit
    def powers(x, n, N: tl.constexpr):
        k = tl.arange(0, N)
        value = tl.load(x + k)
        for _ in range(n):
            value = value * 1.5
        tl.store(x + k, value)

    (compiled,) = recorded(lambda: powers[(1,)](torch.zeros(64), 7, N=64))
    assert compiled.cost.arithmetic.floats == 7 * 64


def test_lines_add_up_to_the_whole():
    for compiled in recorded(lambda: EXAMPLES["rms_norm"].check("small")):
        cost = compiled.cost
        assert sum(line.moved for line in cost.lines) == cost.bytes.moved
        assert sum(line.operations for line in cost.lines) == cost.arithmetic.total
        assert len(cost.listing()) == 1 + len(cost.lines)
        assert all((line.instructions or 0) >= 0 for line in cost.lines)
        loads = [access.line for access in cost.accesses]
        assert all(line.moved for line in cost.lines if line.number in loads)


# --- Occupancy: (registers, shared memory, warps) -> programs, as CUDA's calculator has them ------------

NVIDIA = [
    ("sm_90", 32, 0, 4, 16, "warps"),
    ("sm_90", 255, 0, 4, 2, "registers"),
    ("sm_90", 64, 0, 8, 4, "registers"),
    ("sm_90", 168, 0, 4, 3, "registers"),
    ("sm_90", 32, 100 << 10, 4, 2, "shared memory"),
    ("sm_90", 32, 227 << 10, 4, 1, "shared memory"),
    ("sm_90", 16, 0, 1, 32, "programs"),
    ("sm_80", 40, 48 << 10, 4, 3, "shared memory"),
    ("sm_80", 128, 0, 8, 2, "registers"),
    ("sm_120", 32, 0, 4, 12, "warps"),
    ("sm_120", 32, 0, 1, 24, "programs"),
    ("gfx942", 128, 0, 4, 4, "registers"),
    ("gfx942", 64, 32 << 10, 4, 2, "shared memory"),
]


@pytest.mark.parametrize(("target", "registers", "shared", "warps", "programs", "by"), NVIDIA)
def test_occupancy(target, registers, shared, warps, programs, by):
    found = occupancy(target, dataclasses.replace(NONE, registers=registers, shared=shared, warps=warps))
    assert found.programs == programs
    assert by in found.by


def test_what_is_too_large_for_a_multiprocessor_is_told(wording: Wording):
    wording(occupancy("sm_80", dataclasses.replace(NONE, shared=200 << 10)), what="shared memory")


def test_occupancy_of_an_unknown_target_is_not_known(wording: Wording):
    with pytest.raises(LookupError) as caught:
        occupancy("gfx1200", NONE)
    wording(caught.value, target="gfx1200")


# --- Roofs ------------------------------------------------------------------------------------------


def test_a_launch_stands_under_the_slope_or_under_the_flat_roof(wording: Wording):
    (small,) = recorded(lambda: add(torch.zeros(1024), torch.zeros(1024), block=128))
    roof = small.cost.roof("H100")
    assert roof.memory_bound
    assert roof.rate == pytest.approx(3350e9 / 12)
    assert roof.seconds == pytest.approx(3 * 4096 / 3350e9)
    with pytest.raises(LookupError) as caught:
        small.cost.roof("V100")
    wording(caught.value, name="V100", known=", ".join(one.name for one in GPUS))


def test_roofs_and_totals_have_three_digits_and_a_prefix(wording: Wording):
    h100 = gpu("H100")
    roof = Roof(h100, 1e4, h100.rate("float8"), "float8", h100.rate("float8"), 1e-3)
    wording(roof, type="float8", peak="1.98 Pflop/s", time="1 ms")
    assert [told(value, "byte") for value in (1, 999, 1000, 999_999)] == ["1 byte", "999 bytes", "1 kB", "1 MB"]
    assert told(1_050_000, "operation") == "1.05 M operations"


def test_what_is_known_of_each_gpu():
    for one in GPUS:
        assert one.source
        assert one.rate("float32") <= one.rate("bfloat16")
        assert gpu(one.name.lower()) is one


def test_a_launch_that_was_stopped_before_it_moved_anything_says_so(wording: Wording):
    @triton.jit
    def strays(x):
        tl.store(x + 100 + tl.program_id(0), 1.0)

    with lab.record() as launches, pytest.raises(lab.KernelError):
        strays[(2,)](torch.zeros(4))
    cost = launches[0].compile("sm_90").cost
    wording(dict(cost.rows())["intensity"])


def test_amd_has_a_cost_without_sectors():
    (compiled,) = recorded(lambda: add(torch.zeros(1000), torch.zeros(1000), block=128), "gfx942")
    cost = compiled.cost
    assert cost.bytes.moved is None
    assert cost.roof().gpu.name == "MI300X"
    assert "not known" in dict(cost.rows())["bytes in sectors"]
