"""The launch card: what it says, and that it says it in every form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest
import torch
import triton
import triton.language as tl

import triton_lab
from tests.launch.fakes import FakeArgument, FakeLaunch, tile
from triton_lab.examples.vector_add import add
from triton_lab.interpreter.kernel_errors import KernelError
from triton_lab.views import frontend_presence
from triton_lab.views.launch.card.launch_card import Card


def test_the_call_that_compares_imports_the_lab_where_it_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    with triton_lab.record() as launches:
        add(torch.ones(8), torch.ones(8))
    names: dict[str, object] = {"lab": torch}
    monkeypatch.setattr(frontend_presence, "_shell", lambda: SimpleNamespace(user_ns=names))
    first, call = Card(launches[0]).comparing().split("\n")
    exec(first, names)
    assert names["lab"] is triton_lab and Card(launches[0]).comparing() == call


@dataclass(frozen=True)
class FakeFinding:
    severity: str
    line: int | None
    message: str
    hint: str = "Mend it so."
    excerpt: tuple[str, ...] = ()
    programs: tuple[int, ...] = ()
    stopped: bool = False
    kind: str = "overflow"
    fix: None = None
    orders: tuple[str, ...] = ()
    argument: str | None = None
    elements: tuple[int, ...] = ()
    extent: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()

    @property
    def where(self) -> str:
        return "" if self.line is None else f"line {self.line}"


def launch(**changes: object) -> FakeLaunch:
    x = FakeArgument("x_ptr", (10,), (1,))
    y = FakeArgument("y_ptr", (10,), (1,), offset=10)
    z = FakeArgument("z_ptr", (5, 2), (1, 5), storage_address=0x900000)
    n = FakeArgument("n", (), (), kind="scalar", value=10, dtype="i32")
    block = FakeArgument("BLOCK", (), (), kind="constexpr", value=4)
    corner = lambda px, py, pz, i: (4 * px,)  # noqa: E731
    accesses = [tile(x, "load", 12, (3, 1, 1), (4,), corner), tile(y, "store", 13, (3, 1, 1), (4,), corner)]
    source = "def kernel(x_ptr):\n    a = tl.load(x_ptr)\n    tl.store(y_ptr, a < 3)\n"
    made = FakeLaunch((3, 1, 1), (x, y, z, n, block), accesses, source=source, first_line=11)
    return replace(made, **changes)


def test_the_table_names_shared_storages_and_scalars_stand_below() -> None:
    card = Card(launch())
    assert [(row[0], row[-1]) for row in card.table()] == [
        ("x_ptr", "A (shared)"),
        ("y_ptr", "A (shared)"),
        ("z_ptr", "B"),
    ]
    assert card.scalars() == ["scalar: n = 10", "constexpr: BLOCK = 4"]
    assert "0x" not in card.text()


def test_only_touched_arguments_are_tiled() -> None:
    assert [tiling.argument.name for tiling in Card(launch()).tilings] == ["y_ptr", "x_ptr"]
    assert Card(launch(), show=("storage",)).tilings == []


def test_source_lines_bear_their_accesses_and_findings() -> None:
    finding = FakeFinding("warning", 13, "odd")
    source = Card(launch(findings=[finding])).source()
    assert source["first"] == 11
    assert source["lines"] == [
        ("def kernel(x_ptr):", [], None),
        ("    a = tl.load(x_ptr)", ["load"], None),
        ("    tl.store(y_ptr, a < 3)", ["store"], "warning"),
    ]


def test_findings_come_errors_first_with_an_icon_of_their_own() -> None:
    findings = [FakeFinding("note", None, "n"), FakeFinding("error", 12, "e"), FakeFinding("warning", 13, "w")]
    card = Card(launch(findings=findings))
    assert [one["severity"] for one in card.findings()] == ["error", "warning", "note"]
    assert len({one["icon"] for one in card.findings()}) == 3
    assert "✖ error: line 12: e\n      Mend it so." in card.text()


def test_the_picture_says_how_many_findings_it_leaves_out() -> None:
    findings = [FakeFinding("note", 12, f"n{k}") for k in range(40)] + [FakeFinding("error", 13, "the error")]
    card = Card(launch(findings=findings))
    assert [one["message"] for one in card.findings()[:2]] == ["the error", "n0"]
    assert "\n  33 more findings" in card.text() and "n39" not in card.text()
    assert len(card.scene()["findings"]) == 41


def test_a_failed_launch_keeps_its_message_and_its_pictures() -> None:
    card = Card(launch(error=RuntimeError("x_ptr: lane 3\n  caret")))
    assert card.facts()[-1] == "failed"
    assert "  x_ptr: lane 3\n    caret" in card.text()
    assert len(card.tilings) == 2


@triton.jit
def stray_kernel(x_ptr, y_ptr, B: tl.constexpr):
    offsets = tl.arange(0, B)
    x = tl.load(x_ptr + offsets)
    twice = x * 2
    tl.store(y_ptr + offsets, twice)


def test_the_values_of_a_stopped_launch_open_on_a_variable_that_was_assigned() -> None:
    with triton_lab.record() as launches, pytest.raises(KernelError):
        stray_kernel[(2,)](torch.ones(4), torch.ones(4), B=8)
    values = Card(launches[0]).panel("values")
    items = values.items()
    assert items is not None and items[0]["label"].startswith("offsets")


@pytest.mark.parametrize("show", [(), ("tiling",), ("storage", "source"), ("findings",)])
def test_every_form_for_every_choice(show: tuple[str, ...]) -> None:
    card = Card(launch(findings=[FakeFinding("error", 12, "e" * 300)]), show=show)
    data, _ = card._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    assert card.scene()["show"] == list(show)


def test_a_card_opens_with_one_picture_and_makes_the_others_when_asked() -> None:
    card = Card(launch(), show=("tiling", "storage"))
    scene = card.scene()
    assert [tab["name"] for tab in scene["tabs"]] == ["tiling", "accesses", "storage", "grid"]
    assert list(scene["parts"]) == ["tiling", "tiling/y_ptr"]
    assert [item["lines"] for item in scene["parts"]["tiling"]["items"]] == [[13], [12]]
    kinds = {name: card.part(name)["kind"] for name in ("tiling/x_ptr", "accesses/x_ptr", "storage", "grid")}
    assert list(kinds.values()) == ["tiling", "accesses", "storage", "grid"]
    assert set(card.standalone()["parts"]) == {"tiling", "accesses", "tiling/y_ptr", "accesses/y_ptr", *kinds}


@pytest.mark.parametrize(
    "name", ["nonsense", "tiling/nobody", "value/acc/3", "steps@7", "steps@x", "comparison", "comparison/causes"]
)
def test_a_part_that_cannot_be_made_says_why(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_LAB_RAISE")  # a launch made by hand has no values and no steps
    part = Card(launch()).part(name)
    assert part["kind"] == "words" and part["text"]


def test_an_unknown_picture_is_refused_by_name() -> None:
    with pytest.raises(
        ValueError,
        match=r"'tilings'; .*tiling, accesses, timeline, storage, grid, values,",
    ):
        Card(launch(), show=("tilings",))


def test_a_launch_without_arguments_or_accesses() -> None:
    card = Card(launch(arguments=(), accesses=[], source=""))
    assert card._repr_mimebundle_()[0]["image/png"]


@pytest.mark.parametrize(
    "where",
    [
        "triton_lab.views.launch.tiling.tiling_view.touches",
        "triton_lab.launch.checks.rules.race.RaceRule.check",
        "triton_lab.views.launch.card.card_figure._header",
    ],
)
def test_an_interrupt_is_no_picture_that_could_not_be_made(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.rand(100)
    with triton_lab.record() as launches:
        add(x, x)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(where, interrupted)
    with pytest.raises(KeyboardInterrupt):
        Card(launches[0])._repr_mimebundle_()
