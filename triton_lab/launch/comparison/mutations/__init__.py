"""Changes of a kernel that may explain a wrong result; each is tried by running the launch again.

`catalog` gathers them for a launch; each other module makes those of one subject, and `ir_query` asks the kernel.
"""
