"""Scenes and their types: what is sent is what the browser's declarations say, for every kind."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict

import pytest
import torch

import triton_lab as lab
from tests.gluon.cases import lines
from tests.gluon.pipelines import copies
from tests.launch.autotuned import autotuned
from tests.launch.on_both import on_both
from tests.launch.swept import swept
from tests.views import pictures
from tests.views.contract import wrongs
from tests.wordings import Wording
from triton_lab import lazy
from triton_lab.examples import example
from triton_lab.polyhedral import scop
from triton_lab.polyhedral.related_work import page_nests
from triton_lab.polyhedral.related_work.three_ways import ragged_ways
from triton_lab.views import declarations
from triton_lab.views.declarations import FILES, contract, kinds, kinds_module, written
from triton_lab.views.launch.accesses.timeline_view import TimelineView
from triton_lab.views.launch.card.launch_card import SHOWN, Card
from triton_lab.views.launch.card.launch_table import LaunchTable
from triton_lab.views.launch.comparison.causes_view import CausesView
from triton_lab.views.launch.gallery import launches_of
from triton_lab.views.launch.storage.storage_view import storage
from triton_lab.views.launch.tiling import tiling_view
from triton_lab.views.launch.values.steps_view import Steps
from triton_lab.views.polyhedral.iteration_view import iteration_view
from triton_lab.views.polyhedral.kernel_view import KernelView
from triton_lab.views.polyhedral.maximal_view import maximal_view
from triton_lab.views.polyhedral.page_view import PageFigures
from triton_lab.views.polyhedral.ragged_view import RaggedView
from triton_lab.views.polyhedral.three_ways_view import WaysView
from triton_lab.views.script_bundle import FRONT
from triton_lab.views.view import View

PARTLY_AFFINE = "for (int i = 0; i < n; i++) A[i] = 0;\nwhile (p) x = f(x);\nfor (int i = 0; i < n; i++) B[i] = A[i];\n"


def softmax() -> Any:
    return launches_of(example("softmax"))[0]


def illegal() -> View:
    return iteration_view(scop(page_nests.WAVEFRONT, n=4).schedule.matrix([[0, -1], [1, 0]]), dependences="memory")


def comparison() -> View:
    return lab.compare(softmax(), lambda x_ptr, **_: x_ptr.softmax(1)).plot()


def kernel() -> View:
    from tests.polyhedral.races import CASES

    with lab.target("cpu"), lab.record() as launches:
        CASES["blocks_overlap"].run()
    found = lab.polyhedral.scop(launches[0])
    return KernelView(found)  # type: ignore[arg-type]


def pipelined() -> Any:
    with lab.target("cpu"), lab.record() as launches:
        lines(copies, 2)
    return launches[0]


def compiled() -> Any:
    return softmax().compile("sm_90")


def step() -> View:
    x = lazy.tensor(torch.arange(4.0), name="x")
    kept = x * 2 + 1
    lazy.mark_step()
    del kept
    return lazy.explain()


def layout() -> lab.Layout:
    return lab.layout(
        "blocked", (16, 16), size_per_thread=[1, 4], threads_per_warp=[8, 4], warps_per_cta=[2, 1], order=[1, 0]
    )


def conversion() -> lab.Conversion:
    down = lab.layout("linear", register=[[1, 0], [2, 0]], lane=[[4, 0], [8, 0], [0, 1], [0, 2], [0, 4]], warp=[[0, 8]])
    return layout().to(down)


MAKERS: dict[str, Callable[[], View]] = {
    "card": lambda: Card(softmax(), SHOWN),
    "two outputs": lambda: Card(launches_of(example("producer_consumer"))[0], SHOWN),
    "launches": lambda: LaunchTable(launches_of(example("softmax")) * 2),
    "steps": lambda: Steps(softmax()),
    "debugger": lambda: softmax().plot.debugger(breakpoints=["x changes"], watch=["x.max()"], beside=1),
    "prediction": lambda: lab.course.predict("How many?", right=4, picture=softmax().plot.grid()),
    "interleaving": lambda: softmax().plot.interleaving(),
    "heat": lambda: softmax().plot.accesses("y_ptr", "count", "storage"),
    "timeline": lambda: TimelineView(softmax(), "y_ptr"),
    "grid": lambda: softmax().plot.grid("shared", program=0),
    "storage": lambda: storage(torch.zeros(4, 6).t()[::2], torch.zeros(0)),
    "autotuned": lambda: autotuned().plot("autotune"),
    "sweep": lambda: swept().plot(),
    "two programs": lambda: softmax().values("x").compare(programs=(0, 1)),
    "comparison": comparison,
    "card of both": lambda: Card(on_both(softmax(), interpreted=9.0), both=True),
    "causes": lambda: CausesView(lab.compare(on_both(softmax()))),
    "page": PageFigures,
    "space": lambda: iteration_view(scop(page_nests.MATMUL, n=3), dependences="value"),
    "hidden": lambda: iteration_view(scop(page_nests.MATMUL, n=3), dims=("y", "x")),
    "time": illegal,
    "kernel": kernel,
    "ragged": RaggedView,
    "proof": pictures.proof,
    "ways": lambda: WaysView(ragged_ways()),
    "maximal": lambda: maximal_view(scop(PARTLY_AFFINE, maximal=True)),
    "lazy": step,
    "report": lazy.report,
    "layout": lambda: layout().plot(element=(1, 5)),
    "conversion": lambda: conversion().plot(element=(1, 5)),
    "layouts": lambda: compiled().layouts.plot(),
    "compiled": lambda: compiled().plot(),
    "stages": lambda: compiled().plot.stages(),
    "transactions": lambda: compiled().plot.transactions(),
    "cost": lambda: compiled().plot.cost(),
    "passes": lambda: compiled().plot.passes(),
    "product": lambda: lab.tiled_product(torch.empty(100, 70), torch.empty(70, 90), tile=(32, 16), program=(3, 5)),
    "pipeline": lambda: pipelined().plot.pipeline(),
    "compiled launch": lambda: compiled().launch.plot(),
}


def kinds_in(value: Any) -> Iterator[str]:
    """Every ``kind`` of a scene in ``value``."""
    if isinstance(value, Mapping):
        yield from filter(None, [value.get("kind")])
        for item in value.values():
            yield from kinds_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from kinds_in(item)


@pytest.fixture(scope="module")
def sent() -> dict[str, Any]:
    """What each view begins with, and what a page of it carries."""
    found: dict[str, Any] = {"what is not there": Card(softmax()).part("nothing")}
    found["variables"] = Card(softmax()).part("assigned@1")
    found["moved"] = iteration_view(scop(page_nests.WAVEFRONT, n=4)).part("order/own/1.0//2.0")
    for name, make in MAKERS.items():
        view = make()
        found[name] = view.live()
        if not name.startswith(("ways", "two")):
            found[f"{name}, alone"] = view.standalone()
    found["large"] = storage(torch.zeros(1000, 1000))
    found["large"] = {"whole": found["large"].live(), "window": found["large"].part("storage/grid/0/window/0.1.2.3.4")}
    return found


def test_what_is_sent_is_what_was_declared(sent: dict[str, Any]) -> None:
    scenes = {**sent, **sent["large"]}
    del scenes["large"]
    assert {name: wrongs(scene)[:3] for name, scene in scenes.items() if wrongs(scene)} == {}


def test_every_kind_of_scene_is_tried(sent: dict[str, Any]) -> None:
    assert set(kinds()) <= set(kinds_in(list(sent.values())))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"kind": "odd"}, r"\bkind 'odd'"),
        ({"text": 3}, r"\bscene\.text: 3 \(int\).* str\b"),
        ({"colour": "red"}, r"\bWordsScene .*\bcolour\b"),
    ],
)
def test_what_was_not_declared_is_found(change: dict[str, object], named: str) -> None:
    assert wrongs({"kind": "words", "text": "told"}) == []
    assert any(re.search(named, wrong) for wrong in wrongs({"kind": "words", "text": "told", **change}))


@pytest.mark.parametrize("name", FILES)
def test_what_the_front_is_given_is_what_python_has(name: str) -> None:
    made = FILES[name]()
    assert (FRONT / name).read_text(encoding="utf-8") == made, "python -m triton_lab.views.declarations writes it anew"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("export function timelineOf(", "export function tableOf(", "no module .* timelineOf"),
        ("export function timelineOf(", "function timelineOf(", "no module .* timelineOf"),
        (
            "export function t",
            "export function tilingOf() {}\nexport function t",
            "launch/tiling.js .* launch/timeline.js",
        ),
    ],
)
def test_a_kind_is_drawn_by_one_function(tmp_path: Path, old: str, new: str, told: str) -> None:
    front = tmp_path / "front"
    shutil.copytree(FRONT, front)
    assert kinds_module(front) == FILES["kinds.js"]()
    timeline = front / "launch" / "timeline.js"
    timeline.write_text(timeline.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(TypeError, match=told):
        kinds_module(front)


def test_two_scenes_of_one_name_or_kind_are_refused(monkeypatch: pytest.MonkeyPatch, wording: Wording) -> None:
    class WordsScene(TypedDict):
        kind: Literal["words"]

    monkeypatch.setattr(WordsScene, "__module__", tiling_view.__name__)
    monkeypatch.setattr(tiling_view, "WordsScene", WordsScene, raising=False)
    with wording.raises(TypeError):
        contract.__wrapped__()
    monkeypatch.setattr(declarations, "contract", lambda: {"WordsScene": WordsScene, "Told": WordsScene})
    with wording.raises(TypeError):
        kinds.__wrapped__()


def test_types_become_those_of_the_browser() -> None:
    assert written(list[int | None]) == "(number | null)[]"
    assert written(dict[str, tuple[int, str]]) == "Record<string, [number, string]>"
    with pytest.raises(TypeError, match="cannot hold"):
        written(set[int])


def test_colours_have_one_source() -> None:
    """No file of the front has a colour of its own: they come from the two `style`s."""
    ours = [
        path
        for path in FRONT.rglob("*")
        if path.suffix in (".js", ".css") and path.relative_to(FRONT).as_posix() not in FILES
    ]
    extension = [*(FRONT.parents[2] / "labextension" / "style").glob("*.css")]
    assert len(ours) > 30 and extension
    for path in (*ours, *extension):
        assert not re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgba?\(\s*\d", path.read_text(encoding="utf-8")), path.name
