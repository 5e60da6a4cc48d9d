"""A plain cell that ends with a launch shows what Triton gives, a `CompiledKernel`: here it is told in words."""

from __future__ import annotations

from typing import Any

# By name, so that Triton is not imported for it.
_CLASS = ("triton.compiler.compiler", "CompiledKernel")
_SHOWN_BY = "%%triton as the cell's first line shows what a launch did; so does lab.record()."


def offer(shell: Any) -> None:
    """Say in words what such an object is, where an IPython shell prints one."""
    _printing(shell).for_type_by_name(*_CLASS, lambda kernel, printer, cycle: printer.text(told(kernel)))


def withdraw(shell: Any) -> None:
    """Leave it to Triton again."""
    printing = _printing(shell)
    for type in [one for one in printing.type_printers if (one.__module__, one.__name__) == _CLASS]:
        printing.pop(type)
    printing.deferred_printers.pop(_CLASS, None)


def _printing(shell: Any) -> Any:
    return shell.display_formatter.formatters["text/plain"]


def told(kernel: Any) -> str:
    """``add_kernel(x_ptr: *fp32, n: i32, BLOCK=128), compiled for the CPU target``, and how to see what it did."""
    target = kernel.metadata.target
    where = {"cpu": "the CPU target", "cuda": f"sm_{target.arch}"}.get(target.backend, str(target.arch))
    return f"{kernel.metadata.name}{_signature(kernel.src)}, compiled for {where}\n{_SHOWN_BY}"


def _signature(source: Any) -> str:
    """The arguments with their types, or what they were when it was compiled; nothing where no Python stands behind."""
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
