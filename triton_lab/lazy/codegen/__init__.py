"""Regions written down as Triton kernels, to be read by people and compiled by Triton.

It knows graphs and where values lie; not when a step runs, nor what is cached.
"""

from triton_lab.lazy.codegen.kernel import Kernel
from triton_lab.lazy.codegen.write import write_kernels

__all__ = ["Kernel", "write_kernels"]
