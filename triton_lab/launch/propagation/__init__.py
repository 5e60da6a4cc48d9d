"""How something is followed through a replay, from operands to results or back, by the lane maps of `ir.traits`.

Flags on lanes enter, with the values of a run where lanes depend on values; flags on other lanes leave. In reading
order: `lane_sets` (one operation), `value_needs` (backward, from one value). Forward, with a launch, go the marks of
`checks.analysis.value_marks`.
"""
