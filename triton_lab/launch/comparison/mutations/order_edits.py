"""Switches that exchange steps that follow each other: functions, operators and casts, as parentheses do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from triton_lab.ir import Op, traits
from triton_lab.ir.plan_edits import Edit, Editor, put, renamed
from triton_lab.ir.traits import Kind
from triton_lab.launch.comparison.mutations.kernel_scope import KernelScope, switch_of
from triton_lab.launch.comparison.numerics import Switch
from triton_lab.localization import _

_MOST = 3  # steps that others are exchanged with at once
# An operation, and the operand through which the step before it comes.
_Step = tuple[Op, int]


class OrderEdits(KernelScope):
    """The switches that change in which order steps are done."""

    def orders(self) -> Iterator[Switch]:
        """Each operation of numbers and those that give its operand, the other way round."""
        for op in self.own:
            for k in range(len(op.operands)) if self._is_step(op) else ():
                yield from self._with_those_before(op, k)
        yield from self._fractions()
        yield from self._other_summands()
        yield from self._casts_later()
        yield from self._choices()

    def _with_those_before(self, op: Op, k: int) -> Iterator[Switch]:
        """Steps before the operand ``k`` done after ``op``: several if they are of one group, as factors are."""
        inner = self._before(op, k)
        if inner is None or _group(op.name) == _group(inner.name):
            return
        for m in range(len(inner.operands)):
            yield self._exchanged([(op, k)], [(inner, m)])
            after = [(inner, m)]
            while (next := self._before(*after[-1])) is not None and _group(next.name) == _group(inner.name):
                if len(after) == _MOST or len(next.operands) > 2:
                    break
                after.append((next, 0))
                yield self._exchanged([(op, k)], after)
            # The other way round: what follows ``op`` in its group is done before the other operation as well.
            steps: list[_Step] = [(op, k)]
            while (following := self._following(steps[0][0])) is not None and len(steps) < _MOST:
                steps.insert(0, following)
                yield self._exchanged(steps, [(inner, m)])

    def _before(self, op: Op, k: int) -> Op | None:
        """The step that gives an operand."""
        inner = self.made.get(op.operands[k])
        fits = inner is not None and self._is_step(inner) and inner.index not in self.library
        return inner if fits and inner and self.type(op.operands[k]) == self.type(op.results[0]) else None

    def _following(self, op: Op) -> _Step | None:
        """The step of the same group that alone takes a result."""
        users = self.users[op.results[0]]
        if len(users) != 1 or not self._is_step(users[0][0]) or _group(users[0][0].name) != _group(op.name):
            return None
        return users[0]

    def _exchanged(self, last: Sequence[_Step], first: Sequence[_Step]) -> Switch:
        """The steps ``first``, which come before ``last``, done after these; of both the latest stand first."""
        op = last[0][0]
        one, two = (traits.of(step[0].name) for step in (first[0], last[-1]))
        taken = self.called(first[-1][0].operands[first[-1][1]]) if len(first[-1][0].operands) > 1 else ""
        title = _("{one} after {two} and not before it{of}{lines_of}").format(
            one=one.symbol or one.name.partition(".")[2],
            two=two.symbol or two.name.partition(".")[2],
            of=f", {taken}" if taken else "",
            lines_of=self.where(op),
        )
        # Several steps are as likely as one: they stand on one side of a parenthesis.
        cost = 1 + 0.2 * (len(last) + len(first) - 2)
        return switch_of(title, _("the order of steps"), op, _in_order(last, first), cost=cost)

    def _is_step(self, op: Op) -> bool:
        """Whether it computes a number from one or two of the same type."""
        trait = traits.of(op.name)
        fits = trait.is_lane_by_lane and len(op.results) == 1 and not op.regions and bool(op.operands)
        fits = fits and (trait.numbers == "float" or (bool(trait.symbol) and self.type(op.results[0]).bits > 1))
        return fits and all(self.type(one) == self.type(op.results[0]) for one in op.operands)

    def _fractions(self) -> Iterator[Switch]:
        """Factors behind a division, all of them under the fraction."""
        for op in self.own:
            if traits.of(op.name).symbol != "/" or not self.type(op.results[0]).is_float:
                continue
            factors: list[Op] = []
            following = self._following(op)
            while following is not None and following[1] == 0 and traits.of(following[0].name).symbol == "*":
                factors.append(following[0])
                following = self._following(following[0])
            if len(factors) > 1:
                names = [self.called(one) for one in (op.operands[1], *(each.operands[1] for each in factors))]
                title = _("parentheses: / ({factors}){lines_of}").format(
                    factors=" * ".join(names), lines_of=self.where(*factors)
                )
                yield switch_of(title, _("the order of steps"), factors, renamed(op.name))

    def _other_summands(self) -> Iterator[Switch]:
        """A factor of one summand as one of the other."""
        for op in self.own:
            if not (self._is_step(op) and traits.of(op.name).sums and len(op.operands) == 2):
                continue
            for k in (0, 1):
                inner = self._before(op, k)
                if inner is None or traits.of(inner.name).symbol not in ("*", "/"):
                    continue
                for m in range(2 if traits.of(inner.name).commutative else 1):
                    title = _("{factor} as a factor of the other summand{lines_of}").format(
                        factor=self.called(inner.operands[1 - m]), lines_of=self.where(op)
                    )
                    yield switch_of(title, _("the order of steps"), op, _at_other(k, inner, m), cost=1.2)

    def _casts_later(self) -> Iterator[Switch]:
        """What is computed with a float that is cast to a whole number, before it is cut."""
        for op in self.own:
            whole = bool(op.results) and self.type(op.results[0]).is_integer and self.type(op.results[0]).bits > 1
            if not whole or traits.of(op.name).symbol not in _OF_FLOATS or len(op.operands) != 2:
                continue
            for k in (0, 1):
                cast = self.made.get(op.operands[k])
                if cast is None or traits.of(cast.name).kind is not Kind.CASTS or cast.index in self.library:
                    continue
                if traits.of(cast.name).makes == "integer" and self.type(cast.operands[0]).is_float:
                    title = _("{symbol} before the cast and not after it{lines_of}").format(
                        symbol=traits.of(op.name).symbol, lines_of=self.where(op)
                    )
                    rounds = self.made.get(cast.operands[0])
                    alike = rounds is not None and len(rounds.operands) == 1 and self._is_step(rounds)
                    edit = _before_cast(k, cast, rounds if alike else None)
                    yield switch_of(title, _("the order of steps"), op, edit)

    def _choices(self) -> Iterator[Switch]:
        """A number that is kept where it is, say, above zero, before or after the step that gives or takes it."""
        for choice in self.own:
            if choice.name != "arith.select":
                continue
            condition = self.made.get(choice.operands[0])
            for k in (1, 2):
                number = choice.operands[k]
                if condition is None or traits.of(condition.name).kind is not Kind.COMPARES:
                    continue
                if number not in condition.operands:
                    continue
                kept = _Kept(choice, k, condition, condition.operands.index(number))
                inner = self.made.get(number)
                if inner is not None and self._is_step(inner) and inner.index not in self.library:
                    for m in range(len(inner.operands)):
                        yield self._in_turn(inner, choice, choice, kept.before(inner, m))
                for op, m in self.users[choice.results[0]]:
                    if self._is_step(op) and op.index not in self.library:
                        yield self._in_turn(choice, op, op, kept.after(m))

    def _in_turn(self, first: Op, second: Op, edited: Op, edit: Edit) -> Switch:
        one, two = (traits.of(op.name).symbol or "tl.where" for op in (first, second))
        title = _("{one} after {two} and not before it{of}{lines_of}").format(
            one=one, two=two, of="", lines_of=self.where(edited)
        )
        return switch_of(title, _("the order of steps"), edited, edit)


@dataclass(frozen=True)
class _Kept:
    """A ``choice`` whose operand ``k`` is also operand ``j`` of its ``condition``."""

    choice: Op
    k: int
    condition: Op
    j: int

    def of(self, editor: Editor, near: Op, number: int) -> tuple[Op, tuple[int, ...]]:
        """The condition of another number, and the operands of its choice."""
        type = editor.type(self.condition.results[0])
        taken = put(self.condition.operands, self.j, number)
        condition = editor.op(near, self.condition.name, taken, type, self.condition.attributes)
        return condition, (*condition.results, *put(self.choice.operands, self.k, number)[1:])

    def before(self, inner: Op, m: int) -> Edit:
        """The choice of what ``inner`` takes as its operand ``m``, then that step."""

        def edit(editor: Editor, op: Op) -> Sequence[Op]:
            condition, operands = self.of(editor, op, inner.operands[m])
            chosen = editor.op(op, op.name, operands, editor.type(op.results[0]), op.attributes)
            last = put(inner.operands, m, chosen.results[0])
            return [condition, chosen, replace(op, name=inner.name, operands=last, attributes=inner.attributes)]

        return edit

    def after(self, m: int) -> Edit:
        """A step whose operand ``m`` is what is chosen, then the choice of what it gives."""

        def edit(editor: Editor, op: Op) -> Sequence[Op]:
            taken = put(op.operands, m, self.choice.operands[self.k])
            step = editor.op(op, op.name, taken, editor.type(op.results[0]), op.attributes)
            condition, operands = self.of(editor, op, step.results[0])
            last = replace(op, name=self.choice.name, operands=operands, attributes=self.choice.attributes)
            return [step, condition, last]

        return edit


_OF_FLOATS = {"+": "arith.addf", "-": "arith.subf", "*": "arith.mulf"}


def _group(name: str) -> str:
    """Operations whose order makes no difference: sums, and products; of others each is alone."""
    symbol = traits.of(name).symbol
    return {"-": "+", "/": "*"}.get(symbol, symbol) or name


def _in_order(last: Sequence[_Step], first: Sequence[_Step]) -> Edit:
    """The steps ``last`` before the steps ``first``, of what the first of all took."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        start, at = first[-1]
        value, made = start.operands[at], []
        for step, k in (*reversed(last), *reversed(first)):
            operands = (*step.operands[:k], value, *step.operands[k + 1 :])
            made.append(editor.op(op, step.name, operands, editor.type(op.results[0]), step.attributes))
            value = made[-1].results[0]
        return [*made[:-1], replace(made[-1], results=op.results, index=op.index)]

    return edit


