"""Prints Triton's module in MLIR's generic form, which `parse_plan` reads.

Triton's bindings print modules in the pretty form, whose syntax differs for every operation and version. MLIR falls
back to the generic form for a module that does not verify. So a function whose body has no end is added before
printing; it is not read back.
"""

from __future__ import annotations

from typing import Any

_MARKER = "triton_lab_prints_the_generic_form"


def simplify(module: Any) -> None:
    """Inline calls, fold constants and drop dead code. No accesses are merged or moved.

    Common subexpressions are not merged, on purpose: two loads in the source remain two loads.
    """
    from triton._C.libtriton import ir, passes

    manager = ir.pass_manager(module.context)
    passes.common.add_inliner(manager)
    if hasattr(passes.ttir, "add_rewrite_tensor_pointer"):
        # Block pointers, where this version has them, become ordinary ones.
        passes.ttir.add_rewrite_tensor_pointer(manager)
    passes.common.add_canonicalizer(manager)
    passes.common.add_symbol_dce(manager)
    try:
        manager.run(module, "triton_lab")
    except TypeError:  # older versions take no name
        manager.run(module)


def choose_layouts(module: Any) -> None:
    """For a module of Gluon: inline calls, and choose the layouts that its source leaves to the compiler."""
    from triton._C.libtriton import ir, passes

    manager = ir.pass_manager(module.context)
    passes.gluon.add_inliner(manager)
    passes.gluon.add_infer_coalesced_encodings(manager)
    passes.gluon.add_resolve_auto_encodings(manager)
    passes.gluon.add_canonicalizer(manager)
    passes.common.add_symbol_dce(manager)
    manager.run(module, "triton_lab")


def generic_text(module: Any) -> str:
    """``module`` in MLIR's generic form. The module is unusable afterwards."""
    from triton._C.libtriton import ir

    builder = ir.builder(module.context)
    marker = builder.get_or_insert_function(module, _MARKER, builder.get_function_ty([], []), "private", True)
    marker.add_entry_block()
    module.push_back(marker)
    return str(module)
