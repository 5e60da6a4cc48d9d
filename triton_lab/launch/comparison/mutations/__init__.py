"""Changes of a kernel that may explain a wrong result; each is tried by running the launch again.

In: a launch. Out: switches (`numerics.Switch`). Read `experiments` (all of them, by how likely they are) first, then
`kernel_scope` and `value_names` (what users call values, and where they stand). The other modules make the changes of
one subject, and `ir_query` has queries of the plan.
"""
