"""What is wrong with a launch, as data: findings, the verdict of all checks, and fixes.

In: a recorded launch and its checks. Out: a `Verdict`. Read `finding` (one finding), `verdict` (all findings, and what
was not checked), `fix` (edits of the source), `tried_fixes` (replays with an edit), then
`launch_assertion` (`lab.check`).
"""
