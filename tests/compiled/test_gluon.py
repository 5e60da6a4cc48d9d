"""Gluon kernels compiled for GPUs, held against Triton's own compilation in this process."""

from __future__ import annotations

import re

import pytest
import torch
import triton
from triton.compiler.errors import CompilationError

import triton_lab as lab
from tests.gluon import kernels
from tests.planted import asynchronous_layouts
from triton_lab.compiled.architecture import architecture
from triton_lab.compiled.request import source_of
from triton_lab.launch.partition_registers import LEAST, PartitionRegisters, partition_registers

BLOCKED = kernels.gl.BlockedLayout([4], [32], [4], [0])
pytestmark = pytest.mark.usefixtures("cache")
# (kernel, signature, constants, what its machine code must have)
CASES = {
    "scale": (kernels.scale, "*fp32:16, *fp32:16, i32, fp32", {"BLOCK": 1024, "layout": BLOCKED}, ("ptx", "mul.")),
    "copied": (kernels.copied, "*fp32:16, *fp32:16, i32", {"BLOCK": 1024, "layout": BLOCKED}, ("ptx", "cp.async")),
    "product": (kernels.product, kernels.product_types(), {"num_warps": 4}, ("sass", "HGMMA")),
    "specialized": (kernels.specialized, "*fp32, *fp32", {"BLOCK": 128, "N": 4}, ("ttgir", "ttg.warp_specialize")),
}


@pytest.mark.parametrize("name", CASES)
def test_the_stages_are_those_of_triton_in_this_process(name: str, monkeypatch, tmp_path) -> None:
    kernel, signature, constants, (stage, sign) = CASES[name]
    ours = lab.compile(kernel, signature, constants, "sm_90")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "other"))
    source = source_of(kernel, signature, constants)
    real = triton.compile(source, target=architecture("sm_90").target, options={"enable_fp_fusion": True})
    assert ours.stages["ptx"] == real.asm["ptx"] and ours.metadata.shared == real.metadata.shared
    assert sign in str(ours.stages[stage])


def test_lines_layouts_and_passes_are_those_of_the_kernel() -> None:
    kernel, signature, constants, _ = CASES["copied"]
    made = lab.compile(kernel, signature, constants, "sm_90")
    first = kernels.copied.starting_line_number
    allocation = next(n for n, text in enumerate(kernels.copied.raw_src) if "allocate_shared_memory" in text)
    rows = {row.line: row.operation for row in made.layouts}
    assert rows[first + allocation] == "ttg.local_alloc"
    assert any(one.changed and one.name == "GluonInline" for one in made.passes)
    assert made.lines.of("ttgir", first + allocation)
    assert {"ttgir", "sass"} <= set(made.plot.stages().compiled.stages)


def test_layouts_that_do_not_fit_name_their_line() -> None:
    wrong = next(n for n, text in enumerate(kernels.mismatched.raw_src) if "+ gl.load" in text)
    with pytest.raises(CompilationError, match="layout") as caught:
        lab.compile(kernels.mismatched, "*fp32, *fp32", {}, "sm_90")
    assert caught.value.node.lineno == wrong + 1 - kernels.mismatched.raw_src.index("@gluon.jit\n") - 1


def test_types_with_commas_stand_in_a_text() -> None:
    types = kernels.product_types()
    source = source_of(kernels.product, ", ".join(types.values()), {"num_warps": 4})
    assert source.signature["a_desc"] == types["a_desc"].replace(" ", "")


def test_a_block_too_narrow_for_its_layout_is_refused_before_the_compiler_ends_the_process() -> None:
    with pytest.raises(ValueError, match="a_desc"):
        lab.compile(kernels.product, kernels.product_types(step=16), {"num_warps": 4}, "sm_90")


def test_a_launch_is_compiled_as_gluon_from_its_first_line_on() -> None:
    with lab.record() as launches:
        asynchronous_layouts.shared_out_kernel[(1,)](torch.zeros(64, 128))
    made = launches[0].compile("sm_90")
    alone = lab.compile(asynchronous_layouts.shared_out_kernel, "*fp32:16", {}, "sm_90")
    assert next(iter(made.stages)) == "glir" and made.stages["ptx"] == alone.stages["ptx"]


def handed_out(kernel, *given, **constants) -> tuple[PartitionRegisters, str]:
    with lab.record() as launches:
        kernel[(1,)](*given, **constants)
    (found,) = partition_registers(launches[0].executable.plan)
    return found, str(launches[0].compile("sm_90").stages["ptx"])


def test_registers_are_handed_out_as_the_compiler_does() -> None:
    found, ptx = handed_out(asynchronous_layouts.greedy_kernel, MENDED=True)
    assert (found.asked, found.left) == ((168, 168), 168) and {"168", "256"} >= raised(ptx)
    found, ptx = handed_out(asynchronous_layouts.greedy_kernel, MENDED=False)
    assert found.left < LEAST and not raised(ptx)
    found, ptx = handed_out(asynchronous_layouts.shared_out_kernel, torch.zeros(64, 128))
    assert (found.needs, found.left) == ((64, 0), 256) and raised(ptx) == {"256"}


def raised(ptx: str) -> set[str]:
    """The registers that warps get more of."""
    return set(re.findall(r"setmaxnreg\.inc\.sync\.aligned\.u32\s+(\d+)", ptx))


def test_what_does_not_fit_is_spilled() -> None:
    spilled = []
    for mended in (True, False):
        with lab.record() as launches:
            asynchronous_layouts.narrow_kernel[(1,)](torch.zeros(64, 128), MENDED=mended)
        spilled.append(launches[0].compile("sm_90").metadata.spills)
    assert spilled[0] == 0 < spilled[1]
