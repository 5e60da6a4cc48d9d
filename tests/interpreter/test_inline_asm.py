"""Inline PTX on the CPU: its operands, packs and predicates, and what is refused by name."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from __future__ import annotations

import operator

import pytest
import torch
import triton
import triton.language as tl

from tests.interpreter import inline_instructions
from triton_lab.interpreter.kernel_errors import Unsupported


@triton.jit
def unary(x, out, ASM: tl.constexpr, LETTERS: tl.constexpr, PACK: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    kind = out.dtype.element_ty
    tl.store(out + i, tl.inline_asm_elementwise(ASM, LETTERS, [tl.load(x + i)], dtype=kind, is_pure=True, pack=PACK))


@triton.jit
def sum_and_difference(x, y, total, rest, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    a, b = tl.inline_asm_elementwise(
        """
        {
            .reg .f32 negative;   // of the second
            neg.f32 negative, $3; /* both */
            add.f32 $0, $2, $3;
            add.f32 $1, $2, negative;
        }
        """,
        "=f,=f,f,f",
        [tl.load(x + i), tl.load(y + tl.arange(0, N))[None, :]],
        dtype=(tl.float32, tl.float32),
        is_pure=True,
        pack=1,
    )
    tl.store(total + i, a)
    tl.store(rest + i, b)


@triton.jit
def larger_doubled(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    made = tl.inline_asm_elementwise(
        "{ .reg .pred p; setp.gt.f32 p, $1, $2; @p mul.f32 $0, $1, 2.0; @!p mul.f32 $0, $2, 0f40000000; }",
        "=f,f,f",
        [tl.load(x + i), tl.load(y + i)],
        dtype=tl.float32,
        is_pure=True,
        pack=1,
    )
    tl.store(out + i, made)


def made(x: torch.Tensor, dtype: torch.dtype, text: str, letters: str, pack: int = 1) -> torch.Tensor:
    out = torch.zeros(x.shape, dtype=dtype)
    unary[(1,)](x, out, ASM=text, LETTERS=letters, PACK=pack, N=x.numel())
    return out


def test_two_results_of_operands_that_broadcast():
    x, y = torch.randn(8, 8), torch.randn(8)
    total, rest = torch.zeros(8, 8), torch.zeros(8, 8)
    sum_and_difference[(1,)](x, y, total, rest, N=8)
    assert torch.equal(total, x + y) and torch.equal(rest, x - y)


def test_predicates_choose_instructions():
    x, y, out = torch.randn(64), torch.randn(64), torch.zeros(64)
    larger_doubled[(1,)](x, y, out, N=64)
    assert torch.equal(out, 2 * torch.maximum(x, y))


def test_four_bytes_share_a_register():
    x = torch.arange(-32, 32, dtype=torch.int8)
    assert torch.equal(made(x, torch.int8, "and.b32 $0, $1, 0x0F0F0F0F;", "=r,r", 4), x & 15)
    # The first element is in the lowest bits.
    assert torch.equal(
        made(x, torch.int8, "prmt.b32 $0, $1, $1, 0x0123;", "=r,r", 4), x.reshape(-1, 4).flip(1).reshape(-1)
    )


def test_two_halves_share_a_register_and_become_two_singles():
    x = torch.randn(32).half()
    assert torch.equal(made(x, torch.float16, "add.f16x2 $0, $1, $1;", "=r,r", 2), x + x)
    text = "{ .reg .b16 a, b; mov.b32 {a, b}, $2; cvt.f32.f16 $0, a; cvt.f32.f16 $1, b; }"
    assert torch.equal(made(x, torch.float32, text, "=f,=f,r", 2), x.float())


def test_an_operand_that_shares_the_register_of_a_result():
    x = torch.arange(16, dtype=torch.int32)
    assert torch.equal(made(x, torch.int32, "add.u32 $0, $0, 5;", "=r,0", 1), x + 5)


@pytest.mark.parametrize("table", [0x80, 0xFE, 0x96, 0xCA])
def test_logic_by_a_table(table):
    x = torch.randint(-(2**31), 2**31 - 1, (64,), dtype=torch.int32)
    got = made(x, torch.int32, f"{{ .reg .b32 t; shl.b32 t, $1, 1; lop3.b32 $0, $1, t, 0x33, {table}; }}", "=r,r")
    wanted = torch.zeros_like(x)
    for bit in range(32):
        a, b, c = (one >> bit & 1 for one in (x, x << 1, torch.full_like(x, 0x33)))
        wanted |= ((table >> (4 * a + 2 * b + c)) & 1) << bit
    assert torch.equal(got, wanted)


@pytest.mark.parametrize(
    ("text", "letters", "named"),
    [
        ("tanh.approx.f16x2 $0, $1;", "=r,r", "tanh.approx.f16x2"),
        ("ld.global.f32 $0, [$1];", "=f,l", "ld.global.f32"),
        ("mov.u32 $0, %tid.x;", "=r,r", "%tid.x"),
        ("bar.sync 0; mov.b32 $0, $1;", "=r,r", "bar.sync"),
        ("add.u32 $0, $1, unset;", "=r,r", "unset"),
        ("add.u32 $1, $1, 1;", "=r,r", "writes $0"),
        ("mov.b64 $0, $1;", "=q,q", "constraint q"),
        ("mov.b32 $0, $1;", "=r,7", "constraint 7"),
        ("mov.b64 $0, $1;", "=l,l", "=l,l"),
        ("div.rz.f64 $0, $1, $1;", "=d,d", "div.rz.f64"),
    ],
)
def test_what_cannot_be_run_is_named(text, letters, named):
    with pytest.raises(Unsupported) as refused:
        made(torch.zeros(16, dtype=torch.int32), torch.int32, text, letters)
    assert named in str(refused.value)


@pytest.mark.parametrize(
    ("name", "function"),
    [("add.s32", operator.add), ("and.b32", operator.and_), ("mul.lo.s32", operator.mul), ("min.s32", torch.minimum)],
)
def test_instructions_as_torch_has_them(name, function):
    operands = [inline_instructions.bits(4, k) for k in range(2)]
    assert torch.equal(inline_instructions.run(name), function(*operands))


# The GPU's bits: tests/gpu/test_inline_instructions.py.
@pytest.mark.parametrize("name", ["bfe.s32", "cvt.rn.bf16x2.f32", "fma.rn.f16x2", "ex2.approx.ftz.f32", "brev.b64"])
def test_instructions_run_on_bits_of_all_kinds(name):
    assert len(inline_instructions.run(name).unique()) > 50
