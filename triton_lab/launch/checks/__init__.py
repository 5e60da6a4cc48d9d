"""Checks of a recorded launch: each module of `rules` finds one kind of problem.

In: a recorded launch, as `Evidence`. Out: findings in a `Verdict`. Read `check_table` (the list of checks),
`analysis.evidence`, `rules`, then `race` for the race check. The checks draw nothing, and run a kernel only by
replaying the launch.
"""
