"""Is anything odd about a launch? Relations that its outputs should have, without an expected value.

In: a recorded `Launch`. Out: an `Explanation`: relations that follow from the kernel's own operations (`ir.traits`),
each held, broken or not looked at, with numbers. Read `relation`, `stored_values` (what a store's value is computed
from), `element_sources` (which element comes from which), one file for each family of relations, then `explanation`.
"""
