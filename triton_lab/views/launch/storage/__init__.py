"""The storage picture: tensors as they lie in memory, and how an index leads to its place."""
