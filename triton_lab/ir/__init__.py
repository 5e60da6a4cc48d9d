"""The kernel as data: a TTIR module read into a `Plan`, and what can be said of it without running it.

It knows no values: no NumPy, no torch, no launch.
"""

from triton_lab.ir.parse import ParseError, parse_plan
from triton_lab.ir.plan import Bits, Block, Dense, Function, Location, Op, Plan, Region, Successor
from triton_lab.ir.types import Type

__all__ = [
    "Bits",
    "Block",
    "Dense",
    "Function",
    "Location",
    "Op",
    "ParseError",
    "Plan",
    "Region",
    "Successor",
    "Type",
    "parse_plan",
]
