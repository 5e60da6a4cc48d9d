"""Files of `front/` that Python generates: types of scenes, who draws which kind, the look as constants and as CSS.

``python -m triton_lab.views.declarations`` writes them again: run it after a change of a scene's type or of a style,
and for a new view. They are kept with the sources, so that a browser, a type checker, Node and a bundler find complete
modules.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from triton_lab import views
from triton_lab.views.drawing import style
from triton_lab.views.drawing.glossary import GLOSSARY
from triton_lab.views.scene_shapes import WHOLE, record
from triton_lab.views.scenes import NotedSource, Scene

if TYPE_CHECKING:
    from triton_lab.views.polyhedral.polyhedral_style import Look

FRONT = Path(__file__).parent / "front"

_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null", object: "unknown"}
_MADE = "by `python -m triton_lab.views.declarations`: not to be edited."
_MADE_OF_STYLE = f"Made from the two `style.py` of `drawing/` and `polyhedral/` {_MADE}"
# The notebook's own theme comes first; our colours are the fallback.
_OF_THE_NOTEBOOK = {
    "ground": "--jp-layout-color1",
    "ink": "--jp-content-font-color1",
    "faint": "--jp-content-font-color2",
    "line": "--jp-border-color2",
    "panel": "--jp-layout-color2",
    "accent": "--jp-brand-color1",
}
_KINDS_TYPE = '@type {{[Kind in Scene["kind"]]: import("./part.js").Draw<Extract<Scene, {kind: Kind}>>}}'
_START = f"""\
/** Made from the scenes of all views {_MADE} */

/** Bytes: from a widget a DataView, from a page's own data an array. */
export type Bytes = DataView | Uint8Array;
"""


_DRAWS = re.compile(r"^export function (\w+)Of\(", re.MULTILINE)


@cache
def contract() -> dict[str, Any]:
    """The types of all data that is sent, by name: every TypedDict in a module of `views`.

    Raises TypeError if two modules have one of the same name.
    """
    found: dict[str, Any] = {}
    for module in pkgutil.walk_packages(views.__path__, f"{views.__name__}."):
        for name, one in vars(importlib.import_module(module.name)).items():
            if not is_typeddict(one) or one.__module__ != module.name or name.startswith("_"):
                continue
            if name in found:
                raise TypeError(f"{name} is a type of {found[name].__module__} and of {module.name}")
            found[name] = one
    return found


@cache
def kinds() -> dict[str, Any]:
    """The types of scenes by their kind. Raises TypeError if two have the same kind."""
    found: dict[str, Any] = {}
    for name, one in contract().items():
        hint = get_type_hints(one).get("kind")
        if get_origin(hint) is not Literal:
            continue
        (kind,) = get_args(hint)
        if kind in found:
            raise TypeError(f"{name} and {found[kind].__name__} are both of the kind {kind!r}")
        found[kind] = one
    return found


def scene_types() -> str:
    """`contract` as TypeScript declarations."""
    every = contract()
    found = [every[name] for name in sorted(every, key=str.lower)]
    scenes = "".join(f"\n  | {name}" for name in sorted(one.__name__ for one in kinds().values()))
    parts = [_START, *map(_interface, found), f"/** Whatever draws itself. */\nexport type Scene ={scenes};\n"]
    return "\n".join(parts)


def kinds_module(front: Path = FRONT) -> str:
    """The ES module that exports ``KINDS``, the function that draws each kind: ``tilingOf`` draws the kind ``tiling``.

    The function may stand in any module of ``front/``. Raises TypeError for a kind that has no function, or two.
    """
    homes: dict[str, list[str]] = {kind: [] for kind in kinds()}
    for path in sorted(front.rglob("*.js")):
        for kind in _DRAWS.findall(path.read_text(encoding="utf-8")):
            if kind in homes:
                homes[kind].append(path.relative_to(front).as_posix())
    for kind, found in homes.items():
        if len(found) != 1:
            told = " and ".join(found) or "no module of front/"
            raise TypeError(f"a scene of kind {kind!r} is drawn by one function: {told} exports {kind}Of")
    modules = sorted({home for (home,) in homes.values()})
    names = {module: sorted(f"{kind}Of" for kind, (home,) in homes.items() if home == module) for module in modules}
    lines = [f"/** Made from the scenes of all views and the names in `front/` {_MADE} */\n"]
    lines += [f'import {{ {", ".join(names[module])} }} from "./{module}";' for module in modules]
    lines += ["", '/** @typedef {import("./scenes.js").Scene} Scene */', f"/** {_KINDS_TYPE} */"]
    lines += ["export const KINDS = {", *(f"  {kind}: {kind}Of," for kind in sorted(homes)), "};", ""]
    return "\n".join(lines)


def written(hint: Any) -> str:
    """A Python type in TypeScript. Raises TypeError for a type that a scene must not contain."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    if hint is bytes:
        return "Bytes"
    if is_typeddict(hint):
        return str(hint.__name__)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " | ".join(map(json.dumps, arguments))
    if hint == Scene:
        return "Scene"
    if origin in (Union, UnionType):
        return " | ".join(map(written, arguments))
    if origin is list:
        inner = written(arguments[0])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if origin is tuple and ... not in arguments:
        return f"[{', '.join(map(written, arguments))}]"
    if origin is dict and arguments[0] is str:
        return f"Record<string, {written(arguments[1])}>"
    raise TypeError(f"a scene cannot hold {hint}")


