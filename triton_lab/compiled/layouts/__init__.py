"""Layouts of tensors: TTGIR's own, as data; which thread holds which element, and what a layout conversion costs.

A layout's text or its kind and parameters enter. Read first `linear_layout`: every layout becomes such a map over
GF(2). `layout_spelling` and `layout_parser` read what is given; `layout_kind` is the base of the kinds, which are in
`register_layouts`, `nvidia_matrix`, `amd_matrix`, `dot_operands`, `shared_memory` and `tensor_memory`. A `Layout`
leaves (`layout`, `module_layouts`), with the costs of `layout_conversion` and `bank_conflicts`.
"""

from triton_lab.compiled.layouts.bank_use import BankUse, wavefronts
from triton_lab.compiled.layouts.layout import Layout, layout
from triton_lab.compiled.layouts.layout_conversion import Conversion
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import LayoutKind
from triton_lab.compiled.layouts.linear_layout import HardwarePlace, Linear
from triton_lab.compiled.layouts.module_layouts import layouts

__all__ = [
    "BankUse",
    "Conversion",
    "HardwarePlace",
    "Layout",
    "LayoutError",
    "LayoutKind",
    "Linear",
    "layout",
    "layouts",
    "wavefronts",
]
