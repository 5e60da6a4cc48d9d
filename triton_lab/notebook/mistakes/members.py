"""Members of tensors that pointers, numbers and constants in a kernel do not have, as in ``x_ptr.shape``."""

from __future__ import annotations

import ast
import re
from typing import Any

from triton_lab.localization import N_, _, translated
from triton_lab.messages import count
from triton_lab.notebook.mistakes.diagnostic import Rule, Told
from triton_lab.notebook.mistakes.front_end_error import Refusal, written
from triton_lab.notebook.mistakes.type_names import constant, is_pointer, is_runtime, shape_of, value_told

# What to do instead of asking a pointer; ``{tensor}`` is a name for the tensor in the launch.
_OUTSIDE = {
    "shape": N_("Pass the size as an argument of the kernel: {tensor}.shape[0], or {tensor}.numel() for all elements."),
    "numel": N_("Pass the number of elements as an argument of the kernel: {tensor}.numel()."),
    "stride": N_("Pass the stride as an argument of the kernel: {tensor}.stride(0)."),
    "T": N_("Exchange the strides instead: an element is at pointer + row * stride_row + column * stride_column."),
    "data_ptr": N_("The argument itself is the pointer: add offsets to it."),
}
_OUTSIDE["size"] = _OUTSIDE["len"] = _OUTSIDE["ndim"] = _OUTSIDE["dim"] = _OUTSIDE["shape"]
_OUTSIDE["strides"] = _OUTSIDE["stride"]
_LOADED = N_("To work on the elements, load them first: tl.load({pointer} + offsets).")


def of_no_block(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A member of a tensor's, asked of a pointer, a number or a constant."""
    asked = _asked(refusal)
    if asked is None:
        return None
    node, name, value = asked
    if is_pointer(value) and not shape_of(value):
        whose = written(node)
        tensor = re.sub(r"_?(?:ptr|pointer)$", "", whose) if whose.isidentifier() else "x"
        advice = translated(_OUTSIDE.get(name, _LOADED)).format(tensor=tensor, pointer=whose)
        return Told(
            _("`{whose}` is {value}, not a tensor: it has no `{name}`").format(
                whose=whose, value=value_told(value), name=name
            ),
            advice,
        )
    if name == "shape" and (size := shape_of(value)):
        return Told(
            _("`{code}`: `{name}` is {value}, which has {axes}").format(
                code=refusal.code, name=written(node), value=value_told(value), axes=count(len(size), "axis", "axes")
            ),
            _("Axes count from 0."),
        )
    number = (is_runtime(value) and not shape_of(value)) or isinstance(constant(value), (bool, int, float, str))
    if name in _OUTSIDE and number:
        return Told(
            _("`{whose}` is {value}: it has no `{name}`").format(
                whose=written(node), value=value_told(value), name=name
            ),
            _("Only blocks have a shape. A block is made by tl.arange, tl.full or tl.load."),
        )
    return None


def _asked(refusal: Refusal) -> tuple[ast.expr, str, Any] | None:
    """Whose member the piece asks for, its name, and the value that is asked; None if it asks for none."""
    node: ast.AST | None = refusal.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
        return _valued(refusal, node.args[0], "len")
    if isinstance(node, ast.Assign):
        node = node.value
    for _unused in range(2):  # x.shape[0], x.numel()
        node = node.value if isinstance(node, ast.Subscript) else node.func if isinstance(node, ast.Call) else node
    return _valued(refusal, node.value, node.attr) if isinstance(node, ast.Attribute) else None


def _valued(refusal: Refusal, node: ast.expr, name: str) -> tuple[ast.expr, str, Any] | None:
    if isinstance(node, ast.Name):
        return (node, name, refusal.scope[node.id]) if node.id in refusal.scope else None
    same = [each for each in refusal.operands if ast.unparse(each.node) == ast.unparse(node)]
    return (node, name, same[0].value) if same else None


RULES = (
    Rule(
        r"list index out of range|values to unpack|permute dims must|'\w+' object has no attribute"
        r"|'\w+' object is not callable|has no len\(\)",
        of_no_block,
    ),
)
