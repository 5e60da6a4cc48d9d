"""A kernel's Python source: from places in a plan to the lines that the user wrote, and what the text says.

`kernel_source` finds the lines; `access_source` and `pointer_preview` read accesses, `operator_precedence` comparisons
that Python reads in another way than they look, `kernel_dependencies` the globals and helpers that a kernel uses.
"""
