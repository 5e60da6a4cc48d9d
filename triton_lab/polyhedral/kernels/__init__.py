"""From a recorded launch to a scop: its plan is walked once on symbols, and races are proved or shown.

It knows plans and launches; not C, not Python, and not how a schedule is written down.
"""
