"""Numbers that a value should have had, and what in a kernel's scope has them.

In: a kernel and a probe. Out: switches (`numerics.Switch`). Read `number_matches` (what is put in place of a value)
first, then `wanted_values` (what it should have been), `value_record` (what values were), `scope_terms` and
`element_lookup` (what has these numbers), and `fitted_numbers` (a number that makes up for the difference).
"""
