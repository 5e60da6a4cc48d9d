"""A launch on the CPU target: from the arguments that Triton passes to a kernel that has run.

Read `launcher` first; in `dispatch_cache` it looks for the machine code of a launch like one before. `kernel_arguments`
and `launch_regions` turn tensors into values and memory, `device_mirror` copies another device's memory, `recorders`
tells those who record, and `error_report` words what went wrong.
"""
