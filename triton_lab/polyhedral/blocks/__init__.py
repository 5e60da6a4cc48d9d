"""From a schedule to Triton kernels: grids, blocks, and the runs that prove them right.

It knows schedules and how kernels are written; not where the loop nest came from.
"""
