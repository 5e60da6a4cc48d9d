"""From text to loop nests: C loops and Python loops, each node with its place in the source.

They know no scop, no schedule and no launch.
"""
