"""No kind of memory ends the process, and none that may only be read is written, whatever runs the kernel."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests import warm
from tests.backend.memory_kinds import ACCESSES, FAR, KINDS

# By what may be done with the memory: of a load, and of what writes.
DIRECT = {"rw": ("done", "done"), "r": ("done", "fixed"), "": ("unreadable", "unreadable")}


@pytest.fixture(scope="module", params=["numpy", "native"])
def outcomes(request: pytest.FixtureRequest) -> dict[tuple[str, str, bool], str]:
    process = warm.command("-m", "tests.backend.memory_kinds", request.param, modules=warm.LAUNCH)
    done = subprocess.run(process, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    lines = map(json.loads, done.stdout.splitlines())
    return {(kind, access, far): told for kind, access, far, told in lines}


@pytest.mark.parametrize("kind", KINDS)
def test_of_each_kind_of_memory_what_may_be_done_is_done_and_the_rest_refused(kind, outcomes):
    read, written = DIRECT[KINDS[kind][0]]
    for access in ACCESSES:
        assert outcomes[kind, access, False] == (read if access == "load" else written), access


@pytest.mark.parametrize("kind", FAR)
def test_so_it_is_where_the_kernel_loads_the_address(kind, outcomes):
    read, written = (told.replace("unreadable", "stray") for told in DIRECT[KINDS[kind][0]])
    for access in ACCESSES:
        assert outcomes[kind, access, True] == (read if access == "load" else written), access
