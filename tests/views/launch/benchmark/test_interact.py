"""A launch that runs again when a choice changes."""

from __future__ import annotations

import asyncio
import signal
import threading
import time

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton import knobs

import triton_lab as lab
from triton_lab.views.launch.benchmark import untried_sizes_line
from triton_lab.views.launch.benchmark.interact import Interact
from triton_lab.views.launch.tiling.tiling_view import Tiling


@triton.jit
def copied(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + 2 * offsets, mask=offsets < n), mask=offsets < n)


def run(BLOCK: int, n: int = 100) -> None:
    with lab.target("cpu"):
        copied[(triton.cdiv(n, BLOCK),)](torch.rand(2 * n), torch.empty(n), n, BLOCK=BLOCK)


def made() -> Interact:
    return lab.interact(run, draw=lambda launch: Tiling(launch, "out_ptr"), BLOCK=[16, 32, 64], n=[100, 50])


def move(view: Interact, **values: object) -> None:
    """Choose values as the browser does: by their positions on the sliders."""
    places = {name: view.choices[name].index(value) for name, value in values.items()}
    view.widget.chosen = {**view.widget.chosen, **places}


def test_a_slider_runs_the_launch_again_and_the_live_picture_follows() -> None:
    view = made()
    assert view.widget.scene["grid"] == [7, 1, 1]
    move(view, BLOCK=64)
    assert view.widget.scene["grid"] == [2, 1, 1]
    move(view, n=50)
    assert view.chosen == {"BLOCK": 64, "n": 50} and view.widget.scene["grid"] == [1, 1, 1]


def test_it_starts_from_the_defaults_of_the_function() -> None:
    def launch(BLOCK: int = 32, n: int = 70) -> None:
        run(BLOCK, n)

    view = lab.interact(launch, BLOCK=[16, 32, 64], n=[100, 50])
    # 70 is not offered: the first is taken.
    assert view.chosen == {"BLOCK": 32, "n": 100} and view.shown.scene()["grid"] == [4, 1, 1]
    assert [slider["at"] for slider in view.widget.sliders] == [1, 0]


def test_what_is_no_position_changes_nothing() -> None:
    view = made()
    for place in (-1, 3, 1.5, "1", None):
        view.widget.chosen = {"BLOCK": place, "M": 0}
        assert view.chosen == {"BLOCK": 16, "n": 100} and view.widget.scene["grid"] == [7, 1, 1]


def counted(ran: list[int], seconds: float = 0.0) -> Interact:
    def launch(BLOCK: int = 16) -> None:
        ran.append(BLOCK)
        time.sleep(seconds)
        run(BLOCK)

    return lab.interact(launch, draw=lambda launch: Tiling(launch, "out_ptr"), BLOCK=[16, 32, 64, 128])


def test_dragging_launches_the_last_value_and_queues_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_lab.views.launch.benchmark.newest_choice.in_a_kernel", lambda: True)
    ran: list[int] = []
    view = counted(ran)
    _ = view.widget

    async def drag() -> None:
        for _ in range(10):
            for block in (32, 64, 128, 64):
                move(view, BLOCK=block)
        await asyncio.sleep(0.3)
        # What comes while a launch runs waits for its end, as messages do.
        asyncio.get_running_loop().call_soon(lambda: [move(view, BLOCK=block) for block in (16, 32, 128)])
        await asyncio.sleep(0.3)

    # In a thread of its own: the browser tests' event loop runs in this one.
    thread = threading.Thread(target=lambda: asyncio.run(drag()))
    thread.start()
    thread.join()
    assert ran == [16, 64, 128]


def test_an_interrupt_ends_the_launch_and_nothing_else() -> None:
    ran: list[int] = []
    view = counted(ran, seconds=0.3)
    widget = view.widget
    before = signal.getsignal(signal.SIGINT)
    threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
    move(view, BLOCK=64)
    assert widget.said.startswith("interrupted")
    move(view, BLOCK=128)
    assert ran == [16, 64, 128] and widget.said == ""
    assert signal.getsignal(signal.SIGINT) is before


