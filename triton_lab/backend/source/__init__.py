"""A kernel's Python source: from places in a plan to the user's lines, and what the text says.

`kernel_source` finds the lines. `access_source` and `pointer_preview` read accesses. `operator_precedence` finds
comparisons that Python reads differently than they look. `kernel_dependencies` lists the globals and helpers that a
kernel uses. `kernel_breakpoints` finds calls of ``breakpoint()``. `printed_modules` keeps what Triton prints of refused
kernels off standard output. `layout_guard` and `atomic_guard` refuse what would end the process in Triton's compiler.
"""
