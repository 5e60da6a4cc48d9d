"""Layer normalisation, forward and backward. Backward sums over rows, guarded by locks.

Forward, one program per row: y = (x - mean) * rstd * weight + bias. The gradient of x needs its own row alone; those
of weight and bias are sums over all rows. If every program added its row to one vector, the programs would wait for
each other; a buffer per row would be as large as x. The compromise: GROUPS partial sums, each guarded by a lock, then
one small kernel that adds them up.
"""

# A kernel's parameters are pointers and scalars of the device: there are no Python types to give them.
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from triton_lab.examples.example import Example, Size


@triton.jit
def layer_norm_kernel(
    x_ptr, weight_ptr, bias_ptr, y_ptr, mean_ptr, rstd_ptr, row_stride, columns, eps, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * row_stride + column, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / columns
    centred = tl.where(mask, x - mean, 0.0)  # lanes past the end hold -mean: keep them out of the variance
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    weight = tl.load(weight_ptr + column, mask=mask)
    bias = tl.load(bias_ptr + column, mask=mask)
    tl.store(y_ptr + row * columns + column, centred * rstd * weight + bias, mask=mask)
    # Two numbers per row spare the backward pass a second reduction.
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


@triton.jit
def layer_norm_backward_kernel(
    dy_ptr,
    x_ptr,
    weight_ptr,
    mean_ptr,
    rstd_ptr,
    dx_ptr,
    partial_dweight_ptr,
    partial_dbias_ptr,
    lock_ptr,
    row_stride,
    columns,
    GROUPS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < columns
    x = tl.load(x_ptr + row * row_stride + column, mask=mask, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * columns + column, mask=mask, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + column, mask=mask, other=0.0).to(tl.float32)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)

    normal = tl.where(mask, (x - mean) * rstd, 0.0)
    dnormal = weight * dy
    # x moves the row's mean and variance too: their share of the gradient is projected out.
    along = tl.sum(normal * dnormal, axis=0) / columns
    shift = tl.sum(dnormal, axis=0) / columns
    tl.store(dx_ptr + row * columns + column, (dnormal - shift - normal * along) * rstd, mask=mask)

    group = row % GROUPS
    partial_dweight = partial_dweight_ptr + group * columns + column
    partial_dbias = partial_dbias_ptr + group * columns + column
    while tl.atomic_cas(lock_ptr + group, 0, 1) == 1:  # someone else of this group is adding
        pass
    tl.store(partial_dweight, tl.load(partial_dweight, mask=mask) + normal * dy, mask=mask)
    tl.store(partial_dbias, tl.load(partial_dbias, mask=mask) + dy, mask=mask)
    tl.debug_barrier()  # every thread of this program must have stored before one of them opens the lock
    tl.atomic_xchg(lock_ptr + group, 0)


@triton.jit
def sum_groups_kernel(partial_ptr, total_ptr, columns, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = column < columns
    group = tl.arange(0, GROUPS)
    partial = tl.load(partial_ptr + group[:, None] * columns + column[None, :], mask=mask[None, :], other=0.0)
    tl.store(total_ptr + column, tl.sum(partial, axis=0), mask=mask)


def layer_norm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Normalise the rows of x (rows, columns), of column stride 1.

    Returns y, and for each row its mean and 1 / standard deviation, both float32.
    """
    rows, columns = x.shape
    assert x.stride(1) == 1 and weight.is_contiguous() and bias.is_contiguous()
    y = torch.empty((rows, columns), device=x.device, dtype=x.dtype)
    mean, rstd = (torch.empty(rows, device=x.device, dtype=torch.float32) for _ in range(2))
    layer_norm_kernel[(rows,)](
        x, weight, bias, y, mean, rstd, x.stride(0), columns, eps, BLOCK=triton.next_power_of_2(columns)
    )
    return y, mean, rstd


def layer_norm_backward(
    dy: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor, groups: int = 16
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The gradients of x, weight and bias, from the output's gradient dy (contiguous) and what forward returned."""
    rows, columns = x.shape
    assert dy.is_contiguous() and x.stride(1) == 1
    dx = torch.empty((rows, columns), device=x.device, dtype=x.dtype)
    partial_dweight, partial_dbias = (torch.zeros((groups, columns), device=x.device) for _ in range(2))
    locks = torch.zeros(groups, device=x.device, dtype=torch.int32)
    layer_norm_backward_kernel[(rows,)](
        dy,
        x,
        weight,
        mean,
        rstd,
        dx,
        partial_dweight,
        partial_dbias,
        locks,
        x.stride(0),
        columns,
        GROUPS=groups,
        BLOCK=triton.next_power_of_2(columns),
    )
    dweight, dbias = torch.empty_like(weight), torch.empty_like(weight)
    block = 128
    for partial, total in ((partial_dweight, dweight), (partial_dbias, dbias)):
        sum_groups_kernel[(triton.cdiv(columns, block),)](partial, total, columns, GROUPS=groups, BLOCK=block)
    return dx, dweight, dbias


class LayerNorm(torch.autograd.Function):
    """`LayerNorm.apply(x, weight, bias, eps)`: the kernels under autograd."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
        y, mean, rstd = layer_norm(x, weight, bias, eps)
        ctx.save_for_backward(x, weight, mean, rstd)
        return y

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, None]:
        dx, dweight, dbias = layer_norm_backward(gradients[0].contiguous(), *ctx.saved_tensors)
        return dx, dweight, dbias, None


def inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """Float32 x of (37, 100) or (1024, 1024), with weight and bias."""
    rows, columns = {"small": (37, 100), "bench": (1024, 1024)}[size]
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn((rows, columns), generator=generator) * 2 + 0.5
    weight, bias = (torch.randn(columns, generator=generator) for _ in range(2))
    return {"x": x.to(device), "weight": weight.to(device), "bias": bias.to(device)}


def backward_inputs(size: Size = "small", seed: int = 0, device: str = "cpu") -> dict[str, Any]:
    """The values that forward saw and returned for `inputs`, and a gradient."""
    given = inputs(size, seed, device)
    _, mean, rstd = reference(**given)
    dy = torch.randn(given["x"].shape, generator=torch.Generator().manual_seed(seed + 1)).to(device)
    return {"dy": dy, "x": given["x"], "weight": given["weight"], "mean": mean, "rstd": rstd}


def reference(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float = 1e-5
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The same in torch."""
    y, mean, rstd = torch.native_layer_norm(x, [x.shape[1]], weight, bias, eps)
    return y, mean.flatten(), rstd.flatten()


def backward_reference(
    dy: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor, groups: int = 16
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The gradients in torch."""
    dx, dweight, dbias = torch.ops.aten.native_layer_norm_backward(
        dy, x, [x.shape[1]], mean[:, None], rstd[:, None], weight, torch.zeros_like(weight), [True, True, True]
    )
    return dx, dweight, dbias


# float32 reductions over up to 1,024 terms in another order than torch's: errors of 2^-24 times sqrt(1024) on sums of
# order 1. The weight's gradient sums as many rows of order 1, so its absolute error is larger than dx's.
EXAMPLES = (
    Example("layer_norm", "Layer norm, forward", layer_norm, reference, inputs, rtol=1e-5, atol=4e-6),
    Example(
        "layer_norm_backward",
        "Layer norm, backward with locks",
        layer_norm_backward,
        backward_reference,
        backward_inputs,
        rtol=2e-5,
        atol=1e-4,
    ),
)
