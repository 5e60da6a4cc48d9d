"""Types and shapes that do not fit: where each side got its value, and what to do."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from triton_lab.localization import _
from triton_lab.notebook.mistakes.assignments import around, last, reaching
from triton_lab.notebook.mistakes.diagnostic import Told
from triton_lab.notebook.mistakes.front_end_error import Operand, Refusal, written
from triton_lab.notebook.mistakes.operand_words import births, side_told
from triton_lab.notebook.mistakes.type_names import (
    dtype_told,
    is_pointer,
    shape_of,
    type_told,
    value_told,
)


def loop_carried(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A variable that enters a loop with one type and leaves its body with another."""
    name, before, after = found[1], type_told(found[2]), type_told(found[3])
    loop = _loop(refusal)
    if loop is None:
        return None
    first = reaching(refusal.kernel.tree.body, name, loop)
    again = last(loop.body, name)
    at = tuple(node for node in (again, first) if node is not None)
    line = refusal.kernel.line
    born = f" (line {line(first)})" if first is not None else ", an argument"
    changed = f" (line {line(again)})" if again is not None else ""
    return Told(
        _(
            "`{name}` changes its type in the loop of line {line}: it is {before} before the "
            "loop{born}, and {after} at the end of its body{changed}"
        ).format(name=name, line=line(loop), before=before, born=born, after=after, changed=changed),
        _one_type(name, found[2], found[3], from_zero=isinstance(getattr(first, "value", None), ast.Constant)),
        at,
    )


def _one_type(name: str, before: str, after: str, *, from_zero: bool) -> str:
    """How to keep the type of ``name`` the same; ``from_zero``: it begins as a plain number."""
    if type_told(before).startswith("a block") != type_told(after).startswith("a block"):
        if type_told(after).startswith("a block"):
            return _(
                "Start with a block of that shape and type, for example `{name} = tl.zeros(shape, tl.float32)`."
            ).format(name=name)
        return _("Keep `{name}` a block. Give the result of the reduction another name.").format(name=name)
    numbers = [re.findall(r"(?:fp|bf|u?int)\d+\w*", text) for text in (before, after)]
    if all(numbers) and numbers[0][-1] != numbers[1][-1]:
        wanted = dtype_told(numbers[1][-1]).split()[0]
        kept = dtype_told(numbers[0][-1]).split()[0]
        begin = _("Start with tl.{name}").format(name=wanted)
        if from_zero and wanted == "float32":
            begin = _("Start with a float (0.0 instead of 0)")
        return _("{begin}, or convert what the loop assigns, with .to(tl.{kept}).").format(begin=begin, kept=kept)
    return _("Give `{name}` the same type and shape in every assignment.").format(name=name)


def _loop(refusal: Refusal) -> ast.For | ast.While | None:
    body, node = refusal.kernel.tree.body, refusal.node
    loops = [each for each in around(body, node) if isinstance(each, (ast.For, ast.While))] if node is not None else []
    # Triton stops at the loop itself, or within its header.
    exact = [each for each in loops if each.lineno == getattr(node, "lineno", 0)]
    return next(iter(exact or loops[::-1]), None)


