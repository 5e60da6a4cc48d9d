"""Layouts of tensors: TTGIR's own, as data; which thread holds which element, and what changing a layout costs.

`text` reads them, one module each has the kinds (`distributed`, `nvidia`, `amd`, `dot`, `shared`, `tensor_memory`);
all become a `linear` map over GF(2), and a `layout` asks that. `conversion` and `banks` tell costs.
"""

from triton_lab.compiled.layouts.bank_conflicts import BankUse, wavefronts
from triton_lab.compiled.layouts.layout import HardwarePlace, Layout, layout, layouts
from triton_lab.compiled.layouts.layout_conversion import Conversion
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import Kind
from triton_lab.compiled.layouts.linear_layout import Linear

__all__ = [
    "BankUse",
    "Conversion",
    "HardwarePlace",
    "Kind",
    "Layout",
    "LayoutError",
    "Linear",
    "layout",
    "layouts",
    "wavefronts",
]
