"""The names of Triton's language, as the installed Triton has them: signatures and descriptions for the editor.

Triton decorates its functions, so `inspect` shows parameters that only its compiler fills, or the wrapper's signature.
Nothing here imports Triton: before a notebook has done so, there are no descriptions.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

# Parameters that Triton's compiler passes by itself.
_OURS_NOT = frozenset({"_semantic", "_builder", "_generator"})
_ROLE = re.compile(r":[\w:]+:`([^`]*)`")
_DIRECTIVE = re.compile(r"^\s*\.\. .*$", re.MULTILINE)
_IMPORTS = re.compile(r"^\s*(?:import\b.*\btriton\b|from\s+triton\b).*$", re.MULTILINE)


@dataclass(frozen=True)
class NameDescription:
    """A name of the language.

    ``kind`` is ``function``, ``class``, ``dtype``, ``module`` or ``instance``. ``signature`` shows how it is called, ""
    if it is not callable. ``text`` is Triton's own description without Sphinx markup.
    """

    name: str
    kind: str
    signature: str
    text: str


def modules(code: str, namespace: Mapping[str, Any]) -> dict[str, ModuleType]:
    """Triton's modules by their names in a cell.

    The names are those of the notebook's ``namespace`` and of the imports in the cell's ``code``, which need not have
    run.
    """
    found = {name: value for name, value in namespace.items() if isinstance(value, ModuleType) and _is_triton(value)}
    for line in _IMPORTS.findall(code):
        try:
            statement = ast.parse(line.strip()).body[0]
        except (SyntaxError, IndexError):
            continue
        for name, path in _imported(statement):
            if path in sys.modules:
                found[name] = sys.modules[path]
    return found


def _imported(statement: ast.stmt) -> Iterator[tuple[str, str]]:
    """The names that an import binds, each with the module that it would mean."""
    if isinstance(statement, ast.Import):
        for one in statement.names:
            yield (one.asname, one.name) if one.asname else (one.name.partition(".")[0],) * 2
    elif isinstance(statement, ast.ImportFrom) and statement.module:
        for one in statement.names:
            yield one.asname or one.name, f"{statement.module}.{one.name}"


def _is_triton(module: ModuleType) -> bool:
    return module.__name__.partition(".")[0] == "triton"


def found(dotted: str, code: str, namespace: Mapping[str, Any]) -> Any:
    """The value of ``tl.load`` in a cell; None for a name that is not Triton's."""
    first, *rest = dotted.split(".")
    value: Any = modules(code, namespace).get(first)
    for name in rest:
        if not isinstance(value, ModuleType) or not _is_triton(value):
            return None
        value = getattr(value, name, None)
    return value


def members(module: ModuleType) -> list[tuple[str, str]]:
    """The public names of a module, with their kinds."""
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    return [(name, kind_of(getattr(module, name, None))) for name in sorted(names)]


def kind_of(value: Any) -> str:
    if isinstance(value, ModuleType):
        return "module"
    if _is_dtype(value):
        return "dtype"
    if inspect.isclass(value):
        return "class"
    return "function" if callable(value) else "instance"


def _is_dtype(value: Any) -> bool:
    core = sys.modules.get("triton.language.core")
    return core is not None and isinstance(value, core.dtype)


def dtypes() -> list[str]:
    """The names of the dtypes that ``triton.language`` has."""
    language = sys.modules.get("triton.language")
    return [] if language is None else [name for name, kind in members(language) if kind == "dtype"]


def parameters(value: Any) -> list[inspect.Parameter]:
    """The parameters of a function of the language that a caller passes."""
    try:
        signature = inspect.signature(getattr(value, "fn", value))
    except (TypeError, ValueError):
        return []
    return [one for one in signature.parameters.values() if one.name not in _OURS_NOT]


def described(name: str, value: Any) -> NameDescription | None:
    """The description of a name of the language; None if it is not Triton's, or has no description."""
    kind = kind_of(value)
    if kind == "dtype":
        return NameDescription(name, kind, "", _dtype_text(value))
    module = getattr(getattr(value, "fn", value), "__module__", None) or ""
    if kind not in ("function", "class") or module.partition(".")[:1] != ("triton",) or ".language" not in module:
        return None
    plain = [one.replace(annotation=_plain(one.annotation)) for one in parameters(value)]
    called = str(inspect.Signature(plain)) if plain or kind == "function" else ""
    return NameDescription(name, kind, f"{name}{called}", _words(inspect.getdoc(value) or ""))


def _plain(annotation: Any) -> Any:
    """``constexpr`` for a constant, else no annotation: the others are long, and for Triton's own checkers."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    return "constexpr" if "constexpr" in text else inspect.Parameter.empty


def _words(text: str) -> str:
    """A docstring without Sphinx markup; each parameter keeps its description."""
    text = _ROLE.sub(r"`\1`", _DIRECTIVE.sub("", text))
    text = re.sub(r"^:type .*(?:\n[ \t]+.*)*\n?", "", text, flags=re.MULTILINE)
    text = re.sub(r"^:param (?:\w+ )?(\w+):", r"- \1:", text, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"^:returns?:", "gives", text, flags=re.MULTILINE)).strip()


def _dtype_text(value: Any) -> str:
    bits = getattr(value, "primitive_bitwidth", 0)
    return f"dtype {value}" + (f", {bits} bits" if bits else "")
