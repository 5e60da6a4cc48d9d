"""Garbage waits while pictures are awaited, and whoever has turned its collection off finds it off."""

from __future__ import annotations

import gc

import pytest

from triton_lab.notebook.cell.gc_paused import unswept


@unswept()
def interrupted() -> None:
    before = gc.get_stats()[0]["collections"]
    kept = [[number] for number in range(100_000)]
    assert gc.get_stats()[0]["collections"] == before and kept
    raise KeyboardInterrupt


def test_nothing_is_collected_inside_and_all_is_as_before_after_an_error() -> None:
    assert gc.isenabled()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert gc.isenabled()


def test_who_has_turned_it_off_finds_it_off() -> None:
    gc.disable()
    try:
        with unswept():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
