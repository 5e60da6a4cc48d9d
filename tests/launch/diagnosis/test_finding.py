"""A finding as text."""

from __future__ import annotations

from triton_lab.launch.diagnosis.finding import Finding


def test_a_finding_is_one_line_where_it_is_one_of_many() -> None:
    found = Finding("race", "two programs store", "use an atomic", line=3, excerpt=("  tl.store(x_ptr, 1)",))
    assert repr(found) == "<error race, line 3: two programs store>"
    assert len(str(found).splitlines()) == 3
