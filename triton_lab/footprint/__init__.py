"""Which bytes each program of a launch touches, and whether programs keep apart.

In: accesses in the interpreter's compact forms, with their roles (`ir.effects`). Out: `access_blocks`, the footprint
that threads, races, shards and proofs share, and whether programs contend for bytes: `access_roles` for groups of
accesses, `disjoint_programs` for all accesses of a launch. The prover for all sizes needs isl: `polyhedral.kernels`.
"""