def constant_in_loop(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A ``tl.constexpr`` that a loop assigns anew."""
    loop = _loop(refusal)
    again = last(loop.body, found[1]) if loop is not None else None
    return Told(
        _("`{found}` is a constant (tl.constexpr), but the loop assigns it another value").format(found=found[1]),
        _("A constant does not change while a kernel runs. Use another variable for the value that changes."),
        () if again is None else (again,),
    )


def branches(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A variable with one type after ``then`` and another after ``else``."""
    name, choice = found[1], _if(refusal)
    if choice is None:
        return None
    sides = [last(choice.body, name), last(choice.orelse, name)]
    return _two(refusal, name, [found[2], found[3]], sides, [_("where the condition holds"), _("where it does not")])


def before_and_branch(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A variable to which a branch gives another type than it had before the ``if``."""
    name, choice = found[1], _if(refusal)
    if choice is None:
        return None
    branch = choice.body if found[3] == "then" else choice.orelse
    sides = [reaching(refusal.kernel.tree.body, name, choice), last(branch, name)]
    return _two(refusal, name, [found[2], found[4]], sides, ["before the `if`", "after it"])


def _if(refusal: Refusal) -> ast.If | None:
    body, node = refusal.kernel.tree.body, refusal.node
    found = [each for each in around(body, node) if isinstance(each, ast.If)] if node is not None else []
    exact = [each for each in found if each.lineno == getattr(node, "lineno", 0)]
    return next(iter(exact or found[::-1]), None)


def _two(
    refusal: Refusal, name: str, types: Sequence[str], born: Sequence[ast.stmt | None], when: Sequence[str]
) -> Told:
    parts = []
    for text, node, told in zip(types, born, when, strict=True):
        line = f" (line {refusal.kernel.line(node)})" if node is not None else ""
        parts.append(f"{type_told(text)} {told}{line}")
    return Told(
        _("`{name}` would have two types: {parts}").format(name=name, parts=", and ".join(parts)),
        _(
            "A variable has the same type on every path. Convert one side with .to(...), broadcast "
            "it, or use two names."
        ),
        tuple(node for node in reversed(born) if node is not None),
    )


def returns(refusal: Refusal, found: re.Match[str]) -> Told:
    """A helper that returns one type in one place and another elsewhere."""
    places = [each for each in ast.walk(refusal.kernel.tree) if isinstance(each, ast.Return)]
    places.sort(key=lambda each: each.lineno)
    lines = " and ".join(str(refusal.kernel.line(each)) for each in places)
    return Told(
        _("{name} returns {found} on one path and {found2} on another (lines {lines})").format(
            name=refusal.kernel.name, found=type_told(found[1]), found2=type_told(found[2]), lines=lines
        ),
        _("Every `return` must return the same type. Convert with .to(...), and write 0.0 for a float32."),
        tuple(places),
    )


def shapes(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """Two blocks that cannot be broadcast to one shape."""
    sides = [each for each in refusal.operands if shape_of(each.value)]
    if len(sides) < 2:
        return None
    first, second = _disagreeing(sides)
    told = [side_told(refusal, each) for each in (first, second)]
    many = [shape_of(each.value) or [] for each in (first, second)]
    return Told(
        _("the shapes do not fit: {told}, {told2}").format(told=told[0], told2=told[1]),
        _fit(*many),
        (refusal.node, *births(refusal, [first, second])) if refusal.node is not None else (),
    )


def _disagreeing(sides: Sequence[Operand]) -> tuple[Operand, Operand]:
    """The first two sides that cannot be broadcast to one shape."""
    for number, first in enumerate(sides):
        for second in sides[number + 1 :]:
            if not _broadcasts(shape_of(first.value) or [], shape_of(second.value) or []):
                return first, second
    return sides[0], sides[1]


def _broadcasts(left: Sequence[int], right: Sequence[int]) -> bool:
    pairs = zip(reversed(left), reversed(right), strict=False)
    return all(a == b or 1 in (a, b) for a, b in pairs)


def _fit(left: list[int], right: list[int]) -> str:
    if len(left) == len(right):
        return _(
            "Along each axis the sizes must be equal, or one of them must be 1. Use one constant for "
            "both, or [:, None]."
        )
    return _("Axes are matched from the last one on. Write [:, None] or [None, :] to place a block along an axis.")


def pointer_and(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A pointer in arithmetic with a value that is no integer, or in a comparison."""
    pointers = [each for each in refusal.operands if is_pointer(each.value)]
    others = [each for each in refusal.operands if not is_pointer(each.value)]
    if not pointers:
        return None
    name = written(pointers[0].node)
    if isinstance(refusal.node, ast.BinOp) and isinstance(refusal.node.op, (ast.Add, ast.Sub)) and others:
        return Told(
            _("an offset must be an integer, but `{node}` is {value}").format(
                node=written(others[0].node), value=value_told(others[0].value)
            ),
            _("Use `//` instead of `/`, or convert it to an integer with .to(tl.int32)."),
            _with_birth(refusal, others[0]),
        )
    return Told(
        _("`{name}` is {value}: an address, not a number").format(name=name, value=value_told(pointers[0].value)),
        _(
            "To read the number at this address, write tl.load({name}). If you passed a tensor as a "
            "size or a stride, pass the number itself (x.stride(0), x.numel())."
        ).format(name=name),
    )


def _with_birth(refusal: Refusal, *sides: Operand) -> tuple[ast.AST, ...]:
    """The place where Triton stopped, and the statements that gave their values to operands that are mere names."""
    if refusal.node is None:
        return ()
    return (refusal.node, *births(refusal, [each for each in sides if isinstance(each.node, ast.Name)]))


def one_address(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A block as the value or the mask of a single address."""
    what = found[1].lower()
    called = ast.unparse(refusal.node.func) if isinstance(refusal.node, ast.Call) else ""
    # A positional mask comes after the pointer in a load, and after the value in all other functions.
    place = 2 if what == "mask" and not called.endswith("load") else 1
    unnamed = [each for each in refusal.operands if not each.name][place : place + 1]
    side = next((each for each in refusal.operands if each.name == what), next(iter(unnamed), None))
    if side is None:
        return None
    return Told(
        _("`{node}` is one address, but the {what} is a block: {side_told}").format(
            node=written(refusal.operands[0].node, 40), what=what, side_told=side_told(refusal, side)
        ),
        _("Give each lane its own address (pointer + tl.arange(0, BLOCK)), or reduce the block first (tl.sum)."),
        () if refusal.node is None else (refusal.node, *births(refusal, [side])),
    )


def no_pointer(refusal: Refusal, found: re.Match[str]) -> Told:
    """``tl.load`` or ``tl.store`` of a value that is no address."""
    kind, call = type_told(found[1]), found[2]
    target = refusal.operands[0].node if refusal.operands else None
    what = f"`{written(target)}`" if target is not None else "its first argument"
    extra = _(" The pointer comes first: tl.store(pointer, value).") if call.endswith("store") else ""
    return Told(
        _("{call} takes addresses, but {what} is {kind}").format(call=call, what=what, kind=kind),
        _("Start with a pointer, which is an argument that got a tensor: {call}(x_ptr + offsets, ...).{extra}").format(
            call=call, extra=extra
        ),
        _with_birth(refusal, *refusal.operands[:1]),
    )


def operands(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """An operator that does not exist for these types, such as ``&`` of floats."""
    if len(refusal.operands) != 2:
        return None
    sides = [
        _("`{name}` is {what}").format(name=written(each.node, 40), what=value_told(each.value))
        for each in refusal.operands
    ]
    return Told(
        _("`{code}` does not work on these types: {sides}").format(code=refusal.code, sides=", ".join(sides)),
        _("`&`, `|`, `^`, `<<` and `>>` take integers and masks. Compare first, or convert with .to(tl.int32)."),
        _with_birth(refusal, *refusal.operands),
    )


def shape_of_a_number(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``tl.zeros(BLOCK, ...)``: NumPy and torch accept a number as a shape."""
    node = refusal.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return None
    if node.func.attr not in ("zeros", "full"):
        return None
    shape = written(node.args[0])
    return Told(
        _("`{code}`: the shape of a block must be a tuple, also if it has one axis").format(code=refusal.code),
        _("Write ({shape},).").format(shape=shape),
    )
