"""Refuses layouts that make Triton's compiler end the process: operands of wgmma that a tensor core cannot read."""

from __future__ import annotations

import functools
from typing import Any

from triton_lab.localization import _

_SHARED, _REGISTERS = "#ttg.nvmma_shared<", "#ttg.dot_op<"


def guard() -> None:
    """From now on a product of such operands is an error at its line, as others are that Triton's front end finds."""
    from triton._C.libtriton import gluon_ir

    builder: Any = gluon_ir.GluonOpBuilder
    made = builder.create_warpgroup_mma
    if getattr(made, "guarded", False):
        return

    @functools.wraps(made)
    def guarded(self: Any, a: Any, b: Any, *rest: Any) -> Any:
        _check(a, "a", (_SHARED, _REGISTERS))
        _check(b, "b", (_SHARED,))
        return made(self, a, b, *rest)

    guarded.guarded = True  # type: ignore[attr-defined]
    builder.create_warpgroup_mma = guarded


def _check(operand: Any, name: str, allowed: tuple[str, ...]) -> None:
    spelled = str(operand.get_type())
    if not any(layout in spelled for layout in allowed):
        raise ValueError(
            _(
                "warpgroup_mma cannot read {name} in this layout: give its buffer a gl.NVMMASharedLayout, as "
                "gl.NVMMASharedLayout.get_default_for(shape, dtype)"
            ).format(name=name)
            + (_(", or load it as gl.DotOperandLayout(0, the layout of acc, 2)") if len(allowed) > 1 else "")
        )
