"""Compiled kernels at run time: from the cache to a launch that has ended.

`compiled_function` is one kernel in memory, from `code_cache` or compiled now; `background_compiler` compiles beside
the launches; `native_launch` runs the programs and hands to NumPy what a guard stops; `transaction` and `undo_log` put
memory back.
"""
