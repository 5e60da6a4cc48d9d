"""The lines, branches and masks of kernels that ran, as coverage.py counts them.

A compiled kernel is invisible to coverage tools. With coverage on, kernels and their helpers are compiled with a mark
at the head of each straight run of statements (`mark_insertion`, `statement_blocks`). The interpreter reports the
programs that reach a mark (`mark_tracing`), and the lines and arcs that follow from this are written into coverage.py's
data (`coverage_session`).
"""
