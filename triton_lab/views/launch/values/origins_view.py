"""Origins: one stored element, and the elements of all arguments that it was computed from.

The live picture knows who stored which element. So a click, or picking another program, requests only the origins of
that element: a part called ``origin/<op>/<element>``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from triton_lab import messages
from triton_lab.launch.maps.last_writer import StoredBy, StoredByTiles, stored_by, stored_in
from triton_lab.localization import _
from triton_lab.views.drawing.drawing_text import shape_text
from triton_lab.views.drawing.heatmap import Heatmap, buffer, narrow
from triton_lab.views.launch.accesses.heat_words import access_words
from triton_lab.views.launch.accesses.iteration_marks import LOOKS, Marked
from triton_lab.views.launch.argument_names import tensor_argument
from triton_lab.views.launch.card.card_scenes import ItemScene
from triton_lab.views.launch.card.card_tab import NUMBERS, Panel, item, unknown
from triton_lab.views.launch.last_values import last_values
from triton_lab.views.launch.launch_scenes import LoadedScene, OriginScene, OriginsScene, StoredScene
from triton_lab.views.launch.values.origin_cells import StoredCells, loading_lines, needed_elements
from triton_lab.views.launch.values.steps_view import StepsPanel
from triton_lab.views.missing_picture import attempt
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.launch.access import Access
    from triton_lab.launch.launch import Launch
    from triton_lab.launch.replay.value_origin import Origin
    from triton_lab.views.drawing.drawing import Drawing

Ints = npt.NDArray[np.int64]


class Origins(View):
    """The origins of the value that ``program`` stored in ``lane`` (row-major) of the store."""

    def __init__(self, launch: Launch, store: Access, program: int = 0, lane: int = 0, iteration: int = 0) -> None:
        lanes = math.prod(store.block)
        if not 0 <= program < launch.programs:
            raise ValueError(messages.no_program(program, launch.grid))
        if not 0 <= lane < lanes:
            raise ValueError(f"{access_words(store)} {messages.has(0, lanes - 1, 'lane', lane)}")
        self.launch, self.store = launch, store
        self.program, self.lane, self.iteration = program, lane, iteration

    @classmethod
    def first(cls, launch: Launch, store: Access, program: int | None = None, likely: int | None = None) -> Origins:
        """The origins of the first element that ``program`` stored.

        By default it is the program ``likely``, if it stored anything; else the element is in the middle of all.
        """
        found = cls(launch, store, program or 0).stored
        if program is None and likely is not None and found.first[likely] >= 0:
            program = likely
        if not (found.first >= 0).any() or (program is not None and found.first[program] < 0):
            who = "" if program is None else _(" in {place}").format(place=messages.program(program, launch.grid))
            raise ValueError(
                _("{access_words} stored nothing to {text}{who}").format(
                    access_words=access_words(store), text=store.argument or _("an argument"), who=who
                )
            )
        element = found.middle() if program is None else found.first[program]
        return cls.of(launch, store, int(element), found)

    @classmethod
    def of(cls, launch: Launch, store: Access, element: int, stored: StoredBy | StoredByTiles | None = None) -> Origins:
        """The origins of an element (row-major) of the store's argument, as the last lane that stored to it left it."""
        stored = stored or cls(launch, store).stored
        shape = () if store.argument is None else tensor_argument(launch, store.argument).shape
        last = stored.last(element) if 0 <= element < math.prod(shape) else None
        if last is None:
            raise LookupError(
                _("{access_words} did not store to element {element} of {argument}").format(
                    access_words=access_words(store), element=element, argument=store.argument
                )
            )
        made = cls(launch, store, *last)
        made.__dict__["stored"] = stored
        return made

    @cached_property
    def stored(self) -> StoredBy | StoredByTiles:
        """The lane that stored each element of the argument."""
        if self.store.argument is None:
            return stored_by(self.store.completed, (), self.launch.programs)
        argument = tensor_argument(self.launch, self.store.argument)
        return stored_in(self.store.completed, argument, self.launch.programs)

    @cached_property
    def cells(self) -> StoredCells:
        """The cells of the argument that this store wrote. Raises ValueError for a store to no tensor argument."""
        return StoredCells(tensor_argument(self.launch, self.store.argument or ""), self.stored)

    @cached_property
    def origins(self) -> list[Origin]:
        """The loads that the value depends on."""
        return self.launch.origins(self.store, self.program, self.lane, self.iteration)

    @cached_property
    def needed(self) -> dict[str, tuple[Ints, Ints]]:
        """For each argument that matters: its elements, ascending, and the iterations that first loaded them."""
        return needed_elements(self.origins)

    @cached_property
    def element(self) -> int:
        """The element of the store's argument, -1 if there is none."""
        return self.store.element_of(self.program, self.lane, self.iteration)

    @cached_property
    def pictures(self) -> list[Marked]:
        """A picture of each argument that was loaded from."""
        found = []
        for name, (elements, first) in self.needed.items():
            argument = tensor_argument(self.launch, name)
            title = f"{name} ({shape_text(argument.shape)}): {messages.count(len(elements), 'element')}"
            found.append(Marked(argument, elements, first, title, _("loaded")))
        return found

    @property
    def heatmaps(self) -> list[Heatmap]:
        """The stored argument, then the arguments that were loaded from."""
        drawn = [one.heatmap() for one in self.pictures]
        if self.store.argument is None:
            return drawn
        mark = np.array([e for e in [self.element] if e >= 0], np.int64)
        title = _("stored: {name}").format(name=self._stored())
        stored = Marked(self.cells.argument, mark, np.zeros_like(mark), title, _("stored here"))
        return [stored.heatmap(also=np.flatnonzero(self.cells.first >= 0)), *drawn]

    def _stored(self) -> str:
        name = self.store.argument or _("memory")
        if self.store.argument is None or self.element < 0:
            return ", ".join(filter(None, [name, messages.lane(self.lane, self.store.block)]))
        shape = tensor_argument(self.launch, name).shape
        return messages.element(name, self.element, shape) if shape else name

    def title(self) -> str:
        store = access_words(self.store).removeprefix("the ")
        return _("{stored}, {store}, {program}: where it came from").format(
            stored=self._stored(), store=store, program=messages.program(self.program, self.launch.grid)
        )

    def text(self) -> str:
        lines = [self.title()]
        for origin in self.origins:
            some = ", ".join(map(str, origin.elements[:8].tolist())) + (" …" if len(origin.elements) > 8 else "")
            turn = _(", iteration {number}").format(number=origin.iteration) if origin.iteration else ""
            many = messages.count(len(origin.lanes), "element")
            lines.append(
                _("line {line}{turn}: {many} of {text}: {some}").format(
                    line=origin.line, turn=turn, many=many, text=origin.argument or _("memory"), some=some
                )
            )
        if not self.origins:
            lines.append(_("from no load: it was computed only from scalars and program numbers"))
        return "\n".join(lines)

    def pieces(self) -> list[Drawing]:
        """The arguments side by side."""
        from triton_lab.views.drawing.drawing_pieces import paragraphs, side_by_side, title

        nothing = [] if self.origins else self.text().splitlines()[-1:]
        return [title(self.title()), *side_by_side(self.heatmaps), *paragraphs(nothing)]

    @property
    def name(self) -> str:
        """The beginning of its parts' names."""
        return f"origin/{self.store.op}"

    def scene(self) -> OriginsScene:
        """The elements that can be picked, and the origins of one."""
        stored: StoredScene | None = None
        if self.store.argument is not None:
            values = last_values(self.launch, self.cells.argument)
            stored = self.cells.scene(f"{self.name}/stored", values, self.store.line, self.launch.grid)
        return {
            "kind": "origins",
            "name": self.name,
            "stored": stored,
            "looks": list(map(list, LOOKS)),
            "shown": self.shown(),
            "parts": {},
        }

    def shown(self) -> OriginScene:
        """The origins of this element."""
        return {
            "kind": "origin",
            "title": self.title(),
            "stored": self._stored(),
            "program": self.program,
            "element": self.element,
            "pictures": [self._loaded(one) for one in self.pictures],
            "lines": self.text().splitlines()[1:],
        }

    def _loaded(self, picture: Marked) -> LoadedScene:
        """A picture with the lines that loaded its elements."""
        lines, cells = loading_lines(self.origins, picture)
        return {
            **last_values(self.launch, picture.argument),
            **picture.as_scene(f"{self.name}/{self.element}/{picture.argument.name}"),
            "lines": lines,
            "loads": [buffer(narrow(some)) for some in cells],
        }

    def part(self, name: str) -> Scene:
        match name.removeprefix(f"{self.name}/").split("/"):
            case [element] if element.isdecimal():
                return self.of(self.launch, self.store, int(element), self.stored).shown()
            case ["stored", "window", _] if self.store.argument is not None:
                return self.cells.through(name, f"{self.name}/stored")
            case [element, argument, "window", _] if element.isdecimal():
                view = (
                    self
                    if int(element) == self.element
                    else self.of(self.launch, self.store, int(element), self.stored)
                )
                for one in view.pictures:
                    if one.argument.name == argument:
                        return one.through(name, f"{self.name}/{element}/{argument}")
        return super().part(name)


