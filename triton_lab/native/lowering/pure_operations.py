"""The operations without effects whose results can be computed element by element, on demand."""

from __future__ import annotations

from triton_lab.ir import traits
from triton_lab.ir.traits import Kind
from triton_lab.ir.traits import lane_rules as rules

# Moves along axes, of one operand to one result.
_ALONG_AXES = (rules.splat, rules.broadcast, rules.expand_dims, rules.trans, rules.lane_by_lane)
MOVES = traits.names(lambda trait: trait.kind is Kind.MOVES and trait.lanes in _ALONG_AXES) - {"tt.unsplat"}

PURE = MOVES | traits.names(
    lambda trait: (
        trait.lanes in (rules.lane_by_lane, rules.select, rules.nothing)
        and trait.is_pure
        and trait.name != "tt.make_tensor_descriptor"
    )
)

# The rough cost in operations of a vector unit; 1 for operations that are not listed.
COSTS = {
    **dict.fromkeys(traits.names(lambda trait: trait.rounding.unit in ("exp2", "log2", "sine")), 20),
    **dict.fromkeys(traits.names(lambda trait: trait.numbers == "integer" and trait.symbol in ("//", "%")), 20),
    **dict.fromkeys(traits.names(lambda trait: trait.rounding.ieee or trait.name.startswith("tt.precise_")), 8),
    "math.rsqrt": 12,
    "arith.remf": 100,
    "tt.extern_elementwise": 30,
    "math.erf": 50,
}
