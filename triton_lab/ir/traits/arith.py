"""The dialect ``arith``: arithmetic, comparisons and casts of numbers, lane by lane."""

from __future__ import annotations

from functools import partial

from triton_lab.ir.traits import lane_rules as rules
from triton_lab.ir.traits.trait import CORRECT, Kind, Trait, approximate, table

_INTEGER = partial(Trait, kind=Kind.ELEMENTWISE, lanes=rules.lane_by_lane, numbers="integer")
_FLOAT = partial(Trait, kind=Kind.ELEMENTWISE, lanes=rules.lane_by_lane, numbers="float")
_CAST = partial(Trait, kind=Kind.CASTS, lanes=rules.lane_by_lane)
_COMPARISON = partial(Trait, kind=Kind.COMPARES, lanes=rules.lane_by_lane)

TRAITS = table(
    Trait("arith.constant", Kind.CREATES, rules.nothing),
    # Integers.
    _INTEGER(
        "arith.addi",
        sums=True,
        symbol="+",
        commutative=True,
        wraps=True,
        inverse="arith.subi",
        siblings=("arith.subi",),
    ),
    _INTEGER("arith.subi", sums=True, symbol="-", wraps=True, inverse="arith.addi", siblings=("arith.addi",)),
    _INTEGER(
        "arith.muli", symbol="*", commutative=True, wraps=True, absorbing=0, siblings=("arith.divsi", "arith.divui")
    ),
    _INTEGER("arith.divsi", symbol="//", signed=True, siblings=("arith.divui", "arith.remsi", "arith.muli")),
    _INTEGER("arith.divui", symbol="//", signed=False, siblings=("arith.divsi", "arith.remui", "arith.muli")),
    _INTEGER("arith.ceildivsi", signed=True, siblings=("arith.divsi",)),
    _INTEGER("arith.ceildivui", signed=False, siblings=("arith.divui",)),
    _INTEGER("arith.floordivsi", signed=True, siblings=("arith.divsi",)),
    _INTEGER("arith.remsi", symbol="%", signed=True, siblings=("arith.remui", "arith.divsi")),
    _INTEGER("arith.remui", symbol="%", signed=False, siblings=("arith.remsi", "arith.divui")),
    _INTEGER(
        "arith.minsi",
        extreme=-1,
        commutative=True,
        idempotent=True,
        signed=True,
        siblings=("arith.minui", "arith.maxsi"),
    ),
    _INTEGER(
        "arith.minui",
        extreme=-1,
        commutative=True,
        idempotent=True,
        signed=False,
        siblings=("arith.minsi", "arith.maxui"),
    ),
    _INTEGER(
        "arith.maxsi",
        extreme=1,
        commutative=True,
        idempotent=True,
        signed=True,
        siblings=("arith.maxui", "arith.minsi"),
    ),
    _INTEGER(
        "arith.maxui",
        extreme=1,
        commutative=True,
        idempotent=True,
        signed=False,
        siblings=("arith.maxsi", "arith.minui"),
    ),
    _INTEGER(
        "arith.andi", symbol="&", commutative=True, idempotent=True, bitwise=True, absorbing=0, siblings=("arith.ori",)
    ),
    _INTEGER(
        "arith.ori", symbol="|", commutative=True, idempotent=True, bitwise=True, absorbing=-1, siblings=("arith.andi",)
    ),
    _INTEGER("arith.xori", symbol="^", commutative=True, bitwise=True, inverse="arith.xori", siblings=("arith.ori",)),
    _INTEGER(
        "arith.shli",
        symbol="<<",
        wraps=True,
        bitwise=True,
        inverse="arith.shrsi",
        siblings=("arith.shrsi", "arith.shrui"),
    ),
    _INTEGER("arith.shrsi", symbol=">>", signed=True, bitwise=True, siblings=("arith.shrui", "arith.shli")),
    _INTEGER("arith.shrui", symbol=">>", signed=False, bitwise=True, siblings=("arith.shrsi", "arith.shli")),
    _INTEGER("arith.addui_extended", signed=False, commutative=True, wraps=True),
    _INTEGER("arith.mulsi_extended", signed=True, commutative=True),
    _INTEGER("arith.mului_extended", signed=False, commutative=True),
    # Floats. A GPU divides float32 as div.full does: PTX allows 2 ulp.
    _FLOAT(
        "arith.addf",
        sums=True,
        symbol="+",
        rounding=CORRECT,
        commutative=True,
        inverse="arith.subf",
        siblings=("arith.subf",),
    ),
    _FLOAT("arith.subf", sums=True, symbol="-", rounding=CORRECT, inverse="arith.addf", siblings=("arith.addf",)),
    _FLOAT(
        "arith.mulf",
        symbol="*",
        rounding=CORRECT,
        commutative=True,
        absorbing=0,
        fuses=True,
        inverse="arith.divf",
        siblings=("arith.divf",),
    ),
    _FLOAT(
        "arith.divf",
        symbol="/",
        rounding=approximate(2.0, unit="division", ieee=True),
        fuses=True,
        inverse="arith.mulf",
        siblings=("arith.mulf",),
    ),
    _FLOAT("arith.remf", symbol="%", rounding=approximate(None)),
    _FLOAT("arith.negf", inverse="arith.negf"),
    _FLOAT(
        "arith.minimumf", extreme=-1, commutative=True, idempotent=True, siblings=("arith.minnumf", "arith.maximumf")
    ),
    _FLOAT(
        "arith.maximumf", extreme=1, commutative=True, idempotent=True, siblings=("arith.maxnumf", "arith.minimumf")
    ),
    _FLOAT(
        "arith.minnumf",
        extreme=-1,
        commutative=True,
        idempotent=True,
        drops_nan=True,
        siblings=("arith.maxnumf", "arith.minimumf"),
    ),
    _FLOAT(
        "arith.maxnumf",
        extreme=1,
        commutative=True,
        idempotent=True,
        drops_nan=True,
        siblings=("arith.minnumf", "arith.maximumf"),
    ),
    # Comparisons, and the choice by one.
    _COMPARISON("arith.cmpi", numbers="integer"),
    _COMPARISON("arith.cmpf", numbers="float"),
    Trait("arith.select", Kind.PERMUTES, rules.select, keeps=True),
    # Casts.
    _CAST("arith.extsi", numbers="integer", signed=True, inverse="arith.trunci", siblings=("arith.extui",)),
    _CAST("arith.extui", numbers="integer", signed=False, inverse="arith.trunci", siblings=("arith.extsi",)),
    _CAST("arith.trunci", numbers="integer", wraps=True, inverse="arith.extsi"),
    _CAST("arith.index_cast", numbers="integer", signed=True, inverse="arith.index_cast"),
    _CAST("arith.index_castui", numbers="integer", signed=False, inverse="arith.index_castui"),
    _CAST(
        "arith.sitofp",
        numbers="integer",
        makes="float",
        rounding=CORRECT,
        signed=True,
        inverse="arith.fptosi",
        siblings=("arith.uitofp",),
    ),
    _CAST(
        "arith.uitofp",
        numbers="integer",
        makes="float",
        rounding=CORRECT,
        signed=False,
        inverse="arith.fptoui",
        siblings=("arith.sitofp",),
    ),
    _CAST(
        "arith.fptosi",
        numbers="float",
        makes="integer",
        signed=True,
        inverse="arith.sitofp",
        siblings=("arith.fptoui",),
    ),
    _CAST(
        "arith.fptoui",
        numbers="float",
        makes="integer",
        signed=False,
        inverse="arith.uitofp",
        siblings=("arith.fptosi",),
    ),
    _CAST("arith.extf", numbers="float", inverse="arith.truncf"),
    _CAST("arith.truncf", numbers="float", rounding=CORRECT, inverse="arith.extf"),
    _CAST("arith.convertf", numbers="float", rounding=CORRECT, inverse="arith.convertf"),
    _CAST("arith.bitcast", keeps=True, bitwise=True, inverse="arith.bitcast"),
    _CAST("arith.scaling_extf", numbers="float"),
    _CAST("arith.scaling_truncf", numbers="float", rounding=CORRECT),
)
