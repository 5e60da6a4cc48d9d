"""The words for a `CompiledKernel`, which Triton returns from a launch, at the end of a plain cell."""

from __future__ import annotations

from typing import Any

from triton_lab.localization import N_, _, translated

# By name, so that Triton need not be imported.
_CLASS = ("triton.compiler.compiler", "CompiledKernel")
_SHOWN_BY = N_("To see what a launch does, begin the cell with %%triton, or use lab.record().")


def offer(shell: Any) -> None:
    """Describe such objects in words when an IPython shell prints them."""
    _printing(shell).for_type_by_name(*_CLASS, lambda kernel, printer, cycle: printer.text(told(kernel)))


def withdraw(shell: Any) -> None:
    """Leave such objects to Triton again."""
    printing = _printing(shell)
    for type in [one for one in printing.type_printers if (one.__module__, one.__name__) == _CLASS]:
        printing.pop(type)
    printing.deferred_printers.pop(_CLASS, None)


def _printing(shell: Any) -> Any:
    return shell.display_formatter.formatters["text/plain"]


def told(kernel: Any) -> str:
    """The words: ``add_kernel(x_ptr: *fp32, n: i32, BLOCK=128), compiled for the CPU target``, and what to do next."""
    target = kernel.metadata.target
    where = {"cpu": "the CPU target", "cuda": f"sm_{target.arch}"}.get(target.backend, str(target.arch))
    return _("{name}{signature}, compiled for {where}\n{shown_by}").format(
        name=kernel.metadata.name, signature=_signature(kernel.src), where=where, shown_by=translated(_SHOWN_BY)
    )


def _signature(source: Any) -> str:
    """The arguments with their types, or their values if constant; "" if the kernel comes from no Python function."""
    function = getattr(source, "fn", None)
    if function is None:
        return ""
    constants = {function.arg_names[path[0]]: value for path, value in source.constants.items() if len(path) == 1}
    return f"({', '.join(_argument(name, type, constants) for name, type in source.signature.items())})"


def _argument(name: str, type: Any, constants: dict[str, Any]) -> str:
    if name not in constants:
        return f"{name}: {type}" if isinstance(type, str) else name
    value = constants[name]
    return f"{name}={getattr(value, '__name__', None) or repr(value).replace('triton.language.', 'tl.')}"
