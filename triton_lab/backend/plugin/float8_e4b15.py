"""Converts fp8 e4m3b15, the one number format that the front end converts itself.

MLIR has no type for it, so its values are 8-bit integers in the IR, and each backend provides the conversions to fp16
and back. Ours calls two functions that the interpreter knows.
"""

from __future__ import annotations

from typing import Any

from triton.language import core

from triton_lab.localization import _

TO_FLOAT16 = "triton_lab_e4m3b15_to_f16"
FROM_FLOAT16 = "triton_lab_f16_to_e4m3b15"


def convert_custom_types(arg: Any, dst_ty: Any, fp_downcast_rounding: Any = None, _semantic: Any = None) -> Any:
    """``arg`` (e4m3b15, fp16 or fp32) as ``dst_ty``; fp32 is first cut to fp16, towards zero."""
    if arg.type.scalar.is_fp8e4b15():
        wide = _call(TO_FLOAT16, arg, core.float16, _semantic)
        return wide.to(core.float32, _semantic=_semantic) if dst_ty.scalar.is_fp32() else wide
    if not (arg.type.scalar.is_fp16() or arg.type.scalar.is_fp32()):
        raise TypeError(
            _("no GPU converts {scalar} to fp8e4b15: only fp16 and fp32 are; write x.to(tl.float32) first").format(
                scalar=arg.type.scalar
            )
        )
    if arg.type.scalar.is_fp32():
        arg = arg.to(core.float16, fp_downcast_rounding="rtz", _semantic=_semantic)
    return _call(FROM_FLOAT16, arg, core.float8e4b15, _semantic)


def _call(symbol: str, arg: Any, result: Any, semantic: Any) -> Any:
    type = arg.type.with_element_ty(result) if arg.type.is_block() else result
    handle = semantic.builder.create_extern_elementwise(
        "", "", symbol, [arg.handle], type.to_ir(semantic.builder), True
    )
    return semantic.tensor(handle, type)
