"""The launch that gets pictures ready: made only where nobody hears of it, and right as any other."""

from __future__ import annotations

from typing import Any

import pytest
from triton import knobs

from triton_lab.backend.plugin import launcher
from triton_lab.backend.targets import gpu
from triton_lab.launch.recording.record import record
from triton_lab.notebook.startup import sample_launch


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No GPU, and nobody who is told of launches."""
    monkeypatch.setattr(gpu, "gpu_driver_class", lambda: None)
    monkeypatch.setattr(launcher, "progress", None)
    for place, name in sample_launch._HOOKS:
        held = getattr(getattr(knobs, place), name, None)
        if hasattr(held, "calls"):
            monkeypatch.setattr(held, "calls", [])


def test_where_nobody_hears_of_it_it_may_be_made() -> None:
    assert sample_launch.harmless()


@pytest.mark.parametrize(("place", "name"), sample_launch._HOOKS)
def test_a_hook_of_the_users_would_hear_of_it(place: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: Any = getattr(knobs, place)
    if not hasattr(settings, name):
        pytest.skip("this Triton has no such hook")
    held = getattr(settings, name)
    if hasattr(held, "calls"):
        monkeypatch.setattr(held, "calls", [print])
    else:
        monkeypatch.setattr(settings, name, print)
    assert not sample_launch.harmless()


def test_a_gpu_an_interpreter_progress_or_a_record_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    with record():
        assert not sample_launch.harmless()
    with monkeypatch.context() as here:
        here.setattr(gpu, "gpu_driver_class", lambda: object)
        assert not sample_launch.harmless()
    with monkeypatch.context() as here:
        here.setattr(launcher, "progress", print)
        assert not sample_launch.harmless()
    with monkeypatch.context() as here:
        here.setenv("TRITON_INTERPRET", "1")
        assert not sample_launch.harmless()
    assert sample_launch.harmless()


def test_it_doubles_ten_numbers_in_two_programs() -> None:
    launch = sample_launch.launch()
    assert launch.grid == (2, 1, 1) and not launch.findings and launch.error is None
    load, store = launch.accesses
    assert (load.kind, store.kind) == ("load", "store")
    for access in (load, store):
        assert access.mask().sum() == 10
        assert sorted(access.element()[access.mask()].tolist()) == list(range(10))
    assert "0 everywhere" in launch.plot.accesses(store, "values").text(), "twice nothing"
