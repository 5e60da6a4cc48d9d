"""Statements of a random kernel that hold others: loops and branches."""

from __future__ import annotations

from tests.native.writing import ELEMENTS, RARER, Var, Writer
from tests.native.writing_blocks import BLOCKS
from tests.native.writing_memory import MEMORY
from tests.native.writing_waits import WAITS

# What stands in loops within loops is small.
_DEEPEST = 3


def statements(w: Writer, count: int) -> None:
    for _ in range(count):
        kinds = [*ELEMENTS, *ELEMENTS, *MEMORY, *MEMORY]
        if w.indent < _DEEPEST:
            kinds += [*BLOCKS, *RARER, control, control, control]
        if w.waits:
            kinds += WAITS
        kind = kinds[w.number(0, len(kinds) - 1)]
        kind(w)


def control(w: Writer) -> None:
    """A loop or a branch that gives variables that exist other values of their types."""
    carried = list(dict.fromkeys(w.var() for _ in range(w.number(1, 3))))
    carried = [each for each in carried if each.name not in _GIVEN] or [w.literal(True, "rc")]
    head = w.pick(("for", "for", "for", "if", "if", "while", "static"))
    limit = w.var(ints=True, axes="")
    turns = None
    if head == "while":
        # Not among the variables, which statements inside may change: such a loop need not end.
        turns = w.name()
        w.line(f"{turns} = ({w.operand(limit, 'int32', '')} & 7)")
        more = "" if w.often(2) else f" and {w.operand(w.var(ints=True, axes=''), 'int32', '')} < {w.number(0, 90)}"
        w.line(f"while {turns} > 0{more}:")
    elif head == "for":
        stop = w.pick(("4", "n % 5", f"({w.operand(limit, 'int32', '')} & 3)", "p", "n"))
        start = w.pick(("0", "1", "p", "-2"))
        step = w.pick(("", "", ", 2", ", 3", ", (n & 1) + 1"))
        if w.often(5):
            start, stop, step = "3", w.pick(("0", "-2", "p")), w.pick((", -1", ", -2"))
        stop = f"tl.minimum({stop}, 9)" if stop == "n" else stop
        if w.often(6):
            stop = f"tl.full((), {stop}, tl.{w.pick(('int64', 'uint32'))})" if stop == "4" else f"({stop} + b * 0)"
        w.line(f"for j{w.indent} in range({start}, {stop}{step}):")
    elif head == "static":
        w.line(f"for j{w.indent} in tl.static_range({w.number(1, 2)}):")
    else:
        w.line(f"if {w.operand(limit, 'int32', '')} > {w.number(-1, 4)}:")
    body(w, carried, head, turns)
    if head == "if" and w.often(2):
        w.line("else:")
        body(w, carried, head, None)


_GIVEN = ("p", "n", "s", "b", "f", "r", "c")


def body(w: Writer, carried: list[Var], head: str, turns: str | None) -> None:
    """The lines of a loop or of one side of a branch; what it shows is gone behind it."""
    outside = len(w.shown)
    w.indent += 1
    if turns is not None:
        w.let(f"{turns} + 0", "int32", "")
    if head == "for":
        w.let(f"(j{w.indent - 1} + 0).to(tl.int32)", "int32", "")
    statements(w, w.number(1, 4))
    for each in carried:
        value = w.shown[-1]
        if w.joined(each, value) != each.axes:
            value = w.var(axes=each.axes if w.often(2) else "")
        assigned(w, each, value)
    if turns is not None:
        w.line(f"{turns} -= 1")
    w.indent -= 1
    del w.shown[outside:]


def assigned(w: Writer, to: Var, value: Var) -> None:
    """Another value of its type and axes for a variable: a new one, or one that comes from the old."""
    x = w.operand(value, to.dtype, to.axes)
    if to.dtype == "int1":
        w.line(f"{to.name} = {to.name} ^ {x}")
    elif to.dtype in ("float8e5", "float8e4nv"):
        w.line(f"{to.name} = tl.where({w.at(Var('p', 'int32', ''), to.axes)} > 0, {to.name}, {x})")
    elif w.often(3):
        x = f"tl.broadcast_to({x}, {to.name}.shape)" if to.axes else x
        w.line(f"{to.name} = {x}")
    else:
        w.line(f"{to.name} = ({to.name} {w.pick(('+', '-', '*'))} {x}).to(tl.{to.dtype})")


def leaving(w: Writer) -> None:
    """Some programs end here."""
    w.line(w.pick(("if p == 1:", "if p > n % 4:", "if p % 2 == 1:")))
    w.line("    return")
