"""Names that a kernel cannot use: misspelt, out of reach, Python's own, or of other libraries."""

from __future__ import annotations

import ast
import contextlib
import difflib
import inspect
import re
import types
from collections.abc import Iterable
from typing import Any

from triton_lab.messages import a, count
from triton_lab.notebook.mistakes.assignments import around, bindings, bound_names, holds, reaching
from triton_lab.notebook.mistakes.diagnostic import Told
from triton_lab.notebook.mistakes.front_end_error import KernelText, Refusal, written
from triton_lab.notebook.mistakes.type_names import value_told

# Replacements of functions of Python and of other libraries, if Triton has another name for them.
_INSTEAD = {
    "enumerate": "count with `for i in range(n)`",
    "zip": "count with `for i in range(n)` and index by addresses",
    "round": "use tl.floor(x + 0.5)",
    "pow": "use x * x, or tl.exp2(y * tl.log2(x))",
    "bool": "use `x != 0`",
    "matmul": "use tl.dot",
    "mm": "use tl.dot",
    "concatenate": "use tl.cat or tl.join",
    "tensor": "use tl.full",
    "array": "use tl.full",
    "ones": "use tl.full(shape, 1, dtype)",
    "power": "use x * x, or tl.exp2(y * tl.log2(x))",
    "float": "use x.to(tl.float32)",
    "double": "use x.to(tl.float64)",
    "half": "use x.to(tl.float16)",
    "int": "use x.to(tl.int32)",
    "long": "use x.to(tl.int64)",
    "type": "use x.to(dtype)",
    "astype": "use x.to(dtype)",
    "view": "use x.reshape(...), or x.to(dtype, bitcast=True) for another type of the same bits",
    "size": "pass the size as an argument",
    "stride": "pass the stride as an argument",
    "numel": "pass the number of elements as an argument",
    "transpose": "use tl.trans(x)",
    "item": "reduce it: tl.sum(x)",
    "mean": "use tl.sum(x, axis) / n",
    "relu": "use tl.maximum(x, 0)",
    "data_ptr": "the argument is the pointer itself: add offsets to it",
}


_MEMBERS = "Blocks have .to(dtype), .reshape(...), .sum(axis), .dtype and .shape; most functions are in tl."


def undefined(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A name without a value: a misspelling, an assignment elsewhere, or a function of Python's."""
    name, kernel = found[1], refusal.kernel
    assigned = list(bindings(kernel.tree, name))
    if assigned and refusal.node is not None:
        return _out_of_reach(name, assigned, refusal)
    builtin = __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__)
    if name in builtin:
        return _of_python(name)
    if name in ("inf", "nan"):
        return Told(f"`{name}` is not defined", f'Write float("{name}").')
    near = _near(name, _reachable(refusal))
    message = f"`{name}` is not defined" + (f": did you mean `{near}`?" if near else "")
    advice = "" if near else "Give it a value above this line, or pass it as an argument of the kernel."
    return Told(message, advice)


def _out_of_reach(name: str, assigned: list[ast.stmt], refusal: Refusal) -> Told:
    body, node = refusal.kernel.tree.body, refusal.node
    assert node is not None
    first = min(assigned, key=lambda statement: statement.lineno)
    line = refusal.kernel.line(first)
    if first.lineno >= getattr(node, "lineno", 0):
        return Told(
            f"`{name}` has no value yet: it gets one on line {line}", "Assign it above this line.", (node, first)
        )
    hidden = [outer for outer in around(body, first) if not holds(outer, node)]
    if hidden and isinstance(hidden[0], ast.If):
        return Told(
            f"`{name}` has a value only where the `if` of line {refusal.kernel.line(hidden[0])} goes one way",
            f"Give `{name}` a value of the same type before the `if`, or in its other branch too.",
            (node, first),
        )
    return Told(
        f"`{name}` gets its value inside a loop alone, which may run no time at all",
        f"Give `{name}` a value of the same type before the loop.",
        (node, first),
    )


