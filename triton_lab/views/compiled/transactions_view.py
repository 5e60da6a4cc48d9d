"""The memory traffic of each access of a launch: a table, the worst line, and the sectors and banks of each warp."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from triton_lab import messages
from triton_lab.compiled.compilation_text import aligned
from triton_lab.compiled.compiled_list import labels
from triton_lab.compiled.transactions import Reason, SharedLine, Transfer, worst
from triton_lab.launch.launch import Launch
from triton_lab.localization import _
from triton_lab.views.compiled.compilation_tab import CompiledPanel
from triton_lab.views.compiled.compiled_scenes import TrafficScene, TransactionsScene
from triton_lab.views.compiled.sector_heatmaps import Traffic, of_shared, of_transfer
from triton_lab.views.launch.last_values import held, last_touched
from triton_lab.views.scenes import Scene
from triton_lab.views.view import View

if TYPE_CHECKING:
    from triton_lab.compiled.compiled import Compiled
    from triton_lab.views.drawing.drawing import Drawing

KEPT_CELLS = 40_000  # of the heatmaps sent with the table
MOST_ROWS = 40  # of the table in a PNG


class TransactionsView(View):
    """Requests, sectors and bank conflicts of a launch that was compiled, line by line.

    The heatmap shows ``line`` (of the source; by default the worst) and ``program``, a linear number (by default the
    one that wastes most). ``name`` is the view's name among others. Raises ValueError for a line or program that does
    not exist, and what `Compiled.transactions` raises.
    """

    def __init__(
        self, compiled: Compiled, program: int | None = None, line: int | None = None, name: str = "transactions/0"
    ) -> None:
        self.compiled, self.name = compiled, name
        self.found = compiled.transactions
        self.launch = self.found.launch
        if program is not None and not 0 <= program < self.launch.programs:
            raise ValueError(messages.no_program(program, self.launch.grid))
        if line is not None and line not in [row.line for row in self.accesses]:
            there = sorted({row.line for row in self.accesses if row.line is not None})
            raise ValueError(
                _("line {line} accesses no memory; these lines do: {there}").format(
                    line=line, there=", ".join(map(str, there)) or _("none")
                )
            )
        self._program, self._line = program, line

    @cached_property
    def accesses(self) -> list[Transfer | SharedLine]:
        """The accesses, one for each row."""
        return [*self.found.transfers, *self.found.shared]

    @cached_property
    def worst(self) -> Reason | None:
        """The line that wastes most, with reason and remedy; None if no line wastes anything."""
        return worst(self.found)

    @cached_property
    def shown(self) -> int:
        """The row that is open at first."""
        line = self._line if self._line is not None else self.worst.line if self.worst else None
        mine = [k for k, row in enumerate(self.accesses) if row.line == line]
        if not mine:
            return 0

        def wasted(k: int) -> int:
            row = self.accesses[k]
            return row.moved - row.wanted if isinstance(row, Transfer) else 128 * row.conflicts

        return max(mine, key=wasted)

    @cached_property
    def program(self) -> int:
        """The program that is shown at first."""
        if self._program is not None:
            return self._program
        row = self.accesses[self.shown] if self.accesses else None
        if not isinstance(row, Transfer) or not row.sectors:
            return 0
        wasted = row.counts.moved - row.counts.wanted
        return int(np.argmax(wasted) if wasted.any() else np.argmax(row.counts.requests > 0))

    def traffic(self, row: int, program: int) -> Traffic:
        """The traffic of one program, as a row of the table shows it."""
        one = self.accesses[row]
        return of_transfer(one, self.launch, program) if isinstance(one, Transfer) else of_shared(one)

    def _drawn(self, traffic: Traffic) -> TrafficScene:
        """The scene of a traffic, with the values of the elements at the ends of its sectors."""
        scene = traffic.scene()
        if traffic.used is None:
            return scene
        argument, ends = traffic.used
        if argument.name not in self._values:
            launch = self.launch if isinstance(self.launch, Launch) else None
            self._values[argument.name] = last_touched(launch, argument)
        values = self._values[argument.name]
        if values is None or (ends < 0).any():
            return scene
        index = np.stack(np.unravel_index(ends, argument.shape), axis=-1)
        names = [[f"{argument.name}{one}" for one in pair] for pair in index.tolist()]
        return {**scene, **held(values[ends]), "ends": [(first, last) for first, last in names]}

    @cached_property
    def _values(self) -> dict[str, npt.NDArray[np.float64] | None]:
        return {}

    def title(self) -> str:
        return _("{kernel} for {labels}: memory requests").format(
            kernel=self.compiled.kernel, labels=labels([self.compiled])[0]
        )

    def scene(self) -> TransactionsScene:
        headings, *rows = [list(row) for row in self.found.rows()]
        room, traffics = KEPT_CELLS, dict[int, TrafficScene]()
        for k in sorted(range(len(self.accesses)), key=lambda k: k != self.shown):
            made = self.traffic(k, self.program)
            room -= made.counts.size
            if room >= 0:
                traffics[k] = self._drawn(made)
        return {
            "kind": "transactions",
            "title": self.title(),
            "name": self.name,
            "grid": list(self.launch.grid),
            "worst": str(self.worst) if self.worst else "",
            "headings": headings,
            "table": rows,
            "lines": [row.line for row in self.accesses],
            "programs": [isinstance(row, Transfer) for row in self.accesses],
            "program": self.program,
            "shown": self.shown,
            "traffics": [traffics.get(k) for k in range(len(self.accesses))],
            "problems": self.found.problems,
        }

    def part(self, name: str) -> Scene:
        """The picture of a part ``name/2/17``: row 2, program 17."""
        rest = name.removeprefix(f"{self.name}/").split("/")
        if len(rest) != 2 or not all(each.isdigit() for each in rest):
            raise LookupError(_("{title} has no part {name}").format(title=self.title(), name=repr(name)))
        row, program = map(int, rest)
        if row >= len(self.accesses) or program >= self.launch.programs:
            raise LookupError(_("{title} has no part {name}").format(title=self.title(), name=repr(name)))
        return self._drawn(self.traffic(row, program))

    def text(self) -> str:
        return "\n".join([self.title(), *self._told()])

    def _told(self) -> Iterator[str]:
        if self.worst:
            yield str(self.worst)
        if not self.accesses:
            yield _("It accesses no memory.")
            return
        yield from aligned(list(self.found.rows()))
        yield from self.found.problems
        shown = self.traffic(self.shown, self.program)
        yield f"{shown.title}: {shown.note}"

    def pieces(self) -> list[Drawing]:
        """The worst line in words, the table, and the heatmap of the open row."""
        from triton_lab.views.drawing.drawing_pieces import one_row, paragraphs, table, title

        made = [title(self.title()), *paragraphs([str(self.worst)] if self.worst else [], "ink")]
        rows = list(self.found.rows())
        if len(rows) > 1:
            made.append(table(rows[: MOST_ROWS + 1]))
        left = len(rows) - 1 - MOST_ROWS
        if left > 0:
            made += paragraphs([messages.count(left, "more row")])
        made += paragraphs(self.found.problems, "warning")
        if self.accesses:
            shown = self.traffic(self.shown, self.program)
            made.append(title(shown.title))
            if shown.heatmap is not None:
                made.append(one_row([shown.heatmap], 8))
            made += paragraphs([shown.note])
        return made


class TransactionsPanel(CompiledPanel):
    """The memory traffic of each compilation."""

    word = "transactions"

    @property
    def there(self) -> bool:
        return any(map(self.draws, self.card.compiled))

    def picture(self, compiled: Compiled, name: str) -> TransactionsView:
        return TransactionsView(compiled, name=name)

    def draws(self, compiled: Compiled) -> bool:
        return compiled.architecture.is_nvidia and compiled.launch is not None
