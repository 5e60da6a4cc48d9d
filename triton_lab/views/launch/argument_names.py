"""Names of arguments: the user's own for the objects passed to a view, and the tensor that a name means."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from triton_lab.localization import _

if TYPE_CHECKING:
    from triton_lab.launch.argument import Argument
    from triton_lab.launch.launch import Launch


def names_in(frame: FrameType | None, objects: Sequence[Any], otherwise: str) -> list[str]:
    """For each object a variable of ``frame`` that holds it, else ``otherwise`` and a number.

    Names that begin with an underscore do not count: IPython keeps results under such names.
    """
    scopes: list[dict[str, Any]] = [frame.f_locals, frame.f_globals] if frame is not None else []
    names = []
    for number, wanted in enumerate(objects, start=1):
        held = (name for scope in scopes for name, value in list(scope.items()) if value is wanted and name[:1] != "_")
        names.append(next(held, f"{otherwise} {number}" if len(objects) > 1 else otherwise))
    return names


def tensor_argument(launch: Launch, name: str) -> Argument:
    """The tensor argument of that name; if there is none, the error lists those that exist."""
    tensors = {argument.name: argument for argument in launch.arguments if argument.kind in ("tensor", "descriptor")}
    if name not in tensors:
        there = ", ".join(tensors) or _("none")
        raise ValueError(
            _("{kernel} has no tensor argument {name}; tensor arguments: {there}").format(
                kernel=launch.kernel, name=repr(name), there=there
            )
        )
    return tensors[name]
