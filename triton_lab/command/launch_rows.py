"""A script's launches as a table, for a terminal and for a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from triton_lab import messages
from triton_lab.command.session_log import LaunchLine
from triton_lab.command.terminal import STYLES
from triton_lab.launch.diagnosis.severity import ERROR, counted
from triton_lab.localization import _

if TYPE_CHECKING:
    from rich.table import Table

FOLDED = 4  # so many equal launches in a row share one row
ROWS = 40  # of the table in a terminal


@dataclass(frozen=True)
class TableRow:
    """Similar consecutive ``lines``: mostly a single one."""

    lines: Sequence[LaunchLine]

    @property
    def first(self) -> LaunchLine:
        return self.lines[0]

    def number(self) -> str:
        """The numbers of the launches: ``7``, or ``7 to 99``."""
        last = self.lines[-1].number
        if len(self.lines) == 1:
            return str(self.first.number)
        return _("{low} to {high}").format(low=self.first.number, high=last)

    def grid(self) -> str:
        return ", ".join(map(str, self.first.grid))

    def time(self) -> str:
        """The time of all of them together."""
        return messages.seconds_text(sum(line.seconds for line in self.lines))

    def findings(self) -> str:
        """The findings of each: ``1 error, 2 notes``; "" if there are none."""
        failed = [_("failed")] if self.first.failed and not self.first.severities.get(ERROR) else []
        return ", ".join(filter(None, [*failed, counted(self.first.severities)]))


def rows(lines: Sequence[LaunchLine]) -> Iterator[TableRow]:
    """All launches in order; several equal ones in a run share a row."""

    def looks(line: LaunchLine) -> object:
        return line.kernel, line.grid, line.target, line.failed, dict(line.severities), line.drawn

    for _looks, group in groupby(lines, looks):
        equal = list(group)
        if len(equal) < FOLDED or equal[0].drawn:
            yield from (TableRow([line]) for line in equal)
        else:
            yield TableRow(equal)


def left_out(some: Sequence[TableRow]) -> str:
    """The launches in rows that are left out: ``960 more launches: 500 of add, 460 of softmax``."""
    kernels = Counter(line.kernel for row in some for line in row.lines)
    said = _("{count} of {kernel}")
    told = [said.format(count=messages.number(count), kernel=kernel) for kernel, count in kernels.most_common(5)]
    others = messages.and_others(len(kernels) - len(told))
    return f"{messages.count(kernels.total(), 'more launch', 'more launches')}: {', '.join(told)}{others}"


def table(lines: Sequence[LaunchLine], narrow: bool) -> Table:
    """The table; a ``narrow`` terminal gets kernel and grid in one column."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    made.add_column("#", justify="right", style="dim")
    made.add_column("kernel", overflow="fold")
    if not narrow:
        made.add_column("grid")
        made.add_column("target")
    made.add_column("time", justify="right")
    made.add_column("findings")
    every = list(rows(lines))
    for row in every[:ROWS]:
        style = STYLES.get(row.first.worst or "", "")
        kernel = (
            [messages.launched(row.first.kernel, row.first.grid)]
            if narrow
            else [row.first.kernel, row.grid(), row.first.target]
        )
        told = [row.number(), *kernel, row.time()]
        made.add_row(*map(Text, told), Text(row.findings() or "–", style=style))
    if len(every) > ROWS:
        made.caption = left_out(every[ROWS:])
    return made
