"""Calls in a kernel with arguments that the called function does not have, or without those that it needs."""

from __future__ import annotations

import ast
import re

from triton_lab.localization import _, ngettext
from triton_lab.messages import count
from triton_lab.notebook.mistakes.diagnostic import Told
from triton_lab.notebook.mistakes.front_end_error import Refusal, written
from triton_lab.notebook.mistakes.operand_words import meaning, parameters, usage
from triton_lab.notebook.mistakes.type_names import is_runtime, shape_of
from triton_lab.notebook.mistakes.unknown_names import nearest

# Names for the same argument in torch, NumPy and Triton's own functions, of which tl.softmax takes torch's.
_SAME = ({"axis", "dim"}, {"keep_dims", "keepdim", "keepdims"})


def keyword(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A keyword that the called function does not have."""
    call = refusal.node.iter if isinstance(refusal.node, ast.For) else refusal.node
    if not isinstance(call, ast.Call):
        return None
    function, name = call.func, found[1]
    known = parameters(function, refusal)
    same = next((one for one in known for names in _SAME if name in names and one in names), None)
    near = same or nearest(name, known)
    message = _("{function} has no argument `{name}`").format(function=written(function), name=name) + (
        f": did you mean `{near}`?" if near else ""
    )
    return Told(message, _("Its arguments are {known}.").format(known=", ".join(known)) if known else "")


def lacking(refusal: Refusal, found: re.Match[str]) -> Told:
    """A call without an argument that has no default: how the function is called, and what Triton says of it."""
    names = re.findall(r"\w+", found[1].replace(" and ", " "))
    message = ngettext(
        "`{code}` lacks the argument {names}", "`{code}` lacks the arguments {names}", len(names)
    ).format(code=refusal.code, names=", ".join(f"`{name}`" for name in names))
    meanings = [f"{name}: {text}" for name in names if (text := meaning(refusal, name).rstrip("."))]
    manual = [_("Triton's manual says: {meanings}.").format(meanings="; ".join(meanings))] if meanings else []
    return Told(message, " ".join(filter(None, [usage(refusal), *manual])) or _("Pass it."))


def too_many(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A call of a helper with too many arguments."""
    if not isinstance(refusal.node, ast.Call):
        return None
    known = parameters(refusal.node.func, refusal)
    takes = f"{written(refusal.node.func)} takes {', '.join(known) or 'none'}"
    return Told(
        _("the call passes {arguments}, but {takes}").format(
            arguments=count(len(refusal.node.args), "argument"), takes=takes
        ),
        "Remove the others.",
    )


# Functions that reduce a block along an axis, and what does the same with two values, lane by lane.
_OF_TWO = {"max": "tl.maximum(x, y)", "min": "tl.minimum(x, y)", "sum": "x + y", "xor_sum": "x ^ y"}


def axis_of_a_value(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``tl.max(x, 0.0)``: the second argument is an axis, and not another value."""
    if not isinstance(refusal.node, ast.Call) or parameters(refusal.node.func, refusal)[1:2] != ["axis"]:
        return None
    given = next(iter(refusal.node.args[1:2]), None)
    value = next((each.value for each in refusal.operands if each.node is given), None)
    # A number that only the launch knows may be meant as an axis.
    if given is None or (is_runtime(value) and not shape_of(value)):
        return None
    function = written(refusal.node.func)
    instead = _OF_TWO.get(function.rsplit(".", 1)[-1])
    other = _("For two values, lane by lane, write {instead}.").format(instead=instead) if instead else ""
    return Told(
        _("`{code}`: the second argument of {function} is the axis, a constant integer, and not `{given}`").format(
            code=refusal.code, function=function, given=written(given)
        ),
        " ".join(filter(None, [_("Axes count from 0; -1 is the last."), other])),
    )
