"""Other arithmetics that the interpreter can try: a GPU's rounding, other orders of sums, more bits.

`arithmetic_variants` lists them; the other modules compute what some of them need.
"""