def shapes_module() -> str:
    """The ES module that exports ``SHAPES``, the structure of each scene and of the notes beside it.

    `check.js` checks saved data against it: it has the fields of every type with their bounds, and under ``scene`` the
    type of each kind.

    Raises TypeError for a field without a bound.
    """
    found: dict[str, dict[str, Any]] = {}
    left = [*kinds().values(), NotedSource]
    while left:
        one = left.pop()
        if one.__name__ not in found:
            found[one.__name__] = record(one, left)
    of_kind = json.dumps({kind: one.__name__ for kind, one in sorted(kinds().items())}, separators=(",", ":"))
    lines = [f"/** Made from the scenes of all views {_MADE} */"]
    lines += ["", '/** @typedef {import("./check.js").Shape} Shape */']
    lines += ["/** @typedef {Record<string, Record<string, Shape>>} Types */"]
    lines += ["/** @type {{most: Record<string, number>, kinds: Record<string, string>, types: Types}} */"]
    lines += ["export const SHAPES = {", f"  most: {json.dumps(WHOLE)},", f"  kinds: {of_kind},", "  types: {"]
    lines += [f"    {name}: {json.dumps(found[name], separators=(',', ':'))}," for name in sorted(found)]
    return "\n".join([*lines, "  },", "};", ""])


def _interface(one: Any) -> str:
    told = inspect.getdoc(one) if one.__doc__ and not one.__doc__.startswith("dict(") else None
    lines = [f"/** {' '.join(told.split())} */"] if told else []
    lines.append(f"export interface {one.__name__} {{")
    for name, hint in get_type_hints(one).items():
        lines.append(f"  {name}{'?' if name in one.__optional_keys__ else ''}: {written(hint)};")
    return "\n".join([*lines, "}\n"])


def _themes() -> list[tuple[str, style.Theme, Look]]:
    """The names of the themes, their colours, and those of polyhedral pictures."""
    from triton_lab.views.polyhedral import polyhedral_style as domains

    return [("light", style.LIGHT, domains.LIGHT), ("dark", style.DARK, domains.DARK)]


def style_module() -> str:
    """The constants of the look as an ES module that exports ``STYLE``."""
    constants: dict[str, Any] = {
        "pattern": {
            "plain": style.PLAIN,
            "stripes": style.STRIPES,
            "hatch": style.HATCH,
            "dots": style.DOTS,
            "cross": style.CROSS,
        },
        "font": style.WEB_FONT,
        "mono": style.WEB_MONO,
        "largestCell": style.LARGEST_CELL,
        "darkestUnderInk": style.DARKEST_UNDER_INK,
        "darkLabel": style.DARK_LABEL,
        "lightLabel": style.LIGHT_LABEL,
        "gapRight": style.PANEL_GAP_RIGHT,
        "gapDown": style.PANEL_GAP_DOWN,
        "programs": {
            "few": len(style.PROGRAM_COLOURS),
            "start": style.PROGRAM,
            "ramp": style.SEQUENTIAL,
            "levels": style.LEVELS,
        },
        "small": style.SMALL * 4 / 3,
        "text": style.TEXT * 4 / 3,
        "themes": {
            name: {**vars(theme), "domain": vars(look), "palette": style.palette(theme).ravel().tolist()}
            for name, theme, look in _themes()
        },
    }
    lines = [f"  {name}: {json.dumps(value, separators=(',', ':'))},\n" for name, value in constants.items()]
    return f"/** {_MADE_OF_STYLE} */\nexport const STYLE = {{\n{''.join(lines)}}};\n"


def glossary_module() -> str:
    """The glossary as an ES module that exports ``GLOSSARY``."""
    lines = [f"  {json.dumps(word)}: {json.dumps(told, ensure_ascii=False)},\n" for word, told in GLOSSARY.items()]
    return f"/** Made from `drawing/glossary.py` {_MADE} */\nexport const GLOSSARY = {{\n{''.join(lines)}}};\n"


def theme_sheet() -> str:
    """The colours as CSS variables: ``--tl-ink``, ``--tl-domain-axis`` and so on."""
    parts = [f"/* {_MADE_OF_STYLE} */\n"]
    for name, theme, look in _themes():
        rules = [f"color-scheme: {name};"]  # for the browser's own controls and scroll bars
        rules += [f"--tl-{key}: var({theirs}, {getattr(theme, key)});" for key, theirs in _OF_THE_NOTEBOOK.items()]
        rules += [f"--tl-{key}: {getattr(theme, key)};" for key in ("error", "warning", "keyword", "string", "number")]
        plain = {key: value for key, value in vars(look).items() if isinstance(value, str)}
        rules += [f"--tl-domain-{key.replace('_', '-')}: {value};" for key, value in plain.items()]
        selector = ".tl-view" if theme is style.LIGHT else f'.tl-view[data-theme="{name}"]'
        parts.append("\n  ".join([f"{selector} {{", *rules]) + "\n}\n")
    return "".join(parts)


FILES: dict[str, Callable[[], str]] = {
    "scenes.d.ts": scene_types,
    "kinds.js": kinds_module,
    "shapes.js": shapes_module,
    "drawing/style.js": style_module,
    "drawing/glossary.js": glossary_module,
    "theme.css": theme_sheet,
}


def main() -> None:
    """Write the files."""
    for name, make in FILES.items():
        (FRONT / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