def _at_other(k: int, inner: Op, m: int) -> Edit:
    """A sum in which ``inner``, its operand ``k``, is its own operand ``m`` alone, and the other one has the factor."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        type = editor.type(op.results[0])
        factors = [op.operands[1 - k], op.operands[1 - k]]
        factors[1 - m] = inner.operands[1 - m]
        product = editor.op(op, inner.name, factors, type, inner.attributes)
        operands = [inner.operands[m], inner.operands[m]]
        operands[1 - k] = product.results[0]
        return [product, replace(op, operands=tuple(operands))]

    return edit


def _before_cast(k: int, cast: Op, rounds: Op | None) -> Edit:
    """A cast of what the operation computes of floats; ``rounds`` is a function that what is cast comes from."""

    def edit(editor: Editor, op: Op) -> Sequence[Op]:
        type = editor.type(cast.operands[0])
        other = editor.op(op, "arith.sitofp", (op.operands[1 - k],), type)
        own = cast.operands[0] if rounds is None else rounds.operands[0]
        operands = (own, *other.results) if k == 0 else (*other.results, own)
        made = [other, editor.op(op, _OF_FLOATS[traits.of(op.name).symbol], operands, type)]
        if rounds is not None:
            made.append(editor.op(op, rounds.name, made[-1].results, type, rounds.attributes))
        return [*made, replace(op, name=cast.name, operands=made[-1].results, attributes=cast.attributes)]

    return edit
