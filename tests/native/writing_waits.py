"""Statements of a random kernel in which programs may wait for one another, or look for something in memory."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.native.writing import INTS, Statement, Writer
from tests.native.writing_memory import LANES, SIZES, new_output, size_of


def lock(w: Writer) -> None:
    """Sums of whole numbers, which all programs add to, under one lock or several."""
    var = w.var(ints=True)
    number = w.number(1, 3)
    locks, total = new_output(w, "int32", -number), new_output(w, "int32", -number * size_of(w, var.axes))
    value, lane = w.operand(var, "int32", var.axes), LANES[var.axes]
    own = f"p % {number}"
    take = w.pick(("tl.atomic_cas({}, 0, 1)", "tl.atomic_xchg({}, 1)", "tl.atomic_or({}, 1)"))
    w.line(f"while {take.format(f'{locks} + {own}')} == 1:")
    w.line("    pass")
    where = f"{total} + ({own}) * {SIZES[var.axes]} + {lane}"
    w.line(f"tl.store({where}, tl.load({where}) + {value})")
    w.line("tl.debug_barrier()")
    w.line(f"tl.atomic_xchg({locks} + {own}, 0)")


def flag(w: Writer) -> None:
    """Each program raises a flag, and waits for another one's: a deadlock where that does not come here."""
    flags, last = new_output(w, "int32", -16), "tl.num_programs(0) * tl.num_programs(1) - 1"
    other = w.pick(("0", "0", "p // 2", "p // 2", last, f"{last} - p", "(p + 1) % 2"))
    look = w.pick(("tl.load({}, volatile=True)", "tl.atomic_add({}, 0)", "tl.atomic_cas({}, 0, 0)"))
    w.line(f"tl.atomic_xchg({flags} + p, 1)")
    if w.often(3):
        waits = w.name()
        w.line(f"{waits} = True")
        w.line(f"while {waits}:")
        w.line(f"    {waits} = {look.format(f'{flags} + {other}')} == 0")
    else:
        w.line(f"while {look.format(f'{flags} + {other}')} == 0:")
        w.line("    pass")


def search(w: Writer) -> None:
    """A place in memory that nobody writes to."""
    whole = [k for k, (dtype, _, _) in enumerate(w.inputs) if dtype in INTS]
    if not whole or w.alone:
        return again(w)
    number = w.draw_from(whole)
    _, count, _ = w.inputs[number]
    at = w.let(f"({w.operand(w.var(ints=True, axes=''), 'int32', '')} & 15)", "int32", "")
    w.line(f"while ({at.name} < {w.number(1, 40)}) & (tl.load(P{number} + {at.name} % {count}) < {w.number(0, 30)}):")
    w.line(f"    {at.name} += {w.pick(('1', '3', f'tl.load(P{number}).to(tl.int32) % 3'))}")
    return None


def again(w: Writer) -> None:
    """Where something is stored says what was stored before."""
    var, at = w.var(), w.var(ints=True, axes="")
    first = new_output(w, "int32", 1)
    w.line(f"tl.store({first} + p, {w.operand(at, 'int32', '')})")
    found = w.let(f"tl.load({first} + p)", "int32", "")
    size = size_of(w, var.axes)
    dtype = "int8" if var.dtype == "int1" else var.dtype
    value = f"{var.name}.to(tl.int8)" if dtype != var.dtype else var.name
    room = f"({found.name} & 7)" if not w.often(8) else f"({found.name} & 63)"  # the last program may leave it
    w.line(f"tl.store({new_output(w, dtype, size + 7)} + p * {size + 7} + {room} + {LANES[var.axes]}, {value})")


def waiting(w: Writer) -> None:
    """One of these."""
    w.draw(st.sampled_from(WAITS))(w)


WAITS: tuple[Statement, ...] = (lock, flag, search, again) * 2
