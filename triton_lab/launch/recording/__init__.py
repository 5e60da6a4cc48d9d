"""Records a launch while it runs: `record` listens, the tape stores the accesses, the snapshot stores memory.

In: a running launch. Out: a `Recorded` launch (`launch_record`), from which all other folders start. Read `record`,
`launch_of_call`, `tape`, `access_event`, then `snapshot`.
"""
