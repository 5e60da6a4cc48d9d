"""What is wrong with a launch, as data: findings, the verdict over all checks, and fixes.

`finding` is one finding and `verdict` all of them with what was not checked; `fix` edits the source and `tried_fixes`
runs the launch again with the edit; `check` is `lab.check`.
"""
