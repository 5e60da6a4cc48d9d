"""The exercises of each chapter, a page each: the task, the hints, and the cases on which answers are tried.

`exercise_registry` imports a page when one of its exercises is requested. A page has a tuple `EXERCISES`, in the
chapter's order.
"""
