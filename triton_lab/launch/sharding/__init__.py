"""A launch in shards: ranges of its programs, each run and checked by itself, in any process.

`sharded_run` cuts and runs, `shard` is one range, `merge` joins the findings, `shard_conflict` finds where shards met.
"""
