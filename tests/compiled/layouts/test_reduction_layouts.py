"""The layouts of what kernels reduce, read out of a module's text."""

from __future__ import annotations

from triton_lab.compiled.layouts.reduction_layouts import reductions

BLOCKED = "#ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>"
ROWS = "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>"
COMBINED = """ <{axis = %d : i32}> ({
    ^bb0(%%a: f32, %%b: f32):
      %%c = arith.addf %%a, %%b : f32
      tt.reduce.return %%c : f32
    }) : (%s) -> f32
"""


def module(*lines: str) -> str:
    return "\n".join([f"#blocked = {BLOCKED}", f"#rows = {ROWS}", "module {", *lines, "}"])


def reduced(value: str, type: str, axis: int = 0) -> str:
    return f'    %out = "tt.reduce"({value})' + COMBINED % (axis, type)


def test_each_reduction_has_the_layout_of_its_own_operand() -> None:
    text = module(
        reduced("%x", "tensor<64xf32, #blocked>"), reduced("%y", "tensor<4x16xf32, #rows>, tensor<64xi32, #blocked>", 1)
    )
    first, second = reductions(text)
    assert first is not None and second is not None
    assert first.bases("register") == ((1,),) and first.bases("lane") == ((2,), (4,), (8,), (16,), (32,))
    assert second.shape == (4, 16) and second.bases("lane") == ((0, 2), (0, 4), (0, 8), (1, 0), (2, 0))


def test_a_reshape_leaves_each_number_in_its_register() -> None:
    reshape = "    %flat = tt.reshape %x allow_reorder : tensor<4x16xf32, #rows> -> tensor<64xf32, #blocked>"
    other = "    %flat = tt.reshape %z allow_reorder : tensor<64xf32, #blocked> -> tensor<64xf32, #blocked>"
    (found,) = reductions(module(other, reshape, reduced("%flat", "tensor<64xf32, #blocked>")))
    assert found is not None and found.shape == (64,)
    assert found.bases("register") == ((1,),) and found.bases("lane") == ((2,), (4,), (8,), (16,), (32,))
    swapped = reshape.replace("#rows", ROWS.replace("order = [1, 0]", "order = [0, 1]"))
    (found,) = reductions(module(swapped, reduced("%flat", "tensor<64xf32, #blocked>")))
    assert found is not None and found.bases("lane") == ((16,), (32,), (2,), (4,), (8,))


def test_what_has_no_known_layout_is_none() -> None:
    clusters = BLOCKED.replace("order = [0]", "order = [0], CGALayout = [[1]]")
    text = module(
        reduced("%x", f"tensor<128xf32, {clusters}>"), reduced("%y", "tensor<64xf32, #ttg.unheard_of<{a = 1}>>"),
        reduced("%z", "tensor<64xf32, #blocked>"),
    )  # fmt: skip
    shared, unknown, last = reductions(text)
    assert shared is None and unknown is None and last is not None
    assert reductions(module()) == []
