"""The exercises of each chapter, a page each: what is asked, what helps, and on what answers are tried.

Imported by `registry` when an exercise is asked for. A page has a tuple `EXERCISES`, in the chapter's order.
"""
