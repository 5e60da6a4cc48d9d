"""Regions written down as Triton kernels, to be read by people and compiled by Triton.

It knows graphs and where values lie; not when a step runs, nor what is cached.
"""

from triton_lab.lazy.codegen.generated_kernel import GeneratedKernel
from triton_lab.lazy.codegen.write_kernels import write_kernels

__all__ = ["GeneratedKernel", "write_kernels"]
