"""The parts of the lab for notebooks, beyond the API: cells with right line numbers, fresh kernels, clear errors.

This package knows how IPython runs a cell, and nothing of the operations in a kernel.
"""
