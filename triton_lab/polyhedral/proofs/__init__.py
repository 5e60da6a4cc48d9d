"""Proves a kernel for every size, before it runs: accesses in bounds, races, overflow, outputs, masked lanes.

A launch or a kernel with its arguments enters (`prove`), a `Proof` leaves (`proof`).
"""
