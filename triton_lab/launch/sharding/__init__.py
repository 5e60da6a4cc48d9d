"""Runs a launch in shards: ranges of its programs, each run and checked by itself, in any process.

In: a launch before its run. Out: its merged memory and findings, or the reason why it must run whole. Read `shard` (one
range), `sharded_run` (cuts and runs), `shard_conflict` (a conflict of shards), `shard_memory` (merges memory), then
`merge` (findings).
"""
