"""What a notebook needs beyond the API: cells with right line numbers, fresh kernels, clear errors.

It knows how IPython runs a cell, and nothing of what a kernel is made of.
"""
