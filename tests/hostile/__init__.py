"""Hostile inputs, by subject: what others hand in, send, save or type. ``python -m tests.hostile`` tries all of them.

A subject is a module here with ``tries(seed)``: it yields one `Try` for each input, as soon as its outcome is known.
"""
