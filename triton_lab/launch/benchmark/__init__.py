"""Measures the time of functions over sizes.

`byte_traffic` says how much a kernel moves.
"""
