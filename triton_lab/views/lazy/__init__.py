"""Pictures of lazy steps: the graph, its hash, the buffers before and after.

They read what a step tells of itself, and know neither launches nor scops.
"""
