"""Writes LLVM IR as text and compiles it: nothing here knows Triton.

`builder` holds the text of a function while it is written. `registers` has its values, `element_types` says how
elements are stored in registers and in memory, and `jit` compiles the text with llvmlite.
"""
