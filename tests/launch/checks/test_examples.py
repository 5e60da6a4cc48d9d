"""No example has an error or a warning."""

from __future__ import annotations

import pytest

import triton_lab
from triton_lab.examples import Example, all_examples


@pytest.mark.parametrize("example", all_examples(), ids=lambda each: each.name)
def test_example_is_clean(example: Example) -> None:
    with triton_lab.check() as launches:
        example.check()
    assert launches
    assert not [str(found) for launch in launches for found in launch.findings if found.severity != "note"]
    assert all(launch.error is None and not launch.dropped for launch in launches)
