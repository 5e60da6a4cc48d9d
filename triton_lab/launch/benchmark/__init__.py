"""How long functions take: `sweep` measures over sizes, `benchmark_result` is what it measured.

`gpu_peaks` and `bytes_moved` say what a GPU could reach, and how much a kernel moves.
"""
