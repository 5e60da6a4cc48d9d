"""The generated kernels: fused as promised, readable, and good for a real GPU."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from triton_lab import lazy
from triton_lab.lazy.codegen.generated_kernel import TRITON_DTYPES, GeneratedKernel
from triton_lab.lazy.executable import StepExecutable


def done() -> lazy.Step:
    step = lazy.mark_step()
    assert step is not None
    return step


def floats(*shape: int, dtype: torch.dtype = torch.float32) -> lazy.Tensor:
    return lazy.tensor(torch.ones(shape, dtype=dtype))


def test_a_chain_of_elementwise_operations_is_one_kernel_with_two_memory_accesses() -> None:
    x = floats(100)
    y = ((x * 2 + 1).exp() - x).relu() / 3
    step = done()
    assert len(step.executable.kernels) == 1
    source = step.executable.source
    assert source.count("tl.load") == 1 and source.count("tl.store") == 1
    assert y.shape == (100,)


def test_a_kernel_can_be_read() -> None:
    x, y = floats(6), floats(6)
    x.add_(y * 2)
    step = done()
    assert step.executable.source == (
        "@triton.jit\n"
        "def mul_add_0(in0, in1, BLOCK: tl.constexpr):\n"
        '    """%4 to in0, in place of %0."""\n'
        "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "    inside = i < 6\n"
        "    v0 = tl.load(in0 + i, mask=inside)\n"
        "    v1 = tl.load(in1 + i, mask=inside)\n"
        "    v3 = v1 * 2.0\n"
        "    v4 = v0 + v3\n"
        "    tl.store(in0 + i, v4, mask=inside)\n"
    )


def test_a_constant_stays_a_number_on_either_side() -> None:
    x = floats(6)
    y, z = 2.0 - x, x - 2.0
    source = done().executable.source
    assert y.tolist() == [1.0] * 6 and z.tolist() == [-1.0] * 6
    assert "2.0 - v" in source and "- 2.0" in source and "tl.full" not in source


def test_two_outputs_of_the_same_data_share_a_kernel_and_unrelated_ones_do_not() -> None:
    x, y = floats(8), floats(8)
    a, b, c = x + 1, x * 2, y + 1
    step = done()
    assert len(step.executable.kernels) == 2
    assert [a[0].item(), b[0].item(), c[0].item()] == [2, 2, 2]


def test_a_value_read_in_another_order_is_finished_first() -> None:
    x = floats(3, 4)
    y = (x + 1).t() * 2
    step = done()
    assert [region.kind for region in step.executable.placement.regions] == ["elementwise", "elementwise"]
    assert y.shape == (4, 3)


def test_what_a_reduction_folds_is_computed_on_the_way() -> None:
    x = floats(4, 8)
    total = (x * x + 1).sum(1)
    step = done()
    assert len(step.executable.kernels) == 1 and total.tolist() == [16.0] * 4


def test_softmax_is_three_kernels_without_a_temporary_of_its_size() -> None:
    x = floats(4, 8)
    shifted = (x - x.amax(1, keepdim=True)).exp()
    y = shifted / shifted.sum(1, keepdim=True)
    del shifted
    step = done()
    assert len(step.executable.kernels) == 3
    big = [slot for slot in step.executable.placement.slots if slot.numel == 32]
    assert [slot.name for slot in big] == ["in0", "out0"]
    assert torch.allclose(y.torch().cpu(), torch.full((4, 8), 1 / 8))


def test_temporaries_of_the_same_size_share_memory() -> None:
    x = floats(4, 4)
    y = (((x @ x) @ x) @ x) @ x
    step = done()
    names = [slot.name for slot in step.executable.placement.slots]
    assert names == ["in0", "tmp1", "out0"]  # the products take turns
    assert y[0, 0].item() == 256


def test_a_very_long_chain_is_cut() -> None:
    x = lazy.tensor(torch.zeros(4))
    for _ in range(600):
        x.add_(1)
    step = done()
    assert len(step.executable.kernels) == 3
    assert step.executable.aliases == {0: 0} and len(step.executable.placement.slots) == 1
    assert x.tolist() == [600.0] * 4


def test_source_can_be_had_from_the_function_and_goes_with_it() -> None:
    import gc
    import linecache

    x = floats(4)
    x.add_(1)
    step = done()
    function: Any = step.executable.functions[0]
    assert inspect.getsource(function.fn) == step.executable.kernels[0].source
    filename = function.fn.__code__.co_filename
    assert filename in linecache.cache
    del step, function
    lazy.history.clear()
    lazy.cache.clear()
    gc.collect()
    assert filename not in linecache.cache


POINTERS = {
    torch.bool: "*i1", torch.uint8: "*u8", torch.int8: "*i8", torch.int16: "*i16", torch.int32: "*i32",
    torch.int64: "*i64", torch.float16: "*fp16", torch.bfloat16: "*bf16", torch.float32: "*fp32",
    torch.float64: "*fp64",
}  # fmt: skip


def ptx_of(executable: StepExecutable, kernel: GeneratedKernel, function: Any) -> str:
    """What the GPU compiler makes of a kernel, without a GPU."""
    names = function.arg_names
    signature = {
        name: POINTERS[executable.placement.slots[slot].dtype] for name, slot in zip(names, kernel.slots, strict=False)
    }
    signature |= {name: "constexpr" for name, _ in kernel.tiles}
    source = ASTSource(fn=function, signature=signature, constexprs=dict(kernel.tiles))
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    return str(compiled.asm["ptx"])


@pytest.mark.filterwarnings("ignore:TRITON_DEFAULT_FP_FUSION")
@pytest.mark.parametrize("dtype", list(TRITON_DTYPES), ids=str)
def test_every_kind_of_kernel_compiles_for_a_gpu(dtype: torch.dtype) -> None:
    x, y = lazy.tensor(torch.ones(20, 20), dtype=dtype), lazy.tensor(torch.ones(20, 20), dtype=dtype)
    kept: list[lazy.Tensor] = [x + y, x * 2, lazy.where(x < y, x, y), x.to(torch.float32).exp(), x.maximum(y).clone()]
    kept += [x.sum(1), x.amax(0), x.amin(), x.t().clone(), x / y]
    if dtype != torch.bool:
        kept += [x @ y.t(), x**2]
    if dtype.is_floating_point:
        kept += [x.mean(1), x.sqrt(), x.sigmoid(), -x, x.log()]
        kept += [x.tanh(), x.rsqrt(), x.softmax(1), x.std(0), x // y, x % 3]
    elif dtype != torch.bool:
        kept += [x // y, x % 3, 7 % y]
    kept += [lazy.cat([x, y.t()], 1), x.cumsum(0), x.gather(1, y.to(torch.int64)), x.any(0), x.all(), lazy.arange(9)]
    if dtype != torch.bool:
        kept += [x.argmax(0), x.argmin()]
    x[3:7, ::2] += y[:4, :10]
    executable = done().executable
    for kernel, function in zip(executable.kernels, executable.functions, strict=True):
        assert ".visible .entry" in ptx_of(executable, kernel, function)


@pytest.mark.parametrize(
    ("operations", "name"),
    [
        (lambda x: x.exp(), "exp_0"),
        (lambda x: x.exp().sin().cos(), "exp_sin_cos_0"),
        (lambda x: x.exp().sin().cos().tanh(), "exp_sin_cos_1_more_0"),
        (lambda x: x.exp().sin().cos().tanh().exp(), "exp_sin_cos_2_more_0"),
    ],
)
def test_a_kernel_is_called_by_its_first_three_operations_and_how_many_more_there_are(
    operations: Callable[[lazy.Tensor], lazy.Tensor], name: str
) -> None:
    found = operations(floats(7))
    assert [kernel.name for kernel in done().executable.kernels] == [name]
    assert found.shape == (7,)
