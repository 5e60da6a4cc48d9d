"""Which lines of each stage belong to which lines of the source, as the compilers wrote it down.

Every stage names places in its own way: `mlir`, `llvm`, `assembly` (PTX and AMD's) and `machine` (SASS) read them, line
by line, into trails of places.
"""
