"""The debugger of a recorded launch, without a front end: a program's statements in order, forwards and backwards.

`marked_copy` compiles the kernel with a mark before each statement. `program_tape` replays one program of it and keeps
the statements and the values. `breakpoints`, `stop_condition` and `block_expression` say where to stop. `debugger` has
the position and the verbs that move it; terminals, editors and notebooks are built on it.
"""
