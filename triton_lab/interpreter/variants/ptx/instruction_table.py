"""The instructions of PTX that `ptx_machine` runs: by name, what each does to arrays, and the types of its operands."""

from __future__ import annotations

import re

from triton_lab.interpreter.variants.ptx import arithmetic, integers, narrow_floats, special_unit
from triton_lab.interpreter.variants.ptx.arithmetic import Run, on_double, on_single
from triton_lab.interpreter.variants.ptx.ptx_program import NotEmulated, PtxInstruction

_SPECIAL: dict[str, Run] = {
    "ex2.approx.ftz.f32": on_single(special_unit.ex2, False),
    "ex2.approx.f32": on_single(special_unit.ex2_full, False),
    "lg2.approx.ftz.f32": on_single(special_unit.lg2, False),
    "rcp.approx.ftz.f32": on_single(special_unit.rcp, False),
    "rsqrt.approx.ftz.f32": on_single(special_unit.rsqrt, False),
    "sqrt.approx.ftz.f32": on_single(special_unit.sqrt, False),
    "sin.approx.ftz.f32": on_single(special_unit.sin, False),
    "cos.approx.ftz.f32": on_single(special_unit.cos, False),
    # Subnormal numbers are too small a part of a turn to count.
    "sin.approx.f32": on_single(special_unit.sin, False),
    "cos.approx.f32": on_single(special_unit.cos, False),
    "tanh.approx.f32": on_single(special_unit.tanh, False),
    "div.full.f32": on_single(special_unit.divide_full, False),
    "div.approx.ftz.f32": on_single(special_unit.divide_approx, False),
    "rcp.approx.ftz.f64": on_double(special_unit.rcp_double),
    "rsqrt.approx.ftz.f64": on_double(special_unit.rsqrt_double),
    "rsqrt.approx.f64": on_double(special_unit.rsqrt_full),
}
RUNS: dict[str, Run] = {**integers.FUNCTIONS, **arithmetic.FUNCTIONS, **narrow_floats.FUNCTIONS, **_SPECIAL}
WIDTHS = {"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4}
WIDTHS |= {"b64": 8, "u64": 8, "s64": 8, "f64": 8, "bf16": 2, "f16x2": 4, "bf16x2": 4, "e4m3x2": 2, "e5m2x2": 2}
# Operations that take or leave the carry.
CARRY = re.compile(
    r"^(?P<name>add|sub|mad\.lo|mad\.hi)?(?P<chained>addc|subc|madc\.lo|madc\.hi)?(?P<leaves>\.cc)?\.u32$"
)


def kinds(name: str, count: int) -> list[str]:
    """The type of each operand of an instruction."""
    kind = name.rsplit(".", 1)[1]
    if name.startswith("selp"):
        return [kind, kind, "pred"]
    if name.startswith("mad.wide"):
        return [kind, kind, f"{kind[0]}{2 * int(kind[1:])}"]
    if name.startswith(("bfe", "bfi", "lop3", "dp4a")):
        return ["b32"] * count
    if name.startswith(("shl", "shr")):
        return [kind, "b32"]
    return [kind] * count


def known(one: PtxInstruction) -> None:
    """Raise NotEmulated for an instruction that this machine does not run."""
    name = one.name
    if name in RUNS or name in ("ret", "exit") or name.startswith(("bra", "call.uni", "mov.", "cvta.local")):
        return
    if re.match(r"^(ld\.(global(\.nc)?|local|param)|st\.(global|local|param))(\.v[24])?\.[bus]\d+$", name):
        return
    if name in ("ld.b32", "st.b32", "ld.b64", "st.b64") or re.match(r"^cvt\.[us]\d+\.[us]\d+$", name):
        return
    if CARRY.match(name) is not None:
        return
    raise NotEmulated(f"the instruction {name}")
