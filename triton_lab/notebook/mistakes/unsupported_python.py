"""Python that Triton does not compile, and constants that must be known before a kernel runs."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from triton_lab.backend.source.operator_precedence import misread
from triton_lab.localization import N_, _, translated
from triton_lab.notebook.mistakes.assignments import around, bound_names, reaching
from triton_lab.notebook.mistakes.diagnostic import Told
from triton_lab.notebook.mistakes.front_end_error import Refusal, written
from triton_lab.notebook.mistakes.operand_words import members
from triton_lab.notebook.mistakes.type_names import (
    is_pointer,
    is_runtime,
    shape_of,
    shape_told,
    type_told,
    value_told,
)

# Syntax that Python has and kernels do not, and its replacements.
_SYNTAX = {
    "Break": ("`break`", N_("Put the condition into the loop, `while go & (i < n):`, or mask the remaining work.")),
    "Continue": ("`continue`", N_("Put the rest of the body under `if`, or mask it.")),
    "Dict": (N_("a dictionary"), N_("Use separate variables, or a tuple.")),
    "Set": (N_("a set"), N_("Use separate variables, or a tuple.")),
    "DictComp": (N_("a dictionary"), N_("Use separate variables, or a tuple.")),
    "GeneratorExp": (N_("a generator"), N_("Write a loop over tl.static_range(n).")),
    "Lambda": ("`lambda`", N_("Write a function with @triton.jit above it, outside of the kernel.")),
    "Try": ("`try`", N_("A kernel has no exceptions. Check with `if`, or with tl.device_assert.")),
    "Raise": ("`raise`", N_("Use tl.device_assert(condition, message). For constants, use tl.static_assert.")),
    "Import": ("`import`", N_("Import at the top of the cell or file.")),
    "ImportFrom": ("`import`", N_("Import at the top of the cell or file.")),
    "Global": ("`global`", N_("Pass values as arguments and store results through a pointer.")),
    "Nonlocal": ("`nonlocal`", N_("Pass values as arguments and return results.")),
    "Delete": ("`del`", N_("Remove it. Triton frees what is no longer used.")),
    "Yield": ("`yield`", N_("Store results through a pointer, or return them.")),
    "Await": ("`await`", N_("A kernel calls functions one after another. Remove `async` and `await`.")),
    "Starred": (N_("`*` in a list"), N_("Write the members one by one.")),
    "With": ("`with`", N_("Write the body without it.")),
    "NamedExpr": ("`:=`", N_("Write the assignment on its own line.")),
    "ClassDef": (N_("a class"), N_("Define it outside of the kernel.")),
    "FunctionDef": (N_("a function in a function"), N_("Move it out of the kernel, with @triton.jit above it.")),
    "AsyncFunctionDef": ("`async`", N_("A kernel calls functions one after another. Remove `async` and `await`.")),
    "Match": ("`match`", N_("Use `if` and `elif`.")),
}


def several_comparisons(refusal: Refusal, found: re.Match[str]) -> Told:
    """A chain of comparisons, which older Tritons do not compile: either intended, or misread by Python."""
    for one in misread(refusal.kernel.tree, refusal.kernel.source):
        if ast.unparse(one.node) == ast.unparse(refusal.node or one.node):
            return Told(one.message, one.hint)
    return Told(
        _("`{code}` chains two comparisons").format(code=refusal.code),
        _("Write (a < b) & (b < c), with the parentheses: `&` binds more tightly than `<`."),
    )


def syntax(refusal: Refusal, found: re.Match[str]) -> Told:
    """A piece of Python that no kernel can have."""
    what, instead = _SYNTAX.get(
        found[1],
        (_("Python's {what}").format(what=found[1]), _("Use only assignments, `if`, `for` and functions of tl.")),
    )
    return Told(_("a kernel cannot have {what}").format(what=translated(what)), translated(instead))


def return_in_loop(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``return`` in the body of a loop; Triton names the statement around it, or the function."""
    inner = [] if refusal.node is None else [each for each in ast.walk(refusal.node) if isinstance(each, ast.Return)]
    if isinstance(refusal.node, ast.FunctionDef):
        loops = [each for each in ast.walk(refusal.node) if isinstance(each, (ast.For, ast.While))]
        inner = [each for each in inner if any(each in ast.walk(loop) for loop in loops)]
    if not inner and found[0].startswith(("assert", "op ")):
        return None
    return Told(_("`return` cannot leave a loop"), translated(_SYNTAX["Break"][1]), tuple(inner[:1]))


