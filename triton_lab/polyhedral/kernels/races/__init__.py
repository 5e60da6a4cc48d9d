"""Races between programs, proved absent for all sizes or shown: from pairs of accesses to a verdict.

`conflict_pairs` are the pairs as isl sets, `race_freedom` asks them, `race_table` and `race_verdict` say what is known.
"""
