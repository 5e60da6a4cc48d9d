"""The storage picture: tensors as they lie in memory, with the way from an index to its place."""
