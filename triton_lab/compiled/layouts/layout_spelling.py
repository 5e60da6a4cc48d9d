"""Reads what `lab.layout` is given: how a layout is spelled, the tensor's shape, and the width of its elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from triton_lab.compiled.layouts.gluon_layouts import is_gluon_layout, text_of
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.compiled.layouts.layout_kind import LayoutKind
from triton_lab.compiled.layouts.layout_parser import build, parse
from triton_lab.localization import _


def spelling_of(spelled: Any) -> str:
    """How a layout is spelled: as TTGIR's text, or by the name of its kind. Raises LayoutError."""
    if is_gluon_layout(spelled):
        return text_of(spelled)
    if not isinstance(spelled, str):
        raise LayoutError(
            _("a layout is TTGIR's text, a layout of Gluon, or a kind such as 'blocked', not {spelled}").format(
                spelled=repr(spelled)
            )
        )
    return spelled


def kind_of(spelled: str, parameters: dict[str, Any], shape: Sequence[int]) -> LayoutKind:
    """The kind that TTGIR's text spells, or its name and ``parameters``. Raises LayoutError."""
    if "<" in spelled or (spelled.lstrip().startswith("#") and not parameters):
        if parameters:
            raise LayoutError(
                _("a layout as text contains its parameters; {parameters} cannot be passed too").format(
                    parameters=", ".join(parameters)
                )
            )
        return parse(spelled)
    if "parent" in parameters:
        parameters["parent"] = _parent(parameters["parent"])
    return build(spelled, parameters, shape)


def _parent(parent: object) -> LayoutKind:
    if isinstance(parent, str):
        return parse(parent)
    if isinstance(parent, LayoutKind):
        return parent
    raise LayoutError(_("a parent is a layout or its text, not {parent}").format(parent=repr(parent)))


def shape_of(shape: Any) -> tuple[int, ...]:
    """The shape of a tensor, whose only size may be given as a number. Raises LayoutError."""
    sizes = (shape,) if isinstance(shape, int) else shape
    whole = isinstance(sizes, Sequence) and not isinstance(sizes, str)
    if not whole or not all(isinstance(size, int) and not isinstance(size, bool) for size in sizes):
        raise LayoutError(
            _("shape is {shape}, but must be a tensor's: whole numbers, such as (128, 64)").format(shape=repr(shape))
        )
    return tuple(map(int, sizes))


def bits_of(bits: object) -> int | None:
    """The width of an element, if it is given. Raises LayoutError."""
    if bits is not None and (isinstance(bits, bool) or not isinstance(bits, int) or not 1 <= bits <= 128):
        raise LayoutError(
            _("bits is {bits}, but must be the width of an element, from 1 to 128").format(bits=repr(bits))
        )
    return bits
