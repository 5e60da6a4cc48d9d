"""The command line `triton-lab`: start the lab, copy the course, run and check scripts, report what is missing.

No other room imports this one; click and rich are imported only here, when a command runs.
"""
