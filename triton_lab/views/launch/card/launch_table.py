"""Launches: many launches at once, as a table of kernels, and the card of any one of them.

The parts of a card have the same names as in the card itself, after ``launch/17/``; a card is made on request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypedDict

from triton_lab import messages as words
from triton_lab.localization import N_, _, all_translated, translated
from triton_lab.messages import seconds_text
from triton_lab.views.drawing.drawing_text import table_lines
from triton_lab.views.drawing.scene_bounds import Few, Many, Named, Sentence, Whole
from triton_lab.views.launch.card.card_scenes import CardScene
from triton_lab.views.launch.card.launch_card import Card
from triton_lab.views.scenes import NotedSource, Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.launch import Launch
    from triton_lab.views.drawing.drawing import Drawing

CARDS = 4  # cards that are cached: showing a launch again costs nothing
FEW = 3  # grids named in a row
INTERPRETED = N_("Times on the CPU are those of the interpreter. They do not predict times on a GPU.")
ROWS = 40  # of the table; a program that makes kernels by the hundred gets only the first of them


class NestedScene(TypedDict):
    """A scene within a scene: the names of its parts begin with its own."""

    kind: Literal["nested"]
    name: Sentence
    scene: Scene


class LaunchesScene(TypedDict):
    """``first``: the number of each kernel's first launch."""

    kind: Literal["launches"]
    title: Sentence
    headings: Few[Sentence]
    table: Many[Few[Sentence]]
    first: Many[Whole]
    remarks: Many[Sentence]
    count: Whole
    parts: Named[Scene]


class LaunchTable(View):
    """The table of ``launches`` by kernel; ``card`` makes the card of one."""

    HEADINGS = ("", N_("launches"), N_("grids"), N_("time in all"), N_("slowest"), N_("failed"))

    def __init__(self, launches: Sequence[Launch], card: Callable[[Launch], Card] = Card) -> None:
        self.launches = launches
        self.card = lru_cache(CARDS)(lambda number: card(self.launches[number]))
        self._targets = {launch.target for launch in launches}
        self.of_kernel: dict[str, list[int]] = {}
        for number, launch in enumerate(launches):
            self.of_kernel.setdefault(self._named(launch), []).append(number)

    def _named(self, launch: Launch) -> str:
        """The key of a launch's row: its kernel, and the target, if some ran on the GPU and some on the CPU."""
        return launch.kernel if len(self._targets) == 1 else f"{launch.kernel} ({launch.target.upper()})"

    def title(self) -> str:
        kernels = len({launch.kernel for launch in self.launches})
        return _("{launches} of {kernels}").format(
            launches=words.count(len(self.launches), "launch", "launches"), kernels=words.count(kernels, "kernel")
        )

    def table(self) -> list[tuple[str, ...]]:
        """One row for each kernel, below `HEADINGS`."""
        return [self._row(kernel, numbers) for kernel, numbers in list(self.of_kernel.items())[:ROWS]]

    def _row(self, kernel: str, numbers: Sequence[int]) -> tuple[str, ...]:
        launches = [self.launches[number] for number in numbers]
        grids = [f"({', '.join(map(str, grid))})" for grid in dict.fromkeys(launch.grid for launch in launches)]
        told = ", ".join(grids[:FEW])
        if len(grids) > FEW:
            told = _("{things} and {count} more").format(things=told, count=len(grids) - FEW)
        seconds = [launch.seconds for launch in launches]
        failed = sum(launch.error is not None for launch in launches)
        slowest = _("{time}, launch {number}").format(
            time=seconds_text(max(seconds)), number=numbers[seconds.index(max(seconds))]
        )
        return kernel, str(len(launches)), told, seconds_text(sum(seconds)), slowest, str(failed or "")

    def remarks(self) -> list[str]:
        """The remarks: what the table and the record leave out."""
        said = [words.count(len(self.of_kernel) - ROWS, "more kernel")] if len(self.of_kernel) > ROWS else []
        if "cpu" in self._targets:
            said.append(translated(INTERPRETED))
        cut = sum(bool(launch.dropped) for launch in self.launches)
        if cut:
            first = next(number for number, launch in enumerate(self.launches) if launch.dropped)
            launches = words.count(cut, "launch is", "launches are")
            said.append(
                _("{launches} not kept in full, from launch {first} on: {dropped}").format(
                    launches=launches, first=first, dropped=self.launches[first].dropped
                )
            )
        return said

    def lines(self) -> list[str]:
        """Title and table in words, without any card."""
        table = table_lines([all_translated(self.HEADINGS), *self.table()])
        return [self.title(), *(f"  {said}" for said in (*table, *self.remarks()))]

    def text(self) -> str:
        return "\n".join([*self.lines(), self.card(0).text()])

    def pieces(self) -> list[Drawing]:
        from triton_lab.views.drawing.drawing_pieces import paragraphs, table, title

        head = [title(self.title()), table([all_translated(self.HEADINGS), *self.table()]), *paragraphs(self.remarks())]
        return [*head, title(_("launch {number}").format(number=0)), *self.card(0).pieces()]

    def scene(self) -> LaunchesScene:
        return self._scene(self.card(0).scene())

    def standalone(self) -> LaunchesScene:
        return self._scene(self.card(0).standalone())

    @property
    def grows(self) -> bool:
        return self.card(0).grows

    def saved(self) -> LaunchesScene:
        return self._scene(self.card(0).saved())

    def annotations(self) -> list[NotedSource]:
        """The notes of the launch that is shown first."""
        return self.card(0).annotations()

    def _scene(self, first: CardScene) -> LaunchesScene:
        return {
            "kind": "launches",
            "title": self.title(),
            "headings": list(all_translated(self.HEADINGS)),
            "table": [list(row) for row in self.table()],
            "first": [numbers[0] for numbers in list(self.of_kernel.values())[:ROWS]],
            "remarks": self.remarks(),
            "count": len(self.launches),
            "parts": {"launch/0": {"kind": "nested", "name": "launch/0", "scene": first}},
        }

    def part(self, name: str) -> Scene:
        start, _unused, behind = name.partition("/")
        number, _unused, rest = behind.partition("/")
        if start != "launch" or not number.isdigit() or int(number) >= len(self.launches):
            return super().part(name)
        card = self.card(int(number))
        return card.part(rest) if rest else {"kind": "nested", "name": name, "scene": card.scene()}
