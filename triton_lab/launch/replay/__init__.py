"""Runs a recorded launch again, to see what the record does not hold: values, steps, origins, counts.

`replay_run` runs it from its snapshot with an observer; each other module is one question.
"""
