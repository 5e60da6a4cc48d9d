"""The stages of a compilation, in the order in which they are made, by Triton's names for them.

Triton's front end for Gluon writes TTGIR with some layouts left open ("glir", from Triton 3.7 on); the other stages are
those of every kernel. cubin and hsaco are machine code, sass is the text that cuobjdump makes of a cubin.
"""

from __future__ import annotations

# The stages that are text, as pictures and sentences call them.
LABELS = {
    "glir": "Gluon IR",
    "ttir": "TTIR",
    "ttgir": "TTGIR",
    "llir": "LLVM IR",
    "ptx": "PTX",
    "amdgcn": "AMD assembly",
    "sass": "SASS",
}
MLIR = ("glir", "ttir", "ttgir")
_MACHINE = {"cuda": ("llir", "ptx", "cubin"), "hip": ("llir", "amdgcn", "hsaco")}


def order(backend: str, language: str) -> tuple[str, ...]:
    """The stages that Triton's compiler makes for a backend (cuda, hip) from a language (TRITON, GLUON)."""
    return (("ttir", "ttgir") if language == "TRITON" else ("ttgir",)) + _MACHINE[backend]
