"""Functions as a GPU computes them: the PTX that Triton makes of one elementwise operation, run on NumPy.

PTX text enters (`ptx_program.parse`; `inline_code` for the PTX in a kernel's own source). A `PtxFunction` leaves: it
maps arrays of elements to arrays of elements, to the bit of an H100. `ptx_machine` runs it for all lanes at once,
`instruction_table` says what each instruction does, and `special_unit` knows the bits of the approximate ones. Only
code without shared memory, barriers and communication between lanes is taken; the rest is `NotEmulated`.
"""

from triton_lab.interpreter.variants.ptx.inline_code import InlineCode
from triton_lab.interpreter.variants.ptx.ptx_machine import PtxFunction
from triton_lab.interpreter.variants.ptx.ptx_program import NotEmulated, parse

__all__ = ["InlineCode", "NotEmulated", "PtxFunction", "parse"]
