"""Two programs of a recorded launch, run step by step in an order of one's choice.

A step is a load, a store or an atomic of memory that both programs touch. `stepped_program` runs one program up to its
next step, and `program_pair` two of them on one memory. `interleavings` runs orders, and finds the states that they
reach and the results that they end in.
"""
