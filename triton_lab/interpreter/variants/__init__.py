"""Other arithmetics of the interpreter, to be tried: what a GPU rounds otherwise, other orders of sums, more bits.

`arithmetic_variants` lists them; the other modules compute what some of them need.
"""
