"""Compares two results of a launch, or a launch and an expected result: how far apart, where first, and why.

In: launches, or a launch and what was expected. Out: a `Comparison` in numbers and words, which views draw. Read
`compare`, `comparison_result`, `argument_difference` (one argument), `bounds` (rounding), `first_divergence`,
then `root_cause` (experiments).
"""
