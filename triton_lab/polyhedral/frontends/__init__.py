"""Parses text into loop nests: C loops and Python loops, each node with its place in the source.

Text enters (`from_c`, `from_python`), a `Nest` leaves; `affine_reader` reads its expressions as affine values.
Nothing here depends on scops, schedules or launches.
"""
