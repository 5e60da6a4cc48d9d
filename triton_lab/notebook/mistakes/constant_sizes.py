"""Sizes of blocks, bounds and other constants that must be known at compile time."""

from __future__ import annotations

import ast
import re

from triton_lab.localization import _
from triton_lab.notebook.mistakes.assignments import reaching
from triton_lab.notebook.mistakes.diagnostic import Told
from triton_lab.notebook.mistakes.front_end_error import Operand, Refusal, written
from triton_lab.notebook.mistakes.type_names import constant, is_runtime, shape_of, value_told


def arange_of_variables(refusal: Refusal, found: re.Match[str]) -> Told:
    """``tl.arange`` with an end that is only known while the kernel runs."""
    moving = [each for each in refusal.operands if is_runtime(constant(each.value))]
    strange = [each for each in refusal.operands if shape_of(each.value) != []]
    floats = [each for each in refusal.operands if isinstance(getattr(each.value, "value", each.value), float)]
    if floats:
        given = _(" and ").join(
            _("`{name}` is {what}").format(name=written(each.node), what=value_told(each.value)) for each in floats
        )
        return Told(
            _("the bounds of tl.arange must be integers, but {given}").format(given=given),
            _("Use `//` instead of `/`, in the launch too. triton.cdiv rounds up."),
        )
    if strange and not moving:
        told = _("`{name}` is {what}").format(name=written(strange[0].node), what=value_told(strange[0].value))
        return Told(
            _("the bounds of tl.arange must be integers, but {told}").format(told=told), _("Pass a number for it.")
        )
    if moving and (declares := _declared_constant(refusal, moving)):
        return declares
    if moving and all(_argument(refusal, each.node) for each in moving):
        return not_constant(refusal, moving, _("the size of a block is fixed at compile time"))
    what = written(moving[0].node) if moving else refusal.code
    return Told(
        _("the bounds of tl.arange must be constants, but `{what}` is known only at run time").format(what=what),
        _("Use tl.arange(0, BLOCK) and add the start: start + tl.arange(0, BLOCK)."),
    )


def shape_of_variables(refusal: Refusal, found: re.Match[str]) -> Told:
    """A shape with a size that is only known while the kernel runs, or that is no integer."""
    sizes = sizes_of(refusal)
    if any("dtype" in type(each.value).__name__ for each in sizes):
        return Told(
            _("`{code}`: the sizes of a shape are integers, and this is a type").format(code=refusal.code),
            _("To convert values, use x.to(dtype); to read the same bits as another type, x.to(dtype, bitcast=True)."),
        )
    floats = [each for each in sizes if isinstance(constant(each.value), float)]
    if floats:
        told = _(" and ").join(
            _("`{name}` is {what}").format(name=written(each.node), what=value_told(each.value)) for each in floats
        )
        return Told(
            _("the sizes of a block must be integers, but {told}").format(told=told),
            _("Use `//` instead of `/`, in the launch too. triton.cdiv rounds up."),
        )
    moving = [each for each in sizes if is_runtime(constant(each.value))]
    return not_constant(refusal, moving, _("the shape of a block is fixed at compile time"))


def sizes_of(refusal: Refusal) -> list[Operand]:
    """The sizes that a call is given: the members of its lists, of the last one that holds what is no constant."""
    lists = [each for each in refusal.operands if isinstance(each.node, (ast.Tuple, ast.List))]
    found: list[Operand] = []
    for operand in lists:
        values = getattr(operand.value, "values", ())
        inner = [Operand("", *pair) for pair in zip(operand.node.elts, values, strict=False)]  # type: ignore[attr-defined]
        found = inner if not found or any(not isinstance(constant(each.value), int) for each in inner) else found
    return found or [each for each in refusal.operands if shape_of(each.value) in ([], None)]


def _declared_constant(refusal: Refusal, moving: list[Operand]) -> Told | None:
    """A name that is declared ``tl.constexpr`` and gets a value of run time: from a call, or where it is assigned."""
    for each in ast.walk(moving[0].node):
        if not isinstance(each, ast.Name) or not is_runtime(constant(refusal.scope.get(each.id))):
            continue
        born = reaching(refusal.kernel.tree.body, each.id, refusal.node or each)
        declared = {one.arg for one in refusal.kernel.arguments if "constexpr" in _annotation(one)}
        if isinstance(born, ast.AnnAssign) and born.value and "constexpr" in ast.unparse(born.annotation):
            message = _("`{name}` is declared a constant, but `{value}` is known only at run time").format(
                name=each.id, value=written(born.value)
            )
            at: tuple[ast.AST, ...] = (born, *([refusal.node] if refusal.node else []))
            return Told(message, _("Compute it from constants (tl.constexpr arguments) only."), at)
        if born is None and each.id in declared and refusal.callers:
            return Told(
                _(
                    "`{name}` of `{function}` is a constant (tl.constexpr), but the call passes a value known only "
                    "at run time"
                ).format(name=each.id, function=refusal.kernel.name),
                _("Pass a constant: a number, or a `tl.constexpr` argument of the kernel."),
            )
    return None


def not_constant(refusal: Refusal, moving: list[Operand], why: str) -> Told:
    """``moving`` are known only at run time, and ``why`` says that a constant is needed."""
    if moving and (declares := _declared_constant(refusal, moving)):
        return declares
    names = list(dict.fromkeys(name for each in moving for name in _arguments(refusal, each.node)))
    given = written(moving[0].node) if moving else refusal.code
    at: tuple[ast.AST, ...] = () if refusal.node is None else (refusal.node,)
    if names:
        marked = ", ".join(f"`{name}: tl.constexpr`" for name in names)
        declared = [each for each in refusal.kernel.arguments if each.arg in names]
        line = f" (line {refusal.kernel.line(declared[0])})" if declared else ""
        return Told(
            _("{why}, but `{given}` is known only at run time").format(why=why, given=given),
            _("Declare {marked} in the kernel's arguments{line}.").format(marked=marked, line=line),
            at,
        )
    return Told(
        _("{why}, but `{given}` is known only at run time").format(why=why, given=given),
        _("Take the size from a `tl.constexpr` argument."),
        at,
    )


def _argument(refusal: Refusal, node: ast.AST) -> bool:
    return bool(_arguments(refusal, node)) and "program_id" not in ast.unparse(node)


def _arguments(refusal: Refusal, node: ast.AST, depth: int = 3) -> list[str]:
    """The arguments of the kernel from which ``node`` is computed and that are no constants."""
    declared = {each.arg for each in refusal.kernel.arguments if "constexpr" not in _annotation(each)}
    found: list[str] = []
    for each in ast.walk(node):
        if not isinstance(each, ast.Name):
            continue
        born = reaching(refusal.kernel.tree.body, each.id, refusal.node or node)
        if born is None and each.id in declared:
            found.append(each.id)
        elif depth and isinstance(born, ast.Assign):
            found.extend(_arguments(refusal, born.value, depth - 1))
    return found


def _annotation(argument: ast.arg) -> str:
    return "" if argument.annotation is None else ast.unparse(argument.annotation)
