"""A key for a kernel's current meaning: its text and place, and those of everything it uses."""

from __future__ import annotations

from typing import Any

from triton_lab.backend.source.kernel_dependencies import as_callable, used


def meaning(kernel: Any, seen: frozenset[int] = frozenset()) -> tuple[Any, ...]:
    """A key that is equal for kernels that give the same module, line numbers and file names included."""
    from triton.language import constexpr, dtype

    result: list[Any] = [kernel.src, kernel.starting_line_number, kernel.fn and kernel.fn.__code__.co_filename]
    for name, value in used(kernel):
        helper = as_callable(value)
        if helper is not None:
            inner = () if id(helper) in seen or not hasattr(helper, "src") else meaning(helper, seen | {id(kernel)})
            result.append((name, inner))
        elif isinstance(value, (int, float, str, bool, tuple, type(None), constexpr, dtype)):
            result.append((name, type(value), repr(value)))
        else:
            result.append((name, id(value)))
    return tuple(result)