class OriginsPanel(Panel):
    """The stores whose values can be traced back; the static form shows one of them."""

    KEPT_ELEMENTS: ClassVar[int] = 120  # of all stores together, in a page without a running kernel

    def items(self) -> list[ItemScene]:
        return [
            item(
                f"origin/{one.op}",
                _("{name} · line {line}").format(name=one.argument, line=one.line),
                [one.line] if one.line else [],
            )
            for one in sorted(self.card.followable, key=lambda one: one is not self.card.traced)
        ]

    def view(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Origins:
        match path:
            case ["origin", op, *_]:
                return self._origins(int(op))
        raise unknown(path)

    def scene(self, path: Sequence[str], first: int = 0, numbers: int = NUMBERS) -> Scene:
        """The scene, or the origins of one element if the path names one."""
        view = self.view(path, first, numbers)
        return view.part("/".join(path)) if len(path) > 2 else view.scene()

    def _origins(self, op: int) -> Origins:
        """The view of a store, made once: finding who stored what takes a while."""
        if op not in self._made:
            access = next((one for one in self.card.accesses if one.op == op), None)
            if access is None:
                raise LookupError(_("{kernel} has no access {op}").format(kernel=self.launch.kernel, op=op))
            self._made[op] = Origins.first(self.launch, access, likely=self.card.wrong_program)
        return self._made[op]

    @cached_property
    def _made(self) -> dict[int, Origins]:
        return {}

    def many(self) -> Iterator[str]:
        for store in self.card.followable:
            most = self.KEPT_ELEMENTS // len(self.card.followable)
            chosen = attempt(partial(self._sample, store, most), lambda _: [])  # the part itself gives the reason
            yield from (f"origin/{store.op}/{one}" for one in chosen)

    def _sample(self, store: Access, most: int) -> list[int]:
        """About ``most`` elements: the first of each program, and others from everywhere."""
        found = self._origins(store.op)
        first = found.stored.first[found.stored.first >= 0][: min(StepsPanel.KEPT_PROGRAMS, most)]
        others = found.cells.askable()
        # A random choice: every n-th element would form lines.
        spread = np.random.default_rng(0).choice(others, min(len(others), most - len(first)), replace=False)
        return list(dict.fromkeys([*first.tolist(), *spread.tolist()]))

    def drawn(self) -> list[Origins]:
        return [] if self.card.traced is None else [self._origins(self.card.traced.op)]
