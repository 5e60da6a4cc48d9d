"""Lazy tensors and their operations: a call is recorded in a graph, with shapes and dtypes from torch.

Data enters (`make_tensor`, `factories`), a `Tensor` leaves. Read `handle` first, the base of every tensor, then
`elementwise_methods`, `folding`, `along_dimension`, `indexing`, `inplace` and `joining`; `dispatch` connects torch's
and NumPy's functions, and `torch_queries` gets shapes and dtypes from torch.
"""
