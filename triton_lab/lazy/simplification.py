"""Simplification: the same outputs from fewer operations.

One pass in execution order. Each operation, with its operands already simplified, is offered to the rules; the first
rule that applies returns the number of an equal value. Equal operations are computed once, and operations that no
output needs are dropped. Rules are exact: x + 0.0 stays, since -0.0 + 0.0 is 0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from triton_lab.lazy.graph import Constant, Graph, GraphOp, ProgramLine
from triton_lab.lazy.index_maps import Map


def simplify(graph: Graph) -> tuple[Graph, tuple[int, ...]]:
    """A graph with equal outputs, and the indices of the inputs of `graph` that it still has, in order."""
    book = Book()
    numbers: list[int] = []
    for op in graph.ops:
        operands = tuple(numbers[operand] for operand in op.operands)
        book.origin = op.origin
        numbers.append(book.add(_on(op, operands)))
    return _needed(book.ops, tuple(book.root(numbers[output]) for output in graph.outputs))


def _on(op: GraphOp, operands: tuple[int, ...]) -> GraphOp:
    """The operation on other operands."""
    return op if op.operands == operands else replace(op, operands=operands)


class Book:
    """The operations written so far, without duplicates."""

    def __init__(self) -> None:
        self.ops: list[GraphOp] = []
        self.origin: ProgramLine | None = None  # of the operation at hand, and of the operations that rules make of it
        self._known: dict[GraphOp, int] = {}

    def add(self, op: GraphOp) -> int:
        """The number of a value equal to `op`: a simplified one, an earlier one, or a new entry."""
        for rule in RULES.get(op.name, ()):
            shorter = rule(self, op)
            if shorter is not None:
                return shorter
        if op.name == "input":  # two inputs look alike but are not equal
            self.ops.append(op)
            return len(self.ops) - 1
        if op not in self._known:
            self._known[op] = len(self.ops)
            self.ops.append(replace(op, origin=self.origin) if op.origin is None and self.origin else op)
        return self._known[op]

    def root(self, number: int) -> int:
        """The value whose buffer can represent `number`: a reshape of a whole buffer is that buffer."""
        return below_reshapes(self.ops, number)


def below_reshapes(ops: Sequence[GraphOp], number: int) -> int:
    """The value below any number of reshapes."""
    while is_reshape(ops, ops[number]):
        number = ops[number].operands[0]
    return number


def is_reshape(ops: Sequence[GraphOp], op: GraphOp) -> bool:
    """Whether a view shows all elements of its operand in order: another shape of the same memory."""
    return op.name == "view" and isinstance(op.attribute, Map) and op.attribute.covers(ops[op.operands[0]].numel)


def _needed(ops: list[GraphOp], outputs: tuple[int, ...]) -> tuple[Graph, tuple[int, ...]]:
    used = [False] * len(ops)
    for output in outputs:
        used[output] = True
    for number in range(len(ops) - 1, -1, -1):
        if used[number]:
            for operand in ops[number].operands:
                used[operand] = True
    renamed: dict[int, int] = {}
    kept: list[GraphOp] = []
    for number, op in enumerate(ops):
        if used[number]:
            renamed[number] = len(kept)
            operands = tuple(renamed[operand] for operand in op.operands)
            kept.append(_on(op, operands))
    inputs = [number for number, op in enumerate(ops) if op.name == "input"]
    return (
        Graph(tuple(kept), tuple(renamed[output] for output in outputs)),
        tuple(index for index, number in enumerate(inputs) if used[number]),
    )


Rule = Callable[[Book, GraphOp], int | None]


def _view(book: Book, op: GraphOp) -> int | None:
    (number,), view = op.operands, _map(op)
    base = book.ops[number]
    if op.shape == base.shape and view.covers(base.numel):
        return number
    if base.name == "constant":  # every element is the same number
        return book.add(GraphOp("constant", (), op.shape, op.dtype, base.attribute))
    if base.name == "view":
        inner = _map(base)
        below = book.ops[base.operands[0]]
        if view.covers(base.numel):
            # A reshape of a view is a view with another shape, if strides can express it.
            try:
                return book.add(GraphOp("view", base.operands, op.shape, op.dtype, Map.of(inner.twin().view(op.shape))))
            except RuntimeError:
                return None
        if inner.covers(below.numel):
            return book.add(GraphOp("view", base.operands, op.shape, op.dtype, view))
    if base.name == "update":
        written = _map(base)
        under, value = base.operands
        if view.same_elements(written):  # reads back what was just written
            return _reshaped(book, value, op.shape)
        if view.apart(written):
            return book.add(GraphOp("view", (under,), op.shape, op.dtype, view))
    return None


def _update(book: Book, op: GraphOp) -> int | None:
    (under, value), written = op.operands, _map(op)
    if written.numel == 0:
        return under
    base, update = book.ops[under], book.ops[value]
    if written.covers(op.numel):  # the base is overwritten completely
        return _reshaped(book, value, op.shape)
    if is_reshape(book.ops, base):  # buffers are flat: this updates the same memory
        below = base.operands[0]
        flat = book.add(GraphOp("update", (below, value), book.ops[below].shape, op.dtype, written))
        return _reshaped(book, flat, op.shape)
    if update.name == "view" and update.operands[0] == under and _map(update).same_elements(written):
        return under  # writes back the old values
    if base.name == "update" and _map(base).same_elements(written):  # the earlier write is overwritten
        return book.add(GraphOp("update", (base.operands[0], value), op.shape, op.dtype, written))
    return None


def _cast(book: Book, op: GraphOp) -> int | None:
    operand = book.ops[op.operands[0]]
    return op.operands[0] if operand.dtype == op.dtype else None


def _neutral(*texts: str, left: bool) -> Rule:
    def rule(book: Book, op: GraphOp) -> int | None:
        first, second = op.operands
        if _is(book, second, texts) and _stands_for(book, first, op):
            return first
        if left and _is(book, first, texts) and _stands_for(book, second, op):
            return second
        return None

    return rule


def _neg(book: Book, op: GraphOp) -> int | None:
    operand = book.ops[op.operands[0]]
    return operand.operands[0] if operand.name == "neg" else None


def _where(book: Book, op: GraphOp) -> int | None:
    condition, yes, no = op.operands
    choice = book.ops[condition].attribute
    if isinstance(choice, Constant):
        yes = no = yes if choice.number() else no
    return yes if yes == no and _stands_for(book, yes, op) else None


def _reshaped(book: Book, number: int, shape: tuple[int, ...]) -> int:
    value = book.ops[number]
    return book.add(GraphOp("view", (number,), shape, value.dtype, Map.whole(shape)))


def _is(book: Book, number: int, texts: tuple[str, ...]) -> bool:
    attribute = book.ops[number].attribute
    return isinstance(attribute, Constant) and attribute.text in texts


def _stands_for(book: Book, number: int, op: GraphOp) -> bool:
    value = book.ops[number]
    return value.dtype == op.dtype and value.shape == op.shape


def _map(op: GraphOp) -> Map:
    assert isinstance(op.attribute, Map)
    return op.attribute


RULES: dict[str, tuple[Rule, ...]] = {
    "view": (_view,),
    "update": (_update,),
    "cast": (_cast,),
    "neg": (_neg,),
    "where": (_where,),
    "add": (_neutral("0", "-0.0", left=True),),  # "0" occurs only in integer tensors
    "sub": (_neutral("0", "0.0", left=False),),
    "mul": (_neutral("1", "1.0", left=True),),
    "div": (_neutral("1.0", left=False),),
}
