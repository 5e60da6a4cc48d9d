"""Records a launch while it happens: `record` listens, the tape keeps the accesses, the snapshot keeps memory.

In: a running launch. Out: a `Recorded` launch (`launch_record`), which everything else asks.
"""
