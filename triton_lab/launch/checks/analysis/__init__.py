"""The analyses that checks share: the evidence, values followed through a replay, and bounds from the plan.

Read `evidence` first (the accesses as runs of bytes), then `finding_text` (names programs, lines and elements in
findings).
"""
