"""One try of an answer: its runs on the cases, which elements are wrong, and why.

`case_run` runs an answer on a case, `expected_result` says which of its elements are right, `wrong_elements` where the
others lie. `explained_fault` makes the message: `answer_cause` looks for a change of the kernel that makes all cases
right (`change_check` runs one on other cases), and `case_pattern` for what the wrong cases have in common.
`program_shares` are requirements on how programs share the work.
"""
