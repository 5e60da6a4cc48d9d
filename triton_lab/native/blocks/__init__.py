"""Blocks of values while code is written: the forms of a block, and loops over its elements.

`value_repr` has the forms and `int_expr` the integers in them. `elements` computes an element on demand, `materialize`
writes a block to scratch memory, and `block_loops` writes loops over a block.
"""
