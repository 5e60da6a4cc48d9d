"""Each kind of finding is tried on twenty programs of its class that are right, and found in none of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pytest

import triton_lab
from tests.planted import (
    contiguity,
    grids,
    infinities,
    innocents_async,
    innocents_threads,
    layouts,
    masked_off,
    nan_compared,
    negative_divisions,
    overlaps,
    random_numbers,
    stored_numbers,
    strides,
    tuned,
    unread,
    unused_loads,
)
from tests.planted.innocent_stores import INNOCENT_STORES
from tests.planted.innocent_values import INNOCENT_VALUES
from tests.planted.innocents_by_kind import BY_KIND
from tests.planted.plant import every_plant
from triton_lab.launch.checks.rule import rules

Runs = Sequence[Callable[[], None]]

ASYNCHRONOUS = [kind for kind, rule in rules().items() if ".asynchronous." in type(rule).__module__]
# No launch has these: the command line finds them.
ELSEWHERE = {"resources", "miscompiled"}
# Lists of innocents by the kinds of whose class they are; the twins of planted bugs are innocents, too.
LISTS: dict[str, Runs] = {
    **dict.fromkeys(("race", "same-value", "lane-order", "lane-collision", "deadlock"), innocents_threads.INNOCENTS),
    **dict.fromkeys(("assumed-contiguous", "outside-view"), contiguity.INNOCENTS),
    **dict.fromkeys(
        ("small-grid", "unused-grid-axis", "unwritten", "idle-program", "always-true-mask"), grids.INNOCENTS
    ),
    **dict.fromkeys(("tuned-in-place", "tuned-leftover"), tuned.INNOCENTS),
    **dict.fromkeys(("undefined", "uninitialized"), INNOCENT_VALUES),
    **dict.fromkeys(("lossy-store", "spilt-byte"), INNOCENT_STORES),
    **dict.fromkeys(ASYNCHRONOUS, innocents_async.INNOCENTS),
    "always-false-mask": masked_off.INNOCENTS,
    "layout-order": layouts.INNOCENTS,
    "nan-comparison": nan_compared.INNOCENTS,
    "negative-division": negative_divisions.INNOCENTS,
    "non-finite": infinities.INNOCENTS,
    "overlapping-rows": [*overlaps.INNOCENTS, *strides.INNOCENTS],
    "overflow": stored_numbers.INNOCENTS,
    "repeated-random": random_numbers.INNOCENTS,
    "unread": unread.INNOCENTS,
    "unused-load": unused_loads.INNOCENTS,
    "wrong-stride": strides.INNOCENTS,
}


def innocents(kind: str) -> Runs:
    """All programs of a kind's class that are right."""
    plants = [one for one in every_plant() if one.kind == kind or {one.kind, kind} <= {*ASYNCHRONOUS}]
    return [*(partial(one.run, True) for one in plants), *LISTS.get(kind, ()), *BY_KIND.get(kind, ())]


@pytest.mark.parametrize("kind", [kind for kind in rules() if kind not in ELSEWHERE])
def test_each_kind_has_twenty_innocents(kind: str) -> None:
    assert len(innocents(kind)) >= 20


# Those of other modules are run in `test_planted` for errors and warnings.
OWN = [(kind, run) for kind, every in BY_KIND.items() for run in every]
OWN += [(kind, run) for kind in ASYNCHRONOUS[:1] for run in innocents_async.INNOCENTS]
NOTES = [(kind, run) for kind in LISTS if rules()[kind].severity == "note" for run in LISTS[kind]]


@pytest.mark.parametrize(
    ("kind", "run"), [*OWN, *NOTES], ids=[f"{kind}: {run.__name__}" for kind, run in [*OWN, *NOTES]]
)
def test_what_is_right_has_no_finding_of_the_kind(kind: str, run: Callable[[], None]) -> None:
    with triton_lab.record() as launches:
        run()
    assert launches
    found = [one for launch in launches for one in launch.findings if one.severity != "note" or one.kind == kind]
    assert not found, "\n\n".join(map(str, found))
