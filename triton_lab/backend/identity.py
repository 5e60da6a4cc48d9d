"""The plugin's name and device number in Triton. Loaded while Triton is half imported, so it imports nothing."""

# The plugin's name in Triton, and its device's number. Triton stores compiled kernels under the number, so no GPU may
# have it.
NAME = "triton_lab"
DEVICE = -1
