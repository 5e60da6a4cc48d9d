"""Inline PTX for every instruction that runs on the CPU, and bits to try it on: also for a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import torch
import triton
import triton.language as tl

from triton_lab.interpreter.variants.ptx.instruction_table import RUNS, WIDTHS, kinds

COUNT = 1024
_LETTERS = {2: "h", 4: "r", 8: "l"}
TYPES = {2: torch.int16, 4: torch.int32, 8: torch.int64}


@triton.jit
def one_operand(x, out, ASM: tl.constexpr, LETTERS: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    found = tl.inline_asm_elementwise(ASM, LETTERS, [tl.load(x + i)], dtype=out.dtype.element_ty, is_pure=True, pack=1)
    tl.store(out + i, found)


@triton.jit
def two_operands(x, y, out, ASM: tl.constexpr, LETTERS: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    given = [tl.load(x + i), tl.load(y + i)]
    tl.store(out + i, tl.inline_asm_elementwise(ASM, LETTERS, given, dtype=out.dtype.element_ty, is_pure=True, pack=1))


@triton.jit
def three_operands(x, y, z, out, ASM: tl.constexpr, LETTERS: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    given = [tl.load(x + i), tl.load(y + i), tl.load(z + i)]
    tl.store(out + i, tl.inline_asm_elementwise(ASM, LETTERS, given, dtype=out.dtype.element_ty, is_pure=True, pack=1))


@triton.jit
def four_operands(w, x, y, z, out, ASM: tl.constexpr, LETTERS: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    given = [tl.load(w + i), tl.load(x + i), tl.load(y + i), tl.load(z + i)]
    tl.store(out + i, tl.inline_asm_elementwise(ASM, LETTERS, given, dtype=out.dtype.element_ty, is_pure=True, pack=1))


KERNELS = {1: one_operand, 2: two_operands, 3: three_operands, 4: four_operands}
# How many operands an instruction reads, where its name's first part does not say two.
_READS = {
    **dict.fromkeys(("abs", "neg", "not", "cvt", "clz", "popc", "brev", "ex2", "lg2", "rcp", "rsqrt", "sqrt"), 1),
    **dict.fromkeys(("sin", "cos", "tanh", "testp"), 1),
    **dict.fromkeys(("fma", "mad", "bfe", "prmt", "shf", "dp4a"), 3),
    "bfi": 4,
}  # fmt: skip


def reads(name: str) -> int:
    """The operands of an instruction."""
    if name.startswith("cvt.") and "x2.f32" in name:
        return 2
    return _READS.get(name.split(".", maxsplit=1)[0], 2)


def made(name: str) -> int:
    """The bytes of an instruction's result."""
    parts = name.split(".")
    if parts[0] in ("clz", "popc"):
        return 4
    if parts[0] == "cvt":
        return WIDTHS[parts[-2]]
    return WIDTHS[parts[-1]] * (2 if parts[1] == "wide" else 1)


def instructions() -> Iterator[str]:
    """The instructions whose operands and results are registers of 16 to 64 bits."""
    for name in RUNS:
        own = name.split(".", maxsplit=1)[0]
        if (
            own in ("selp", "setp", "testp", "lop3")
            or name.endswith(".pred")
            or re.search(r"wide\.[us]64|(mul|div|fma)\.r[zmp]\.f64", name)
        ):
            continue  # predicates, constants, 128 bits, and what is refused
        yield name


def code(name: str) -> tuple[str, str]:
    """The inline PTX of an instruction, and its constraints."""
    count = reads(name)
    letters = ",".join(_LETTERS[WIDTHS[kind]] for kind in kinds(name, count))
    operands = ", ".join(f"${number}" for number in range(count + 1))
    return f"{name} {operands};", f"={_LETTERS[made(name)]},{letters}"


def bits(width: int, seed: int, count: int = COUNT) -> torch.Tensor:
    """Bits of all kinds: any, those of usual numbers, small integers and edges."""
    made = torch.Generator().manual_seed(seed)
    kind = TYPES[width]
    every = torch.randint(torch.iinfo(kind).min, torch.iinfo(kind).max, (count,), generator=made, dtype=kind)
    floats = {2: torch.float16, 4: torch.float32, 8: torch.float64}[width]
    every[: count // 4] = (torch.randn(count // 4, generator=made) * 4).to(floats).view(kind)
    every[count // 4 : count // 2] = torch.randint(-40, 40, (count // 4,), generator=made).to(kind)
    edges = [0, -1, torch.iinfo(kind).min, torch.iinfo(kind).max]
    every[-len(edges) :] = torch.tensor(edges, dtype=kind)
    return every


def same(name: str, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Where two results have the same bits. A NaN made of float64 may be any, as it is not defined which."""
    equal = a == b
    if name.endswith("f64") and not re.search(r"\.[su]\d+\.f64", name):
        x, y = (one.view({4: torch.float32, 8: torch.float64}[made(name)]) for one in (a, b))
        equal |= x.isnan() & y.isnan()
    if name.startswith("cvt") and ".f64.f32" in name:
        equal |= a.view(torch.float64).isnan() & b.view(torch.float64).isnan()
    return equal


def run(name: str, seed: int = 0) -> torch.Tensor:
    """What an instruction makes of ``bits``, on the target in force."""
    text, constraints = code(name)
    operands = [bits(WIDTHS[kind], 10 * seed + k) for k, kind in enumerate(kinds(name, reads(name)))]
    out = torch.zeros(COUNT, dtype=TYPES[made(name)])
    kernel: Any = KERNELS[len(operands)]
    kernel[(1,)](*operands, out, ASM=text, LETTERS=constraints, N=COUNT)
    return out
