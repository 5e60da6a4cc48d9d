"""Compiles TTIR for sm_90 and prints what the machine code takes: ``python -m triton_lab.backend.cubin``.

Reads ``{"ttir": text, "options": {name: value}}`` from standard input; prints one line of JSON with ``registers``,
``spills`` and ``shared``, in the units in which Triton gives them for a kernel that is loaded on a GPU.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any


def main() -> None:
    told = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(compiled(told["ttir"], told["options"], Path(folder))))


def compiled(ttir: str, options: dict[str, Any], folder: Path) -> dict[str, int]:
    """The resources of ``ttir``, which has been inlined and simplified and no more."""
    import triton
    from triton.backends.compiler import GPUTarget

    target = GPUTarget("cuda", 90, 32)
    file = folder / "kernel.ttir"
    file.write_text(ttir)
    # Triton takes a file of TTIR for one that this stage has been through.
    file.write_text(_optimised(file, target, options))
    kernel = triton.compile(str(file), target=target, options=options)
    binary = folder / "kernel.cubin"
    binary.write_bytes(kernel.asm["cubin"])
    usage = subprocess.run(
        [triton.knobs.nvidia.cuobjdump.path, "--dump-resource-usage", str(binary)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    registers, stack = (int(found) for found in re.findall(r"\b(?:REG|STACK):(\d+)", usage)[:2])
    # A spilled register takes four bytes of the stack.
    return {"registers": registers, "spills": stack // 4, "shared": kernel.metadata.shared}


def _optimised(file: Path, target: Any, options: dict[str, Any]) -> str:
    return str(optimised(file, target, options)[0])


def optimised(file: Path, target: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """The module in ``file`` after ``target``'s first stage, and the options as its compiler has them."""
    from triton._C.libtriton import ir
    from triton.backends.nvidia.compiler import CUDABackend

    backend = CUDABackend(target)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = ir.parse_mlir_module(str(file), context)
    module.context = context
    parsed = backend.parse_options(dict(options))
    return CUDABackend.make_ttir(module, {}, parsed, target.arch), parsed


if __name__ == "__main__":
    main()
