"""PolyBench's thirty problems as loop nests, and what becomes of each.

They use the rest as a reader would, and nothing rests on them.
"""
