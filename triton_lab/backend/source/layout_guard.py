"""Refuses layouts that Triton's compiler cannot work with: operands that a tensor core cannot read, views of buffers
whose layout has fewer axes.

With some of them the compiler ends the process, and the CPU target would run a kernel that no GPU does.
"""

from __future__ import annotations

import functools
import re
from typing import Any

from triton_lab.localization import _

_SHARED, _REGISTERS = "#ttg.nvmma_shared<", "#ttg.dot_op<"
_PLAIN = re.compile(
    r"<((?:\d+x)+)\w+, #ttg\.nvmma_shared<\{swizzlingByteWidth = 0, transposed = (\w+), elementBitWidth = (\d+)"
)
# Bits of an element and bytes of a line with which Triton's compiler finds a tensor core's matrices without a swizzle.
TAKEN = (16, 32)


def guard() -> None:
    """From now on such a product or view is an error at its line, as others are that Triton's front end finds."""
    from triton._C.libtriton import gluon_ir
    from triton.experimental.gluon.language._semantic import GluonSemantic

    for name, called in (("memdesc_reshape", "reshape"), ("memdesc_trans", "permute")):
        made = getattr(GluonSemantic, name)
        if not getattr(made, "guarded", False):
            setattr(GluonSemantic, name, _of_all_axes(made, called))
    builder: Any = gluon_ir.GluonOpBuilder
    for name, called in (("create_warpgroup_mma", "warpgroup_mma"), ("create_tcgen05_mma", "tcgen05_mma")):
        made = getattr(builder, name)
        if not getattr(made, "guarded", False):
            setattr(builder, name, _guarded(made, called))


def _guarded(made: Any, called: str) -> Any:
    @functools.wraps(made)
    def guarded(self: Any, a: Any, b: Any, *rest: Any) -> Any:
        for operand, name in ((a, "a"), (b, "b")):
            if called == "warpgroup_mma":
                _check_kind(operand, name, (_SHARED, _REGISTERS) if name == "a" else (_SHARED,))
            _check_swizzle(operand, name, called)
        return made(self, a, b, *rest)

    guarded.guarded = True  # type: ignore[attr-defined]
    return guarded


def _of_all_axes(made: Any, called: str) -> Any:
    @functools.wraps(made)
    def guarded(self: Any, buffer: Any, *rest: Any) -> Any:
        layout, shape = buffer.type.layout, tuple(buffer.type.shape)
        spread = getattr(layout, "order", None) or getattr(layout, "shape", None) or shape
        axes = getattr(layout, "rank", None) or len(spread)
        if axes != len(shape):
            raise ValueError(
                _(
                    "{called} cannot view the whole buffer of shape {shape}, since its layout has {axes} axes: take "
                    "one part first, as buffer.index(0).{called}(...), or give it a layout of {many} axes"
                ).format(called=called, shape=shape, axes=axes, many=len(shape))
            )
        return made(self, buffer, *rest)

    guarded.guarded = True  # type: ignore[attr-defined]
    return guarded


def _check_kind(operand: Any, name: str, allowed: tuple[str, ...]) -> None:
    spelled = str(operand.get_type())
    if not any(layout in spelled for layout in allowed):
        raise ValueError(
            _(
                "warpgroup_mma cannot read {name} in this layout: give its buffer a gl.NVMMASharedLayout, as "
                "gl.NVMMASharedLayout.get_default_for(shape, dtype)"
            ).format(name=name)
            + (_(", or load it as gl.DotOperandLayout(0, the layout of acc, 2)") if len(allowed) > 1 else "")
        )


def _check_swizzle(operand: Any, name: str, called: str) -> None:
    plain = _PLAIN.search(str(operand.get_type()))
    if plain is None:
        return
    shape = [int(size) for size in plain[1].split("x")[:-1]]
    bits = int(plain[3])
    line = (shape[0] if plain[2] == "true" else shape[-1]) * bits // 8
    if (bits, line) != TAKEN:
        raise ValueError(
            _(
                "{called} cannot read {name} without a swizzle: its lines have {line} bytes. Give its buffer, and the "
                "descriptor that fills it, gl.NVMMASharedLayout.get_default_for(shape, dtype)"
            ).format(called=called, name=name, line=line)
        )
