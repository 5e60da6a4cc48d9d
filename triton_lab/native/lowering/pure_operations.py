"""The operations without effects whose results can be computed element by element, on demand."""

from __future__ import annotations

from triton_lab.ir import traits
from triton_lab.ir.traits import lane_rules as rules

SHAPES = frozenset({"tt.splat", "tt.broadcast", "tt.expand_dims", "tt.trans", "ttg.convert_layout"})

PURE = SHAPES | traits.names(
    lambda trait: (
        trait.lanes in (rules.lane_by_lane, rules.select, rules.nothing)
        and trait.is_pure
        and trait.name != "tt.make_tensor_descriptor"
    )
)

# The rough cost in operations of a vector unit; 1 for operations that are not listed.
COSTS = {
    **dict.fromkeys(("math.exp", "math.exp2", "math.log", "math.log2", "math.sin", "math.cos"), 20),
    **dict.fromkeys(("arith.divsi", "arith.remsi", "arith.divui", "arith.remui"), 20),
    **dict.fromkeys(("arith.divf", "tt.precise_divf", "tt.approx_divf", "math.sqrt", "tt.precise_sqrt"), 8),
    "math.rsqrt": 12,
    "arith.remf": 100,
    "tt.extern_elementwise": 30,
    "math.erf": 50,
}
