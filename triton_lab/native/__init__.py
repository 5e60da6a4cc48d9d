"""A second engine: a `Plan` as LLVM IR, compiled for this processor. NumPy's stays the meaning of a kernel.

`program` says what a generated function is and makes it; `code` is the text that is being written. What the room
does not know raises `Unsupported`, and NumPy's engine runs it.
"""
