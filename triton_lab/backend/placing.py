"""Which thread holds which elements of what a kernel reduces: ``python -m triton_lab.backend.placing``.

Reads ``{"ttir": text, "options": {name: value}}`` from standard input, compiles it for sm_90 as far as layouts are
chosen, and prints one line of JSON: a list with an item for each `tt.reduce`, as `layouts` reads it.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
from pathlib import Path
from typing import Any


def main() -> None:
    told = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(placed(told["ttir"], told["options"], Path(folder))), flush=True)
    os._exit(0)  # objects of MLIR end in an order that its Python bindings complain of


def placed(ttir: str, options: dict[str, Any], folder: Path) -> list[dict[str, Any] | None]:
    """For each reduction, in the order of the text, the bases of its operand's layout; None where they are not known.

    Bases are coordinates in the operand's ``shape``: what each bit of the number of a register, a lane and a warp
    adds to the place of the element that is there.
    """
    from triton._C.libtriton import gluon_ir
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import CUDABackend

    target = GPUTarget("cuda", 90, 32)
    file = folder / "kernel.ttir"
    file.write_text(ttir)
    module, parsed = _optimised(file, target, options)
    context = module.context
    module = CUDABackend.make_ttgir(module, {}, parsed, target.arch)
    ops: list[Any] = []
    module.walk(ops.append)
    made_by = {op.get_result(0).id(): op for op in ops if op.get_num_results()}
    builder = gluon_ir.GluonOpBuilder(context)
    return [_operand(builder, made_by, op) for op in ops if op.get_name() == "tt.reduce"]


def _optimised(file: Path, target: Any, options: dict[str, Any]) -> tuple[Any, Any]:
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


def _operand(builder: Any, made_by: dict[int, Any], op: Any) -> dict[str, Any] | None:
    value = op.get_operand(0)
    found = _bases(builder, value)
    origin = made_by.get(value.id())
    if found is None or origin is None or origin.get_name() != "tt.reshape":
        return found
    # A reshape before a sum of everything leaves each number in its register, wherever that is in the new layout.
    source = _bases(builder, origin.get_operand(0))
    if source is None:
        return None
    for what in _BASES:
        moved = [_reshaped(basis, source["shape"], found["shape"]) for basis in source[what]]
        if [any(one) for one in moved] != [any(one) for one in found[what]]:
            return None
        found[what] = moved
    return found


_BASES = ("registers", "lanes", "warps")


def _bases(builder: Any, value: Any) -> dict[str, Any] | None:
    shape = [int(extent) for extent in str(value.get_type()).split("<", 1)[1].split("x")[:-1] if extent.isdigit()]
    layout = builder.get_gluon_layout_from_tensor(value)
    try:
        linear = builder.to_linear_layout(layout._to_ir(builder), shape)
    except AttributeError:  # a layout that has no counterpart in Python
        return None
    if any(any(basis) for basis in linear.block_bases):
        return None  # a cluster's blocks share the sum
    return dict(zip(("shape", *_BASES), (shape, linear.reg_bases, linear.lane_bases, linear.warp_bases), strict=True))


def _reshaped(place: list[int], shape: list[int], into: list[int]) -> list[int]:
    at = sum(one * math.prod(shape[axis + 1 :]) for axis, one in enumerate(place))
    return [at // math.prod(into[axis + 1 :]) % extent for axis, extent in enumerate(into)]


if __name__ == "__main__":
    main()
