"""A kernel's operations as LLVM IR: one file for each subject, named like the file of `interpreter/ops` that it follows.

`emitter` walks the kernel and asks the subject's file; `kernel_function` writes the function around it; `guards` and
`access_checks` write what must hold for a program to go on here.
"""
