"""Writes the text of one kernel: loops over lanes become blocks with masks; all lanes run the other loops together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from triton_lab.localization import _
from triton_lab.polyhedral.blocks.fresh_names import FreshNames
from triton_lab.polyhedral.blocks.lane_blocks import LaneBlock
from triton_lab.polyhedral.blocks.lane_text import LaneText, Text
from triton_lab.polyhedral.blocks.lane_values import ValuePrinter, names_in
from triton_lab.polyhedral.blocks.launch_nodes import depth_of
from triton_lab.polyhedral.blocks.triton_kernel import NotABlockProgram
from triton_lab.polyhedral.core.loop_nest import (
    Assign,
    Binary,
    Call,
    Compare,
    Expr,
    For,
    If,
    Load,
    Name,
    Node,
    Number,
    Visit,
    substitute,
    walk,
)
from triton_lab.polyhedral.core.loop_tree import Loop
from triton_lab.polyhedral.core.nest_printer import shifted
from triton_lab.polyhedral.scheduled_program import instance

if TYPE_CHECKING:
    from triton_lab.polyhedral.instances import Instances


class KernelWriter(LaneText):
    """Writes the body of one kernel.

    ``arguments``: array -> the kernel's parameter. ``waits``: pairs of statements, where the lanes need a barrier
    between the first one's stores and the second.
    """

    def __init__(
        self,
        scop: Instances,
        blocks: tuple[LaneBlock, ...],
        arguments: Mapping[str, str],
        strides: Mapping[tuple[str, int], str],
        names: FreshNames,
        waits: Collection[tuple[str, str]],
        loops: tuple[Loop, ...] = (),
    ) -> None:
        super().__init__(blocks, names, scop.language)
        self.scop = scop
        # If lanes have no loop of their own, or several: the schedule's loops that they represent.
        self.shared = loops
        self.blocks = {block.lane.name: block for block in blocks}
        self.arguments = arguments
        self.strides = strides
        self.waits = waits
        self.dtypes = {a.name: a.dtype for a in scop.arrays}
        self.entered: frozenset[str] = frozenset()

    def write(self, nodes: tuple[Node, ...]) -> list[str]:
        """The lines of the body, without indentation."""
        for name, block in self.blocks.items() if self.shared else ():
            self._place(name, block, block.lane.low, 1)
        self._nodes(nodes, None, 0)
        return self.lines

    # Loops and conditions.

    def _nodes(self, nodes: tuple[Node, ...], mask: Text | None, loops: int) -> None:
        """Write ``nodes``; ``loops`` counts the surrounding loops that are no lanes."""
        for node in nodes:
            match node:
                case If():
                    self._nodes(node.body, self._mask(mask, [self._text(node.condition)]), loops)
                    if node.orelse:
                        no = Text(f"~({self.index.text(node.condition)})", self._axes(node.condition))
                        self._nodes(node.orelse, self._mask(mask, [no]), loops)
                case For() if depth_of(node) is not None:
                    self._lane(node, mask)
                case For():
                    self._loop(node, mask, loops)
                case Visit():
                    self._statement(node, mask)

    def _place(self, name: str, block: LaneBlock, origin: Expr, step: int) -> None:
        """Write the line that computes a program's iterations of the loop ``name``."""
        parts = [] if origin == Number(0) else [self.index.text(origin, 5)]
        times = "" if step == 1 else f" * {step}"
        if block.grid is not None:
            size = f" * {block.constant}" if block.constant else ""
            parts.append(f"tl.program_id({block.grid}){size}{times}")
        own: frozenset[int] = frozenset()
        if block.constant:
            own = frozenset({block.axis})
            place = ", ".join(":" if k == block.axis else "None" for k in range(self.rank))
            parts.append(f"tl.arange(0, {block.constant}){f'[{place}]' if self.rank > 1 else ''}{times}")
        self.axes[name] = own | self._axes(origin)
        self._line(f"{name} = {' + '.join(parts)}")

    def _lane(self, node: For, mask: Text | None) -> None:
        block = self.blocks[node.iterator]
        name = Name(node.iterator)
        together = node.step == 1 or bool(self.shared)
        if not self.shared:
            self._place(node.iterator, block, block.lane.low if together else node.start, node.step)
        conditions = [self._text(condition) for condition in node.conditions]
        if together and node.start != block.lane.low:
            conditions.insert(0, self._text(Compare(">=", name, node.start)))
        if together and node.step != 1:
            away = Binary("-", name, node.start)
            conditions.append(self._text(Compare("==", Binary("%", away, Number(node.step)), Number(0))))
        entered = self.entered
        self.entered = entered | {node.iterator}
        self._nodes(node.body, self._mask(mask, conditions), 0)
        self.entered = entered

    def _loop(self, node: For, mask: Text | None, loops: int) -> None:
        """Write a loop that all lanes run together, from the earliest start to the latest end."""
        stop = _stop(node)
        start = node.start
        inside: list[Text] = []
        counted = bool(self._axes(start)) and node.step != 1
        if counted:  # the lanes' iterators differ: they share a counter
            count = self.names(f"{node.iterator}_count")
            rounds = Binary("//", Binary("+", Binary("-", stop, start), Number(node.step - 1)), Number(node.step))
            header = f"for {count} in range(0, {self._extreme('max', rounds, mask)}):"
        else:
            low = self._extreme("min", start, mask) if self._axes(start) else self.index.text(start)
            high = self._extreme("max", stop, mask) if self._axes(stop) else self.index.text(stop)
            header = f"for {node.iterator} in range({low}, {high}{f', {node.step}' if node.step != 1 else ''}):"
        sums = None if counted else self._sum(node)
        held = self._held(sums, mask) if sums else None
        self._line(header)
        self.depth += 1
        if counted:
            self._line(f"{node.iterator} = {self.index.text(start, 5)} + {count} * {node.step}")
            self.axes[node.iterator] = self._axes(start)
        else:
            self.axes[node.iterator] = frozenset()
            if self._axes(start):
                inside.append(self._text(Compare(">=", Name(node.iterator), start)))
        if counted or self._axes(stop):
            inside.append(self._text(Compare("<", Name(node.iterator), stop)))
        own = self._mask(mask, inside)
        if sums and held:
            self._add(sums, held, own, bool(inside))
        else:
            self._nodes(node.body, own, loops + 1)
        self.depth -= 1
        if sums and held:
            self._store(sums, held, mask)
            self._wait(sums.name, alone=loops == 0)

    # Statements.

    def _instance(self, visit: Visit) -> Assign:
        made = instance(self.scop[visit.statement], visit.arguments)
        return replace(made, name=visit.statement)

    def _statement(self, visit: Visit, mask: Text | None) -> None:
        assign = self._instance(visit)
        mask = self._mask(mask, self._own_lane(visit))
        if assign.guard is not None:
            asked = self._loads(assign.guard, mask, {})
            mask = self._mask(mask, [self._value(assign.guard, asked)])
        value = _value(assign)
        loaded = self._loads(value, mask, {})
        self._store(assign, self._value(value, loaded), mask)
        self._wait(assign.name, alone=False)

    def _own_lane(self, visit: Visit) -> list[Text]:
        """The conditions that select one lane for an instance outside the loops of (some) lanes."""
        if not self.shared:
            return []
        arguments = dict(zip(self.scop[visit.statement].iterators, visit.arguments, strict=True))
        return [
            self._text(
                Compare("==", Name(name), substitute(loop.expressions[visit.statement].as_expression(), arguments))
            )
            for name, loop in zip(self.blocks, self.shared, strict=True)
            if name not in self.entered
        ]

    def _loads(self, value: Expr, mask: Text | None, loaded: dict[Load, Text]) -> dict[Load, Text]:
        """Load the elements that ``value`` reads, each once. Inactive lanes hold a harmless number."""
        neutral = (
            "1" if any(isinstance(e, Call) or (isinstance(e, Binary) and e.op in "/%//") for e in walk(value)) else "0"
        )
        for load in walk(value):
            if not isinstance(load, Load) or load in loaded:
                continue
            pointer = self._pointer(load)
            if load.indices and mask:
                pointer = self._broadcast(pointer, mask.axes)
            guard = f", mask={mask.text}, other={neutral}" if load.indices and mask else ""
            text = f"tl.load({pointer.text}{guard})"
            loaded[load] = self._set(f"{load.array.lower()}_value", Text(text, pointer.axes))
        return loaded

    def _value(self, value: Expr, loaded: Mapping[Load, Text]) -> Text:
        printer = ValuePrinter(self.scop.language, {k: v.text for k, v in loaded.items()}, self.dtypes)
        axes = self._axes(value).union(*(loaded[e].axes for e in walk(value) if isinstance(e, Load)))
        return Text(printer.text(value), axes)

    def _pointer(self, load: Load) -> Text:
        parts = [self.arguments[load.array]]
        for k, subscript in enumerate(load.indices):
            if subscript != Number(0):
                parts.append(f"{self.index.text(subscript, 7)} * {self.strides[load.array, k]}")
        axes = frozenset().union(*(self._axes(index) for index in load.indices))
        return Text(" + ".join(parts), axes)

    def _store(self, assign: Assign, value: Text, mask: Text | None) -> None:
        pointer = self._broadcast(self._pointer(assign.target), value.axes | (mask.axes if mask else frozenset()))
        guard = f", mask={mask.text}" if mask else ""
        self._line(f"tl.store({pointer.text}, {value.text}{guard})")

    def _wait(self, statement: str, *, alone: bool) -> None:
        """Write a barrier: lanes are threads, and read what others of their program store only after one.

        ``alone``: no instance of the same statement follows.
        """
        if any(source == statement and not (alone and target == statement) for source, target in self.waits):
            self._line("tl.debug_barrier()")

    # Sums: a loop that only changes one element per lane keeps it in a register.

    def _sum(self, node: For) -> Assign | None:
        match node.body:
            case (Visit() as visit,) if not self._own_lane(visit):
                assign = self._instance(visit)
            case _:
                return None
        if assign.guard is not None:
            return None
        value = _value(assign)
        reads = [e for e in walk(value) if isinstance(e, Load) and e.array == assign.target.array]
        stays = not any(node.iterator in names_in(index) for index in assign.target.indices)
        return assign if stays and reads and all(load == assign.target for load in reads) else None

    def _held(self, assign: Assign, mask: Text | None) -> Text:
        pointer = self._broadcast(self._pointer(assign.target), frozenset(range(self.rank)))
        guard = f", mask={mask.text}, other=0" if mask else ""
        return self._set("total", Text(f"tl.load({pointer.text}{guard})", pointer.axes))

    def _add(self, assign: Assign, held: Text, mask: Text | None, differ: bool) -> None:
        value = _value(assign)
        loaded = self._loads(value, mask, {assign.target: held})
        text = f"tl.cast({self._value(value, loaded).text}, {held.text}.dtype)"
        if differ and mask:
            text = f"tl.where({mask.text}, {text}, {held.text})"
        self._line(f"{held.text} = {text}")


def _value(assign: Assign) -> Expr:
    return Binary(assign.op, assign.target, assign.value) if assign.op else assign.value


def _stop(node: For) -> Expr:
    """The first value past the end."""
    stops: list[Expr] = []
    for condition in node.conditions:
        if condition.left != Name(node.iterator) or condition.op not in ("<", "<="):
            raise NotABlockProgram(
                _("the end of the loop over {iterator} cannot be written").format(iterator=node.iterator)
            )
        stops.append(condition.right if condition.op == "<" else shifted(condition.right, 1))
    if not stops:
        raise NotABlockProgram(_("the loop over {iterator} has no end").format(iterator=node.iterator))
    return stops[0] if len(stops) == 1 else Call("min", tuple(stops))
