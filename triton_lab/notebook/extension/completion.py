"""Completion and descriptions for writing kernels, in every front end: IPython asks us besides its own completer.

The completer offers the names of ``triton.language`` with their kinds, the parameters of its functions,
``tl.constexpr`` in annotations of parameters, dtypes where one is expected, and the options of the ``%%triton`` line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from triton_lab.notebook.extension import triton_language

DESCRIPTION = "application/vnd.triton-lab.description.v1+json"

_MAGIC = re.compile(r"\s*%%triton(?=\s)")
_NAME = re.compile(r"((?:[^\W\d]\w*\.)+)(\w*)$")
_ANNOTATION = re.compile(r"(?:^|[(,])\s*\w+\s*:\s*(\w*)$")
_DTYPE = re.compile(r"(?:\bdtype\s*=|\.to\()\s*(\w*)$")
_CALL = re.compile(r"((?:[^\W\d]\w*\.)+[^\W\d]\w*)\(((?:[^()]|\([^()]*\))*)$")
_KEYWORD = re.compile(r"(?:^|,)\s*(\w*)$")
# The fragment before the cursor, and its possible replacements, each with its kind.
Found = tuple[str, list[tuple[str, str]]]
NOTHING: Found = ("", [])


def offer(shell: Any) -> None:
    """Add completion and descriptions to this shell. Nothing is imported before the first request."""
    from IPython.core.completer import context_matcher

    completer = getattr(shell, "Completer", None)
    if completer is None or any(getattr(one, "triton_lab", False) for one in completer.custom_matchers):
        return

    @context_matcher()  # type: ignore[untyped-decorator]
    def triton_matcher(context: Any) -> Any:
        fragment, items = completions(context.full_text, context.cursor_line, _before(context), shell.user_ns)
        return _result(fragment, items)

    triton_matcher.triton_lab = True
    completer.custom_matchers.append(triton_matcher)
    hooks = getattr(getattr(shell, "inspector", None), "mime_hooks", None)
    if hooks is not None:
        shell.inspector.mime_hooks = {**hooks, "text/plain": _Told(hooks.get("text/plain")), DESCRIPTION: record}


def withdraw(shell: Any) -> None:
    """Remove completion and descriptions from the shell."""
    completer = getattr(shell, "Completer", None)
    if completer is not None:
        matchers = completer.custom_matchers
        matchers[:] = [one for one in matchers if not getattr(one, "triton_lab", False)]
    hooks = getattr(getattr(shell, "inspector", None), "mime_hooks", None) or {}
    if DESCRIPTION in hooks:
        before = {"text/plain": hooks["text/plain"].before} if hooks["text/plain"].before else {}
        others = {key: hook for key, hook in hooks.items() if key not in ("text/plain", DESCRIPTION)}
        shell.inspector.mime_hooks = others | before


def _before(context: Any) -> str:
    """The line up to the cursor."""
    return str(context.line_with_cursor[: context.cursor_position])


def _result(fragment: str, items: Iterable[tuple[str, str]]) -> Any:
    from IPython.core.completer import SimpleCompletion

    offered = [SimpleCompletion(text=text, type=kind) for text, kind in items]
    # IPython would only repeat Triton's names without their kinds.
    return {"completions": offered, "suppress": bool(offered), "matched_fragment": fragment, "ordered": True}


def completions(code: str, line: int, before: str, namespace: dict[str, Any]) -> Found:
    """The fragment before the cursor, and its possible replacements.

    ``code`` is the cell, ``line`` the number of the cursor's line, from 0, and ``before`` that line up to the cursor.
    """
    lines = code.split("\n")
    if _MAGIC.match(before) and not "".join(lines[:line]).strip():
        return _options(before)
    for kind in (_members, _annotations, _dtypes, _keywords):
        found = kind(code, line, before, namespace)
        if found[1]:
            return found
    return NOTHING


def _options(before: str) -> Found:
    """Completions on the ``%%triton`` line."""
    from triton_lab.notebook.cell.magic_options import COMPILED_FOR, FLAGS, TARGETS, VIEWS
    from triton_lab.views.launch.card.launch_tabs import COMPILED_SHOWN

    *words, last = _MAGIC.sub("", before).split(" ")
    words = [word for word in words if word]
    flag, has_value, value = last.partition("=")
    if not has_value and words and words[-1] in ("--show", "--compile"):
        flag, value = words[-1], last
    fragment = value.rpartition(",")[2]
    compiled = any(word.partition("=")[0] == "--compile" for word in words)
    values = {"--show": ((*VIEWS, *(COMPILED_SHOWN if compiled else ())), "view"), "--compile": (COMPILED_FOR, "GPU")}
    if (has_value or value or flag != last) and flag in values:
        names, kind = values[flag]
        taken = value.split(",")[:-1]
        left = [name for name in names if name not in taken]
        # Where none begins so, all are offered: IPython would offer files.
        begun = [name for name in left if name.startswith(fragment)] or left
        return fragment, [(name, kind) for name in begun]
    targets = [] if set(words) & set(TARGETS) else [(name, "target") for name in TARGETS]
    flags = [(one.names[0], "option") for one in FLAGS if one.names[0] not in words]
    return last, [(name, kind) for name, kind in [*targets, *flags] if name.startswith(last)]


def _members(code: str, line: int, before: str, namespace: dict[str, Any]) -> Found:
    """Completions of a member: ``tl.lo``"""
    match = _NAME.search(before)
    if match is None:
        return NOTHING
    module = triton_language.found(match[1].rstrip("."), code, namespace)
    if not isinstance(module, ModuleType):
        return NOTHING
    return match[2], [(name, kind) for name, kind in triton_language.members(module) if name.startswith(match[2])]


def _annotations(code: str, line: int, before: str, namespace: dict[str, Any]) -> Found:
    """Completions of an annotation: ``def kernel(x_ptr, BLOCK: ``"""
    match = _ANNOTATION.search(before)
    _, *behind = re.split(r"\bdef \w+\(", "\n".join([*code.split("\n")[:line], before]))
    if match is None or not behind or _closes(behind[-1]):
        return NOTHING
    return _of_language(code, namespace, match[1], ["constexpr"])


def _closes(text: str) -> bool:
    """Whether the parenthesis before a text is closed in it."""
    depth = 1
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return True
    return False


def _dtypes(code: str, line: int, before: str, namespace: dict[str, Any]) -> Found:
    """Completions of a dtype: ``dtype=`` and ``x.to(``"""
    match = _DTYPE.search(before)
    return NOTHING if match is None else _of_language(code, namespace, match[1], triton_language.dtypes())


def _of_language(code: str, namespace: dict[str, Any], fragment: str, names: Iterable[str]) -> Found:
    """Names of ``triton.language`` as this cell writes them."""
    known = triton_language.modules(code, namespace).items()
    alias = next((name for name, module in known if module.__name__ == "triton.language"), None)
    if alias is None:
        return NOTHING
    module = dict(known)[alias]
    written = [(f"{alias}.{name}", triton_language.kind_of(getattr(module, name, None))) for name in names]
    return fragment, [one for one in written if one[0].startswith(fragment) or one[0].startswith(f"{alias}.{fragment}")]


def _keywords(code: str, line: int, before: str, namespace: dict[str, Any]) -> Found:
    """Completions of a keyword: ``tl.load(x_ptr, ma``"""
    match = _CALL.search(before)
    keyword = None if match is None else _KEYWORD.search(match[2])
    if match is None or keyword is None:
        return NOTHING
    value = triton_language.found(match[1], code, namespace)
    if value is None or triton_language.described(match[1], value) is None:
        return NOTHING
    given = set(re.findall(r"(\w+)\s*=", match[2]))
    names = [one.name for one in triton_language.parameters(value) if one.name not in given]
    return keyword[1], [(f"{name}=", "param") for name in names if keyword[1] and name.startswith(keyword[1])]


def record(data: Any, info: Any = None) -> dict[str, str] | None:
    """A description of an object of the language, which IPython sends beside its text to front ends that know it.

    IPython before 8.22 passes the object itself.
    """
    return _record(data.obj if info is None else data)


def _record(value: Any) -> dict[str, str] | None:
    name = getattr(getattr(value, "fn", value), "__name__", "") or str(value)
    told = triton_language.described(f"tl.{name}", value)
    return None if told is None else {"signature": told.signature or told.name, "kind": told.kind, "text": told.text}


class _Told:
    """The same description as text: IPython's own would show parameters that no caller can pass."""

    def __init__(self, before: Any) -> None:
        self.before = before

    def __call__(self, data: Any, info: Any = None) -> Any:
        told = record(data, info)
        if told is None:
            return None if self.before is None else self.before(*([data] if info is None else [data, info]))
        return [("Signature", told["signature"]), ("Docstring", told["text"])]
