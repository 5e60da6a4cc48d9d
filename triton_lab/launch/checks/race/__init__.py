"""The parts of the race check: bytes that programs contend for, and the order between accesses.

In: the evidence of a launch. Out: racing pairs of accesses. Read `conflicts` (finds the bytes), `candidates` (the pairs
to examine), `happens_before` (the order), then `outcomes` (what a race leaves in memory).
"""
