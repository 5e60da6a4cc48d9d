"""The kernel's text, for the search of causes: compiled as it was written, and with one place written otherwise.

What the front end evaluates, such as types, loops that it unrolls and arithmetic of constexprs, stands in no operation.
`text_edits` gives the changes, and `edited_source` compiles the kernel with one of them.
"""
