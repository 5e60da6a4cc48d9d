"""The layouts of a TTGIR module's types, and the bytes of its allocations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from triton_lab.compiled.layouts.layout import Layout
from triton_lab.compiled.layouts.layout_kind import Distributed, TensorMemory
from triton_lab.compiled.layouts.layout_parser import parse, types_of

# 512 columns of 4 bytes.
_ROW_BYTES = 2048


def layouts(ttgir: str) -> dict[str, Layout]:
    """The layouts of a TTGIR module, once for each shape and width they are used with, in the order of its lines.

    The key is TTGIR's text: ``tensor<128x64xf16, #blocked>``. Layouts that this package does not know are left out,
    and a tensor of pointers counts 64 bits an element.
    """
    found: dict[str, Layout] = {}
    for each in types_of(ttgir):
        shape = "x".join(map(str, each.shape))
        key = f"{'tensor' if isinstance(each.kind, Distributed) else 'memdesc'}<{shape}x{each.element}, {each.spelled}>"
        if key not in found:
            found[key] = Layout(each.kind, each.shape, width(each.element))
    return found


def shared_addresses(spelled: str, shape: Sequence[int], bits: int) -> npt.NDArray[np.int64]:
    """The byte of each element of an allocation in shared memory, whose layout is TTGIR's text, from its first one.

    Dimensions before those of the layout count buffers, which follow one another. In tensor memory a row has 2,048
    bytes, of an element with several places the first one counts, and buffers follow one another along the columns.
    """
    kind = parse(spelled)
    counts, inner = shape[: len(shape) - kind.rank], tuple(shape[len(shape) - kind.rank :])
    layout = Layout(kind, inner, bits)
    if isinstance(kind, TensorMemory):
        inverse = layout.linear.inverse()
        rows, columns = (inverse.table_of(part).reshape(inner) for part in ("row", "column"))
        found = rows * _ROW_BYTES + columns * bits // 8
        size = -(-(int(columns.max()) + 1) * bits // 8 // 4) * 4
    else:
        found = layout.addresses()
        size = int(found.max()) + bits // 8
    for extent in reversed(counts):
        found = np.arange(extent).reshape(-1, *(1,) * found.ndim) * size + found
        size *= extent
    return found


def width(element: str) -> int:
    """The bits of one element of a type: ``f16`` has 16, ``f8E4M3FN`` 8, a pointer 64."""
    if element.startswith("!tt.ptr"):
        return 64
    digits = "".join(element[1:3]) if element[1:3].isdigit() else element[1:2]
    if element.startswith("bf"):
        return 16
    if element.startswith("f8") or not digits.isdigit():
        return 8
    return int(digits)
