"""Shared memory bank by bank: which element lies in which word, and which words a warp accesses at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt

from triton_lab.compiled.layouts import Layout
from triton_lab.compiled.layouts.bank_use import BANKS, WORD
from triton_lab.compiled.layouts.warp_access import WarpAccess, told
from triton_lab.localization import _
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Rectangle
from triton_lab.views.drawing.drawing_scenes import DrawingScene
from triton_lab.views.drawing.drawing_text import shape_text
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.view import View

Ints = npt.NDArray[np.int64]
WIDE, HIGH, LEFT, BAR = 30.0, 16.0, 56.0, 48.0  # CSS pixels: a word, a line, the names of lines, the bars of banks
LINES = 32  # lines of 128 bytes in a picture
TINT = 0.42  # the opacity of the colour of an element's row
TINY, LEAST = 8.0, 6.0  # the size of the elements' numbers, and the least that can be read


class BankView(View):
    """The words of one block in shared memory, with the access of one warp drawn over them if there is one.

    ``memory`` has the byte at which each element begins, in the block's shape, with ``bits`` bits each.
    """

    tight = True

    def __init__(self, name: str, memory: Ints, bits: int, access: WarpAccess | None = None) -> None:
        self.name, self.memory, self.bits, self.access = name, memory, bits, access

    # --- The model ---------------------------------------------------------------------------------

    @cached_property
    def lines(self) -> range:
        """The lines of 128 bytes that are drawn: from the first that the warp accesses on."""
        every = int(self.memory.max()) // (BANKS * WORD) + 1
        if every <= LINES or self.access is None:
            return range(min(every, LINES))
        first = min(int(self.access.lanes.min()) // (BANKS * WORD), every - LINES)
        return range(first, first + LINES)

    @property
    def total(self) -> int:
        """How many lines the block has."""
        return int(self.memory.max()) // (BANKS * WORD) + 1

    @cached_property
    def elements(self) -> Ints:
        """The first element (row-major) in each word of the drawn lines, ``(lines, 32)``; -1 where there is none."""
        words = self.memory.reshape(-1) // WORD
        order = np.argsort(self.memory.reshape(-1), kind="stable")[::-1]
        found = np.full(self.total * BANKS, -1, np.int64)
        found[words[order]] = order  # the lowest byte of a word comes last, and stays
        whole = max(1, self.bits // 8 // WORD)
        for k in range(1, whole):  # an element of several words
            found[words + k] = np.arange(len(words))
        return found.reshape(-1, BANKS)[self.lines.start : self.lines.stop]

    @cached_property
    def size(self) -> float:
        """The size at which the numbers of all elements fit into their words; 0 if that is too small to be read."""
        widest = max(width_of(self._index(number), TINY) for number in self.elements.reshape(-1).tolist())
        size = TINY * min(1.0, (WIDE - 5) / max(widest, 1.0))
        return size if size >= LEAST else 0.0

    @cached_property
    def lanes(self) -> dict[int, list[int]]:
        """The lanes that access each word, by the word's number."""
        found: dict[int, list[int]] = {}
        if self.access is not None:
            for lane in range(len(self.access.lanes)):
                for word in self.access.words_of(lane):
                    found.setdefault(word, []).append(lane)
        return found

    # --- Words --------------------------------------------------------------------------------------

    def title(self) -> str:
        shape = shape_text(self.memory.shape)
        if self.access is None:
            return _("{name} ({shape}) in the 32 banks of shared memory").format(name=self.name, shape=shape)
        return _("{name} ({shape}) in the 32 banks of shared memory, accessed by warp {warp}").format(
            name=self.name, shape=shape, warp=self.access.warp
        )

    @property
    def notes(self) -> list[str]:
        """What is drawn, and what the access costs."""
        found = [_("Banks of 4 bytes across, lines of 128 bytes down; a word's colour is the row of its element.")]
        if len(self.lines) < self.total:
            found[0] += " " + _("Lines {first} to {last} of {lines} are shown.").format(
                first=self.lines.start, last=self.lines.stop - 1, lines=self.total
            )
        if self.access is not None:
            whole = _("All warps: {use}.").format(use=self.access.use)
            shown = _("Framed are the words of instruction {number} of warp {warp}, with the threads that access them.")
            found += [whole, shown.format(number=self.access.instruction, warp=self.access.warp)]
            found.append(told(self.access))
        return found

    def text(self) -> str:
        return "\n".join([self.title(), *self.notes])

    # --- Pictures -----------------------------------------------------------------------------------

    def picture(self) -> Drawing:
        """The banks, the lines, and below them how many words each bank has to give."""
        made = Drawing(LEFT + BANKS * WIDE + 8, 0.0)
        for bank in range(BANKS):
            made.add(DrawnText(LEFT + (bank + 0.5) * WIDE, 8, str(bank), style.SMALL, "faint", "center"))
        made.add(DrawnText(0, 8, _("bank"), style.SMALL, "faint"))
        top = 18.0
        for row, line in enumerate(self.lines):
            y = top + row * HIGH
            made.add(DrawnText(0, y + HIGH / 2, _("line {number}").format(number=line), style.SMALL, "faint"))
            made.add(*self._line(row, y))
        bottom = top + len(self.lines) * HIGH
        for word, lanes in self.lanes.items():
            line, bank = divmod(word, BANKS)
            if line in self.lines:
                made.add(*self._framed(LEFT + bank * WIDE, top + (line - self.lines.start) * HIGH, lanes))
        made.height = bottom + 6
        if self.access is not None:
            made.place(self._bars(self.access), 0, bottom + 10)
        return made

    def _line(self, row: int, y: float) -> Iterator[Rectangle | DrawnText]:
        """The words of a line: neighbours of one colour in one box, and the elements' numbers if all fit."""
        numbers = self.elements[row]
        colours = [self._colour(int(number)) for number in numbers]
        first = 0
        for bank in range(1, BANKS + 1):
            if bank < BANKS and colours[bank] == colours[first]:
                continue
            x, width = LEFT + first * WIDE, (bank - first) * WIDE
            opacity = TINT if colours[first] != "untouched" else 1.0
            yield Rectangle(x, y, width, HIGH, colours[first], "line", opacity, line=0.5, radius=0)
            first = bank
        for bank, number in enumerate(numbers.tolist()):
            index = self._index(number)
            word = (self.lines.start + row) * BANKS + bank
            if index and word not in self.lanes and self.size:
                yield DrawnText(LEFT + (bank + 0.5) * WIDE, y + HIGH / 2, index, self.size, "ink", "center")

    def _colour(self, number: int) -> str:
        if number < 0:
            return "untouched"
        rows = self.memory.shape[0] if self.memory.ndim > 1 else 1
        row = int(np.unravel_index(number, self.memory.shape)[0]) if rows > 1 else 0
        return style.VIRIDIS[row * len(style.VIRIDIS) // rows]

    def _index(self, number: int) -> str:
        if number < 0:
            return ""
        return ",".join(str(int(k)) for k in np.unravel_index(number, self.memory.shape))

    @staticmethod
    def _framed(x: float, y: float, lanes: list[int]) -> tuple[Rectangle, DrawnText]:
        """The frame around a word that is accessed, with its lane, or with the first of several."""
        named = f"{lanes[0]}" if len(lanes) == 1 else f"{lanes[0]}+"
        frame = Rectangle(x + 1, y + 1, WIDE - 2, HIGH - 2, "ground", "ink", 0.9, line=1.5, radius=2)
        return frame, DrawnText(x + WIDE / 2, y + HIGH / 2, named, style.SMALL, "ink", "center", bold=True)

    def _bars(self, access: WarpAccess) -> Drawing:
        """For each bank: how many different words one part of the warp needs from it."""
        made = Drawing(LEFT + BANKS * WIDE + 8, BAR + 18)
        most = max(1, int(access.bank_words.max()))
        made.add(DrawnText(0, 8, _("words"), style.SMALL, "faint"))
        for bank, words in enumerate(access.bank_words.tolist()):
            x, height = LEFT + bank * WIDE, BAR * words / most
            if words:
                fill = "error" if words > 1 else "good"
                made.add(Rectangle(x + 3, 0, WIDE - 6, max(3.0, height), fill, fill, 0.6, radius=1))
                made.add(
                    DrawnText(x + WIDE / 2, max(3.0, height) + 8, str(words), style.SMALL, "ink", "center", bold=True)
                )
        return made

    def scene(self) -> DrawingScene:
        from triton_lab.views.drawing.drawing_pieces import column

        return column(self.pieces(), 0).scene("", self.title())

    def pieces(self) -> list[Drawing]:
        from triton_lab.views.drawing.drawing_pieces import paragraphs, spaced, title

        return [title(self.title()), *paragraphs(self.notes), spaced(self.picture())]


def layout_access(memory: Layout, registers: Layout, warp: int = 0) -> BankView:
    """The view of `Layout.plot_access`. Raises LayoutError for a warp that does not exist."""
    access = WarpAccess(memory.addresses(), memory.bits, registers.linear, warp)
    return BankView(_("a {name} layout").format(name=memory.kind.name), memory.addresses(), memory.bits, access)
