"""Pictures of values: the values of variables, program steps, and the origins of a stored element."""
