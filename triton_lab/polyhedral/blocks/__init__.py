"""Writes Triton kernels from schedules: grids, blocks, and runs that prove them right.

A `Schedule` enters (`to_triton`), a `TritonKernel` leaves (`triton_kernel`). A tiled sum of products takes the path
`kernel_shape`, `contraction`, `contraction_text`; any other schedule the path `launch_plan`, `launch_nodes`,
`lane_blocks`, `lane_text`, `lane_writer`, `launch_text`. `translation_validation` then runs the kernel. Nothing here
depends on where the loop nest came from.
"""
