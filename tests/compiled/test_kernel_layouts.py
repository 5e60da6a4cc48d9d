"""Which layouts a compiled kernel has: values with their lines and names, and what changes of layouts move."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import triton_lab as lab
from tests.compiled.layouts.collect import spelled
from tests.compiled.layouts.oracle import oracle
from triton_lab.compiled.kernel_layouts import KernelLayouts
from triton_lab.compiled.layouts import BankUse, Conversion, Layout
from triton_lab.compiled.layouts.layout_parser import types_of
from triton_lab.compiled.lines.stage_lines import StageLines
from triton_lab.compiled.user_sources import Source

TARGETS = ("sm_80", "sm_90", "sm_100", "sm_120", "gfx942", "gfx950", "gfx1200")


@triton.jit
def turned(x_ptr, y_ptr, N: tl.constexpr):
    rows = tl.arange(0, N)
    columns = tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :])
    total = tl.sum(x, 1)
    product = tl.dot(x, x)
    tl.store(y_ptr + columns[:, None] + rows[None, :] * N, product + total[:, None])


def line_of(text: str) -> int:
    source, first = turned.raw_src, turned.starting_line_number
    return first + next(k for k, line in enumerate(source) if text in line)


@pytest.fixture(scope="module")
def compiled() -> dict[str, lab.Compiled]:
    with lab.target("cpu"), lab.record() as launches:
        turned[(1,)](torch.ones(32, 32, dtype=torch.float16), torch.zeros(32, 32), N=32)
    made = launches[0].compile(TARGETS)
    return {one.target: one for one in made}


@pytest.mark.parametrize("target", TARGETS)
def test_values_have_their_line_name_shape_and_type(compiled: dict[str, lab.Compiled], target: str) -> None:
    layouts = compiled[target].layouts
    (loaded,) = [each for each in layouts if each.operation in ("tt.load", "amdg.buffer_load")]
    assert (loaded.line, loaded.variable) == (line_of("x = "), "x")
    assert (loaded.shape, loaded.element, loaded.layout.bits) == ((32, 32), "f16", 16)
    assert any(each.variable == "product" and each.element == "f32" for each in layouts.of(line_of("product =")))
    lines = compiled[target].stages["ttgir"].splitlines()  # type: ignore[union-attr]
    for each in layouts:
        assert each.operation in lines[each.number - 1] or lines[each.number - 1].lstrip().startswith("})")


@pytest.mark.parametrize("target", TARGETS)
def test_every_change_of_a_layout_is_there_with_its_cost(compiled: dict[str, lab.Compiled], target: str) -> None:
    layouts = compiled[target].layouts
    text = str(compiled[target].stages["ttgir"])
    assert len(layouts.conversions) == text.count("ttg.convert_layout %") > 0
    for each in layouts.conversions:
        assert isinstance(each.moves, Conversion) and each.before is not None
        assert each.moves == each.before.to(each.layout) and each.cost


@pytest.mark.parametrize("target", TARGETS)
def test_layouts_are_where_triton_says(compiled: dict[str, lab.Compiled], target: str) -> None:
    """Basis by basis: all that are in registers, by what Triton itself gives for their types."""
    asked = set()
    with oracle() as triton_says:
        for told in spelled(str(compiled[target].stages["ttgir"])):
            (each,) = types_of(told)
            layout = Layout(each.kind, each.shape)
            if layout.where == "registers":
                linear = layout.linear
                sizes = {"lane": linear.size("lane"), "warp": linear.size("warp")}
                bases = {name: [list(basis) for basis in bases] for name, bases in linear.ins}
                assert triton_says.ask(told, **sizes) == bases, told
                asked.add(layout)
    assert {each.layout for each in compiled[target].layouts if each.layout.where == "registers"} == asked


def test_accesses_to_shared_memory_tell_bank_conflicts(compiled: dict[str, lab.Compiled]) -> None:
    stored = [each for each in compiled["sm_90"].layouts if isinstance(each.moves, BankUse)]
    assert stored and all("wavefronts" in each.cost for each in stored)
    # The rule for banks is NVIDIA's.
    assert {each.cost for each in compiled["gfx942"].layouts if each.operation == "ttg.local_load"} <= {
        "from shared memory"
    }


def of_text(ttgir: str) -> KernelLayouts:
    return KernelLayouts("f", ttgir, StageLines({"ttgir": ttgir}, [Source("f", "f.py", 1, "def f():\n" * 9)]))


def test_what_an_operation_makes_is_told_and_not_what_it_takes() -> None:
    blocked = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"
    found = of_text(
        f"#blocked = {blocked}\n"
        '#loc1 = loc("f.py":3:1)\n'
        '#loc2 = loc("mask"(#loc1))\n'
        "  %0 = tt.addptr %p, %o : tensor<128x!tt.ptr<f16>, #blocked>, tensor<128xi32, #blocked> loc(#loc1)\n"
        "  %1 = tt.load %0 : tensor<128x!tt.ptr<f16>, #blocked> loc(#loc1)\n"
        "  %2 = arith.cmpi slt, %a, %b : tensor<128xi32, #blocked> loc(#loc2)\n"
        "  %3 = arith.extf %1 : tensor<128xf16, #blocked> to tensor<128xf32, #blocked> loc(#loc1)\n"
        '  %4 = "tt.reduce"(%3) <{axis = 0 : i32}> ({\n'
        "  }) : (tensor<128xf32, #blocked>) -> f32 loc(#loc1)\n"
        "  tt.store %0, %1 : tensor<128x!tt.ptr<f16>, #blocked> loc(#loc1)\n"
        "  %5:2 = scf.for %i = %c to %d step %e iter_args(%x = %1) -> (tensor<128xf16, #blocked>) : i32 {\n"
    )
    assert [(each.operation, each.element, each.variable, each.line) for each in found] == [
        ("tt.addptr", "!tt.ptr<f16>", "", 3),
        ("tt.load", "f16", "", 3),
        ("arith.cmpi", "i1", "mask", 3),
        ("arith.extf", "f32", "", 3),
    ]
    assert [each.is_data for each in found] == [False, True, False, True]
    assert found[0].called == "#blocked" and str(found).splitlines()[0].split() == [
        "line", "variable", "operation", "type", "layout", "moves"
    ]  # fmt: skip
    assert of_text("module {\n}").conversions == [] and "has no tensors" in str(of_text(""))


def test_it_shows_itself_as_a_list_to_pick_from(compiled: dict[str, lab.Compiled]) -> None:
    view = compiled["sm_90"].layouts.plot()
    scene: Any = view.saved()
    assert scene["first"] in scene["parts"] and scene["parts"][scene["first"]]["kind"] == "conversion"
    assert {row["part"] for row in scene["rows"]} == set(view.others())
    kinds = {view.part(name)["kind"] for name in view.others()}
    assert kinds == {"layout", "conversion"}
    with pytest.raises(LookupError, match="has no layout 999"):
        view.part("layouts/999")
    card = compiled["sm_90"].plot()
    assert card.part("layouts")["kind"] == "choice" or card.part("layouts")["kind"] == "layouts"
    assert card.part("layouts/0")["kind"] == "layouts"
    assert card.part(f"layouts/0/{scene['first'].rpartition('/')[2]}")["kind"] == "conversion"
