"""How far other roundings may take a launch's results: a replay in which each value has a `Bound`.

A launch enters `error_bounds`, and the bound of each element of its tensors leaves. Read `bound` and `rounding_rules`
first; `operation_bounds` chooses the rule of an operation, and `rounding_watcher` follows values and memory.
"""
