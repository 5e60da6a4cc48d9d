"""The card of compilations without a launch: it has those tabs of a launch's card that need no launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

from triton_lab.compiled.compiled_list import labels
from triton_lab.views.compiled.resource_table import ResourceTable
from triton_lab.views.drawing.scene_bounds import Few, Many, Named, Sentence
from triton_lab.views.launch.card.card_parts import opened, part, shown_first, tabs, there
from triton_lab.views.launch.card.card_scenes import TabScene
from triton_lab.views.launch.card.card_tab import Tabbed
from triton_lab.views.launch.card.launch_tabs import COMPILED_TABS
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.compiled.compiled import Compiled
    from triton_lab.views.drawing.drawing import Drawing

SAVED_BYTES = 230_000  # all pictures in a notebook's output, as of a launch's card
PAGE_BYTES = 2_700_000


class CompilationScene(TypedDict):
    kind: Literal["compilation"]
    title: Sentence
    facts: Many[Sentence]
    tabs: Few[TabScene]
    parts: Named[Scene]


class CompilationCard(Tabbed, View):
    """All pictures of ``compiled``, which is one kernel for one GPU or several."""

    tabs = COMPILED_TABS

    def __init__(self, compiled: Sequence[Compiled]) -> None:
        self.compiled = tuple(compiled)
        self.launch = self.compiled[0].launch

    def title(self) -> str:
        return f"{self.compiled[0].kernel} for {', '.join(labels(self.compiled))}"

    def facts(self) -> list[str]:
        """What it was compiled with."""
        constants = self.compiled[0].constants
        return [f"{name}={value}" for name, value in constants.items()]

    def part(self, name: str) -> Scene:
        """The scene of one tab, or of one picture in it."""
        return part(self, name)

    def scene(self) -> CompilationScene:
        """The first picture; `part` has the others."""
        return self._scene(opened(self, COMPILED_TABS[0].name))

    def saved(self) -> CompilationScene:
        """The scene with the pictures that fit into a notebook's output."""
        return self._scene(self._kept(SAVED_BYTES))

    def standalone(self) -> CompilationScene:
        """The scene with the pictures that fit into a page."""
        return self._scene(self._kept(PAGE_BYTES))

    def _kept(self, room: int) -> dict[str, Scene]:
        from triton_lab.views.scene_packing import fitting

        return fitting(shown_first(self), self.part, room)

    def _scene(self, parts: Mapping[str, Scene]) -> CompilationScene:
        return {
            "kind": "compilation",
            "title": self.title(),
            "facts": self.facts(),
            "tabs": tabs(self),
            "parts": dict(parts),
        }

    def text(self) -> str:
        head = " ".join([self.title(), *(["with", ", ".join(self.facts())] if self.facts() else [])])
        return "\n".join([head, *ResourceTable(self.compiled).text().splitlines()[1:]])

    def pieces(self) -> list[Drawing]:
        return [piece for tab in there(self) for piece in self.panel(tab.name).pieces()]
