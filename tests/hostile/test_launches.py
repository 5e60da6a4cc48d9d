"""Some of the hostile launches, two of each mutation; ``python -m tests.hostile launches`` tries hundreds."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests import warm
from tests.hostile import launches

# In a process without threads, of which a fork would have none.
SCRIPT = """
import json, sys
from tests.hostile import launches
launches.INPUTS = int(sys.argv[1])
print(json.dumps([[one.outcome, one.name, one.seen] for one in launches.tries(seed=3)]))
"""


@pytest.mark.slow
def test_changed_launches_are_bounded_or_refused() -> None:
    count = 2 * len(launches.MUTATIONS)
    process = warm.command("-c", SCRIPT, str(count), modules=warm.LAUNCH)
    done = subprocess.run(process, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == count
    assert [one for one in found if one[0] in ("wrong", "hung")] == []


def test_the_same_seed_makes_the_same_files() -> None:
    saved = [{"head.json": b'{"grid": [1], "plan": "%0", "twin": {"plan": "7"}}', "arrays/0.npy": b"no array"}]
    first, second = ([data for _, data in launches.mutants(1, saved, 1)] for _ in range(2))
    assert first == second
