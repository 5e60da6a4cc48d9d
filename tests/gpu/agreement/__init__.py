"""Kernels that stand in no example, run by a GPU and by the interpreter: how many elements agree, and what is named.

``python -m tests.gpu.agreement`` prints the table.
"""
