"""`lab.lazy.report()`: all steps so far as a table of graphs; live, as PNG and in words."""

from __future__ import annotations

from triton_lab import messages
from triton_lab.lazy.compile_cache import Totals, Use
from triton_lab.localization import N_, _, all_translated
from triton_lab.messages import seconds_text
from triton_lab.views.drawing.drawing import Drawing
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.view import View

MARGIN, LINE, GAP = 16.0, 22.0, 22.0
ROWS = 30  # of the table: the graphs that took longest
NAMES = 3  # kernels named in a row


class LazyReport(View):
    """The cost of steps. `totals` holds the numbers."""

    HEADINGS = (N_("graph"), N_("kernels"), N_("runs"), N_("compiling"), N_("running"), N_("a run"))

    def __init__(self, totals: Totals):
        self.totals = totals

    def title(self) -> str:
        all_ = self.totals
        hits, misses = messages.count(all_.hits, "hit"), messages.count(all_.misses, "miss", "misses")
        return f"{messages.count(all_.steps, 'step')}: {hits}, {misses}"

    def remarks(self) -> list[str]:
        """The sums, and what the table leaves out."""
        all_ = self.totals
        known = messages.count(all_.reused_kernels, "kernel")
        reused = _(" ({known} new graphs were already compiled)").format(known=known) if all_.reused_kernels else ""
        compiled = messages.count(all_.compiled_kernels, "kernel")
        both = seconds_text(all_.run_seconds + all_.compile_seconds)
        said = [
            _("compiling: {compile_seconds} for {compiled}{reused}").format(
                compile_seconds=seconds_text(all_.compile_seconds), compiled=compiled, reused=reused
            ),
            _("running: {run_seconds}; with compiling {both}").format(
                run_seconds=seconds_text(all_.run_seconds), both=both
            ),
        ]
        if len(all_.uses) > ROWS:
            said.append(_("{graphs} took less time").format(graphs=messages.count(len(all_.uses) - ROWS, "more graph")))
        return said

    def table(self) -> list[tuple[str, ...]]:
        """One row for each cached graph, below `HEADINGS`; the graph that took longest comes first."""
        longest = sorted(self.totals.uses, key=lambda use: use.compile_seconds + use.run_seconds, reverse=True)
        return [_row(use) for use in longest[:ROWS]]

    def text(self) -> str:
        rows = [all_translated(self.HEADINGS), *self.table()] if self.totals.uses else []
        widths = [max(len(row[column]) for row in rows) for column in range(len(self.HEADINGS))] if rows else []
        lines = ["  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([self.title(), *(f"  {line}".rstrip() for line in [*self.remarks(), *lines])])

    def pieces(self) -> list[Drawing]:
        from triton_lab.views.drawing.drawing_pieces import paragraphs, table, title

        return [
            title(self.title()),
            *paragraphs(self.remarks(), "ink"),
            table([all_translated(self.HEADINGS), *self.table()]),
        ]

    def scene(self) -> DrawingScene:
        return self.drawing().scene("", self.title())


def _row(use: Use) -> tuple[str, ...]:
    more = _(" and {count} more").format(count=len(use.kernels) - NAMES) if len(use.kernels) > NAMES else ""
    names = ", ".join(use.kernels[:NAMES]) + more
    each = seconds_text(use.run_seconds / use.runs)
    return (
        use.key[:8],
        names or _("none"),
        str(use.runs),
        seconds_text(use.compile_seconds),
        seconds_text(use.run_seconds),
        each,
    )
