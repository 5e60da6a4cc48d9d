"""Pictures of proofs: a kernel's accesses with their verdicts, and the launches that refute them.

A `Proof` enters `proof_view`; `refuted_access` draws the smallest launch that leaves its tensor.
"""
