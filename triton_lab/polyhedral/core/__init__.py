"""Sets, maps and expressions: what domains, access functions and loop trees are made of.

It asks isl, within a budget, and knows no source language, no schedule and no kernel.
"""
