"""What a GPU's instructions make of numbers: the raw bits, from which the tables of `interpreter/variants` come."""
