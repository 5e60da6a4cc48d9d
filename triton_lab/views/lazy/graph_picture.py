"""The graph of a step as a picture: inputs above, one frame for each kernel, outputs below, donations at the left."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from triton_lab import messages
from triton_lab.lazy.fusion import FusedRegion
from triton_lab.lazy.graph import Constant, Dims, GraphOp, JoinedAxis, short
from triton_lab.lazy.index_maps import Map
from triton_lab.lazy.simplification import is_reshape
from triton_lab.lazy.step import Step
from triton_lab.localization import _
from triton_lab.views.drawing import style
from triton_lab.views.drawing.drawing import Drawing, DrawnText, Line, Rectangle
from triton_lab.views.drawing.fonts import width_of
from triton_lab.views.lazy.graph_layout import FramedRows, GraphLayout, Thing, lay_out

SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==",
    "ne": "!=", "and": "&", "or": "|", "xor": "^", "matmul": "@", "floordiv": "//", "remainder": "%",
}  # fmt: skip
PREFIXES = {"neg": "-", "not": "~"}
PARTS = 5  # operands of one operation that are written out
MOST = 80  # operations drawn one by one; larger graphs show only their kernels
LANE, BOX, CHIP = 14.0, 36.0, 38.0


def draw_graph(step: Step) -> Drawing:
    """The picture of the graph. Buffers that share memory share a colour."""
    return _Graph(step).draw()


def memory_colour(slot: int) -> str:
    """The colour of a slot. A donated input and the output written into it share one slot."""
    return style.TENSOR_COLOURS[slot % len(style.TENSOR_COLOURS)]


def written(op: GraphOp, number: int, texts: dict[int, str]) -> str:
    """An operation in common notation: '%2 = %0 + %1'."""
    operands = [texts[operand] for operand in op.operands]
    if isinstance(op.attribute, Constant):
        body = op.attribute.text
    elif op.name in SYMBOLS:
        body = f"{operands[0]} {SYMBOLS[op.name]} {operands[1]}"
    elif op.name in PREFIXES:
        body = PREFIXES[op.name] + operands[0]
    elif op.name == "index":
        body = f"0, 1, ... {op.numel - 1}" if op.numel > 2 else "0, 1"
    elif op.name == "view":
        body = f"view {operands[0]}"
    elif op.name == "update":
        body = f"{operands[0]} with {operands[1]}"
    elif isinstance(op.attribute, Dims):
        body = f"{op.name}({operands[0]}, dim {', '.join(map(str, op.attribute.dims))})"
    elif isinstance(op.attribute, JoinedAxis):
        shown = operands if len(operands) <= PARTS else [*operands[: PARTS - 1], "...", operands[-1]]
        body = f"{op.name}({', '.join(shown)}, {op.attribute})"
    else:
        body = f"{op.name}({', '.join(operands)})"
    return f"%{number} = {body}"


class _Graph:
    def __init__(self, step: Step):
        self.step = step
        self.graph = step.graph
        self.placement = step.executable.placement
        self.detailed = len(self.graph.ops) <= MOST
        self.producer = {root: i for i, region in enumerate(self.placement.regions) for root in region.roots}
        self.inputs = {number: index for index, number in enumerate(self.graph.inputs)}
        self.texts: dict[int, str] = {}
        for number, op in enumerate(self.graph.ops):
            hidden = is_reshape(self.graph.ops, op) and number not in self.producer
            name = self.texts[op.operands[0]] if hidden else f"%{number}"
            self.texts[number] = op.attribute.text if isinstance(op.attribute, Constant) else name

    def draw(self) -> Drawing:
        drawing = Drawing()
        aliases = {out: donor for out, donor in self.step.executable.aliases.items() if out in self._outputs()}
        room = LANE * (1 + len(aliases))
        plan = self._plan(room, aliases)
        for block in plan.blocks:
            drawing.add(Rectangle(block.x, block.y, block.width, block.height, "panel", "line", radius=7))
        drawing.add(*(_flow(points) for points in plan.lines))
        for block in plan.blocks:  # drawn over the lines, so that they stay readable
            title, width = self._title(block.key)
            drawing.add(
                Rectangle(block.x + 6, block.y + 5, width + 8, 16, "panel", "panel", radius=2),
                DrawnText(block.x + 10, block.y + 13, title, style.SMALL, "faint", mono=True),
            )
        for key, thing in plan.things.items():
            self._draw(drawing, key, thing)
        by_place = sorted(aliases.items(), key=lambda pair: plan.things["out", pair[0]].x)
        for lane, (output, donor) in enumerate(by_place):
            start, end = plan.things["out", output], plan.things["in", donor]
            drawing.add(*self._donation(lane, start, end, donor))
        drawing.width, drawing.height = plan.width + 8, plan.height + room + 8
        return drawing

    # -- the model ------------------------------------------------------------------------------------------------

    def _plan(self, room: float, aliases: Mapping[int, int]) -> GraphLayout:
        level_of: dict[int, int] = {}
        blocks, edges = [], []
        for index, region in enumerate(self.placement.regions):
            above = [level_of[self.producer[node]] for node in region.uses if node in self.producer]
            above += [level_of[earlier] for earlier in self._awaited(index)]
            level_of[index] = max(above, default=-1) + 1
            block, inner = self._block(index, region, level_of[index])
            blocks.append(block)
            edges += inner
        for index in self._outputs():
            edges.append((self._found(self.graph.outputs[index], None), ("out", index)))
        top = [self._chip(("in", index)) for index in range(len(self.graph.inputs))]
        bottom = [self._chip(("out", index)) for index in self._outputs()]
        # A donation's line goes around the whole graph, from below it to above it.
        given, taken = {("in", donor) for donor in aliases.values()}, {("out", output) for output in aliases}
        return lay_out(top, blocks, bottom, edges, (room, room), given, taken)

    def _awaited(self, index: int) -> list[int]:
        """The earlier kernels that read the memory which this kernel overwrites."""
        taken = {
            self.placement.taken[root] for root in self.placement.regions[index].roots if root in self.placement.taken
        }
        return [earlier for earlier in range(index) if taken & self.placement.regions[earlier].uses]

    def _block(self, index: int, region: FusedRegion, level: int) -> tuple[FramedRows, list[tuple[object, object]]]:
        """A kernel's frame with its operations in rows, and the lines that end in it."""
        shown = (
            [n for n in region.members if n in region.roots or self._shown(n)] if self.detailed else list(region.roots)
        )
        depth: dict[int, int] = {}
        rows: list[list[Thing]] = []
        edges: list[tuple[object, object]] = []
        for number in shown:
            sources = self._sources(number) if self.detailed else sorted(region.uses)
            depth[number] = max((depth[s] for s in sources if s in depth), default=-1) + 1
            if depth[number] == len(rows):
                rows.append([])
            op = self.graph.ops[number]
            wide = max(width_of(written(op, number, self.texts), mono=True), width_of(_kind(op), style.SMALL))
            rows[depth[number]].append(Thing((index, number), wide + 18, BOX))
            edges += [((index, s) if s in depth else self._found(s, index), (index, number)) for s in sources]
        _, width = self._title(index)
        return FramedRows(index, rows, width, level), edges

    def _title(self, index: object) -> tuple[str, float]:
        kernels = [kernel.name for kernel in self.step.executable.kernels if kernel.region == index]
        title = ", then ".join(kernels) or "nothing to compute"
        if not self.detailed:
            assert isinstance(index, int)
            title += f" ({messages.count(len(self.placement.regions[index].members), 'operation')})"
        return title, width_of(title, style.SMALL, bold=True)

    def _outputs(self) -> list[int]:
        """Output indices without repeats: two tensors may be the same value."""
        first: dict[int, int] = {}
        for index, number in enumerate(self.graph.outputs):
            first.setdefault(number, index)
        return sorted(first.values())

    def _shown(self, number: int) -> bool:
        """Whether an operation gets a box: constants and reshapes do no work, and appear in the text of their users."""
        op = self.graph.ops[number]
        return not (op.name == "constant" or is_reshape(self.graph.ops, op))

    def _sources(self, number: int) -> list[int]:
        """The drawn values that an operation uses."""
        found = []
        for operand in self.graph.ops[number].operands:
            while is_reshape(self.graph.ops, self.graph.ops[operand]) and operand not in self.producer:
                operand = self.graph.ops[operand].operands[0]
            if self.graph.ops[operand].name != "constant":
                found.append(operand)
        return found

    def _found(self, number: int, region: int | None) -> object:
        """The thing drawn for a value outside of a region: an input, or the operation that left it in memory."""
        if number in self.inputs:
            return "in", self.inputs[number]
        return self.producer[number], number

    # -- ink --------------------------------------------------------------------------------------------------------

    def _draw(self, drawing: Drawing, key: object, thing: Thing) -> None:
        assert isinstance(key, tuple)
        place, number = key
        if place in ("in", "out"):
            self._draw_chip(drawing, place, number, thing)
            return
        op = self.graph.ops[number]
        left = self.producer.get(number) == place  # it lies in memory: its frame has the colour of that memory
        edge = memory_colour(self.placement.slot_of[number]) if left else "mark"
        drawing.add(
            Rectangle(thing.x, thing.y, thing.width, BOX, "ground", edge, line=2.0 if left else 1.0, tag=f"v{number}"),
            DrawnText(thing.middle, thing.y + 13, written(op, number, self.texts), align="center", mono=True),
            DrawnText(thing.middle, thing.y + 27, _kind(op), style.SMALL, "faint", "center"),
        )

    def _chip(self, key: tuple[str, int]) -> Thing:
        title, note = self._chip_words(*key)
        return Thing(key, max(width_of(title, bold=True) + 20, width_of(note, style.SMALL) + 20, 70), CHIP)

    def _chip_words(self, place: str, index: int) -> tuple[str, str]:
        if place == "in":
            number, name = self.graph.inputs[index], self.step.before[index].name
            return f"in{index}  {name}", f"%{number}: {_kind(self.graph.ops[number])}"
        number = self.graph.outputs[index]
        names = [sight.name for sight in self.step.after if sight.role == f"out{index}" and sight.name]
        donor = self.step.executable.aliases.get(index)
        where = _("new memory") if donor is None else _("in place of in{donor}").format(donor=donor)
        if number in self.inputs:
            where = _("in{inputs} unchanged").format(inputs=self.inputs[number])
        return f"out{index}  {' '.join(names)}", f"%{number}: {where}"

    def _draw_chip(self, drawing: Drawing, place: str, index: int, thing: Thing) -> None:
        number = (self.graph.inputs if place == "in" else self.graph.outputs)[index]
        hue = memory_colour(self.placement.slot_of[number])
        title, note = self._chip_words(place, index)
        drawing.add(
            Rectangle(thing.x, thing.y, thing.width, CHIP, hue, hue, 0.16, 1.5, 12, tag=f"{place}{index}"),
            DrawnText(thing.middle, thing.y + 13, title.strip(), align="center", bold=True),
            DrawnText(thing.middle, thing.y + 27, note, style.SMALL, "faint", "center"),
        )

    def _donation(self, lane: int, start: Thing, end: Thing, donor: int) -> list[Line | DrawnText]:
        """The line of a donation: from an output around the left side up to the input that it overwrites."""
        allowed = donor in self.step.donors
        hue = memory_colour(donor) if allowed else "error"
        x, below, above = LANE * (lane + 0.5), start.bottom + LANE * (lane + 0.9), end.y - LANE * (lane + 0.9)
        points = (
            (start.middle, start.bottom),
            (start.middle, below),
            (x, below),
            (x, above),
            (end.middle, above),
            (end.middle, end.y),
        )
        told = _("donated") if allowed else _("in{donor} is still in use").format(donor=donor)
        return [Line(points, hue, 2.5), DrawnText(start.middle + 6, start.bottom + 10, told, style.SMALL, hue)]


def _flow(points: list[tuple[float, float]]) -> Line:
    """A line that is vertical where it leaves and enters each point."""
    path = [points[0]]
    for (x0, y0), (x1, y1) in pairwise(points):
        bend = (y1 - y0) / 2
        path += [(x0, y0 + bend), (x1, y1 - bend), (x1, y1)]
    return Line(tuple(path), "mark", 1.2, curved=True)


def _kind(op: GraphOp) -> str:
    """The dtype and shape of a value; for a view also its strides, for an update what it writes."""
    told = f"{short(op.dtype)} {op.shape}"
    if not isinstance(op.attribute, Map):
        return told
    strides = _("strides {strides}").format(strides=op.attribute.strides) + (
        f" + {op.attribute.offset}" if op.attribute.offset else ""
    )
    writes = _("writes {shape}, {strides}").format(shape=op.attribute.shape, strides=strides)
    return f"{told}, {strides}" if op.name == "view" else writes
