"""Hints for names in the lines of a cell that mean nothing, or something else than a kernel."""

from __future__ import annotations

import ast
import contextlib
import linecache
import traceback
import types
from collections.abc import Callable
from typing import Any

from triton_lab.localization import _
from triton_lab.notebook.mistakes.unknown_names import nearest

# The names under which everybody imports a module.
_MODULES = {
    "tl": "triton.language",
    "triton": "triton",
    "torch": "torch",
    "np": "numpy",
    "plt": "matplotlib.pyplot",
    "lab": "triton_lab",
    "math": "math",
    "F": "torch.nn.functional",
}


def _undefined(error: BaseException) -> str:
    """The hint for a name without a value: an import that is missing, a misspelling, or a cell that did not run."""
    if not isinstance(error, NameError) or not error.name:
        return ""
    name = error.name
    if name in _MODULES:
        line = f"import {_MODULES[name]}" + ("" if _MODULES[name] == name else f" as {name}")
        return _("Write `{line}` above, in this cell or in one that has run.").format(line=line)
    frame, _line = list(traceback.walk_tb(error.__traceback__))[-1]
    own = {**frame.f_locals, **frame.f_globals}
    meant = nearest(name, [each for each in own if not each.startswith("_")])
    if meant:
        return _("did you mean `{meant}`?").format(meant=meant)
    return _("Assign `{name}` above this line. If another cell defines it, run that cell first.").format(name=name)


def _no_member(error: BaseException) -> str:
    """The hint for a member of a module that is misspelt; Python says it only where IPython does not print it."""
    if not isinstance(error, AttributeError) or not isinstance(error.obj, types.ModuleType) or not error.name:
        return ""
    meant = nearest(error.name, [each for each in dir(error.obj) if not each.startswith("_")])
    return _("did you mean `{meant}`?").format(meant=meant) if meant else ""


def name_hint(error: BaseException) -> str:
    """A sentence on how to mend a name in a cell that Python does not know; "" if we know none."""
    return next((hint for rule in _RULES if (hint := rule(error))), "")


def no_kernel(error: BaseException) -> str:
    """The hint for ``f[grid](...)`` of a plain function, or of a tensor that has taken the kernel's name."""
    import torch

    name, value = _indexed(error)
    if isinstance(value, types.FunctionType):
        return _("{name} is a plain Python function. A kernel has @triton.jit above its `def`.").format(name=name)
    if isinstance(value, torch.Tensor):
        return _("{name} is a tensor here, not a kernel. Another cell or line may have assigned it.").format(name=name)
    return ""


def _indexed(error: BaseException) -> tuple[str, Any]:
    """``f`` of the call ``f[...](...)`` at which the innermost frame failed: its text and its value."""
    frames = list(traceback.walk_tb(error.__traceback__))
    if not isinstance(error, (TypeError, IndexError)) or not frames:
        return "", None
    frame, line = frames[-1]
    known = {**frame.f_globals, **frame.f_locals}
    with contextlib.suppress(SyntaxError):
        tree = ast.parse("".join(linecache.getlines(frame.f_code.co_filename)))
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Subscript(value=ast.Name(id=name)), lineno=first, end_lineno=last):
                    if first <= line <= (last or first) and name in known:
                        return name, known[name]
    return "", None


_RULES: tuple[Callable[[BaseException], str], ...] = (_undefined, _no_member)
