"""Many changes of one value, tried in one run: each has its own copies of the programs, and its own numbers there.

In: a kernel and a probe. Out: switches (`numerics.Switch`) whose numbers fit. Read `replica_run` (how they are tried)
and `replaced_place` (what stands in for a value) first, then `private_memory` (kernels that load what they store),
`replaced_values` and `repeated_uses` (where, and in what order), `expression`, `grammar` and `argument_loads` (what is
tried).
"""
