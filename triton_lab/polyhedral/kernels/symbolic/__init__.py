"""Runs a kernel once on symbols: values are affine cases, conditions are facts, and accesses are collected.

A plan and symbolic arguments enter, `SymbolicAccess`es leave. `symbolic_walk` visits the plan along `control_path`s;
`operation_rules` and `shape_rules` apply each operation to `symbolic_values`; `symbolic_loops` and `loop_carried`
find the values in loops; `symbol_facts` bounds the symbols. A `symbolic_access` has its address, mask and path.
"""
