"""Templates of kernels: whole cells that run as they stand, and are made to be changed."""

from __future__ import annotations

from dataclasses import dataclass

from triton_lab.localization import _

_IMPORTS = """\
%%triton
import torch
import triton
import triton.language as tl


@triton.jit
"""


@dataclass(frozen=True)
class Template:
    """A kernel with its launch; `cell` includes the imports."""

    name: str
    body: str

    @property
    def cell(self) -> str:
        return _IMPORTS + self.body


_ELEMENTWISE = """\
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n  # the last block may reach past the end
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, 2 * x, mask=mask)


x = torch.randn(1000)
out = torch.empty_like(x)
double_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
torch.testing.assert_close(out, 2 * x)
"""

_ROWS = """\
def row_sum_kernel(x_ptr, out_ptr, columns, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * row_stride + column, mask=column < columns, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0))


x = torch.randn(20, 100)
out = torch.empty(20)
row_sum_kernel[(x.shape[0],)](x, out, x.shape[1], x.stride(0), BLOCK=triton.next_power_of_2(x.shape[1]))
torch.testing.assert_close(out, x.sum(dim=1))
"""

_MATMUL = """\
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_row, b_row, c_row, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        a = tl.load(a_ptr + m[:, None] * a_row + k, mask=(m[:, None] < M) & (k < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * b_row + n, mask=(k[:, None] < K) & (n < N), other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    tl.store(c_ptr + m[:, None] * c_row + n, total, mask=(m[:, None] < M) & (n < N))


a, b = torch.randn(50, 40), torch.randn(40, 60)
c = torch.empty(50, 60)
grid = (triton.cdiv(50, 16), triton.cdiv(60, 16))
matmul_kernel[grid](a, b, c, 50, 60, 40, a.stride(0), b.stride(0), c.stride(0), BM=16, BN=16, BK=16)
torch.testing.assert_close(c, a @ b, rtol=1e-4, atol=1e-4)
"""

TEMPLATES = (
    Template("elementwise", _ELEMENTWISE),
    Template("rows", _ROWS),
    Template("matmul", _MATMUL),
)


def template(name: str) -> Template:
    """The template of that name. Raises LookupError, which lists the names."""
    for one in TEMPLATES:
        if one.name == name:
            return one
    raise LookupError(
        _("there is no template {name}; there is {templates}").format(
            name=repr(name), templates=", ".join(one.name for one in TEMPLATES)
        )
    )
