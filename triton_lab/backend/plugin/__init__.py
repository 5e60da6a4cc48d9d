"""A launch on the CPU target: from the arguments that Triton passes to a kernel that has run.

Read `launcher` first; `dispatch_cache` is its fast path for a launch like an earlier one. `kernel_arguments` and
`launch_regions` turn tensors into values and memory. `device_mirror` copies another device's memory. `recorders`
reports launches to recorders, and `error_report` words errors for the user.
"""
