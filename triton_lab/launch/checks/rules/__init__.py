"""The checks: one module for each kind of finding, with `check(evidence)`.

They read `Evidence` (`checks/analysis/evidence`) and yield findings. `launch.checks.check` runs all of them.
"""
