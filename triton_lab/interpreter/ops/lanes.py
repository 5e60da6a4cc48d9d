"""``tt.histogram`` and ``tt.map_elementwise``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab.interpreter.dtypes import dtype_of, unsigned
from triton_lab.interpreter.frame import Frame
from triton_lab.interpreter.op_registry import impl
from triton_lab.interpreter.ops.combine_functions import lanes, same_programs
from triton_lab.interpreter.ops.control import returned, run_blocks
from triton_lab.interpreter.runtime_values import Value, elements
from triton_lab.ir import Op

Array = NDArray[Any]


@impl("tt.histogram")
def histogram(frame: Frame, op: Op, source: Value, *rest: Value) -> Value:
    """Counts of the values ``0 .. bins - 1``. Other values are not counted."""
    type = frame.result_type(op)
    bins = type.shape[0]
    array = frame.spread(op, 0, source)
    # Read as unsigned, negative numbers are too large as well.
    chosen = array.view(unsigned(array.dtype)) < bins
    if rest:
        chosen = chosen & frame.elements(op, 1, rest[0])
    programs = chosen.shape[0]
    array = np.broadcast_to(array, chosen.shape)
    flat = np.arange(programs)[:, None] * bins + array
    flat = flat.reshape(-1) if chosen.all() else flat[chosen]
    return np.bincount(flat, minlength=programs * bins).reshape(programs, bins).astype(dtype_of(type))


@impl("tt.map_elementwise")
def map_elementwise(frame: Frame, op: Op, *operands: Value) -> Any:
    """Apply a scalar function to each lane (or to ``pack`` neighbouring lanes at once)."""
    pack = op.attributes["pack"]
    arrays = same_programs([frame.spread(op, k, value) for k, value in enumerate(operands)])
    blocks = frame.region(op)
    shape = arrays[0].shape
    arguments = []
    for array in arrays:
        packed = np.ascontiguousarray(array).reshape(-1, pack)
        arguments += [np.ascontiguousarray(packed[:, k]) for k in range(pack)]
    inner = lanes(frame, (shape[0], int(np.prod(shape[1:])) // pack))
    results = [
        np.broadcast_to(elements(value, inner.type(number)), (inner.count,))
        for value, number in zip(run_blocks(inner, blocks, arguments), returned(blocks), strict=True)
    ]
    outputs = [np.stack(results[k * pack : (k + 1) * pack], axis=1).reshape(shape) for k in range(len(op.results))]
    return outputs[0] if len(outputs) == 1 else tuple(outputs)
