"""Measures the time of functions over sizes.

In: functions and sizes. Out: a `Sweep`. Read `sweep` (measures), `benchmark_result` (its rows), `gpu_peaks` (the GPU's
peak rates), then `byte_traffic` (the bytes that kernels move).
"""
