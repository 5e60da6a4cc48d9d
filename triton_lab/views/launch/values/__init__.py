"""Pictures of values: what variables held, step by step, and where a stored element came from."""
