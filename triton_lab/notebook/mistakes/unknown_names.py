"""Names that a kernel cannot use: misspelt, out of reach, Python's own, or of other libraries."""

from __future__ import annotations

import ast
import difflib
import re
import sys
import types
from collections.abc import Iterable
from typing import Any

from triton_lab.localization import N_, _, translated
from triton_lab.messages import a
from triton_lab.notebook.mistakes.assignments import around, bindings, bound_names, holds, reaching
from triton_lab.notebook.mistakes.diagnostic import Told
from triton_lab.notebook.mistakes.front_end_error import Refusal, written
from triton_lab.notebook.mistakes.operand_words import resolved
from triton_lab.notebook.mistakes.replacements import instead_of
from triton_lab.notebook.mistakes.type_names import value_told

_MEMBERS = N_("Blocks have .to(dtype), .reshape(...), .sum(axis), .dtype and .shape. Most functions are in tl.")


def undefined(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A name without a value: a misspelling, an assignment elsewhere, or a function of Python's."""
    name, kernel = found[1], refusal.kernel
    assigned = list(bindings(kernel.tree, name))
    if assigned and refusal.node is not None:
        return _out_of_reach(name, assigned, refusal)
    builtin = __builtins__ if isinstance(__builtins__, dict) else vars(__builtins__)
    if name in builtin:
        return _of_list(name, refusal) or _of_python(name)
    if name in ("inf", "nan"):
        return Told(_("`{name}` is not defined").format(name=name), _('Write float("{name}").').format(name=name))
    near = nearest(name, _reachable(refusal))
    unknown = _("`{name}` is not defined: did you mean `{near}`?") if near else _("`{name}` is not defined")
    message = unknown.format(name=name, near=near)
    advice = "" if near else _("Give it a value above this line, or pass it as an argument of the kernel.")
    return Told(message, advice)


def _out_of_reach(name: str, assigned: list[ast.stmt], refusal: Refusal) -> Told:
    body, node = refusal.kernel.tree.body, refusal.node
    assert node is not None
    first = min(assigned, key=lambda statement: statement.lineno)
    line = refusal.kernel.line(first)
    if first.lineno >= getattr(node, "lineno", 0):
        return Told(
            _("`{name}` has no value yet: its first value is assigned on line {line}").format(name=name, line=line),
            _("Assign it above this line."),
            (node, first),
        )
    hidden = [outer for outer in around(body, first) if not holds(outer, node)]
    if hidden and isinstance(hidden[0], ast.If):
        return Told(
            _("`{name}` has a value only if the `if` of line {line} takes one branch").format(
                name=name, line=refusal.kernel.line(hidden[0])
            ),
            _("Give `{name}` a value of the same type before the `if`, or in the other branch too.").format(name=name),
            (node, first),
        )
    return Told(
        _("`{name}` gets its value only inside a loop, and the loop may run zero times").format(name=name),
        _("Give `{name}` a value of the same type before the loop.").format(name=name),
        (node, first),
    )


def _of_list(name: str, refusal: Refusal) -> Told | None:
    """``sum([a, b])`` and the like of a list of the user's; None if no list is passed."""
    calls = [each for each in ast.walk(refusal.kernel.tree) if isinstance(each, ast.Call) and refusal.node is not None]
    call = next((each for each in calls if ast.dump(each.func) == ast.dump(refusal.node or each)), None)
    given = call.args[0] if call is not None and call.args else None
    if not isinstance(given, (ast.List, ast.Tuple)) or name not in _OF_MEMBERS:
        return None
    sides = _OF_MEMBERS[name].join(f"({one})" if " " in one else one for one in map(ast.unparse, given.elts))
    return Told(
        _("`{name}` is a Python function that kernels cannot call").format(name=name),
        _("Write it out: {sides}. To add up the elements of a block, use tl.sum(x, axis).").format(sides=sides)
        if name == "sum"
        else _("Write it out: {sides}.").format(sides=sides),
    )


# The operators that do the same with the members of a list.
_OF_MEMBERS = {"sum": " + ", "any": " | ", "all": " & "}


def _of_python(name: str) -> Told:
    instead = instead_of(name) or _of_tl(name)
    return Told(
        _("`{name}` is a Python function that kernels cannot call").format(name=name),
        _sentence(instead) or _("Compute it outside of the kernel, and pass the result as an argument."),
    )


def _of_tl(name: str) -> str:
    """That ``tl`` has a function of this name; "" if it has none."""
    import triton.language as tl

    found = getattr(tl, name, None)
    function = callable(found) and not isinstance(found, (type, types.ModuleType))
    return _("use tl.{name}").format(name=name) if function else ""


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def global_value(refusal: Refusal, found: re.Match[str]) -> Told:
    """A global of the module that is no ``tl.constexpr``."""
    name = found[1]
    value = refusal.kernel.globals.get(name)
    if callable(value) and not isinstance(value, type):
        return _not_compiled(name, value)
    plain = isinstance(value, (bool, int, float, str))
    shown = repr(value) if plain else type(value).__name__
    return Told(
        _("`{name}` is a Python global ({value}), which a kernel cannot read").format(name=name, value=shown),
        _read_otherwise(name, value),
    )


def _read_otherwise(name: str, value: Any) -> str:
    """How a kernel gets the value of a global."""
    kind = type(value).__name__
    if isinstance(value, (bool, int, float, str)):
        return _(
            "Where it is defined, write `{name} = tl.constexpr({value})`, or pass it as a `tl.constexpr` argument."
        ).format(name=name, value=repr(value))
    if isinstance(value, (list, tuple)):
        made = f"{name} = tl.constexpr({name})" if isinstance(value, tuple) else f"{name} = tl.constexpr(tuple({name}))"
        return _(
            "Write `{made}` above the kernel and index it with constants (tl.static_range), or pass "
            "torch.tensor({name}) and load from it: tl.load({name} + i)."
        ).format(made=made, name=name)
    if isinstance(value, dict):
        return _("Pass the numbers as arguments, one by one: {name}[...] in the launch, not in the kernel.").format(
            name=name
        )
    if kind in ("Tensor", "Parameter", "ndarray"):
        return _("Pass `{name}` as an argument: the kernel gets a pointer to it.").format(name=name)
    if kind == "dtype":
        near = str(value).removeprefix("torch.")
        return _("Write tl.{near} in the kernel, or pass `tl.{near}` as a `tl.constexpr` argument.").format(near=near)
    return _(
        "A kernel takes numbers, tensors and tuples of these. Pass the parts of `{name}` that it needs as arguments."
    ).format(name=name)


def attribute(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A member that does not exist: ``tl.laod``, ``x.size``."""
    owner, name = found[1], found[2]
    node = refusal.node
    if not isinstance(node, ast.Attribute):
        return None
    if owner == "module":
        module, _unused = resolved(node.value, refusal.kernel)
        short = written(node.value)
        near = nearest(name, [each for each in dir(module) if not each.startswith("_")]) if module is not None else ""
        instead = instead_of(name)
        misspelt = difflib.get_close_matches(name, [near], cutoff=0.85)  # a type may be: tl.flaot
        if near and (not instead or misspelt):
            return Told(
                _("{short} has no `{name}`: did you mean `{short}.{near}`?").format(short=short, name=name, near=near)
            )
        return Told(_("{short} has no `{name}`").format(short=short, name=name), _sentence(instead))
    if owner == "tensor":
        import triton.language as tl

        if isinstance(node.value, ast.Name) and (hidden := _hidden_module(node.value.id, name, refusal)):
            return hidden
        instead = instead_of(name)
        near = "" if instead else nearest(name, [each for each in dir(tl.tensor) if not each.startswith("_")])
        whose = f"`{written(node.value)}`"
        if isinstance(node.value, ast.Name) and node.value.id in refusal.scope:
            told = value_told(refusal.scope[node.value.id])
            whose = _("{name} is {what} and").format(name=whose, what=told)
        if near:
            return Told(
                _("{whose} has no `.{name}`: did you mean `.{near}`?").format(whose=whose, name=name, near=near)
            )
        return Told(
            _("{whose} has no `.{name}`").format(whose=whose, name=name), _sentence(instead) or translated(_MEMBERS)
        )
    return None


def _hidden_module(name: str, member: str, refusal: Refusal) -> Told | None:
    """A module that is hidden by a variable or an argument of the kernel with the same name."""
    module = refusal.kernel.globals.get(name)
    if not isinstance(module, types.ModuleType) or not hasattr(module, member):
        return None
    noun, where = _own(name, refusal)
    return Told(
        _("`{name}` is {noun} here ({where}), and hides module {module}").format(
            name=name, noun=a(noun), where=where, module=module.__name__
        ),
        _("Give the {noun} another name.").format(noun=noun),
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
        _("`{name}` is {noun} here ({where}), {scope}, not a function").format(
            name=name, noun=a(noun), where=where, scope=value_told(refusal.scope[name])
        ),
        _("If you mean the function `{name}`, give the {noun} another name.").format(name=name, noun=noun),
    )


def foreign_call(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A call of another library's function, which needs a number and gets a block."""
    if not isinstance(refusal.node, ast.Call):
        return None
    value, known = resolved(refusal.node.func, refusal.kernel)
    return _not_compiled(written(refusal.node.func), value) if known else None


def called_number(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``x.numel()``: a method in torch, a number in Triton."""
    if not isinstance(refusal.node, ast.Call) or not isinstance(refusal.node.func, ast.Attribute):
        return None
    name = refusal.node.func.attr
    message = _("`{func}` is a number in a kernel, not a function").format(func=written(refusal.node.func))
    return Told(message, _sentence(instead_of(name)) or "Remove the parentheses.")


def not_compiled(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A function that Triton cannot compile, because it lacks ``@triton.jit`` or is not written in Python."""
    for node in ast.walk(refusal.kernel.tree):
        if isinstance(node, (ast.Name, ast.Attribute)):
            value, known = resolved(node, refusal.kernel)
            if known and repr(value) == found[1]:
                told = _not_compiled(written(node), value)
                return Told(told.message, told.advice, (node,))
    return None


def _not_compiled(name: str, value: Any) -> Told:
    last = name.rsplit(".", 1)[-1]
    if isinstance(value, types.FunctionType) and not _is_of_a_library(value):
        return Told(
            _("`{name}` is a Python function, but a kernel calls only functions that Triton compiles").format(
                name=name
            ),
            _("Write @triton.jit above `def {value}`.").format(value=value.__name__),
        )
    instead = instead_of(name) or instead_of(last) or _of_tl(last)
    return Told(
        _("`{name}` works only outside of kernels, on tensors or numbers").format(name=name),
        _sentence(instead) or _("Compute it outside of the kernel, and pass the result as an argument."),
    )


def _is_of_a_library(function: types.FunctionType) -> bool:
    root = (function.__module__ or "").split(".")[0]
    return root in {"torch", "numpy", "math", "triton", "scipy"} or root in sys.stdlib_module_names


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


def nearest(name: str, names: Iterable[str]) -> str:
    """The name most similar to ``name``, or ""."""
    known = list(names)
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return found[0] if found else next((each for each in known if each.lower() == name.lower()), "")