def test_a_choice_made_before_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m bench --only views` measures what such a change costs."""
    compiled = []
    monkeypatch.setattr(knobs.compilation, "listener", lambda **what: compiled.append(what))
    view = made()
    for block in (32, 64):
        view.choose(BLOCK=block)
    compiled.clear()
    view.choose(BLOCK=32)
    assert compiled == [] and view.chosen["BLOCK"] == 32


def test_there_is_a_static_picture_too() -> None:
    view = made()
    data, _ = view._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    assert data["text/plain"].startswith("BLOCK=16, n=100\nout_ptr (100)")


def test_a_choice_that_fails_is_told_and_the_picture_stays() -> None:
    def strict(BLOCK: int) -> None:
        if BLOCK == 24:
            raise ValueError("not two")
        run(BLOCK)

    view = lab.interact(strict, BLOCK=[16, 24])
    view.choose(BLOCK=24)
    assert view.trouble == "ValueError: not two"
    assert view.trouble in view.text() and view.figure()


def test_two_numbers_are_a_slider_as_in_ipywidgets() -> None:
    ipywidgets = pytest.importorskip("ipywidgets")
    for wish in ((1, 100), (0, 100, 5), (-3, 3)):
        theirs = ipywidgets.interactive(lambda n: None, n=wish).children[0]
        view = lab.interact(lambda n: run(16), n=wish)
        (slider,) = view.widget.sliders
        last = slider["low"] + (slider["count"] - 1) * slider["step"]
        assert (slider["low"], last, slider["step"]) == (theirs.min, theirs.max, theirs.step)
    for wish in ((0.0, 1.0), (0, 1, 0.25), (0.5, 2)):
        theirs = ipywidgets.interactive(lambda n: None, n=wish).children[0]
        offered = lab.interact(lambda n: run(16), n=wish).choices["n"]
        assert (offered[0], offered[-1]) == (theirs.min, theirs.max)
        assert np.diff(offered) == pytest.approx(theirs.step)


def test_a_slider_of_numbers_runs_the_launch_with_each() -> None:
    view = lab.interact(lambda n=90: run(16, n), draw=lambda launch: Tiling(launch, "out_ptr"), n=(1, 100))
    assert view.chosen == {"n": 90} and view.shown.scene()["grid"] == [6, 1, 1]
    move(view, n=33)
    assert view.shown.scene()["grid"] == [3, 1, 1]
    view.choose(n=100)
    with pytest.raises(ValueError, match="n is 1 to 100, not 101"):
        view.choose(n=101)
    with pytest.raises(ValueError, match="n is 0 to 90 in steps of 15, not 4"):
        lab.interact(lambda n: run(16), n=(0, 100, 15)).choose(n=4)
    # Millions cost nothing.
    assert len(lab.interact(lambda n: run(16), n=(1, 1 << 24)).choices["n"]) == 1 << 24


def test_lists_and_other_tuples_are_choices() -> None:
    assert list(lab.interact(lambda n: run(16), n=[1, 100]).choices["n"]) == [1, 100]
    assert list(lab.interact(lambda n: run(16), n=(1, 2, 4, 8)).choices["n"]) == [1, 2, 4, 8]
    assert list(lab.interact(lambda n: run(16), n=("a", "b")).choices["n"]) == ["a", "b"]
    assert list(lab.interact(lambda n: run(16), n=(False, True)).choices["n"]) == [False, True]


def test_bad_requests_say_what_is_wanted() -> None:
    with pytest.raises(TypeError, match=r"BLOCK .*\[16, 32, 64\]"):
        lab.interact(run, BLOCK=16)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"BLOCK=\[16, 32, 64\]"):
        lab.interact(run, BLOCK=(16, 32, 64))
    for wish in ((100, 1), (0, 1, 0), (0.0, float("inf"))):
        with pytest.raises(ValueError, match=r"slider from \S+ to \S+ in steps"):
            lab.interact(run, n=wish)
    with pytest.raises(ValueError, match=r"10,000,001 values.* 10,000\b"):
        lab.interact(run, n=(0.0, 1e6))
    with pytest.raises(ValueError, match="<lambda> launched no kernel"):
        lab.interact(lambda BLOCK: None, BLOCK=[16])
    with pytest.raises(ValueError, match=r"BLOCK .*16, 32, 64.* 8\b"):
        made().choose(BLOCK=8)
    with pytest.raises(TypeError, match=r"'M'.* BLOCK, n"):
        made().choose(M=8)


@triton.jit
def scaled(x_ptr, out_ptr, n, BLOCK: tl.constexpr, EXTRA: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n + EXTRA, other=0)
    tl.store(out_ptr + offsets, x * 2, mask=offsets < n)


def scale(n: int, extra: int = 0, BLOCK: int = 16) -> None:
    """With ``extra`` it is right as long as BLOCK divides n."""
    with lab.target("cpu"):
        scaled[(triton.cdiv(n, BLOCK),)](torch.rand(n), torch.empty(n), n, BLOCK=BLOCK, EXTRA=extra)


@triton.jit
def last_one(x_ptr, out_ptr, n):
    tl.store(out_ptr, tl.load(x_ptr + n - 1))


def test_a_line_says_for_which_sizes_that_were_not_tried_it_is_wrong() -> None:
    def run_last(n: int) -> None:
        with lab.target("cpu"):
            last_one[(1,)](torch.rand(n), torch.empty(1), n)

    view = lab.interact(run_last, n=[32, 51, 16])
    _ = view.widget
    move(view, n=51)
    found = view.untried.found
    assert found is not None and found.wrong is not None and dict(found.wrong.sizes) == {"n": 0}
    assert found.wrong.launch is not None and found.wrong.launch.error is not None
    assert view.widget.proved == found.text and "n = 0 (program 0)" in found.text


def test_a_line_says_what_is_assumed_of_a_size_that_no_argument_has() -> None:
    """The tensor may be padded: only multiples of the block were tried."""
    proved = lab.interact(lambda n: scale(n, 1), n=[32, 64, 16]).widget.proved
    assert "x_ptr.numel() == cdiv(n, BLOCK) * BLOCK" in proved


def test_a_line_says_that_it_is_in_bounds_for_every_size() -> None:
    view = lab.interact(lambda n, BLOCK: scale(n, 0, BLOCK), n=[32, 50], BLOCK=[16, 64])
    for chosen in ({"n": 50}, {"BLOCK": 64}):
        assert view.widget.proved.endswith(" n")
        move(view, **chosen)
    found = view.untried.found
    assert found is not None and found.wrong is None and found.proof.number("proved") == 2
    assert view.untried.text in view.text()


def test_a_line_about_what_is_not_known_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untried_sizes_line, "_SECONDS", 1e-9)
    view = lab.interact(scale, n=[32, 50])
    assert view.widget.proved == ""
    assert view.untried.found is not None and view.untried.found.proof.number("unknown") == 2


def test_a_proof_waits_until_the_sliders_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_lab.views.launch.benchmark.newest_choice.in_a_kernel", lambda: True)
    monkeypatch.setattr(untried_sizes_line, "_REST", 3.0)
    proved = []
    whole = untried_sizes_line.untried_sizes
    monkeypatch.setattr(untried_sizes_line, "untried_sizes", lambda *a: proved.append(1) or whole(*a))

    async def drag() -> list[int]:
        view = lab.interact(lambda BLOCK: scale(50, 0, BLOCK), BLOCK=[16, 32, 64, 128])
        widget = view.widget
        for block in (32, 64, 128):
            move(view, BLOCK=block)
            await asyncio.sleep(0.1)
        before = len(proved)
        while not widget.proved:
            await asyncio.sleep(0.05)
        return [before, len(proved)]

    found: list[list[int]] = []
    thread = threading.Thread(target=lambda: found.append(asyncio.run(drag())))
    thread.start()
    thread.join(60)
    assert found == [[0, 1]]