def _of_python(name: str) -> Told:
    import triton.language as tl

    instead = _INSTEAD.get(name) or (f"use tl.{name}" if hasattr(tl, name) else "")
    return Told(
        f"`{name}` is a function of Python's, which a kernel does not have",
        _sentence(instead) or "Compute it outside and pass the result as an argument.",
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def global_value(refusal: Refusal, found: re.Match[str]) -> Told:
    """A global of the module that is no ``tl.constexpr``."""
    name = found[1]
    value = refusal.kernel.globals.get(name)
    if isinstance(value, (bool, int, float, str)):
        how = f"Write `{name} = tl.constexpr({value!r})` where it is defined, or pass it as a `tl.constexpr` argument."
        return Told(f"`{name}` is a plain global of Python's ({value!r}), which a kernel does not read", how)
    if callable(value):
        return _not_compiled(name, value)
    return Told(
        f"`{name}` is a global of Python's ({type(value).__name__}), which a kernel does not read",
        f"Pass `{name}` as an argument of the kernel.",
    )


def attribute(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A member that does not exist: ``tl.laod``, ``x.size``."""
    owner, name = found[1], found[2]
    node = refusal.node
    if not isinstance(node, ast.Attribute):
        return None
    if owner == "module":
        module, _ = _resolved(node.value, refusal.kernel)
        short = written(node.value)
        near = _near(name, [each for each in dir(module) if not each.startswith("_")]) if module is not None else ""
        instead = _INSTEAD.get(name, "")
        if near and (not instead or "x.to(" in instead):  # the name may be a misspelt type
            return Told(f"{short} has no `{name}`: did you mean `{short}.{near}`?")
        return Told(f"{short} has no `{name}`", _sentence(instead))
    if owner == "tensor":
        import triton.language as tl

        if isinstance(node.value, ast.Name) and (hidden := _hidden_module(node.value.id, name, refusal)):
            return hidden
        instead = _INSTEAD.get(name, "")
        near = "" if instead else _near(name, [each for each in dir(tl.tensor) if not each.startswith("_")])
        whose = f"`{written(node.value)}`"
        if isinstance(node.value, ast.Name) and node.value.id in refusal.scope:
            whose += f" is {value_told(refusal.scope[node.value.id])} and"
        if near:
            return Told(f"{whose} has no `.{name}`: did you mean `.{near}`?")
        return Told(f"{whose} has no `.{name}`", _sentence(instead) or _MEMBERS)
    return None


def _hidden_module(name: str, member: str, refusal: Refusal) -> Told | None:
    """A module that is hidden by a variable or an argument of the kernel with the same name."""
    module = refusal.kernel.globals.get(name)
    if not isinstance(module, types.ModuleType) or not hasattr(module, member):
        return None
    noun, where = _own(name, refusal)
    return Told(
        f"`{name}` is {a(noun)} here ({where}), and hides the module {module.__name__}",
        f"Give the {noun} another name.",
    )


def _own(name: str, refusal: Refusal) -> tuple[str, str]:
    """The statement in the kernel that gave ``name`` a value, in words, and its line."""
    kernel = refusal.kernel
    born = reaching(kernel.tree.body, name, refusal.node or kernel.tree)
    argument = next((each for each in kernel.arguments if each.arg == name), kernel.tree)
    return "variable" if born is not None else "argument", f"line {kernel.line(born or argument)}"


def called_value(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A value that is called: ``max(a, b)`` after ``max = ...``; it hides a function, or is none."""
    node = refusal.node
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in refusal.scope:
        return None
    name = node.func.id
    noun, where = _own(name, refusal)
    return Told(
        f"`{name}` is {a(noun)} here ({where}), {value_told(refusal.scope[name])}, and no function to call",
        f"Where a function `{name}` is meant, give the {noun} another name.",
    )


def foreign_call(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A call of another library's function, which needs a number and gets a block."""
    if not isinstance(refusal.node, ast.Call):
        return None
    value, known = _resolved(refusal.node.func, refusal.kernel)
    return _not_compiled(written(refusal.node.func), value) if known else None


def called_number(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``x.numel()``: a method in torch, a number in Triton."""
    if not isinstance(refusal.node, ast.Call) or not isinstance(refusal.node.func, ast.Attribute):
        return None
    name = refusal.node.func.attr
    message = f"`{written(refusal.node.func)}` is a number in a kernel, and no function to call"
    return Told(message, _sentence(_INSTEAD.get(name, "")) or "Leave the parentheses out.")


# torch's names for arguments of functions that Triton has, too.
_TORCHS = {"dim": "axis", "keepdim": "keep_dims"}


def keyword(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A keyword that the called function does not have."""
    if not isinstance(refusal.node, ast.Call):
        return None
    function, name = refusal.node.func, found[1]
    known = _parameters(function, refusal.kernel)
    near = _TORCHS.get(name) or _near(name, known)
    message = f"{written(function)} has no argument `{name}`" + (f": did you mean `{near}`?" if near else "")
    return Told(message, f"Its arguments are {', '.join(known)}." if known else "")


def too_many(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A call of a helper with too many arguments."""
    if not isinstance(refusal.node, ast.Call):
        return None
    known = _parameters(refusal.node.func, refusal.kernel)
    takes = f"{written(refusal.node.func)} takes {', '.join(known) or 'none'}"
    return Told(f"the call gives {count(len(refusal.node.args), 'argument')}, and {takes}", "Leave the others out.")


def _parameters(function: ast.expr, kernel: KernelText) -> list[str]:
    """The names of the parameters of a function called in a kernel, without those that Triton fills."""
    value, _ = _resolved(function, kernel)
    with contextlib.suppress(TypeError, ValueError):
        return [name for name in inspect.signature(getattr(value, "fn", value)).parameters if name[0] != "_"]
    return []


def not_compiled(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A function that Triton cannot compile, because it lacks ``@triton.jit`` or is not written in Python."""
    for node in ast.walk(refusal.kernel.tree):
        if isinstance(node, (ast.Name, ast.Attribute)):
            value, known = _resolved(node, refusal.kernel)
            if known and repr(value) == found[1]:
                told = _not_compiled(written(node), value)
                return Told(told.message, told.advice, (node,))
    return None


def _not_compiled(name: str, value: Any) -> Told:
    import triton.language as tl

    last = name.rsplit(".", 1)[-1]
    if isinstance(value, types.FunctionType) and not _is_of_a_library(value):
        return Told(
            f"`{name}` is a Python function: a kernel calls only what is compiled with it",
            f"Write @triton.jit above `def {value.__name__}`.",
        )
    instead = _INSTEAD.get(last) or (f"use tl.{last}" if hasattr(tl, last) else "")
    return Told(
        f"`{name}` works on tensors or numbers outside of kernels: a kernel cannot call it",
        _sentence(instead) or "Compute it outside and pass the result as an argument.",
    )


def _is_of_a_library(function: types.FunctionType) -> bool:
    root = (function.__module__ or "").split(".")[0]
    return root in {"torch", "numpy", "math", "triton", "scipy"}


def _resolved(node: ast.expr, kernel: KernelText) -> tuple[Any, bool]:
    """The value of a dotted name among the kernel's globals, and whether it has one."""
    if isinstance(node, ast.Name):
        return kernel.globals.get(node.id), node.id in kernel.globals
    if isinstance(node, ast.Attribute):
        value, known = _resolved(node.value, kernel)
        return getattr(value, node.attr, None), known and hasattr(value, node.attr)
    return None, False


def _reachable(refusal: Refusal) -> list[str]:
    """The names that the line could refer to: local ones first, then globals that a kernel can use."""
    from triton.compiler.code_generator import CodeGenerator

    kernel = refusal.kernel
    own = [*refusal.scope, *(each.arg for each in kernel.arguments), *sorted(bound_names(kernel.tree))]
    usable = [name for name, value in kernel.globals.items() if not name.startswith("_") and _usable(value)]
    return [*dict.fromkeys(own), *usable, *CodeGenerator.builtin_namespace]


def _usable(value: Any) -> bool:
    from triton.language import constexpr
    from triton.runtime.jit import JITCallable

    of_triton = str(getattr(value, "__module__", "")).startswith("triton.language")
    return isinstance(value, (types.ModuleType, JITCallable, constexpr)) or of_triton


def _near(name: str, names: Iterable[str]) -> str:
    """The name most similar to ``name``, or ""."""
    known = list(names)
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return found[0] if found else next((each for each in known if each.lower() == name.lower()), "")
