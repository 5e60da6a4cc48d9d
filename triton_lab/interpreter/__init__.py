"""Runs a plan on NumPy: one array operation for all programs of a batch at once.

In: a `Plan`, the arguments' values, the grid and the memory. Out: what the kernel wrote, or a `KernelError`.

Read `machine` first (a grid in batches). Then read `bound_code` and `frame` (operations bound to functions, and the
values of the active programs), and `op_registry` and `ops/` (what each operation computes). `affine_block` and
`mask_box` are the compact forms of offsets and masks. `memory_regions` is the memory, `memory_access` reads and writes
it.
"""
