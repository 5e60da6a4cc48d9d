"""The predicates of ``arith.cmpi`` and ``arith.cmpf``, in the order of MLIR's enumerations."""

from __future__ import annotations

from collections.abc import Mapping

INTEGER = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
_SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

NUMBERS: Mapping[str, Mapping[str, int]] = {
    "integer": {_SIGNS[name[-2:]]: number for number, name in enumerate(INTEGER) if name[0] != "u"},
    # As Python compares: with NaN, `!=` alone is true.
    "float": {
        _SIGNS[name[1:]]: number
        for number, name in enumerate(FLOAT)
        if name == "une" or (name[0] == "o" and name not in ("one", "ord"))
    },
}
"""By the kind of number and the sign that a program writes, the number of the predicate; integers are signed."""
