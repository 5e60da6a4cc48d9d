"""What the checks have in common: the evidence, and what is followed through a replay or bounded from the plan.

`evidence` has the accesses as runs of bytes; `finding_text` names programs, lines and elements in findings.
"""
