"""Writes a kernel's operations as LLVM IR: one file per subject, named as in `interpreter/ops`.

`emitter` walks the kernel and calls the subject's file. `kernel_function` writes the function around it. `guards` and
`access_checks` write the conditions under which a program may go on here.
"""
