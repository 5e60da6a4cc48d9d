"""Mistakes in kernels, explained: from an error of Triton's front end to a sentence and what to do.

`front_end_error` reads the error, `mistake_table` finds which mistake it is, `diagnostic` is what is told.
"""
