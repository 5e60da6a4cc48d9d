"""Which lines, branches and masks of kernels ran, as coverage.py counts them.

A compiled kernel is invisible to coverage tools. While it is asked for, kernels and their helpers are compiled with a
mark at the head of each straight run of statements (`weaving`); the interpreter tells who comes by (`tracing`), and
what that says of lines and arcs is written into coverage.py's data (`written`).
"""
