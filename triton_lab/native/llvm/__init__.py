"""LLVM IR as text, and its way to an address: nothing here knows Triton.

`builder` holds the text of a function while it is written, `registers` and `literals` are its values, `element_types`
says how elements are kept in registers and in memory, `jit` has llvmlite compile the text.
"""
