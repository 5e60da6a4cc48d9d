"""Elementary functions, written out in LLVM IR: no call leaves the function that is generated."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from triton_lab.native.code import Code, Reg

# By the name in MLIR's `math`: on `float` registers, scalar or vector.
FUNCTIONS: Mapping[str, Callable[[Code, Reg], Reg]] = {}
