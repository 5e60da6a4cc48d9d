"""The exercises of each chapter, a file each: the task, the hints, and the cases on which answers are tried.

`exercise_registry` imports a file when one of its exercises is requested. It has a tuple `EXERCISES`, in the
chapter's order.
"""
