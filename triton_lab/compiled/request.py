"""Turns a kernel, a signature and constants, as a user writes them, into Triton's compiler input."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from triton_lab.compiled.layouts.layout import layout
from triton_lab.compiled.layouts.layout_error import LayoutError
from triton_lab.localization import _

Signature = Mapping[str, str] | Sequence[str] | str
# The fact that Triton's front end records about 16: an address or number is a multiple of it.
_MULTIPLE_OF_16 = ["tt.divisibility", 16]


def source_of(kernel: Any, signature: Signature, constants: Mapping[str, Any]) -> Any:
    """Triton's ASTSource, or GluonASTSource for a Gluon kernel.

    Raises TypeError for what is no kernel, ValueError for a signature that does not fit it.
    """
    function = _function(kernel)
    names = list(function.arg_names)
    fixed = _constants(function, names, constants)
    given = _given(function, signature, [name for name in names if name not in fixed])
    types, attributes = {}, {}
    for position, name in enumerate(names):
        if name in fixed:
            types[name] = "constexpr"
            continue
        if name not in given:
            raise ValueError(
                _("{function}: the signature has no type for {name}. Add a type, or give a constant").format(
                    function=function.__name__, name=name
                )
            )
        types[name], _unused, hint = given[name].replace(" ", "").partition(":")
        _check_type(function, name, types[name])
        if hint not in ("", "16"):
            raise ValueError(
                _("{name}: {given} may end only in :16, which means a multiple of 16").format(
                    name=name, given=repr(given[name])
                )
            )
        if hint:
            attributes[(position,)] = [_MULTIPLE_OF_16]
    return _source_class(function)(function, types, fixed, attributes)


def _source_class(function: Any) -> Any:
    if function.is_gluon():
        from triton.experimental.gluon._runtime import GluonASTSource

        return GluonASTSource
    from triton.compiler import ASTSource

    return ASTSource


def _function(kernel: Any) -> Any:
    from triton.runtime.jit import JITFunction, KernelInterface

    found = kernel
    while isinstance(found, KernelInterface) and not isinstance(found, JITFunction) and hasattr(found, "fn"):
        found = found.fn
    if not isinstance(found, JITFunction):
        raise TypeError(
            _("{kernel} is not a kernel: only a function with @triton.jit or @gluon.jit can be compiled").format(
                kernel=repr(kernel)
            )
            + (_(", defined without TRITON_INTERPRET=1") if type(found).__name__ == "InterpretedFunction" else "")
        )
    return found


def _constants(function: Any, names: Sequence[str], constants: Mapping[str, Any]) -> dict[str, Any]:
    """The given constants, and the defaults of other tl.constexpr parameters."""
    _check_names(function, constants, names, "constant")
    fixed = {name: constants[name] for name in names if name in constants}
    for parameter in function.params:
        if parameter.is_constexpr and parameter.name not in fixed:
            if parameter.default is inspect.Parameter.empty:
                raise ValueError(
                    _("{function}: {name} is tl.constexpr and needs a value: constants={{{name2}: ...}}").format(
                        function=function.__name__, name=parameter.name, name2=repr(parameter.name)
                    )
                )
            fixed[parameter.name] = parameter.default
    return {name: fixed[name] for name in names if name in fixed}


def _given(function: Any, signature: Signature, open_names: Sequence[str]) -> dict[str, str]:
    """The types by name; a list or a text gives the types of the non-constant parameters, in order."""
    if isinstance(signature, Mapping):
        _check_names(function, signature, function.arg_names, "type")
        return {name: type for name, type in signature.items() if type != "constexpr"}
    listed = _types(signature) if isinstance(signature, str) else list(signature)
    if len(listed) != len(open_names):
        raise ValueError(
            _(
                "{function}: the signature has {listed} types for {open_names} parameters that are no "
                "constants: {open_names2}"
            ).format(
                function=function.__name__,
                listed=len(listed),
                open_names=len(open_names),
                open_names2=", ".join(open_names) or "none",
            )
        )
    return dict(zip(open_names, listed, strict=True))


def _types(text: str) -> list[str]:
    """The types in a text: commas inside of brackets, as descriptors have them, separate none."""
    found, depth = [""], 0
    for character in text:
        depth += (character in "<[(") - (character in ">])")
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return [one.strip() for one in found if one.strip()]


def _check_names(function: Any, asked: Iterable[str], names: Sequence[str], what: str) -> None:
    for name in asked:
        if name not in names:
            near = difflib.get_close_matches(str(name), names, n=len(names), cutoff=0.0)
            raise ValueError(
                _("{function} has no parameter {name} for the {what}; it has {near}").format(
                    function=function.__name__, name=repr(name), what=what, near=", ".join(near) or "none"
                )
            )


def _check_type(function: Any, name: str, type: str) -> None:
    from triton.compiler.code_generator import str_to_ty

    try:
        found = str_to_ty(type, None)
    except Exception:
        raise ValueError(
            _(
                "{function}: {type} is not a type for {name}. Write fp32, fp16, bf16, fp64, fp8e5, "
                "fp8e4nv, i1, i8, i16, i32, i64, u32 and the like, with a * before it for a pointer"
            ).format(function=function.__name__, type=repr(type), name=name)
        ) from None
    if hasattr(found, "block_type") and hasattr(found, "layout"):  # Triton's compiler ends for blocks that do not fit
        block = found.block_type
        try:
            shape, bits = [int(size) for size in block.shape], block.element_ty.primitive_bitwidth
            _unused = layout(found.layout, shape, bits=bits).linear
        except LayoutError as error:
            raise ValueError(
                _("{function}: the block of {name} does not fit its layout: {error}").format(
                    function=function.__name__, name=name, error=error
                )
            ) from None
