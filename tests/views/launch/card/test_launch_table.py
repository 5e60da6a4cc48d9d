"""Many launches as one view: a table by kernel, and a card for any of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.launch.fakes import FakeArgument, FakeLaunch, tile
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.card.launch_table import CARDS, FEW, ROWS, LaunchTable

X = FakeArgument("x_ptr", (12,), (1,))


def launch(kernel: str, programs: int, **changes: object) -> FakeLaunch:
    access = tile(X, "store", 3, (programs, 1, 1), (4,), lambda px, py, pz, i: (4 * px,))
    made = FakeLaunch((programs, 1, 1), (X,), [access], kernel=kernel)
    return replace(made, **{"seconds": 0.001, **changes})


def test_the_table_counts_launches_by_kernel() -> None:
    made = [launch("a", 1 + k % 5, seconds=0.001 * (k + 1)) for k in range(10)]
    made += [launch("b", 2, error="broken"), launch("b", 2)]
    view = LaunchTable(made)
    assert view.title() == "12 launches of 2 kernels"
    assert view.table() == [
        ("a", "10", "(1, 1, 1), (2, 1, 1), (3, 1, 1) and 2 more", "55 ms", "10 ms, launch 9", ""),
        ("b", "2", "(2, 1, 1)", "2 ms", "1 ms, launch 10", "1"),
    ]
    assert FEW == 3
    assert view.scene()["first"] == [0, 10]


def test_a_card_is_made_when_it_is_asked_for_and_few_are_kept() -> None:
    asked: list[str] = []

    def card(one: FakeLaunch) -> Card:
        asked.append(one.kernel)
        return Card(one)

    view = LaunchTable([launch(f"k{k}", 2) for k in range(1000)], card)
    assert view.scene()["parts"]["launch/0"]["scene"]["title"] == "k0[2, 1, 1]"
    assert asked == ["k0"]
    nested = view.part("launch/700")
    assert (nested["kind"], nested["scene"]["title"]) == ("nested", "k700[2, 1, 1]")
    assert view.part("launch/700/tiling/x_ptr")["kind"] == "tiling"
    assert asked == ["k0", "k700"]
    for number in range(2 * CARDS):
        view.part(f"launch/{number}")
    assert view.card.cache_info().currsize == CARDS
    assert len(view.table()) == ROWS and "960 more kernels" in view.text()


@pytest.mark.parametrize("name", ["launch/12", "launch/x", "grid", "launch/-1"])
def test_a_launch_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(LookupError):
        LaunchTable([launch("a", 1)] * 12).part(name)


def test_every_form() -> None:
    view = LaunchTable([launch("a", 2)] * 13)
    data, _ = view._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    assert "13 launches of 1 kernel" in data["text/plain"] and "a[2, 1, 1] · CPU" in data["text/plain"]
