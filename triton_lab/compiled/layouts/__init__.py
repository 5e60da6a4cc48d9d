"""Layouts of tensors: TTGIR's own, as data; which thread holds which element, and what changing a layout costs.

`text` reads them, one module each has the kinds (`distributed`, `nvidia`, `amd`, `dot`, `shared`, `tensor_memory`);
all become a `linear` map over GF(2), and a `layout` asks that. `conversion` and `banks` tell costs.
"""

from triton_lab.compiled.layouts.banks import BankUse, wavefronts
from triton_lab.compiled.layouts.conversion import Conversion
from triton_lab.compiled.layouts.kind import Kind
from triton_lab.compiled.layouts.layout import Layout, Place, layout, layouts
from triton_lab.compiled.layouts.linear import Linear
from triton_lab.compiled.layouts.refusal import LayoutError

__all__ = [
    "BankUse",
    "Conversion",
    "Kind",
    "Layout",
    "LayoutError",
    "Linear",
    "Place",
    "layout",
    "layouts",
    "wavefronts",
]
