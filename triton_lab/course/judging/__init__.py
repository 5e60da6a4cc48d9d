"""The judge of a class's notebooks: one process runs the answers, another one judges them.

`judge` is the second process. It starts the first one (`sandbox`, `answering_process`), which runs the notebook's cells
and answers questions. The two exchange only data (`judge_wire`, `answer_values`, `judge_messages`). `remote_answer` is
an answer of that process as a judge sees it.
"""
