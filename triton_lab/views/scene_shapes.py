"""A scene's type as plain data, with its bounds: `front/check.js` checks saved scenes against it."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from triton_lab.views.drawing import scene_bounds
from triton_lab.views.drawing.scene_bounds import CanvasBound, Most, Numbers, Product, Rows, Runs, Times, Within
from triton_lab.views.scenes import Scene

# Bounds of a whole scene, by their names in `check.js`.
WHOLE = {
    "values": scene_bounds.MOST_VALUES,
    "letters": scene_bounds.MOST_LETTERS,
    "code": scene_bounds.MOST_CODE,
    "pixels": scene_bounds.MOST_PIXELS,
    "side": scene_bounds.MOST_SIDE,
    "painted": scene_bounds.MOST_PAINTED,
    "numbers": scene_bounds.MOST_NUMBERS,
    "points": scene_bounds.MOST_POINTS,
    "scenes": scene_bounds.MOST_SCENES,
}


def record(one: Any, named: list[Any]) -> dict[str, Any]:
    """The fields of a TypedDict; optional ones end in "?". The records that they name are added to ``named``.

    Raises TypeError, naming the field, if a number, a text, a list, a map or bytes have no bound.
    """
    found = {}
    for name, hint in get_type_hints(one, include_extras=True).items():
        try:
            found[name + "?" * (name in one.__optional_keys__)] = shape(hint, named)
        except TypeError as error:
            raise TypeError(f"{one.__name__}.{name}: {error}") from error
    return found


def shape(hint: Any, named: list[Any]) -> Any:
    """A Python type as plain data; records that it names are added to ``named``. Raises TypeError as `record` does."""
    found: dict[type, Any] = {}
    while get_origin(hint) is Annotated:
        found = {type(one): one for one in hint.__metadata__} | found
        hint = hint.__origin__
    plain = _bounded(hint, found, named)
    return plain | _further(found) if isinstance(plain, dict) else plain


def _bounded(hint: Any, found: dict[type, Any], named: list[Any]) -> Any:
    """The type with its bound, which it must have."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in (bool, NoneType):
        return "boolean" if hint is bool else "null"
    if hint == Scene:
        return "scene"
    if is_typeddict(hint):
        named.append(hint)
        return {"of": hint.__name__}
    if origin is Literal:
        return {"is": list(arguments)}
    if origin in (Union, UnionType):
        return {"any": [shape(one, named) for one in arguments]}
    if origin is tuple and ... not in arguments:
        return {"tuple": [shape(one, named) for one in arguments]}
    if hint in (int, float):
        within: Within = _demanded(found, Within, hint)
        return {"whole" if hint is int else "number": [within.low, within.high]}
    most: Most = _demanded(found, Most, hint)
    if hint in (str, bytes):
        return {"text" if hint is str else "bytes": most.count}
    if origin is dict and arguments[0] is str:
        return {"map": shape(arguments[1], named), "most": most.count}
    if origin is list:
        return {"list": shape(arguments[0], named), "most": most.count} | ({"least": most.least} if most.least else {})
    raise TypeError(f"a scene cannot hold {hint}")


def _demanded(found: dict[type, Any], kind: type, hint: Any) -> Any:
    if kind not in found:
        raise TypeError(f"{getattr(hint, '__name__', hint)} has no bound: see `drawing/scene_bounds.py`")
    return found[kind]


def _further(found: dict[type, Any]) -> dict[str, Any]:
    """Bounds on products, and on the contents of buffers."""
    more: dict[str, Any] = {}
    for one in found.values():
        match one:
            case Times(others, most):
                more |= {"times": list(others), "area": most}
            case Product(most, field):
                more |= {"product": most} | ({"field": field} if field else {})
            case Numbers(most):
                more["numbers"] = most
            case Runs(items):
                more["runs"] = items
            case CanvasBound():
                more["canvas"] = True
            case Rows():
                more["rows"] = True
    return more
