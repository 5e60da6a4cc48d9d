"""Pictures of scops, schedules and kernels' accesses, in the style of Triton's related-work page.

They read `triton_lab.polyhedral`, and call isl only for what a scop or a schedule does not offer.
"""
