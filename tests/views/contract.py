"""Holds a scene against its type, deeper than a type checker sees: what is really sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from triton_lab.views.declarations import kinds
from triton_lab.views.scenes import Scene


def wrongs(value: Any, hint: Any = Scene, at: str = "scene") -> list[str]:
    """Where ``value`` is not of the type, and why."""
    return list(_wrongs(value, hint, at))


def _wrongs(value: Any, hint: Any, at: str) -> Iterator[str]:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint == Scene:
        yield from _one_of(value, tuple(kinds().values()), at)
    elif is_typeddict(hint):
        yield from _record(value, hint, at)
    elif origin is Literal:
        if value not in arguments:
            yield f"{at}: {value!r} is none of {arguments}"
    elif origin in (Union, UnionType):
        yield from _one_of(value, arguments, at)
    elif origin is tuple:
        if not isinstance(value, list | tuple) or len(value) != len(arguments):
            yield f"{at}: {value!r} is not {len(arguments)} values"
        else:
            for k, (item, inner) in enumerate(zip(value, arguments, strict=True)):
                yield from _wrongs(item, inner, f"{at}[{k}]")
    elif origin is list:
        if not isinstance(value, list | tuple):
            yield f"{at}: {type(value).__name__} is no list"
        else:
            for k, item in enumerate(value):
                yield from _wrongs(item, arguments[0], f"{at}[{k}]")
    elif origin is dict:
        if not isinstance(value, Mapping) or any(type(key) is not str for key in value):
            yield f"{at}: {value!r} is no mapping of words"
        else:
            for key, item in value.items():
                yield from _wrongs(item, arguments[1], f"{at}.{key}")
    elif not _plain(value, hint):
        yield f"{at}: {value!r} ({type(value).__name__}) is no {hint.__name__}"


def _plain(value: Any, hint: Any) -> bool:
    """Of this type as JSON takes it: NumPy's integers are refused, its float64 is a float."""
    if hint is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    return type(value) is hint


def _record(value: Any, hint: Any, at: str) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"{at}: {type(value).__name__} is no {hint.__name__}"
        return
    hints = get_type_hints(hint)
    for key in sorted(hint.__required_keys__ - set(value)):
        yield f"{at}: {hint.__name__} lacks {key}"
    for key in sorted(set(value) - set(hints)):
        yield f"{at}: {hint.__name__} has no {key}"
    for key in sorted(set(value) & set(hints)):
        yield from _wrongs(value[key], hints[key], f"{at}.{key}")


def _one_of(value: Any, hints: tuple[Any, ...], at: str) -> Iterator[str]:
    """By its kind where there is one, for a message about the right type."""
    if isinstance(value, Mapping) and "kind" in value:
        for hint in hints:
            if is_typeddict(hint) and value["kind"] in get_args(get_type_hints(hint).get("kind")):
                yield from _wrongs(value, hint, at)
                return
        yield f"{at}: no scene is of kind {value['kind']!r}"
        return
    every = [wrongs(value, hint, at) for hint in hints]
    if all(every):
        yield min(every, key=len)[0]
