"""The examples of Triton's related-work page: its nests, its ragged one, its three ways to schedule.

They use the rest as a reader would, and nothing rests on them.
"""
