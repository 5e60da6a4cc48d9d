"""How long functions take: `sweep` measures over sizes, `benchmark_result` is what it measured.

`byte_traffic` says how much a kernel moves.
"""
