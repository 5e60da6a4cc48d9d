"""The checks: one module for each kind of finding, with a function `check`.

In: `Evidence` (`checks/analysis/evidence`). Out: findings. `check_table` lists and runs all of them.
"""
