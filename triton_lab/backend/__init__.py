"""The Triton plugin: ``triton.backends`` finds `compiler` and `driver` here.

``import triton`` loads both while Triton itself is half imported, so they import nothing heavy before they are used.
Read `compiler` and `driver` first, then `plugin/` (launches), `source/` (the kernel's text) and `targets/` (the CPU and
the GPU).
"""

# If one of our modules is imported first, this imports all of Triton before it. If Triton is half imported, nothing
# happens.
import triton  # noqa: F401
