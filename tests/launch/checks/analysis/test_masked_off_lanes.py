"""What masked-off lanes reach in random kernels, against runs in which these lanes hold other numbers: brute force."""

from __future__ import annotations

import numpy as np
import pytest

import triton_lab as lab
from tests.hostile.origins import inputs, run, source
from tests.interpreter.support import kernel_from
from triton_lab.launch.checks.analysis.masked_off_lanes import TurnedOff, suspects
from triton_lab.launch.replay.replay_run import replay

LOAD = "g = tl.load(X + 16 + k"


@pytest.mark.parametrize("number", range(30))
def test_a_lane_that_depends_on_what_a_masked_off_lane_holds_is_reached(number: int) -> None:
    random = np.random.default_rng((31, number))
    text, given = source(random), inputs(random)
    assert LOAD in text
    with lab.limits(engine="numpy"):
        with lab.record() as launches:
            run(kernel_from(text.replace(LOAD, f"{LOAD}, mask=k % 3 > 0")), given)
        stored = [
            run(kernel_from(text.replace(LOAD, f"{LOAD}, mask=k % 3 > 0, other={other}")), given)
            for other in (0.7, -2.5, 40.0)
        ]
    launch = launches[0]
    loads = [op.index for op in suspects(launch.executable.plan)]
    seen = TurnedOff(launch, loads)
    replay(launch, observer=seen, access_observer=seen)
    if any(seen.of(load).any() for load in loads):
        return  # it decides where the program goes, or what it accesses
    stores = [access.op for access in launch.accesses if access.kind == "store"]
    reached = {
        16 * stores.index(op.index) + lane
        for found in seen.reached.values()
        for op, lanes, _count in found
        for lane in lanes.lane.tolist()
    }
    changed = np.flatnonzero((stored[0] != stored[1]) | (stored[0] != stored[2])).tolist()
    assert set(changed) <= reached, text
