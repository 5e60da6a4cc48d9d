"""Runs programs of one launch on several threads: torch's own OpenMP threads take the next programs from one queue.

`work_queue` has the programs that are left, `scheduler` is the machine code that takes them, `thread_team` the threads.
"""
