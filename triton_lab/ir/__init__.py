"""The kernel as data: `parse_plan` reads a TTIR module into a `Plan`; analyses find what is known without running it.

A text in MLIR's generic form enters. A `Plan` leaves, and facts about it. No values: no NumPy, no torch, no launch.
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
