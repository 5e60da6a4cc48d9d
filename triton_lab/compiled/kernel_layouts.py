"""`KernelLayouts`: the values of a kernel's TTGIR with their layouts, and what each layout conversion costs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, overload

from triton_lab.compiled.compilation_text import aligned
from triton_lab.compiled.layouts import BankUse, Conversion, Layout, LayoutError
from triton_lab.compiled.layouts.layout_kind import Distributed, SharedLayout
from triton_lab.compiled.layouts.layout_parser import Typed, types_of
from triton_lab.compiled.layouts.module_layouts import width
from triton_lab.compiled.lines.source_trail import Trail
from triton_lab.ir import traits
from triton_lab.localization import N_, _, all_translated, translated
from triton_lab.messages import count
from triton_lab.providers import provided
from triton_lab.rich_display import RichDisplay

if TYPE_CHECKING:
    from triton_lab.compiled.lines.stage_lines import StageLines
    from triton_lab.views.layouts.kernel_layouts_view import KernelLayoutsView

_DEFINED = re.compile(r'^\s*(?:%[\w#]+(?::\d+)? = )?"?([a-z]\w*\.[\w.]+)"?')
_REGION_ENDS = re.compile(r"^\s*\}\)(?: \{.*\})? : ")
_HAS_LAYOUT = re.compile(r"\b(?:tensor|memdesc)<")
_MODULE = "module"  # without its dialect, as Triton prints it
# Operations that move elements between registers and shared memory. One without a result is a store.
_THROUGH_MEMORY = {
    "ttg.local_load": N_("from shared memory"),
    "ttg.local_store": N_("to shared memory"),
    "ttg.local_alloc": N_("to shared memory"),
}
_WITHOUT_PARENT = re.compile(r"#ttg\.(slice|dot_op)<\{(.*?),? ?parent = (#\w+)")


@dataclass(frozen=True)
class LaidOut:
    """A value of a kernel in its layout: the result of ``operation``, or what it moves.

    ``variable`` is the name in the source, "" where the compiler kept none; ``line`` is a line of the kernel's file,
    None where the compiler does not say; ``number`` is the line of the TTGIR. ``spelled`` is the type as TTGIR writes
    it. ``moves`` is the cost of a layout conversion or of an access to shared memory; ``before`` is the layout it
    came from.
    """

    variable: str
    operation: str
    line: int | None
    number: int
    spelled: str
    element: str
    layout: Layout
    moves: Conversion | BankUse | None = None
    before: Layout | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The tensor's shape."""
        return self.layout.shape

    @property
    def cost(self) -> str:
        """What it costs to bring the value into its layout, in words; "" where nothing moves."""
        if isinstance(self.moves, Conversion):
            return _conversion_words(self.moves)
        if isinstance(self.moves, BankUse):
            verb = translated(_THROUGH_MEMORY[self.operation])
            conflicts = count(self.moves.conflicts, "bank conflict") if self.moves.conflicts else "no bank conflicts"
            return f"{verb}: {count(self.moves.wavefronts, 'wavefront')}, {conflicts}"
        return translated(_THROUGH_MEMORY[self.operation]) if self.before is not None else ""

    def row(self) -> tuple[str, ...]:
        """Line, variable, operation, type, kind of layout, cost."""
        shape = "×".join(map(str, self.shape))
        return (str(self.line or ""), self.variable, self.operation, f"{shape} {self.element}", self.called, self.cost)

    @property
    def called(self) -> str:
        """The layout's label: its kind, and its name in the TTGIR."""
        _unused, spelled = self.spelled.split(", ", 1)
        name = self.layout.kind.name
        around = _WITHOUT_PARENT.match(spelled)
        if around is not None:
            return _("{name} of {around}, {replace}").format(
                name=name, around=around[3], replace=around[2].replace(" = ", " ")
            )
        if "<" in spelled:
            return name
        return spelled if spelled.strip("#0123456789") == name else f"{name} {spelled}"

    @property
    def is_data(self) -> bool:
        """Whether it holds data of the kernel, not addresses, masks or indices: a guess from its type.

        A value without a line is a constant that the compiler made.
        """
        return (
            self.line is not None
            and self.element not in ("i1", "i32", "i64")
            and not self.element.startswith("!tt.ptr")
        )


HEADINGS = (N_("line"), N_("variable"), N_("operation"), N_("type"), N_("layout"), N_("moves"))


