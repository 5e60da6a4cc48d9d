"""Lazy tensors and their operations: what is called is noted in a graph, and torch is asked for shapes and dtypes.

`tensor` makes them; `handle` is what every one of them is; the other modules have the operations, by subject.
"""
