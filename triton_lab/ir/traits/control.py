"""Control flow: the dialects ``scf``, ``cf``, ``ub``, and what stands in a module. Barriers and assumptions.

Their results are handed on from regions and blocks, as `ir.value_flow` says, and not computed from operands.
"""

from __future__ import annotations

from functools import partial

from triton_lab.ir.traits import lane_rules as rules
from triton_lab.ir.traits.trait import Kind, Trait, table

_CONTROL = partial(Trait, kind=Kind.CONTROL, lanes=rules.unknown)

TRAITS = table(
    _CONTROL("scf.for"),
    _CONTROL("scf.if"),
    _CONTROL("scf.while"),
    _CONTROL("scf.yield"),
    _CONTROL("scf.condition"),
    _CONTROL("cf.br"),
    _CONTROL("cf.cond_br"),
    _CONTROL("builtin.module"),
    _CONTROL("ub.unreachable"),
    Trait("ub.poison", Kind.CREATES, rules.nothing),
    Trait("gpu.barrier", Kind.ORDERS, rules.nothing),
    Trait("llvm.intr.assume", Kind.REPORTS, rules.nothing),
)
