"""Turns a recorded launch into a scop: it runs the plan once on symbols, then proves races absent or shows them.

A `Launch` enters (`from_launch`), a `KernelScop` leaves (`launch_scop`). `symbolic/` walks the plan; `launch_model`
and `access_statement` make statements of its accesses; `model_check` compares them with the record;
`accessed_elements` and `program_footprint` count elements; `races/` gives the verdict. Nothing here depends on C,
Python or schedules.
"""
