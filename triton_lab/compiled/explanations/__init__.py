"""Explains the operations and instructions of every stage, in a sentence or two.

The rows of a table are patterns of names, the special before the general; `explanation` takes the first match.
"""

from __future__ import annotations

import functools
import re

from triton_lab.compiled.explanations import (
    amd_instructions,
    llvm_instructions,
    mlir_operations,
    ptx_instructions,
    sass_instructions,
)
from triton_lab.localization import translated

_MLIR = re.compile(r'^\s*(?:[%\w:#, ]+ = )?"?([a-z]\w*\.[a-z][\w.]*)"?(?=[ ({:]|$)')
_LLVM = re.compile(r"^\s+(?:%\S+ = )?(?:tail |notail |musttail )?([a-z]\w*)\b(?:.*?@(llvm\.[\w.]+)\()?")
_PTX = re.compile(r"^\s*(?:\{\s*)?(?:@!?%\w+\s+)?([a-z]\w*(?:[.:]+[\w:]+)*)(?=[\s;]|$)")
_SASS = re.compile(r"\t(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")
_AMD = re.compile(r"^\t([a-z]\w+)(?=\s|$)")
_NAMES = {"glir": _MLIR, "ttir": _MLIR, "ttgir": _MLIR, "ptx": _PTX, "sass": _SASS, "amdgcn": _AMD}
_TABLES = {
    "glir": mlir_operations.TABLE,
    "ttir": mlir_operations.TABLE,
    "ttgir": mlir_operations.TABLE,
    "llir": llvm_instructions.TABLE,
    "ptx": ptx_instructions.TABLE,
    "sass": sass_instructions.TABLE,
    "amdgcn": amd_instructions.TABLE,
}


def operation(stage: str, line: str) -> str:
    """The name of the operation or instruction on a line of a stage; "" where there is none."""
    if stage == "llir":
        return _llvm(line)
    found = _NAMES[stage].search(line)
    return found[1] if found else ""


def _llvm(line: str) -> str:
    """The name of an LLVM instruction; for a call of an LLVM function, that function's name."""
    found = _LLVM.match(line)
    if found is None:
        return ""
    if found[1] == "call":
        return found[2] or ("asm" if " asm " in line else "call")
    return found[1]


def explanation(stage: str, name: str) -> str:
    """What an operation does; "" where no table has it."""
    return translated(_english(stage, name))


@functools.lru_cache(maxsize=4096)  # 14 microseconds for each line of a stage
def _english(stage: str, name: str) -> str:
    for pattern, told in _TABLES.get(stage, ()):
        if re.fullmatch(pattern, name):
            return told
    return ""
