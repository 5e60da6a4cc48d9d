"""Chapter 27: a kernel as an operator of torch, its gradient, what Inductor fuses, and where a graph breaks."""

from __future__ import annotations

from typing import Any

from triton_lab.course.cases import case, tensor
from triton_lab.course.exercise_kinds import Question, Task
from triton_lab.course.launch_work import launched, once
from triton_lab.localization import N_, _


def _gated(x: Any, y: Any) -> Any:
    x_, y_ = x.double(), y.double()
    return (x_ * x_.sigmoid() * y_).to(x.dtype)


def _silu_gradient(x: Any, grad: Any) -> Any:
    x_ = x.double()
    s = x_.sigmoid()
    return (grad.double() * s * (1 + x_ * (1 - s))).to(x.dtype)


EXERCISES = (
    Task(
        "gated",
        N_("An operator"),
        (
            N_("The kernel is elementwise, as in chapter 00. Each vector has a stride: x_ptr + i * x_stride."),
            N_("Make the result with torch.empty(x.shape, dtype=x.dtype): empty_like may keep strides of x."),
            N_("wrap_triton(gated_kernel)[(triton.cdiv(n, 128),)](x, y, out, n, x.stride(0), y.stride(0), BLOCK=128)"),
        ),
        cases=(
            case(x=tensor(128), y=tensor(128)),
            case(x=tensor(300), y=tensor(300)),
            case(x=tensor(65, layout="steps"), y=tensor(65)),
            case(x=tensor(77), y=tensor(77, layout="steps")),
            case(x=tensor(200, dtype="float16"), y=tensor(200, dtype="float16")),
            case(x=tensor(90, scale=100.0), y=tensor(90)),
        ),
        reference=_gated,
        tolerance=(1e-5, 1e-6),
        ranges=("negative", "tiny"),
        work=(launched(), once("x"), once("y")),
        contiguous=True,
        copied=False,
        points=2,
    ),
    Task(
        "silu_gradient",
        N_("A gradient for an operator"),
        (
            N_("setup_context gets the arguments as a tuple: (x,) = inputs. Keep it: ctx.save_for_backward(x)."),
            N_("In backward: (x,) = ctx.saved_tensors, then return silu_backward_op(x, grad)."),
            N_("s = tl.sigmoid(x); store grad * s * (1 + x * (1 - s))"),
        ),
        cases=(
            case(x=tensor(128), grad=tensor(128)),
            case(x=tensor(301), grad=tensor(301)),
            case(x=tensor(64, scale=5.0), grad=tensor(64)),
            case(x=tensor(90, scale=100.0), grad=tensor(90)),
        ),
        reference=_silu_gradient,
        tolerance=(1e-5, 1e-6),
        ranges=("negative", "tiny"),
        points=2,
    ),
    Question(
        "launches_of_model",
        N_("Count the launches"),
        (
            N_("Each call of double is a launch of its own. What stands before, between and after them?"),
            N_("Before: sigmoid, *, + in one kernel. Between: -, relu, * in one. After: tanh, + in one."),
        ),
        right=lambda: 5,
        tell=lambda answer, right: _(
            "Inductor fuses what stands next to each other, but nothing across a launch of your own. Count the groups "
            "before, between and after your launches, then add these."
        ),
    ),
    Question(
        "graphs",
        N_("Count the graphs"),
        (
            N_("A break needs a number that is in a tensor. A shape and a loop over range are known without any."),
            N_("One break makes two graphs, two breaks make three."),
            N_("by_both asks for a number twice: in its condition, and with .item()."),
        ),
        right=lambda: (1, 2, 1, 3),
        tell=lambda answer, right: _(
            "Look for each place where Python needs a number out of a tensor: in a condition, or by .item(). A graph "
            "ends there, and the next one begins."
        ),
    ),
)
