"""Compiled kernels at run time: from the cache to a finished launch.

`compiled_function` is one kernel in memory, from `code_cache` or compiled now; `background_compiler` compiles beside
the launches; `native_launch` runs the programs and hands those that a guard stops to NumPy; `transaction` and
`undo_log` restore memory. `observed_launch` runs a launch under an observer; `known_places` spares it the walk.
"""
