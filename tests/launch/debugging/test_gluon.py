from __future__ import annotations

import pytest

import triton_lab as lab
from tests.gluon import cases
from triton_lab.launch.debugging.debugger import Debugger
from triton_lab.launch.launch import Launch


@pytest.fixture(scope="module")
def parted() -> Launch:
    with lab.target("cpu"), lab.record() as launches:
        cases.launch(next(one for one in cases.cases(1) if one.kernel == "three_partitions"))
    return launches[0]


def test_each_partition_of_warps_is_a_function_with_variables_of_its_own(parted: Launch) -> None:
    debugger = Debugger(parted)
    seen: dict[str, set[str]] = {}
    while not debugger.at_end:
        place = debugger.stack()[0]
        seen.setdefault(place.function.name, set()).update(one.name for one in debugger.locals())
        debugger.step()
    assert {"three_partitions", "fetching", "computing", "sending"} <= seen.keys()
    assert "value" in seen["computing"] and "value" not in seen["sending"]
    assert debugger.stack()[0].function.name == "three_partitions"


def test_a_breakpoint_in_a_partition_stops_in_each_iteration(parted: Launch) -> None:
    debugger = Debugger(parted)
    computing = next(one for one in debugger.copy.functions if one.name == "computing")
    line = next(
        computing.first_line + number
        for number, text in enumerate(computing.source.split("\n"))
        if text.strip().startswith("value = ")
    )
    debugger.break_at(line)
    found = []
    while debugger.continue_().reason == "breakpoint":
        found.append(int(debugger.evaluate("k")))
    assert found == list(range(parted.values("computing.value").iterations))
