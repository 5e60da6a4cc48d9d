"""Races between programs: proved absent for all sizes, or shown.

A `KernelScop` enters, a `RaceVerdict` leaves. `conflict_pairs` are pairs of accesses as isl sets, `race_freedom`
queries them, and `race_table` and `race_verdict` hold the verdicts. `lane_pairs` does the same within one program.
"""
