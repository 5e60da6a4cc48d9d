"""The rules: one module for each kind of finding, named for the kind, with one class that derives from `Rule`.

In: `Evidence` (`checks/analysis/evidence`). Out: findings. `checks/rule` finds all modules here by themselves.
"""
