"""Wrong operators of torch, each from a misunderstanding: the check, which traces them, says what is wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton

import triton_lab as lab
from triton_lab.course.exercise_registry import exercise

_numbers = itertools.count()


@pytest.fixture(autouse=True)
def _compiled_anew() -> None:
    """All answers share the code of one function: Dynamo would give up after eight of them."""
    torch._dynamo.reset()


@triton.jit
def _gated(x_ptr, y_ptr, out_ptr, n, xs, ys, HOW: tl.constexpr):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    mask = i >= 0 if HOW == "no mask" else i < n
    x = tl.load(x_ptr + i * xs, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + i * ys, mask=mask).to(tl.float32)
    gate = tl.sigmoid(y) if HOW == "gate of y" else (tl.where(x > 0, x, 0.0) if HOW == "relu" else tl.sigmoid(x))
    tl.store(out_ptr + i, gate * y if HOW == "no x" else x * gate * y, mask=mask)


def gated(how: str) -> Callable[..., torch.Tensor]:
    """An operator with a mistake, in a function that is compiled as the chapter does it."""

    def launch(x: torch.Tensor, y: torch.Tensor, out: torch.Tensor) -> None:
        n = x.numel()
        kernel: Any = _gated if how == "not wrapped" else wrap_triton(_gated)
        strides = (1, 1) if how == "no strides" else (x.stride(0), y.stride(0))
        grid = (1,) if how == "one program" else (triton.cdiv(n, 128),)
        kernel[grid](x, y, out, n, *strides, HOW=how)

    @triton_op(f"course_wrong::gated_{next(_numbers)}", mutates_args={})
    def operator(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if how == "asks for a number" and x.max() < -1000:
            return torch.zeros_like(x)
        if how == "by numpy":
            return torch.from_numpy(x.numpy() * y.numpy())
        if how == "by torch":
            return torch.nn.functional.silu(x) * y
        if how == "in place":
            launch(x, y, x)
            return x.clone()
        out = torch.empty(x.shape, dtype=torch.float32 if how == "float32" else x.dtype)
        if how == "every other":
            out = torch.empty(2 * len(x), dtype=x.dtype)[::2]
        launch(x, y, out)
        return out

    def compiled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return operator(x, y)

    made: Callable[..., torch.Tensor] = torch.compile(compiled, backend="aot_eager", fullgraph=True, dynamic=True)
    return made


@triton.jit
def _gradient(x_ptr, grad_ptr, out_ptr, n, HOW: tl.constexpr):
    i = tl.program_id(0) * 128 + tl.arange(0, 128)
    x, grad = tl.load(x_ptr + i, mask=i < n), tl.load(grad_ptr + i, mask=i < n)
    s = tl.sigmoid(x)
    if HOW == "no chain rule":
        found = s * (1 + x * (1 - s))
    elif HOW == "of sigmoid":
        found = grad * s * (1 - s)
    elif HOW == "only s":
        found = grad * s
    else:
        found = grad * s * (1 + x * (1 - s))
    tl.store(out_ptr + i, found, mask=i < n)


def silu_gradient(how: str) -> Callable[..., torch.Tensor]:
    number = next(_numbers)

    @triton_op(f"course_wrong::silu_{number}", mutates_args={})
    def silu(x: torch.Tensor) -> torch.Tensor:
        out, n = torch.empty_like(x), x.numel()
        wrap_triton(_gated)[(triton.cdiv(n, 128),)](x, torch.ones_like(x), out, n, 1, 1, HOW="")
        return out

    def launch(x: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
        out, n = torch.empty_like(x), x.numel()
        kernel: Any = _gradient if how == "not an operator" else wrap_triton(_gradient)
        kernel[(triton.cdiv(n, 128),)](x, grad, out, n, HOW=how)
        return out

    @triton_op(f"course_wrong::silu_backward_{number}", mutates_args={})
    def operator(x: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
        return launch(x, grad)

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(output if how == "keeps the result" else inputs[0])

    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        (x,) = ctx.saved_tensors
        found = operator(x, grad)
        return (found, found) if how == "two gradients" else None if how == "nothing" else found

    if how != "no gradient":
        silu.register_autograd(backward, setup_context=None if how == "keeps nothing" else keep)
    compiled = torch.compile(lambda x: silu(x), backend="aot_eager", fullgraph=True, dynamic=True)

    def answer(x: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
        x = x.detach().requires_grad_()
        found: torch.Tensor = torch.autograd.grad(compiled(x), x, grad)[0]
        return found

    return answer


WRONG = [
    (gated, "not wrapped", ("FakeTensor",)),
    (gated, "asks for a number", ("data-dependent",)),
    (gated, "by numpy", ("numpy",)),
    (gated, "by torch", ("no kernel stored",)),
    (gated, "in place", ("x",)),
    (gated, "float32", ("float32", "float16")),
    (gated, "every other", ("[1]",)),
    (gated, "no strides", ("(65,)", "(2,)")),
    (gated, "one program", ("(300,)", "[128]")),
    (gated, "no mask", ("out of bounds",)),
    (gated, "gate of y", ("[0]",)),
    (gated, "relu", ("[0]",)),
    (gated, "no x", ("[0]",)),
    (silu_gradient, "no chain rule", ("grad",)),
    (silu_gradient, "of sigmoid", ("[0]",)),
    (silu_gradient, "only s", ("[0]",)),
    (silu_gradient, "not an operator", ("FakeTensor",)),
    (silu_gradient, "keeps the result", ("[0]",)),
    (silu_gradient, "two gradients", ("gradient different than None",)),
    (silu_gradient, "nothing", ("used in the graph",)),
    (silu_gradient, "keeps nothing", ("saved_tensors",)),
    (silu_gradient, "no gradient", ("register_autograd",)),
]


@pytest.mark.filterwarnings("ignore:Error detected in GeneratedBackward")  # torch's own, beside the error
@pytest.mark.parametrize(("made", "how", "facts"), WRONG, ids=[f"{one[0].__name__}-{one[1]}" for one in WRONG])
def test_a_misunderstanding_is_told_what_is_wrong(made: Any, how: str, facts: tuple[str, ...]) -> None:
    fault = str(exercise(made.__name__).judge(made(how)))
    assert all(fact in fault for fact in facts), fault


@pytest.mark.parametrize("made", [gated, silu_gradient])
def test_without_the_mistake_they_are_right(made: Any) -> None:
    assert str(exercise(made.__name__).judge(made("")) or "right") == "right"


def test_a_compiled_function_is_recorded_with_a_kernel_of_its_users() -> None:
    """A compiled graph calls the kernel by an operator that torch refuses below a mode which does not allow it."""
    answer = gated("")
    x, y = torch.randn(200), torch.randn(200)
    with lab.record() as launches:
        found = answer(x, y)
    assert torch.allclose(found, torch.nn.functional.silu(x) * y)
    assert [launch.kernel for launch in launches] == ["_gated"] and not launches[0].findings