class KernelLayouts(Sequence[LaidOut], RichDisplay):
    """The values of a kernel that have a layout, in the order of its TTGIR; it prints as a table.

    Equal values of one variable on one line are listed once.

    >>> layouts = launch.compile("sm_90").layouts
    >>> [(each.variable, each.line, each.shape, each.element) for each in layouts if each.operation == "tt.load"]
    [('x', 21, (128,), 'f32'), ('y', 22, (128,), 'f32')]
    >>> layouts.conversions
    []
    """

    def __init__(self, kernel: str, ttgir: str, lines: StageLines) -> None:
        self.kernel, self._text, self.lines = kernel, ttgir, lines

    @cached_property
    def _found(self) -> list[LaidOut]:
        seen: dict[Any, LaidOut] = {}
        for each in _laid_out(self._text, self.lines):
            own = each.number if each.cost else None  # each layout conversion counts
            seen[each.line, each.variable, each.spelled, own] = each  # the last one made takes the first one's place
        return list(seen.values())

    @overload
    def __getitem__(self, index: int) -> LaidOut: ...
    @overload
    def __getitem__(self, index: slice) -> list[LaidOut]: ...
    def __getitem__(self, index: int | slice) -> LaidOut | list[LaidOut]:
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    @property
    def conversions(self) -> list[LaidOut]:
        """The values converted from another layout: ``each.moves`` is what moves, ``each.before`` the old layout."""
        return [each for each in self if isinstance(each.moves, Conversion)]

    def of(self, line: int) -> list[LaidOut]:
        """The values of a line of the source.

        >>> [each.variable for each in launch.compile("sm_90").layouts.of(21)][-1]
        'x'
        """
        return [each for each in self if each.line == line]

    def plot(self) -> KernelLayoutsView:
        """A list of the values, with a picture of the layout or conversion that the user picks.

        >>> launch.compile("sm_90").layouts.plot().title()
        'add_kernel: 1 layout'
        """
        view: KernelLayoutsView = provided("KernelLayouts.plot")(self)
        return view

    def __str__(self) -> str:
        if not self:
            return _("{kernel} has no tensors in registers or shared memory").format(kernel=self.kernel)
        return "\n".join(aligned([all_translated(HEADINGS), *(each.row() for each in self)]))

    def __repr__(self) -> str:
        return str(self)


def _laid_out(text: str, lines: StageLines) -> Iterator[LaidOut]:
    operations, text_lines = _operations(text), text.splitlines()
    trails = lines.trails("ttgir")
    for where, types in groupby(types_of(text), key=lambda one: one.line):
        operation = operations.get(where, "")
        flows = operation == _MODULE or (traits.known(operation) and traits.of(operation).kind is traits.Kind.CONTROL)
        if operation and not flows:
            made = None if operation.endswith("wait") else _made(operation, list(types), text_lines[where - 1])
            if made is not None:
                yield _value(operation, made, trails[where - 1], lines)


def _operations(text: str) -> dict[int, str]:
    """The operation of each line that writes its types; for an operation with a region, that is its last line."""
    found: dict[int, str] = {}
    opened: list[str] = []
    for where, line in enumerate(text.splitlines(), 1):
        told = _DEFINED.match(line)
        if line.rstrip().endswith("({"):
            opened.append(told[1] if told else "")
        elif _REGION_ENDS.match(line) and opened:
            found[where] = opened.pop()
        elif told:
            found[where] = told[1]
    return found


def _made(operation: str, types: list[Typed], line: str) -> tuple[Typed, str, Typed | None] | None:
    """The result's type, its element type, and the old type if the operation changes the tensor's layout.

    None for an operation without a result that has a layout.
    """
    first, last = types[0], types[-1]
    if "->" in line and not _HAS_LAYOUT.search(line.rsplit("->", 1)[1]):
        return None
    trait = traits.of(operation)
    if trait.kind is traits.Kind.ORDERS or (trait.effect is not None and trait.effect.result in (None, "token")):
        return None
    if operation == "ttg.local_store":
        return last, last.element, first
    if operation == "tt.addptr":
        return first, first.element, None
    if trait.kind is traits.Kind.COMPARES:
        return first, "i1", None
    if operation == "tt.load" and last.element.startswith("!tt.ptr<"):
        return last, last.element.removeprefix("!tt.ptr<").removesuffix(">"), None
    moved = operation == "ttg.convert_layout" or (operation in _THROUGH_MEMORY and len(types) > 1)
    return last, last.element, first if moved else None


def _value(operation: str, made: tuple[Typed, str, Typed | None], trail: Trail | None, lines: StageLines) -> LaidOut:
    typed, element, source = made
    layout = Layout(typed.kind, typed.shape, width(element))
    before = None if source is None else Layout(source.kind, source.shape, width(source.element))
    written = lines.written(trail)
    return LaidOut(
        variable=trail.name if trail is not None else "",
        operation=operation,
        line=written[-1].line if written and written[-1].function == 0 else None,
        number=typed.line,
        spelled=f"{'x'.join(map(str, typed.shape))}x{element}, {typed.spelled}",
        element=element,
        layout=layout,
        moves=None if before is None else _moves(before, layout),
        before=before,
    )


def _moves(before: Layout, after: Layout) -> Conversion | BankUse | None:
    """The cost of going from one layout to the other; None where no rule is known."""
    try:
        if isinstance(before.kind, Distributed) and isinstance(after.kind, Distributed):
            return before.to(after)
        shared, registers = (before, after) if isinstance(before.kind, SharedLayout) else (after, before)
        return shared.access(registers)
    except LayoutError:
        return None


def _conversion_words(moves: Conversion) -> str:
    return {
        "nothing": "nothing moves",
        "registers": "registers change names",
        "shuffles": _("{count} per warp at least").format(count=count(moves.shuffles, "shuffle")),
        "shared memory": _("{count} through shared memory").format(count=count(moves.stored, "byte")),
        "cluster": _("{count} from CTA to CTA").format(count=count(moves.stored, "byte")),
    }[moves.way]
