"""`launch.plot` and what shows itself: each picture is the one of `--show`, and a cell's last value draws itself."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from IPython.core.interactiveshell import InteractiveShell

import triton_lab as lab
from tests.planted import asynchronous_layouts
from triton_lab.backend.targets.autotuner_trials import Tried, Tuning
from triton_lab.launch.diagnosis.finding import Finding, FindingList
from triton_lab.launch.launch import Launch
from triton_lab.launch.recording.launch_list import Launches
from triton_lab.notebook.cell.magic_options import VIEWS, usage
from triton_lab.views.launch.card.card_tab import listed
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.launch.card.launch_plot_accessor import LaunchPlot
from triton_lab.views.launch.card.launch_tabs import SHOWN, TABS
from triton_lab.views.notebook_output import SCENE
from triton_lab.views.view import View

PICTURES = [tab.name for tab in TABS if tab.help and tab.home]


@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    twice = tl.load(x_ptr + offsets, mask=mask) * 2
    tl.store(out_ptr + offsets, twice, mask=mask)


@triton.jit
def refill(out_ptr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for value in range(3):
        tl.store(out_ptr + offsets, value)


def run() -> Launches:
    with lab.target("cpu"), lab.record() as launches:
        for _ in range(2):
            double[(5,)](torch.arange(36.0), torch.empty(36), 36, BLOCK=8)
    return launches


@pytest.fixture(scope="module")
def launches() -> Launches:
    return run()


@pytest.fixture(scope="module")
def launch(launches: Launches) -> Launch:
    """As an autotuner would have made it."""
    tried = (Tried({"BLOCK": 8}, 2e-3, 2e-3, 2e-3), Tried({"BLOCK": 16}, 3e-3, 3e-3, 3e-3))
    launches[0].tuning = Tuning("double", "cpu", tried, 0)
    return launches[0]


def in_body(launch: Launch) -> int:
    """The first step behind the parameters."""
    parameters = [one.name for one in launch.arguments]
    return next(step.number for step in launch.trace().steps if step.name not in parameters)


# What `--show` draws for each word, and how it is asked for; and the part behind the tab.
SAME: dict[str, tuple[Callable[[Launch], View], Callable[[Launch], str]]] = {
    "tiling": (lambda one: one.plot.tiling(), lambda one: "tiling/out_ptr"),
    "accesses": (lambda one: one.plot.accesses(), lambda one: "accesses/out_ptr"),
    "timeline": (lambda one: one.plot.timeline(), lambda one: "timeline/out_ptr"),
    "storage": (lambda one: one.plot.storage(), lambda one: "storage"),
    "grid": (lambda one: one.plot.grid(), lambda one: "grid"),
    "values": (lambda one: one.plot.values("twice"), lambda one: f"value/twice/{one.values('twice').line}@0"),
    "steps": (lambda one: one.plot.steps(0, in_body(one)), lambda one: "steps@0"),
    "pipeline": (lambda one: one.plot.pipeline(), lambda one: "pipeline"),
    "shared_memory": (lambda one: one.plot.shared_memory(), lambda one: "shared_memory/0/0"),
    "origins": (lambda one: one.plot.origins(), lambda one: f"origin/{one.accesses[-1].op}"),
    "autotune": (lambda one: one.plot.autotune(), lambda one: "autotune"),
}


def test_every_word_of_show_has_a_method() -> None:
    assert list(SAME) == PICTURES
    methods = {name for name, _ in inspect.getmembers(LaunchPlot, inspect.isfunction) if name[0] != "_"}
    assert methods == {
        *PICTURES,
        "debugger",
        "interleaving",
    }  # which have no tab: breakpoints or an order belong to them


@pytest.fixture(scope="module")
def others() -> dict[str, Launch]:
    """Launches for pictures that `launch` does not have: of shared memory, and of accesses at several instants."""
    with lab.target("cpu"), lab.record() as launches:
        asynchronous_layouts.turned_kernel[(1,)](torch.randn(32, 32), torch.zeros(32, 32), MENDED=False)
        refill[(2,)](torch.ones(16), BLOCK=8)
    return {"shared_memory": launches[0], "timeline": launches[1]}


@pytest.mark.parametrize("name", SAME)
def test_a_picture_is_the_one_behind_the_tab(name: str, launch: Launch, others: dict[str, Launch]) -> None:
    make, part = SAME[name]
    launch = others.get(name, launch)
    assert make(launch).scene() == Card(launch).part(part(launch))


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_the_one_that_show_draws(name: str, launch: Launch, others: dict[str, Launch]) -> None:
    launch = others.get(name, launch)
    drawn = [view for view in Card(launch, (name,)).panel(name).drawn() if isinstance(view, View)]
    asked = {"values": launch.plot.values, "steps": launch.plot.steps}.get(name, lambda: SAME[name][0](launch))()
    assert type(asked) is type(drawn[0]) and asked.text() == drawn[0].text()


def test_called_itself_it_is_the_card(launch: Launch) -> None:
    assert launch.plot().text() == Card(launch).text()
    assert launch.plot("grid", "source").show == ("grid", "source")
    with pytest.raises(ValueError, match=r"'heat'; .*tiling, accesses"):
        launch.plot("heat")


def test_what_was_compiled_is_asked_for_by_its_words() -> None:
    launch = run()[0]
    with pytest.raises(ValueError, match=r"'cost' .*launch.compile\(...\)"):
        launch.plot("cost")
    launch.compile("sm_90")
    card = launch.plot("cost", "tiling", "compiled")
    assert card.scene()["opened"] == "cost" and card.looked_at == ("cost", "tiling", "compiled")
    text = card.text()
    assert text.index("arithmetic" if "arithmetic" in text else "bytes") < text.index(
        launch.plot.tiling("x_ptr").title()
    )


def test_the_table_is_what_the_magic_and_its_help_know() -> None:
    assert (*SHOWN, "none") == VIEWS
    for tab in TABS:
        assert not tab.help or re.search(rf"^ +{tab.name} +{re.escape(tab.help)}$", usage(), re.MULTILINE)


def test_the_words_stand_in_the_order_asked_for(launch: Launch) -> None:
    text = launch.plot("grid", "tiling").text()
    assert text.index(launch.plot.grid().title()) < text.index(launch.plot.tiling("x_ptr").title())


@pytest.mark.parametrize("name", ["__call__", *PICTURES])
def test_the_example_of_each_method_runs(name: str, launch: Launch, others: dict[str, Launch]) -> None:
    launch = launch if name == "timeline" else others.get(name, launch)
    (example,) = doctest.DocTestParser().get_examples(inspect.getdoc(getattr(LaunchPlot, name)) or "")
    asked = eval(example.source.removesuffix(".title()\n"), {"launch": launch})
    assert isinstance(asked, View) and asked.text()


def test_methods_of_old_are_the_same_pictures(launch: Launch) -> None:
    store = launch.accesses[-1]
    pairs: list[tuple[View, View]] = [
        (launch.tiling("x_ptr", 2), launch.plot.tiling("x_ptr", 2)),
        (launch.storage("x_ptr"), launch.plot.storage("x_ptr")),
        (launch.heatmap("x_ptr", "order"), launch.plot.accesses("x_ptr", "order")),
        (launch.grid_view("wave", 2), launch.plot.grid("wave", 2)),
        (launch.steps(1), launch.plot.steps(1)),
        (launch.origins_view(store, 1, 2), launch.plot.origins(store, 1, 2)),
    ]
    for before, now in pairs:
        assert type(before) is type(now) and before.text() == now.text()


def test_what_is_not_there_is_told(launch: Launch) -> None:
    with pytest.raises(ValueError, match=r"'y_ptr'; .*x_ptr, out_ptr"):
        launch.plot.storage("y_ptr")
    with pytest.raises(ValueError, match="number 5"):
        launch.plot.origins(program=5)
    with pytest.raises(LookupError, match="no variable 'thrice'; it has"):
        launch.plot.values("thrice")


def test_origins_need_a_store_that_happened() -> None:
    with lab.target("cpu"), lab.record() as launches:
        double[(3,)](torch.zeros(8), torch.zeros(8), 8, BLOCK=8)
    with pytest.raises(ValueError, match=r"out_ptr .*\(2, 0, 0\)"):
        launches[0].plot.origins(program=2)


# --- The last value of a cell ---------------------------------------------------------------------------


@pytest.fixture
def cell(launches: Launches) -> Iterator[Callable[[str], dict[str, Any]]]:
    """What a shell shows of the last value of a cell."""
    shell = InteractiveShell.instance()
    shell.user_ns |= {"launches": launches, "Finding": Finding, "FindingList": FindingList}
    # The shell of a terminal asks for text alone; a notebook's for everything.
    shell.display_formatter.active_types = shell.display_formatter.format_types

    def show(text: str) -> dict[str, Any]:
        result = shell.run_cell(text)
        result.raise_error()
        data, _ = shell.display_formatter.format(result.result)
        return data  # type: ignore[no-any-return]

    yield show
    InteractiveShell.clear_instance()


def test_a_launch_is_its_card(cell: Callable[[str], dict[str, Any]], launch: Launch) -> None:
    data = cell("launches[0]")
    assert set(data) == {SCENE, "image/png", "text/plain"}
    assert data["text/plain"] == launch.plot().text()


def test_the_list_of_launches_is_their_table(cell: Callable[[str], dict[str, Any]], launches: Launches) -> None:
    data = cell("launches")
    assert SCENE in data and data["text/plain"].startswith("2 launches of 1 kernel\n")
    assert isinstance(launches, list) and launches == list(launches) and launches[:1] == [launches[0]]
    assert cell("launches[:1]")["text/plain"].startswith("1 launch of 1 kernel\n")
    assert cell("launches[:0]") == {"text/plain": "no launches"}
    assert repr(launches).startswith("2 launches of 1 kernel") and "finding" not in repr(launches)


def test_the_list_says_what_it_could_not_record(launches: Launches) -> None:
    found = Launches(launches)
    found.unseen.append("the launch of k was not recorded: no CPU")
    assert repr(found).splitlines()[0] == "2 launches of 1 kernel" and repr(found).endswith("\n" + found.unseen[0])


def test_findings_are_told_in_words(cell: Callable[[str], dict[str, Any]]) -> None:
    wrong = FindingList(
        [
            Finding("race", "a <b> races", "Mend it.", line=3, excerpt=("   x", "   ^")),
            Finding("alias", "an alias", "Copy."),
        ]
    )
    InteractiveShell.instance().user_ns["wrong"] = wrong
    data = cell("wrong")
    assert data["text/plain"] == "error: line 3: a <b> races\n   x\n   ^\n  Mend it.\nnote: an alias\n  Copy."
    assert "a &lt;b&gt; races" in data["text/html"] and data["text/html"].count("<pre") == 1
    assert "an alias" not in cell("wrong[:1]")["text/html"] and "Mend it." in cell("wrong[0]")["text/html"]
    assert isinstance(cell("launches[0].findings")["text/html"], str)
    assert cell("wrong[:0]")["text/plain"] == "no findings" and wrong[2:] == []


def test_the_accessor_says_what_there_is(cell: Callable[[str], dict[str, Any]]) -> None:
    text = cell("launches[0].plot")["text/plain"]
    assert all(f".plot.{name}(...)" in text for name in PICTURES)


def test_tabs_open_on_what_matters(launch: Launch) -> None:
    """Outputs before inputs, a whole block and no mask before scalars, the body, and an element in the middle."""
    card = Card(launch)
    for tab in ("tiling", "accesses"):
        assert card.part(tab)["items"][0]["name"] == f"{tab}/out_ptr"
    _, name, line = card.part("values")["items"][0]["name"].split("/")
    block = launch.values(name, int(line)).at()
    widest = max(launch.values(one.name, one.line).at()[0].size for one in launch.variables)
    assert block[0].size == widest and block.dtype != bool
    steps = card.part("steps@0")
    assert steps["step"] == in_body(launch) and steps["steps"][steps["step"] - 1]["name"] == "BLOCK"
    assert launch.plot.origins().element == 36 // 2


def test_what_a_plot_lists_of_itself_stands_in_columns() -> None:
    told = listed("Pictures:", "all", TABS).split("\n")
    starts = {line.index(tab.help, line.index(")") + 1) for line, tab in zip(told[2:], TABS, strict=True) if tab.help}
    assert starts == {told[1].index("all", 10)} and min(starts) > max(line.rindex(")") for line in told[1:]) + 1
