"""A kernel's operations as LLVM IR: a file for each subject, named as in `interpreter/ops`.

`emitter` walks the kernel and asks the subject's file; `kernel_function` writes the function around it; `guards` and
`access_checks` write what must hold for a program to go on here.
"""
