"""By what Triton knows us. It is loaded while Triton itself is half imported, and so imports nothing."""

# The plugin's name in Triton, and its device's number: Triton keeps compiled kernels by that, so no GPU may have it.
NAME = "triton_lab"
DEVICE = -1
