"""Runs Triton's front end in this process: it reads the kernel for a target and returns its module as text."""

from __future__ import annotations

import dataclasses
import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from triton_lab.compiled.architecture import Architecture
from triton_lab.localization import _

# The function that `generic_text` adds; the compiler must not see it.
_MARKER = re.compile(r'^  "tt\.func".*"triton_lab_prints_the_generic_form"(?:.*\n)*?  \}\).*\n', re.MULTILINE)


@dataclass(frozen=True)
class Request:
    """What to compile: a kernel's module for a target.

    ``module`` is the front end's, in MLIR's generic form, which also keeps the names of variables that loops carry.
    ``options`` are Triton's, as JSON. ``language`` is TRITON or GLUON, as Triton's compiler names it: the front end of
    Gluon writes TTGIR, so that the compilation begins there. Without ``disassembled`` the machine code stays bytes,
    which takes a fifth of the time.
    """

    kernel: str
    target: Architecture
    module: str
    options: str
    language: str = "TRITON"
    disassembled: bool = True


def read(source: Any, architecture: Architecture, given: Mapping[str, Any]) -> Request:
    """The request for ``source`` (an ASTSource). Raises what Triton's front end raises, and ValueError for options."""
    from triton._C.libtriton import ir
    from triton.compiler.compiler import filter_traceback, make_backend

    from triton_lab.backend.source import atomic_guard, layout_guard, recursion_depth
    from triton_lab.ir.lower import generic_text

    layout_guard.guard()
    atomic_guard.guard()
    # The code that explains front-end errors looks for these names.
    src, target = source, architecture.target
    backend = make_backend(target)
    chosen = options_of(backend, architecture, given)
    options = backend.parse_options(dict(chosen))
    codegen_fns = backend.get_codegen_implementation(options)
    module_map = recursion_depth.watched(backend.get_module_map())
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    try:
        module = src.make_ir(target, options, codegen_fns, module_map, context)
    except Exception as error:
        filter_traceback(error)
        raise
    finally:
        recursion_depth.ended()
    module_text = without_marker(generic_text(module))
    return Request(src.name, architecture, module_text, json.dumps(chosen, sort_keys=True), src.language.name)


def without_marker(text: str) -> str:
    """A module's text in generic form, without the function that makes MLIR print that form."""
    found, number = _MARKER.subn("", text)
    assert number == 1, "the text of a module holds the added function once"
    return found


def options_of(backend: Any, architecture: Architecture, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options for Triton. Raises ValueError for an option that the target lacks, or an invalid value."""
    from triton import knobs

    kind = type(backend.parse_options({"enable_fp_fusion": True}))
    known = [field.name for field in dataclasses.fields(kind)]
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.0)
            raise ValueError(
                _("{target} has no option {name}; its options are {names}").format(
                    target=architecture.name, name=repr(name), names=", ".join(near)
                )
            )
        if name in ("num_warps", "num_stages", "num_ctas") and (not isinstance(value, int) or value < 1):
            raise ValueError(_("{name}={value}: the number must be above 0").format(name=name, value=repr(value)))
    warps = given.get("num_warps", 1)
    if warps & (warps - 1):
        raise ValueError(_("num_warps={warps}: the number must be a power of 2").format(warps=warps))
    # Triton's own default, given explicitly: Triton remarks on it otherwise.
    return {"enable_fp_fusion": bool(knobs.language.default_fp_fusion), **given}
