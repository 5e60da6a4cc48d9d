"""Writes regions as Triton kernels: readable text, which Triton compiles.

A graph and a `Placement` enter (`write_kernels`), `GeneratedKernel`s leave (`generated_kernel`). Each kind of region
has its writer; `kernel_body` writes the elementwise part that they share, and `row_kernel` the loop along rows.
Nothing here depends on steps or caches.
"""

from triton_lab.lazy.codegen.generated_kernel import GeneratedKernel
from triton_lab.lazy.codegen.write_kernels import write_kernels

__all__ = ["GeneratedKernel", "write_kernels"]
