"""Switches for casts: earlier, later, left out, rounded or cut, and arithmetic in a wider type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from triton_lab.ir import Op, Type, effects, traits
from triton_lab.ir.plan import Block, Region
from triton_lab.ir.plan_edits import Edit, Editor, renamed
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.mutations.added_operations import cast_name, copied
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope, switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import N_, _, translated

_WIDE = {True: "f32", False: "i32"}


class CastEdits(KernelScope):
    """The switches that change when and how values are cast."""

    def casts(self) -> Iterator[Switch]:
        """All changes of casts; those of one place that the front end has unrolled come together first."""
        found: dict[tuple[str, str], list[Switch]] = {}
        for one in self._casts():
            found.setdefault((one.name, one.cause), []).append(one)
        for alike in found.values():
            if len(alike) > 1:
                edits = tuple(edit for one in alike for edit in one.edits)
                yield replace(alike[0], edits=edits, ops=frozenset[int]().union(*(one.ops for one in alike)))
            yield from alike

    def _casts(self) -> Iterator[Switch]:
        """Casts of what an operation takes and not of what it gives, casts left out, and the other reading of signs."""
        for op in self.ops:
            trait = traits.of(op.name)
            if op.index in self.library and self.made.get(op.operands[0] if op.operands else -1) not in self.own:
                continue  # a function of the library casts what it is given
            if trait.kind is Kind.CASTS and op.results:
                type = self.type(op.results[0])
                for depth in (1, _ALL):
                    if self._widens(op.operands[0], type, depth):
                        title = (
                            _("the cast earlier{lines_of}") if depth == 1 else _("{type} in all that is cast{lines_of}")
                        )
                        title = title.format(type=_called(type), lines_of=self.where(self._first(op, depth)))
                        made = self.made[op.operands[0]]
                        undone = depth == 1 and _undone(self, made, type)
                        if undone:
                            title = _("no cast{lines_of}").format(lines_of=self.where(made))
                        cause = _("a cast that loses digits") if undone else _("a cast too late")
                        yield switch_of(title, cause, op, _Widening(self, depth).edit)
                for other in trait.siblings:
                    title = _("{new} instead of {old}{lines_of}").format(
                        new=other.partition(".")[2], old=op.name.partition(".")[2], lines_of=self.where(op)
                    )
                    yield switch_of(title, _("a cast"), op, renamed(other))
                if trait.makes == "integer":
                    for word, names in _ROUNDED.items():
                        title = _("{way} before the cast{lines_of}").format(
                            way=translated(word), lines_of=self.where(op)
                        )
                        yield switch_of(title, _("a cast that cuts"), op, _rounded(names))

    def wider(self) -> Iterator[Switch]:
        """What is computed in fewer than 32 bits in 32 bits, up to where it is stored or spread, and accumulators."""
        for op in self.own:
            at = effects.operands_of(op).value if op in self.stores else 0 if op.name == "tt.reduce" else None
            if at is None or (op.name == "tt.reduce" and len(op.operands) > 1):
                continue
            given = self.type(op.operands[at])
            type = replace(given, element=_WIDE[given.is_float])
            if given.is_pointer or given.bits in (1, 32, 64) or not self._widens(op.operands[at], type, _ALL):
                continue
            title = _("{type} in all that is computed{lines_of}").format(
                type=_called(type), lines_of=self.where(self.made.get(op.operands[at], op))
            )
            yield switch_of(title, _("arithmetic in a narrow type"), op, _Widening(self, _ALL).operand(at, type))

    def accumulators(self) -> Iterator[Switch]:
        """Values of fewer than 32 bits that a loop carries, in 32 bits."""
        for op in self.own:
            for k, argument in enumerate(op.regions[0].blocks[0].arguments[1:]) if op.name == "scf.for" else ():
                given = self.type(argument)
                if given.is_pointer or given.bits >= 32 or given.bits == 1:
                    continue
                wide = replace(given, element=_WIDE[given.is_float])
                title = _("{type} in {name}{lines_of}").format(
                    type=_called(wide),
                    name=self.names.get(argument) or _("a value that the loop carries"),
                    lines_of=self.where_given(op, 3 + k),
                )
                carried: dict[str, int] = {}
                edits = [(op.index, _carried_in(self, k, wide, carried))]
                edits += [
                    (user.index, _taken(carried))
                    for user in self.ops
                    if user.operands == (op.results[k],) and user.results and self.type(user.results[0]) == wide
                ]
                cause = _("the type of an accumulator")
                yield Switch(title, cause, edits=tuple(edits), ops=frozenset({op.index}))

    def _widens(self, number: int, type: Type, depth: int) -> bool:
        """Whether a value that is cast to ``type`` can be computed in it."""
        op = self.made.get(number)
        return op is not None and (_undone(self, op, type) or (depth > 0 and _computed(self, op, type)))

    def _first(self, op: Op, depth: int) -> Op:
        """The operation that is done in another type."""
        made = self.made.get(op.operands[0], op)
        return op if self.launch.lines.get(made.index) is None else made


_ALL = 32
_ROUNDED = {N_("rounded"): (("arith.addf", 0.5), ("math.floor", None)), N_("floored"): (("math.floor", None),)}


def _called(type: Type) -> str:
    return {"f32": "float32", "i32": "int32", "f64": "float64", "i64": "int64"}.get(type.element, type.element)


def _undone(scope: KernelScope, op: Op, type: Type) -> bool:
    """Whether a cast of its result to ``type`` undoes this cast."""
    return traits.of(op.name).kind is Kind.CASTS and scope.type(op.operands[0]).element == type.element


def _computed(scope: KernelScope, op: Op, type: Type) -> bool:
    """Whether the operation can be done in ``type``."""
    trait, given = traits.of(op.name), scope.type(op.results[0])
    if given.is_float != type.is_float or given.bits >= type.bits or given.bits == 1:
        return False
    reduces = op.name in traits.FOLDS and len(op.operands) == 1
    return (
        reduces
        or trait.kind is Kind.ELEMENTWISE
        or op.name == "arith.select"
        or (trait.keeps and trait.kind is Kind.MOVES)
    )


@dataclass
class _Widening:
    """Computes values in a wider type, ``depth`` operations back."""

    scope: KernelScope
    depth: int
    known: dict[int, int] = field(default_factory=dict)  # values that are known in the wider type

    def edit(self, editor: Editor, op: Op) -> Sequence[Op]:
        """A cast, of the operands of what it casts."""
        made: list[Op] = []
        number = self._in(editor, op, op.operands[0], editor.type(op.results[0]), self.depth, made, op.name)
        if made:
            return [*made[:-1], replace(made[-1], results=op.results)]
        return [replace(op, name="tt.bitcast", operands=(number,), attributes={})]

    def operand(self, at: int, wide: Type) -> Edit:
        """An operation, with its operand computed in ``wide`` and rounded to what it is then."""

        def edit(editor: Editor, op: Op) -> Sequence[Op]:
            made: list[Op] = []
            given = editor.type(op.operands[at])
            number = self._in(editor, op, op.operands[at], wide, self.depth, made, cast_name(given, wide))
            back = editor.op(op, cast_name(wide, given), (number,), given)
            return [*made, back, replace(op, operands=(*op.operands[:at], *back.results, *op.operands[at + 1 :]))]

        return edit

    def _in(self, editor: Editor, near: Op, number: int, type: Type, depth: int, made: list[Op], cast: str) -> int:
        """The value in ``type``, which may be computed so."""
        op, given = self.scope.made.get(number), editor.type(number)
        wide = replace(given, element=type.element)
        if given == wide or number in self.known:
            return self.known.get(number, number)
        if op is not None and _undone(self.scope, op, wide):
            return op.operands[0]
        if op is None or depth == 0 or not _computed(self.scope, op, wide):
            made.append(editor.op(near, cast, (number,), wide))
            return made[-1].results[0]
        narrow = [editor.type(one).element == given.element for one in op.operands]
        operands = [
            self._in(editor, near, one, wide, depth - 1, made, cast) if same else one
            for one, same in zip(op.operands, narrow, strict=True)
        ]
        again = editor.op(near, op.name, operands, wide, op.attributes)
        if op.regions:
            again = replace(again, regions=tuple(copied(editor, one, wide.element) for one in op.regions))
        made.append(again)
        return again.results[0]


def _carried_in(scope: KernelScope, k: int, wide: Type, carried: dict[str, int]) -> Edit:
    """A loop that carries its value ``k`` in a wider type; ``carried`` gets what it leaves in it."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        (block,) = op.regions[0].blocks
        argument, end = block.arguments[1 + k], block.ops[-1]
        given, inside = editor.type(argument), editor.value(wide)
        cast, back = cast_name(given, wide), cast_name(wide, given)
        narrow = replace(editor.op(op, back, (inside,), given), results=(argument,))
        made: list[Op] = []
        found = _Widening(scope, _ALL, {argument: inside})._in(editor, end, end.operands[k], wide, _ALL, made, cast)
        end = replace(end, operands=(*end.operands[:k], found, *end.operands[k + 1 :]))
        arguments = (*block.arguments[: 1 + k], inside, *block.arguments[2 + k :])
        start = editor.op(op, cast, (op.operands[3 + k],), wide)
        left = editor.value(wide)
        carried["left"] = left
        loop = replace(
            op,
            operands=(*op.operands[: 3 + k], *start.results, *op.operands[4 + k :]),
            results=(*op.results[:k], left, *op.results[k + 1 :]),
            regions=(Region((Block(arguments, (narrow, *block.ops[:-1], *made, end)),)),),
        )
        return [start, loop, replace(editor.op(op, back, (left,), given), results=(op.results[k],))]

    return edit


def _taken(carried: dict[str, int]) -> Edit:
    """In place of a cast of what a loop leaves: what it leaves in the wider type."""
    return lambda editor, op: [replace(op, name="tt.bitcast", operands=(carried["left"],), attributes={})]


def _rounded(names: Sequence[tuple[str, float | None]]) -> Edit:
    """A cast of what is rounded first."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        (number,), made = op.operands, []
        for name, other in names:
            type = editor.type(number)
            constant = [] if other is None else [editor.constant(op, other, type)]
            made += [*constant, editor.op(op, name, (number, *(one.results[0] for one in constant)), type)]
            number = made[-1].results[0]
        return [*made, replace(op, operands=(number,))]

    return edit
