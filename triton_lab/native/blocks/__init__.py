"""Blocks of values while code is written: the forms in which a block is known, and loops over its elements.

`value_repr` has the forms, `int_expr` the integers in them, `elements` computes an element where it is asked for,
`materialize` writes a block to scratch memory, `block_loops` writes the loops over a block.
"""
