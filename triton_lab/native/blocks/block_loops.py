"""Loops over a block, with the axis of the vectors innermost and each axis cut where a mask begins or ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from triton_lab.native.blocks import int_expr
from triton_lab.native.blocks.int_expr import Term
from triton_lab.native.blocks.value_repr import ORIGIN, BoxMask, Index, Lazy, Range, ScratchBlock
from triton_lab.native.llvm.builder import Reg
from triton_lab.native.lowering.emitter import Emitter, Round

Indices = tuple[Index, ...]
Fact = bool | Callable[[Reg], Reg] | None
Join = Callable[[list[Reg], list[Reg]], list[Reg]]

# Rounds whose results are added one after another.
_RUN = 16


def tree(emitter: Emitter, roots: Iterable[int]) -> list[int]:
    """The blocks that elements of ``roots`` are computed from, ``roots`` included."""
    found: dict[int, None] = {}
    todo = [emitter.analysis.one(value) for value in roots]
    while todo:
        value = todo.pop()
        form = emitter.forms.get(value)
        if value in found or isinstance(form, Reg):
            continue
        found[value] = None
        if isinstance(form, Lazy):
            todo += [emitter.analysis.one(operand) for operand in form.op.operands]
    return list(found)


def ranges(emitter: Emitter, roots: Iterable[int], shape: Sequence[int]) -> list[Range | None]:
    """For each axis of ``shape``, a range that starts at 0 and that masks in the trees of ``roots`` have there."""
    found: list[Range | None] = [None] * len(shape)
    for value in tree(emitter, roots):
        form = emitter.forms.get(value)
        access = emitter.accesses.get(form.op) if isinstance(form, Lazy) else None
        box = form if access is None else access.box
        if isinstance(box, BoxMask) and emitter.types[value].shape == tuple(shape):
            note(found, box)
    return found


def note(found: list[Range | None], box: BoxMask) -> None:
    """Enter ranges of ``box`` where none is entered yet."""
    for axis, bounds in enumerate(box.ranges):
        if found[axis] is None and bounds is not None and bounds.low == 0:
            found[axis] = bounds


def lanes_for(emitter: Emitter, extent: int) -> int:
    """How many elements of an axis are computed at once: two vectors of 32 bits each; 0 for an axis of length one."""
    return min(extent, emitter.signature.vector // 2) if extent > 1 else 0


def nest(
    emitter: Emitter,
    shape: Sequence[int],
    roots: Iterable[int],
    body: Callable[[Indices], None],
    *,
    only: BoxMask | None = None,
    vector: int | None = None,
) -> None:
    """Run ``body`` at all positions of ``shape``, with lanes along the axis ``vector``, by default the last one.

    ``roots`` are the values whose elements it computes. Where the mask ``only`` is surely false, it need not run.
    """
    emitter.afresh()
    cuts: list[Range | None] = [None] * len(shape)
    if only is not None:
        note(cuts, only)
    for axis, bounds in enumerate(ranges(emitter, roots, shape)):
        cuts[axis] = cuts[axis] or bounds
    skips = [only is not None and cut is not None and only.ranges[axis] is cut for axis, cut in enumerate(cuts)]
    last = len(shape) - 1 if vector is None else vector
    order = [axis for axis in range(len(shape)) if axis != last] + [last] * bool(shape)
    index = [ORIGIN] * len(shape)

    def along(position: int) -> None:
        if position == len(order):
            body(tuple(index))
            return
        axis = order[position]

        def inside(i: Index, _: list[Reg]) -> Sequence[Reg]:
            index[axis] = i
            along(position + 1)
            return ()

        if shape[axis] == 1 and cuts[axis] is None:
            inside(ORIGIN, [])
        else:
            lanes = lanes_for(emitter, shape[axis]) if axis == last else 0
            sections(emitter, shape[axis], lanes, cuts[axis], inside, skip=skips[axis])

    along(0)
    emitter.afresh()


def sections(
    emitter: Emitter,
    extent: int,
    lanes: int,
    cut: Range | None,
    body: Callable[[Index, list[Reg]], Sequence[Reg]],
    carried: Sequence[Reg] = (),
    *,
    skip: bool = False,
    join: Join | None = None,
) -> list[Reg]:
    """Loops over an axis: over the range ``cut``, over the lanes at its edge, and over the rest unless ``skip``.

    ``lanes`` is 0 for one position at a time. Carried values pass from round to round and from loop to loop. With
    ``join`` they do so in short runs that each begin with ``carried``. The runs' results are joined, again in runs, so
    the error of a sum grows only as the logarithm of its length.
    """
    code = emitter.code
    now = list(carried)
    step = lanes or 1

    def run(first: Term, end: Term, most: int, body: Round, start: Sequence[Reg]) -> list[Reg]:
        piece = step
        while join is not None and piece * _RUN < most:
            piece *= _RUN
        if piece == step:
            return emitter.counted(int_expr.register(code, first), int_expr.register(code, end), step, body, start)

        def part(i: Reg, before: list[Reg]) -> Sequence[Reg]:
            limit = int_expr.add(code, i, piece)
            if not (isinstance(first, int) and isinstance(end, int) and (end - first) % piece == 0):
                limit = int_expr.least(code, limit, end)
            assert join is not None
            return join(before, run(i, limit, piece, body, carried))

        return emitter.counted(int_expr.register(code, first), int_expr.register(code, end), piece, part, start)

    def loop(first: Term, end: Term, fact: Fact) -> None:
        nonlocal now

        def inside(i: Reg, before: list[Reg]) -> Sequence[Reg]:
            facts: dict[Range, bool | Reg] = {}
            if cut is not None and fact is not None:
                facts[cut] = fact if isinstance(fact, bool) else fact(i)
            return body(Index(i, emitter.depth, lanes, facts), before)

        if not (isinstance(first, int) and isinstance(end, int) and first >= end):
            now = run(first, end, extent, inside, now)

    if cut is None:
        loop(0, extent, None)
        return now
    if not lanes:
        loop(0, cut.high, True)
        if not skip:
            loop(cut.high, extent, False)
        return now
    high = int_expr.register(code, cut.high)
    whole = int_expr.known(code.op("and", high, code.constant("i64", -lanes)))
    rounded = code.op("add", high, code.constant("i64", lanes - 1))
    touched = int_expr.known(code.op("and", rounded, code.constant("i64", -lanes)))

    def edge(i: Reg) -> Reg:
        left = code.cast("trunc", code.op("sub", high, i), "i32")
        return code.compare("slt", code.count_up("i32", lanes), left)

    loop(0, whole, True)
    loop(whole, touched, edge)
    if not skip:
        loop(touched, extent, False)
    return now


def runs_along(emitter: Emitter, roots: Iterable[int], shape: Sequence[int]) -> int:
    """The axis for vectors: the one along which the inputs of ``roots`` are contiguous in memory."""
    last = len(shape) - 1
    votes = [0] * len(shape)
    for value, axes in _laid(emitter, roots, len(shape)):
        form, type = emitter.forms.get(value), emitter.types[value]
        if type.shape != tuple(shape[axis] for axis in axes):
            continue
        strides: Sequence[Term] = ()
        size = 1
        access = emitter.accesses.get(form.op) if isinstance(form, Lazy) else None
        if access is not None and access.form is not None and access.shape == type.shape:
            strides, size = access.form.strides, max(1, type.bits // 8)
        elif isinstance(form, ScratchBlock):
            strides = form.strides
        for axis, stride in zip(axes, strides, strict=False):
            votes[axis] += stride == size
    best = max(range(len(shape)), key=lambda axis: (votes[axis], axis == last))
    return best if shape and votes[best] > votes[last] and shape[best] >= 4 else last


def _laid(emitter: Emitter, roots: Iterable[int], rank: int) -> Iterable[tuple[int, tuple[int, ...]]]:
    """The blocks of ``rank`` axes behind ``roots``, each with the axes of ``roots`` that its own axes lie along."""
    found: dict[tuple[int, tuple[int, ...]], None] = {}
    todo = [(emitter.analysis.one(value), tuple(range(rank))) for value in roots]
    while todo:
        value, axes = todo.pop()
        form = emitter.forms.get(value)
        if (value, axes) in found or isinstance(form, Reg) or len(emitter.types[value].shape) != rank:
            continue
        found[value, axes] = None
        if isinstance(form, Lazy):
            if form.op.name == "tt.trans":
                order = form.op.attributes["order"]
                axes = tuple(axes[order.index(axis)] for axis in range(rank))
            todo += [(emitter.analysis.one(operand), axes) for operand in form.op.operands]
    return found
