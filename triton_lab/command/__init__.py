"""`triton-lab` at the command line: the lab started, the course copied, scripts run and checked, what is missing told.

Nothing of the package imports this; click and rich are imported here alone, when the command is run.
"""
