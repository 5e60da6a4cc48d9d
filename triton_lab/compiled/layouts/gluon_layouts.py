"""Gluon's layout objects, ``gl.BlockedLayout(...)`` and all others, as the text that TTGIR has for them."""

from __future__ import annotations

import re
import sys
from typing import Any

from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.localization import _

_PACKAGE = "triton.experimental.gluon."
_OPEN = "gluon."  # the dialect of layouts that the compiler still has to choose
_VALUE = re.compile(r"\{triton_lab = (#.*)\} : \(\) -> \(\)")
_ALIAS = re.compile(r"^#\w+ = #tt.*$", re.MULTILINE)


def is_gluon_layout(value: object) -> bool:
    """Whether this is one of Gluon's layouts, or a constexpr of one. Imports nothing."""
    kind = type(_inner(value))
    return kind.__module__.startswith(_PACKAGE) and hasattr(kind, "_to_ir")


def text_of(value: Any) -> str:
    """The layout as TTGIR's text, after the lines of its aliases: Triton itself writes it.

    Raises LayoutError for a layout that Triton refuses, and for one that its compiler has yet to choose.
    """
    from triton._C.libtriton import gluon_ir, ir

    layout = _inner(value)
    context = ir.context()
    ir.load_dialects(context)
    module = ir.builder(context).create_module()
    try:
        module.set_attr("triton_lab", layout._to_ir(gluon_ir.GluonOpBuilder(context)))
    except Exception as error:  # Gluon asserts, and MLIR's verifier raises what it likes
        raise LayoutError(
            _("Triton refuses {layout}: {error}").format(layout=repr(layout), error=error or type(error).__name__)
        ) from None
    printed = str(module)
    found = _VALUE.search(printed)
    if found is None:
        raise LayoutError(_("Triton does not print {layout} as a layout").format(layout=repr(layout)))
    if found[1].startswith(f"#{_OPEN}"):
        raise LayoutError(
            _("{type} is chosen by the compiler: compile the kernel, and see compiled.layouts").format(
                type=type(layout).__name__
            )
        )
    return "\n".join([*_ALIAS.findall(printed), found[1]])


def _inner(value: Any) -> Any:
    language = sys.modules.get("triton.language.core")
    return value.value if language is not None and isinstance(value, language.constexpr) else value
