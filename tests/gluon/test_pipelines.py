"""Right pipelines are right under every schedule, and a bug in one is an error of its kind."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import triton_lab as lab
from tests.gluon import random_pipelines
from tests.gluon.cases import Case, cases, launch, right
from tests.gluon.plant import bugs, module_of, outcome
from triton_lab.interpreter.asynchronous import asynchronous_work, buffer_accesses, mbarriers
from triton_lab.interpreter.asynchronous.async_events import AsyncEvent
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.launch.checks.rule import rules

DEEPEST = list(cases(1))
# For each kind of bug, one kernel and what names it there.
PLANTED = {
    ("copies", "wait", "without wait_group"): buffer_accesses.USED_BEFORE_WAIT,
    ("copies", "commit", "without commit_group"): buffer_accesses.USED_BEFORE_WAIT,
    ("tiles", "wait", "without store_wait"): buffer_accesses.WRITTEN_WHILE_READ,
    ("tiles", "fence", "without fence_async_shared"): buffer_accesses.MISSING_FENCE,
    ("tiles", "phase", "the other phase"): buffer_accesses.USED_BEFORE_WAIT,
    ("tiles", "bytes", "twice the bytes"): mbarriers.PHASE_NEVER_ENDS,
    ("tiles", "init", "without init"): mbarriers.MISUSE,
    ("in_place", "wait", "without store_wait"): buffer_accesses.WRITTEN_WHILE_READ,
    ("product_of_stored", "wait", "without store_wait"): asynchronous_work.STORE_NOT_WAITED,
    ("in_tensor_memory", "wait", "without wait"): buffer_accesses.USED_BEFORE_WAIT,
    ("handed_over", "wait", "without wait"): buffer_accesses.PARTITION_RACE,
    ("fed_product", "wait", "without wait"): buffer_accesses.USED_BEFORE_WAIT,
    ("three_partitions", "fence", "without fence_async_shared"): buffer_accesses.MISSING_FENCE,
    ("three_partitions", "count", "init counts 2"): mbarriers.PHASE_NEVER_ENDS,
}


@pytest.mark.parametrize("case", DEEPEST, ids=str)
def test_a_right_pipeline_gives_what_it_should(case: Case) -> None:
    assert right(launch(case))


@pytest.mark.parametrize("case", DEEPEST, ids=str)
def test_a_right_pipeline_has_one_result_under_all_schedules(case: Case) -> None:
    found, _wanted = launch(case)
    for schedule in ("eager", "random:1", "random:2", "random:3"):
        with lab.limits(schedule=schedule):
            assert torch.equal(launch(case)[0], found), schedule


@pytest.mark.parametrize(("kernel", "kind", "change"), PLANTED)
def test_a_bug_is_named(kernel: str, kind: str, change: str, tmp_path: Path) -> None:
    case = next(one for one in DEEPEST if one.kernel == kernel)
    planted = [one for one in bugs(Path(str(case.module.__file__)), kernel) if (one.kind, one.change) == (kind, change)]
    found = [outcome(case, bug, tmp_path, number) for number, bug in enumerate(planted)]
    assert PLANTED[kernel, kind, change] in [one.rule for one in found]
    assert all(one.line for one in found), "each at a line"


@pytest.mark.parametrize(("kernel", "line"), [("handed_over", 39), ("three_partitions", 84)])
def test_a_barrier_that_runs_ahead_of_its_waits_says_so(kernel: str, line: int, tmp_path: Path) -> None:
    case = next(one for one in DEEPEST if one.kernel == kernel)
    every = bugs(Path(str(case.module.__file__)), kernel)
    (bug,) = [one for one in every if (one.line, one.change) == (line, "without wait")]
    found = outcome(case, bug, tmp_path, 0)
    assert found.rule == mbarriers.PHASE_NEVER_ENDS
    assert "two" in found.message and "arrivals have come" not in found.message


@pytest.mark.parametrize("kernel", ["product_of_stored", "product_from_registers", "tiles"])
def test_a_layout_that_does_not_fit_is_refused_and_ends_no_process(kernel: str, tmp_path: Path) -> None:
    case = next(one for one in DEEPEST if one.kernel == kernel)
    planted = [one for one in bugs(Path(str(case.module.__file__)), kernel) if one.kind in ("parent", "swizzle")]
    found = {bug.change: outcome(case, bug, tmp_path, number) for number, bug in enumerate(planted)}
    assert found["no swizzle"].rule == "refused"
    # wgmma also reads narrower lines: then the result is the same.
    assert {one.rule for one in found.values()} <= {"refused", "same"}


def test_a_bug_is_a_finding_at_its_line(tmp_path: Path) -> None:
    case = next(one for one in DEEPEST if one.kernel == "tiles")
    bug = next(one for one in bugs(Path(str(case.module.__file__)), "tiles") if one.kind == "fence")
    with pytest.raises(KernelError) as caught, lab.record() as launches:
        launch(case, module_of(bug.source, tmp_path, 0))
    (found,) = [one for one in launches[0].findings if one.severity == "error"]
    assert found.kind == caught.value.rule == buffer_accesses.MISSING_FENCE
    assert found.line == bug.line + 1, "the store by TMA, which the fence was for"


def test_findings_of_the_engine_have_rules() -> None:
    names = {buffer_accesses.OUT_OF_BOUNDS, buffer_accesses.USED_BEFORE_WAIT, buffer_accesses.WRITTEN_WHILE_READ}
    names |= {buffer_accesses.MISSING_FENCE, buffer_accesses.PARTITION_RACE, mbarriers.MISUSE}
    assert names | {mbarriers.PHASE_NEVER_ENDS, asynchronous_work.STORE_NOT_WAITED} <= rules().keys()


def test_a_schedule_is_chosen_for_a_record() -> None:
    case = next(one for one in DEEPEST if one.kernel == "three_partitions")
    with lab.record(schedule="random:5") as launches:
        assert right(launch(case))
    assert launches[0].tape is not None and launches[0].tape.limits.schedule == "random:5"
    with pytest.raises(ValueError, match="sometimes"):
        lab.limits(schedule="sometimes")


def test_events_tell_when_work_begins_and_lands(monkeypatch: pytest.MonkeyPatch) -> None:
    """A film of the launch: each piece of work is issued once, and lands at a wait that comes later."""
    events: list[AsyncEvent] = []
    monkeypatch.setattr("triton_lab.backend.plugin.launcher.events", events.append)
    assert right(launch(next(one for one in DEEPEST if one.kernel == "three_partitions")))
    assert [one.time for one in events] == sorted({one.time for one in events})
    issued = {one.work: one for one in events if one.kind == "issued"}
    landed = {one.work: one for one in events if one.kind == "landed"}
    assert issued.keys() == landed.keys() and {one.queue for one in issued.values()} == {"loads", "stores"}
    assert all(landed[number].time > one.time for number, one in issued.items())
    assert {one.partition for one in issued.values()} == {1, 2} and {one.partition for one in events} == {0, 1, 2}
    assert all(one.work_op is issued[one.work].op for one in landed.values())


@pytest.mark.parametrize("seed", range(4))
def test_random_pipelines_have_one_result_under_all_schedules(seed: int, tmp_path: Path) -> None:
    module = module_of(random_pipelines.source(seed)[0], tmp_path, seed)
    for schedule in ("lazy", "eager", *(f"random:{number}" for number in range(6))):
        with lab.limits(schedule=schedule):
            found, wanted = random_pipelines.launched(seed, tmp_path, module)
        assert torch.equal(found, wanted), schedule