def several_targets(refusal: Refusal, found: re.Match[str]) -> Told:
    """``a = b = value``, which Triton refuses before it reads the kernel."""
    nodes = [each for each in ast.walk(refusal.kernel.tree) if isinstance(each, ast.Assign) and len(each.targets) > 1]
    return Told(_("a kernel cannot have `a = b = value`"), _("Write two assignments."), tuple(nodes[:1]))


def nested_function(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A ``def`` in a kernel; older Tritons fail at its arguments."""
    outer = around(refusal.kernel.tree.body, refusal.node or refusal.kernel.tree)
    if not any(isinstance(each, ast.FunctionDef) for each in outer):
        return None
    what, instead = _SYNTAX["FunctionDef"]
    return Told(_("a kernel cannot have {what}").format(what=translated(what)), translated(instead))


def range_of_floats(refusal: Refusal, found: re.Match[str]) -> Told:
    """``range(n / BLOCK)``: bounds that are not integers."""
    call = refusal.node.iter if isinstance(refusal.node, ast.For) else None
    given = call.args if isinstance(call, ast.Call) else []
    # Triton names the types of begin, end and step, whether they were written or not.
    types = found[1].split(", ")[1 if len(given) == 1 else 0 :]
    wrong = [(node, kind) for node, kind in zip(given, types, strict=False) if not re.match(r"u?int\d", kind)]
    told = _(" and ").join(
        _("`{name}` is {what}").format(name=written(node), what=type_told(kind)) for node, kind in wrong
    )
    return Told(
        _("`range` takes integers, but {told}").format(told=told or _("its bounds are not")),
        _("Use `//` instead of `/` (or tl.cdiv, which rounds up), and pass integers to the kernel."),
        (wrong[0][0],) if wrong else (),
    )


def block_condition(refusal: Refusal, found: re.Match[str]) -> Told:
    """``if`` with a block as its condition: each lane would need its own branch."""
    test = refusal.node.test if isinstance(refusal.node, (ast.If, ast.IfExp, ast.While)) else None
    what = f"`{written(test)}`" if test is not None else "the condition"
    word = "while" if isinstance(refusal.node, ast.While) else "if"
    shape = ""
    if isinstance(test, ast.Name) and (size := shape_of(refusal.scope.get(test.id))):
        shape = _(" of {what}").format(what=shape_told(size))
    return Told(
        _("`{word}` needs one truth value, but {what} is a block{shape} with one for each lane").format(
            word=word, what=what, shape=shape
        ),
        _(
            "To choose for each lane, use tl.where(condition, a, b), or pass a mask to tl.load and tl.store. For one "
            "truth value of all lanes, reduce it: tl.max(condition.to(tl.int32), 0) > 0."
        ),
    )


def late_block_condition(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A conditional expression or a ``while`` with a block as its condition, which only MLIR's verifier notices."""
    blocks = _blocks(refusal.kernel.tree)
    for node in ast.walk(refusal.kernel.tree):
        if isinstance(node, (ast.IfExp, ast.While)) and _makes_block(node.test, blocks):
            told = block_condition(replace(refusal, node=node, text=""), found)
            return Told(told.message, chosen(node) if isinstance(node, ast.IfExp) else told.advice, (node.test,))
    return None


def chosen(node: ast.IfExp) -> str:
    """How a conditional expression is written for each lane."""
    sides = ", ".join(map(written, (node.test, node.body, node.orelse)))
    return _("Choose for each lane: tl.where({sides}).").format(sides=sides)


def _blocks(tree: ast.FunctionDef) -> set[str]:
    """The names that are assigned from tl.arange and the like, as far as the text shows."""
    blocks: set[str] = set()
    for _unused in range(3):
        for each in ast.walk(tree):
            if isinstance(each, ast.Assign) and _makes_block(each.value, blocks):
                blocks |= bound_names(each)
    return blocks


def _makes_block(node: ast.expr, blocks: set[str]) -> bool:
    text = [each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)]
    if {"sum", "max", "min", "reduce"} & set(text):
        return False
    made = {"arange", "zeros", "full", "zeros_like"} & set(text)
    return bool(made) or any(isinstance(each, ast.Name) and each.id in blocks for each in ast.walk(node))


