"""Replays a recorded launch to find what the record does not hold: values, steps, origins, counts.

Read `replay_run` first: it runs a launch from its snapshot with an observer. Each other module finds one of these.
"""
