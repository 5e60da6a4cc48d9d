"""The parts of the race check: bytes that programs contend for, and the order between accesses.

`conflicts` finds the bytes, `candidates` the pairs to look at, `happens_before` the order, and `outcomes` what a race
leaves in memory.
"""
