"""What a GPU's compiler makes of a kernel, on any machine: every stage down to the machine code, and what that takes.

Triton's wheel holds the whole compiler. Its front end reads the kernel here; what comes after, which may fail, abort or
take for ever, runs in a process of its own (`child`). `layouts/` has every layout of TTGIR
as data and as a linear map.
"""
