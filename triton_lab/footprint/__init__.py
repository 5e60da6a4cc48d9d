"""Which bytes each program of a launch touches, and whether programs keep apart.

In: accesses in the interpreter's compact forms. Out: `access_blocks`, the footprint that threads, races, shards and
proofs share; `access_roles`, which accesses may not share a byte; `disjoint_programs`, the prover for known sizes. The
prover for all sizes needs isl: it is in `polyhedral/kernels/races`.
"""
