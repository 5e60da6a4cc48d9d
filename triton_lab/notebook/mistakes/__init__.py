"""Mistakes in kernels, explained: from an error of Triton's front end to a sentence and a remedy.

`front_end_error` reads the error, `mistake_table` finds the mistake, `diagnostic` has the type of its explanation.
"""
