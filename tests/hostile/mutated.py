"""Scenes that somebody has tampered with: one of a kind, and how each of its values may be another.

A mutation takes a scene as JSON has it (bytes are ``{"base64": text}``) and gives what an output has in its place.
"""

from __future__ import annotations

import base64
import copy
import gzip
import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from triton_lab.views.declarations import contract, kinds
from triton_lab.views.scene_shapes import record

ATTACK = (
    "<img src=x onerror=\"window.owned='owned'\"><script>window.owned='owned'</script>"
    "<iframe srcdoc='<script>parent.owned=1</script>'></iframe>"
)
NUMBERS = (1e308, -1e308, 1e9, -1e9, 2**53, 2**31, 65536, 1023, 100, 0, -1, 0.5, 5e-324)
TEXTS = (ATTACK, "__proto__", "constructor", "javascript:alert(1)", "\u202e\ud83d", "\x00", "url(http://example.org/x)")
OTHERS = (None, True, 0, "x", [], {}, [[]], {"base64": ""}, {"base64": "~"}, {"length": 1e9}, {"buffer": 0})
NAMES = ("__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "length", "then")
LETTERS = 256 * 1024
_MOST_GROWN = 200_000  # items, letters or bytes that a mutation makes of one value

Path = tuple[Any, ...]


def plain(value: Any) -> Any:
    """A scene as JSON has it."""
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def output(text: str) -> dict[str, Any]:
    """What an output keeps of a scene that is this JSON."""
    zipped = gzip.compress(text.encode("utf-8", "surrogatepass"), mtime=0)
    return {"version": 1, "follows": False, "panel": False, "scene": base64.b64encode(zipped).decode()}


def places(value: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value in a scene with its place."""
    yield at, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*at, key))
    elif isinstance(value, list):
        for key, item in enumerate(value):
            yield from places(item, (*at, key))


def put(scene: Any, at: Path, value: Any) -> Any:
    """The scene with another value in that place."""
    if not at:
        return value
    scene = copy.deepcopy(scene)
    inner = scene
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    return scene


def _chosen(scene: Any, chance: random.Random, kind: type | tuple[type, ...]) -> tuple[Path, Any] | None:
    found = [(at, value) for at, value in places(scene) if isinstance(value, kind) and type(value) is not bool and at]
    return chance.choice(found) if found else None


def _a_number(scene: Any, chance: random.Random) -> Any:
    found = _chosen(scene, chance, (int, float))
    return put(scene, found[0], chance.choice(NUMBERS)) if found else None


def _all_numbers(scene: Any, chance: random.Random) -> Any:
    return _each(scene, (int, float), chance.choice(NUMBERS))


def _some_numbers(scene: Any, chance: random.Random) -> Any:
    value = chance.choice(NUMBERS)
    return _each(scene, (int, float), lambda one: value if chance.random() < 0.2 else one)


def _numbers_of_a_name(scene: Any, chance: random.Random) -> Any:
    found = _chosen(scene, chance, (int, float))
    if found is None:
        return None
    names = [key for key in found[0] if isinstance(key, str)]
    value = chance.choice(NUMBERS)
    return _named(scene, names[-1] if names else "", lambda _: value)


def _a_text(scene: Any, chance: random.Random) -> Any:
    found = _chosen(scene, chance, str)
    return put(scene, found[0], chance.choice(TEXTS)) if found else None


def _all_texts(scene: Any, chance: random.Random) -> Any:
    text = chance.choice(TEXTS)
    return _each(scene, str, lambda one: one if one in kinds() else text)


def _a_long_text(scene: Any, chance: random.Random) -> Any:
    found = _chosen(scene, chance, str)
    letters = chance.choice(("x", "x\n", "ab ", "界", "{\n", "[-"))
    return put(scene, found[0], letters * chance.choice((100, 4000, 60_000))) if found else None


def _long_texts(scene: Any, chance: random.Random) -> Any:
    size = chance.choice((200, 256, 4000))
    return _each(scene, str, lambda one: one if one in kinds() else "W" * size)


def _a_long_list(scene: Any, chance: random.Random) -> Any:
    found = _chosen(scene, chance, list)
    if not found or not found[1]:
        return None
    return put(scene, found[0], _repeated(found[1], chance.choice((64, 1024, 16_384, _MOST_GROWN))))


def _long_lists(scene: Any, chance: random.Random) -> Any:
    times = chance.choice((4, 16, 64))

    def grown(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: grown(item) for key, item in value.items()}
        return _repeated([grown(item) for item in value[:256]], 256 * times) if isinstance(value, list) else value

    return grown(scene)


def _no_items(scene: Any, chance: random.Random) -> Any:
    found = _chosen(scene, chance, list)
    return put(scene, found[0], []) if found else None


def _another_kind(scene: Any, chance: random.Random) -> Any:
    at, _ = chance.choice([one for one in places(scene) if one[0]])
    return put(scene, at, chance.choice(OTHERS))


def _kind_of_another(scene: Any, chance: random.Random) -> Any:
    return {**scene, "kind": chance.choice([*kinds(), "constructor", "__proto__", "toString", ""])}


def _left_out(scene: Any, chance: random.Random) -> Any:
    found = _chosen(scene, chance, dict) or ((), scene)
    inner = found[1] or scene
    key = chance.choice(list(inner))
    return put(scene, found[0], {name: value for name, value in inner.items() if name != key}) if found[1] else None


def _deep(scene: Any, chance: random.Random) -> Any:
    found = _chosen(scene, chance, (list, dict))
    if found is None:
        return None
    value = found[1]
    for _ in range(chance.choice((20, 70, 120, 800))):
        value = [value] if chance.random() < 0.5 else {"scene": value, "kind": "nested", "name": "n"}
    return put(scene, found[0], value)


def _nested(scene: Any, chance: random.Random) -> Any:
    for _ in range(chance.choice((3, 7, 12))):
        scene = {"kind": "nested", "name": "n", "scene": scene}
    return scene


def _other_bytes(scene: Any, chance: random.Random) -> Any:
    found = [at for at, value in places(scene) if isinstance(value, dict) and set(value) == {"base64"}]
    if not found:
        return None
    at = chance.choice(found)
    before = base64.b64decode(_at(scene, at)["base64"])
    sizes = (0, len(before), len(before) + 1, 8 * len(before), _MOST_GROWN)
    size = chance.choice(sizes)
    bytes_ = chance.choice((b"\xff", b"\x00", b"\x01\x00\x00\x00", chance.randbytes(997), before or b"\x00"))
    return put(scene, at, {"base64": base64.b64encode((bytes_ * (size // len(bytes_) + 1))[:size]).decode()})


def _great_buffers(scene: Any, chance: random.Random) -> Any:
    """All buffers large, of one number that packs well."""
    found = [at for at, value in places(scene) if isinstance(value, dict) and set(value) == {"base64"}]
    size, byte = chance.choice((1 << 17, 1 << 19, 1 << 21)), chance.choice((b"\x00", b"\x01"))
    for at in found[: (12 << 20) // (size * 4 // 3)]:
        scene = put(scene, at, {"base64": base64.b64encode(byte * size).decode()})
    return scene if found else None


def _many_pictures(scene: Any, chance: random.Random) -> Any:
    """A picture in a list again and again, each as large as a page, or all pictures so large."""
    side = chance.choice((256, 512, 1024))
    layout = {"shape": [side, side], "origin": [0, 0], "panels": 1, "across": 1, "rows": side, "columns": side}
    found = [at[:-1] for at, _ in places(scene) if at and at[-1] == "layout"]
    for at in found:
        large = {**_at(scene, at), "layout": {**layout, "down": 1, "right": 1}, "room": [side, side]}
        scene = put(scene, at, large) if "room" in _at(scene, at) else scene
    lists = sorted({at[:-1] for at in found if at and isinstance(at[-1], int)})
    if lists:
        at = chance.choice(lists)
        scene = put(scene, at, _repeated(_at(scene, at), chance.choice((3, 8, 40))))
    return scene if found else None


def _another_type_of_bytes(scene: Any, chance: random.Random) -> Any:
    found = [at for at, value in places(scene) if at and at[-1] == "type" and isinstance(value, str)]
    return put(scene, chance.choice(found), chance.choice(("u1", "u8", "i8", "f4", "f8", "q2"))) if found else None


def _names_of_every_object(scene: Any, chance: random.Random) -> Any:
    found = _chosen(scene, chance, dict)
    at, inner = found if found else ((), scene)
    name = chance.choice(NAMES)
    if chance.random() < 0.5 or not inner:
        return put(scene, at, {**inner, name: chance.choice(OTHERS)})
    key = chance.choice(list(inner))
    return put(scene, at, {(name if one == key else one): value for one, value in inner.items()})


def _at_its_bounds(scene: Any, chance: random.Random) -> Any:
    """All that the type allows, of one thing or of everything."""
    share = chance.choice((0.05, 0.3, 1.0))
    return _greatest(scene, {"of": kinds()[scene["kind"]].__name__}, chance, share)


MUTATIONS: dict[str, Callable[[Any, random.Random], Any]] = {
    "a number": _a_number,
    "all numbers": _all_numbers,
    "some numbers": _some_numbers,
    "numbers of a name": _numbers_of_a_name,
    "a text": _a_text,
    "all texts": _all_texts,
    "a long text": _a_long_text,
    "long texts": _long_texts,
    "a long list": _a_long_list,
    "long lists": _long_lists,
    "no items": _no_items,
    "another kind of value": _another_kind,
    "the kind of another": _kind_of_another,
    "something left out": _left_out,
    "depth": _deep,
    "scenes in scenes": _nested,
    "other bytes": _other_bytes,
    "great buffers": _great_buffers,
    "many pictures": _many_pictures,
    "another type of bytes": _another_type_of_bytes,
    "names of every object": _names_of_every_object,
    "at its bounds": _at_its_bounds,
}


def spelled(scene: Any, chance: random.Random) -> str:
    """JSON in which a number is spelled as no JSON has it, or as one that is infinite."""
    text = json.dumps(scene)
    found = _chosen(scene, chance, (int, float))
    if found is None:
        return text.replace("{", '{"x":NaN,', 1)
    mark = '"a number stands here"'
    number = chance.choice(("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "0x10", "1" * 400))
    return json.dumps(put(scene, found[0], json.loads(mark))).replace(mark, number)


def _at(scene: Any, at: Path) -> Any:
    for key in at:
        scene = scene[key]
    return scene


def _each(value: Any, kind: type | tuple[type, ...], made: Any) -> Any:
    if isinstance(value, dict):
        return {key: item if key in ("base64", "type") else _each(item, kind, made) for key, item in value.items()}
    if isinstance(value, list):
        return [_each(item, kind, made) for item in value]
    if isinstance(value, kind) and type(value) is not bool:
        return made(value) if callable(made) else made
    return value


def _named(value: Any, name: str, made: Callable[[Any], Any], within: bool = False) -> Any:
    if isinstance(value, dict):
        return {key: _named(item, name, made, within or key == name) for key, item in value.items()}
    if isinstance(value, list):
        return [_named(item, name, made, within) for item in value]
    return made(value) if within and isinstance(value, int | float) and type(value) is not bool else value


def _repeated(items: list[Any], most: int) -> list[Any]:
    """The items again and again, at most so many, and no more than there is time for."""
    size = sum(1 + (len(one) if isinstance(one, str) else 0) for item in items for _, one in places(item))
    count = min(most, len(items) * (_MOST_GROWN // max(1, size) + 1))
    return (items * (count // len(items) + 1))[:count] if items else items


def _greatest(value: Any, shape: Any, chance: random.Random, share: float) -> Any:
    """The value with as much as its shape allows, in so many of its places."""
    grows = chance.random() < share
    if isinstance(shape, str):
        return value
    if "whole" in shape or "number" in shape:
        return chance.choice(shape.get("whole") or shape["number"]) if grows else value
    if "text" in shape:
        return "W" * min(shape["text"], 20_000) if grows else value
    if "any" in shape:
        fits = [one for one in shape["any"] if isinstance(one, dict)]
        return value if value is None or not fits else _greatest(value, fits[0], chance, share)
    if "of" in shape and isinstance(value, dict):
        fields = record(contract()[shape["of"]], []) if shape["of"] in contract() else {}
        inner = {key.rstrip("?"): one for key, one in fields.items()}
        return {key: _greatest(item, inner.get(key, "null"), chance, share) for key, item in value.items()}
    if "map" in shape and isinstance(value, dict):
        return {key: _greatest(item, shape["map"], chance, share) for key, item in value.items()}
    if "list" in shape and isinstance(value, list):
        items = [_greatest(item, shape["list"], chance, share) for item in value]
        return _repeated(items, shape["most"]) if grows else items
    if "tuple" in shape and isinstance(value, list):
        return [_greatest(item, one, chance, share) for item, one in zip(value, shape["tuple"], strict=False)]
    return value
