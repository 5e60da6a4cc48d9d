"""A plugin of Triton's for a GPU that is none: what a worker with one has, for tests on a machine without.

Its kernels run in the interpreter; those of certain names end as only a GPU's would.
"""
