"""Answers as learners write them: wrong ones by class of misunderstanding, and right ones in other styles.

They were written from the texts of the exercises alone, before any of them was tried, by somebody who had not read the
checks. ``python -m tests.course.learners`` tries them all and prints the table.
"""
