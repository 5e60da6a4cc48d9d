"""Regions written down as Triton kernels, to be read by people and compiled by Triton."""

from triton_lab.lazy.codegen.kernel import Kernel
from triton_lab.lazy.codegen.write import write_kernels

__all__ = ["Kernel", "write_kernels"]
