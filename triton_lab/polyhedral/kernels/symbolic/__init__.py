"""A kernel run once on symbols: values are affine cases, conditions are facts, accesses are kept.

`symbolic_walk` goes through the plan, `operation_rules` says what each operation does to `symbolic_values`, and
`symbolic_access` is one access with its address, mask and path.
"""
