"""A launch on the CPU target: from the arguments that Triton hands over to a kernel that has run.

Read `launcher` first; `dispatch_cache` is its short way for a launch like one before. `kernel_arguments` and
`launch_regions` turn tensors into values and memory, `device_mirror` copies another device's memory, `recorders` tells
those who record, and `error_report` words what went wrong.
"""
