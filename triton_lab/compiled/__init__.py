"""What a GPU's compiler makes of a kernel, on any machine: every stage down to the machine code, and its resources.

A kernel, its signature and a target enter (`compile`, `launch_compilation`). Triton's wheel holds the whole compiler:
its front end runs here (`front_end`); all later stages may fail, abort or never end, so they run in a process of
their own (`compiler_client`, `compiler_process`). A `Compiled` leaves (`compiled`): stages, registers and memory
(`resource_facts`), source lines (`lines/`), layouts of TTGIR as data and as linear maps (`layouts/`), memory
transactions (`transactions/`) and cost (`cost/`).
"""
