"""A class's notebook is graded by two processes: one runs the answers, the other judges them.

`judge` is the second. It starts the first (`sandbox`, `child`), which runs the notebook's cells and answers questions,
and speaks with it by data alone (`wire`, `values`, `messages`). `there` is an answer of that process, as judges ask it.
"""