def index(refusal: Refusal, found: re.Match[str]) -> Told:
    """``x[0]`` or ``x[a:b]`` of a block."""
    node = refusal.node
    if isinstance(node, ast.Subscript) and any(is_pointer(each.value) for each in refusal.operands):
        return Told(
            _("`{code}` indexes a pointer, which is an address, not an array").format(code=refusal.code),
            _("Add offsets to it and load: tl.load({value} + tl.arange(0, BLOCK)).").format(value=written(node.value)),
        )
    single = [each for each in refusal.operands[:1] if is_runtime(each.value) and not shape_of(each.value)]
    if single:
        return Told(
            _("`{code}`: `{node}` is {value}, which has no elements").format(
                code=refusal.code, node=written(single[0].node), value=value_told(single[0].value)
            ),
            _("Use it as it is. A block is made by tl.arange, tl.full or tl.load."),
        )
    what = f"`{written(node.value)}`" if isinstance(node, ast.Subscript) else "a block"
    return Told(
        _("`{code}` picks elements of {what}, but single lanes of a block cannot be indexed").format(
            code=refusal.code, what=what
        ),
        _(
            "Load the element from its address, reduce the block, tl.sum(tl.where(i == 0, x, 0), 0), "
            "or use tl.gather. Inside [ ] only `:` and None are allowed."
        ),
    )


def index_pointer(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``p[i]`` of a pointer."""
    node = refusal.node
    if not isinstance(node, ast.Subscript):
        return None
    known = [each for each in refusal.operands if is_pointer(each.value)]
    if not known and not isinstance(node.value, ast.Name):
        return None
    base, inner = written(node.value), written(node.slice)
    return Told(
        _("`{code}` indexes a pointer as C does, but in Triton you add the offset to it").format(code=refusal.code),
        _("Write {call}.").format(call=f"tl.load({base} + {inner})"),
    )


def assign_item(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``p[i] = v``."""
    node = refusal.node
    if not isinstance(node, (ast.Assign, ast.AugAssign)):
        return None
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if not isinstance(target, ast.Subscript):
        return None
    name = target.value.id if isinstance(target.value, ast.Name) else ""
    if members(refusal.scope.get(name)):
        return Told(
            _("`{target}` cannot be assigned: a list in a kernel does not change").format(target=written(target)),
            _("Use a variable for each member, or a block (tl.where) or memory (tl.store) for many."),
        )
    if is_pointer(refusal.scope.get(name)):
        call = f"tl.store({name} + {written(target.slice)}, {written(node.value)})"
        how = _("Write {call}.").format(call=call)
    else:
        how = _(
            "Make a new block with tl.where(condition, new, old). To write to memory, use tl.store(pointer, value)."
        )
    return Told(
        _("`{target}` cannot be assigned: single lanes of a block do not change").format(target=written(target)), how
    )


def recursion(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A function that calls itself, directly or through another one."""
    if not isinstance(refusal.node, ast.Call):
        return None
    name, inside = written(refusal.node.func), refusal.kernel.name
    if refusal.kind != "EndlessRecursion" and name not in {
        inside,
        *(kernel.name for kernel, _unused in refusal.callers),
    }:
        return None
    return Told(
        (_("`{name}` calls itself") if name == inside else _("`{name}` calls itself through `{inside}`")).format(
            name=name, inside=inside
        )
        + (_(", {text}, which is the limit").format(text=refusal.text) if refusal.kind == "EndlessRecursion" else ""),
        _(
            "Write a loop. Triton follows every call at compile time. The recursion ends only at an `if` on a "
            "`tl.constexpr`, with the call in its `else`."
        ),
    )


def nothing_returned(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A helper of the user's that computes something and does not return it."""
    body = refusal.kernel.tree.body
    parts: list[ast.AST] = [] if refusal.node is None else list(ast.walk(refusal.node))
    born = [reaching(body, each.id, refusal.node or each) for each in parts if isinstance(each, ast.Name)]
    called = [*parts, *(each.value for each in born if isinstance(each, ast.Assign))]
    for each in called:
        if not isinstance(each, ast.Call) or not isinstance(each.func, ast.Name):
            continue
        source = getattr(refusal.kernel.globals.get(each.func.id), "src", "")
        if source and not any(isinstance(part, ast.Return) and part.value for part in ast.walk(ast.parse(source))):
            name = written(each.func)
            return Told(
                _("`{name}` returns nothing, but a number or a block is needed").format(name=name),
                _("End `{name}` with `return` and a value.").format(name=name),
                (each,),
            )
    return None


def dot_operands(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``tl.dot`` of operands that are not two matrices of one type."""
    if len(refusal.operands) < 2:
        return None
    told = ", ".join(
        _("`{name}` is {what}").format(name=written(each.node, 40), what=value_told(each.value))
        for each in refusal.operands[:2]
    )
    if "dtype" in refusal.text:
        return Told(
            _("tl.dot multiplies blocks of the same type, but here {told}").format(told=told),
            _("Convert one of them with .to(...)."),
        )
    return Told(
        _("tl.dot multiplies a block of M × K with one of K × N: {told}").format(told=told),
        _("Transpose one with tl.trans if its axes are exchanged. Add an axis with [:, None] if one is missing."),
    )
