"""What a kernel depends on outside its own text: the globals, closure variables and helpers that it names."""

from __future__ import annotations

from collections.abc import Iterable
from types import CodeType, ModuleType
from typing import Any


def fingerprint(kernel: Any, seen: frozenset[int] = frozenset()) -> tuple[Any, ...]:
    """What a kernel's meaning depends on outside its own text: values, and helpers by identity and text."""
    from triton.language import constexpr, dtype

    result: list[Any] = []
    for name, value in used(kernel):
        helper = as_callable(value)
        if helper is not None:
            inner = () if id(helper) in seen else fingerprint(helper, seen | {id(kernel)})
            result.append((name, id(helper), helper.src, inner))
        elif isinstance(value, (int, float, str, bool, tuple, type(None))):
            result.append((name, type(value), value))
        elif isinstance(value, (constexpr, dtype)):
            result.append((name, type(value), repr(value)))
    return tuple(result)


def used(kernel: Any) -> Iterable[tuple[str, Any]]:
    """The globals and closure variables that the kernel's code names, with their present values.

    For a module, the attributes that the code names (those of Triton's own modules do not change). None if Inductor
    released the function after it had written everything into its text.
    """
    if kernel.fn is None:
        return
    names = list(_names(kernel.fn.__code__))
    for name in names:
        if name in kernel.fn.__globals__:
            value = kernel.fn.__globals__[name]
            yield name, value
            if isinstance(value, ModuleType) and value.__name__.split(".")[0] != "triton":
                yield from ((f"{name}.{part}", value.__dict__[part]) for part in names if part in value.__dict__)
    for name, cell in zip(kernel.fn.__code__.co_freevars, kernel.fn.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue


def _names(code: CodeType) -> Iterable[str]:
    """The names in a function's code and in code nested in it (comprehensions have their own code)."""
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def as_callable(value: Any) -> Any:
    """``value`` if it is a function that kernels call, else None."""
    from triton.runtime.jit import JITCallable

    return value if isinstance(value, JITCallable) else None
