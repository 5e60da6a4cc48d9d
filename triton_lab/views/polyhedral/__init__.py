"""Pictures of scops, schedules and kernels' accesses, in the style of Triton's related-work page.

They read `triton_lab.polyhedral`; isl is never asked for what a scop or a schedule can answer.
"""
