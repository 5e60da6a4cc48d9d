"""Sets, maps and expressions: the mathematics of domains, access functions and loop trees.

It calls isl, within a budget (`isl_effort`), and knows no source language, no schedule and no kernel. Read
`affine_expr` first, then `iteration_domain`, `access_function`, `loop_nest` and `loop_tree`; `isl_codegen` turns a
schedule map into loops.
"""
