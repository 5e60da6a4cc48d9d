"""How something is followed through a replay, from operands to results or back, by the lane maps of `ir.traits`.

Flags on lanes enter, with the values of a run where lanes depend on values; flags on other lanes leave. In reading
order: `lane_sets` (one operation), `value_needs` (backward, from one value), `value_marks` and `forward_analysis`
(forward: wrapped integers, births of NaN, carried sums, uses of unwritten memory are instances of it).
"""
