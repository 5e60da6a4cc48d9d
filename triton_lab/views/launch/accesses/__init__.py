"""Pictures of accesses: how often, by whom and when the elements of an argument are touched."""
