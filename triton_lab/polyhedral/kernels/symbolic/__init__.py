"""Runs a kernel once on symbols: values are affine cases, conditions are facts, and accesses are collected.

A plan and symbolic arguments enter, `SymbolicAccess`es leave. `symbolic_walk` visits the plan along `control_path`s;
`rule_table` applies each operation to `symbolic_values`, by a rule of `operation_rules` or `shape_rules`;
`symbolic_loops` and `loop_carried` find the values in loops; `symbol_facts` bounds the symbols. A `symbolic_access` has
its address, mask and path.
"""
