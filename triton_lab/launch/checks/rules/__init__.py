"""The checks: one module for each kind of finding, with a function `check`.

In: `Evidence` (`checks/analysis/evidence`). Out: findings. `launch.checks.check` runs all of them.
"""
