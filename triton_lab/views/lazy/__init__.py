"""Pictures of lazy steps: the graph, its hash, the buffers before and after.

They read the data of a step, and import neither launches nor scops.
"""
