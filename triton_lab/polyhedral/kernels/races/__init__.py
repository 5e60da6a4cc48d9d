"""Races between programs: proved absent for all sizes, or shown.

A `KernelScop` enters, a `RaceVerdict` leaves. `conflict_pairs` are pairs of accesses as isl sets, `race_freedom`
decides by them and by the launch's record, and `race_verdict` has the words. `lane_pairs` does the same within one
program.
"""
