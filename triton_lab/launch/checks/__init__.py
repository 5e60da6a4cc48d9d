"""Checks of a recorded launch: each module of `rules` declares one kind of finding, and how it is found.

In: a recorded launch, as `Evidence`. Out: findings in a `Verdict`. Read `rule` (what a kind of finding is),
`check_run` (runs all of them), `silent_rules` (those that need not run), `analysis.evidence`, `rules`, then `race` for
accesses that conflict. The checks draw nothing, and run a kernel only by replaying the launch.
"""
