"""The Triton plugin: ``triton.backends`` finds `compiler` and `driver` here.

``import triton`` loads both while Triton itself is half imported, so they import nothing heavy
before they are used.
"""

# Whoever begins with one of our modules gets Triton whole first; Triton itself, half imported, is passed over here.
import triton  # noqa: F401
