"""Python that Triton does not compile, and constants that must be known before a kernel runs."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from triton_lab.backend.source.operator_precedence import misread
from triton_lab.notebook.mistakes.assignments import around, bound_names, reaching
from triton_lab.notebook.mistakes.diagnostic import Told
from triton_lab.notebook.mistakes.front_end_error import Operand, Refusal, written
from triton_lab.notebook.mistakes.type_names import is_pointer, is_runtime, shape_of, shape_told, type_told, value_told

# Syntax that Python has and kernels do not, and its replacements.
_SYNTAX = {
    "Break": ("`break`", "Put the condition into the loop: `while go & (i < n):`, or mask what the rest would do."),
    "Continue": ("`continue`", "Put the rest of the body under `if`, or mask it."),
    "Dict": ("a dictionary", "Use variables of their own, or a tuple."),
    "Set": ("a set", "Use variables of their own, or a tuple."),
    "DictComp": ("a dictionary", "Use variables of their own, or a tuple."),
    "GeneratorExp": ("a generator", "Write a loop over tl.static_range(n)."),
    "Lambda": ("`lambda`", "Write a function with @triton.jit above it, outside of the kernel."),
    "Try": ("`try`", "Exceptions do not exist in a kernel: check with `if`, or with tl.device_assert."),
    "Raise": ("`raise`", "Use tl.device_assert(condition, message), or tl.static_assert for constants."),
    "Import": ("`import`", "Import at the top of the cell or file."),
    "ImportFrom": ("`import`", "Import at the top of the cell or file."),
    "Global": ("`global`", "Pass values as arguments and store results through a pointer."),
    "Nonlocal": ("`nonlocal`", "Pass values as arguments and return results."),
    "Delete": ("`del`", "Leave it out: Triton frees what is no longer used."),
    "Yield": ("`yield`", "Store results through a pointer, or return them."),
    "Await": ("`await`", "A kernel's calls all end before the next begins."),
    "NamedExpr": ("`:=`", "Assign on a line of its own."),
    "ClassDef": ("a class", "Define it outside of the kernel."),
    "FunctionDef": ("a function in a function", "Move it out of the kernel, with @triton.jit above it."),
    "AsyncFunctionDef": ("`async`", "A kernel's calls all end before the next begins."),
    "Match": ("`match`", "Use `if` and `elif`."),
}


def several_comparisons(refusal: Refusal, found: re.Match[str]) -> Told:
    """A chain of comparisons, which older Tritons do not compile: either intended, or misread by Python."""
    for one in misread(refusal.kernel.tree, refusal.kernel.source):
        if ast.unparse(one.node) == ast.unparse(refusal.node or one.node):
            return Told(one.message, one.hint)
    return Told(
        f"`{refusal.code}` compares twice in one go",
        "Write (a < b) & (b < c), with parentheses: `&` binds more tightly than `<`.",
    )


def syntax(refusal: Refusal, found: re.Match[str]) -> Told:
    """A piece of Python that no kernel can have."""
    what, instead = _SYNTAX.get(found[1], (f"Python's {found[1]}", "Write it with assignments, `if`, `for` and tl."))
    return Told(f"a kernel cannot have {what}", instead)


def return_in_loop(refusal: Refusal, found: re.Match[str]) -> Told:
    """``return`` in the body of a loop; Triton names the statement around it."""
    inner = [] if refusal.node is None else [each for each in ast.walk(refusal.node) if isinstance(each, ast.Return)]
    return Told("a loop cannot be left with `return`", _SYNTAX["Break"][1], tuple(inner[:1]))


def nested_function(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A ``def`` in a kernel; older Tritons fail at its arguments."""
    outer = around(refusal.kernel.tree.body, refusal.node or refusal.kernel.tree)
    if not any(isinstance(each, ast.FunctionDef) for each in outer):
        return None
    what, instead = _SYNTAX["FunctionDef"]
    return Told(f"a kernel cannot have {what}", instead)


def arange_of_variables(refusal: Refusal, found: re.Match[str]) -> Told:
    """``tl.arange`` with an end that is only known while the kernel runs."""
    moving = [each for each in refusal.operands if is_runtime(each.value)]
    strange = [each for each in refusal.operands if shape_of(each.value) != []]
    floats = [each for each in refusal.operands if isinstance(getattr(each.value, "value", each.value), float)]
    if floats:
        given = " and ".join(f"`{written(each.node)}` is {value_told(each.value)}" for each in floats)
        return Told(
            f"the ends of tl.arange are whole numbers, and {given}",
            "Divide with `//` instead of `/`, in the launch too; triton.cdiv rounds up.",
        )
    if strange and not moving:
        told = f"`{written(strange[0].node)}` is {value_told(strange[0].value)}"
        return Told(f"the ends of tl.arange are whole numbers, and {told}", "Pass a number for it.")
    if moving and all(_argument(refusal, each.node) for each in moving):
        return _not_constant(refusal, moving, "the size of a block is fixed when the kernel is compiled")
    what = written(moving[0].node) if moving else refusal.code
    return Told(
        f"the ends of tl.arange are constants, and `{what}` is known only while the kernel runs",
        "Take tl.arange(0, BLOCK) and add where it begins: start + tl.arange(0, BLOCK).",
    )


def shape_of_variables(refusal: Refusal, found: re.Match[str]) -> Told:
    """A shape with a size that is only known while the kernel runs."""
    sizes: list[Operand] = []
    for operand in refusal.operands:
        if isinstance(operand.node, (ast.Tuple, ast.List)):
            values = getattr(operand.value, "values", ())
            sizes.extend(Operand("", *pair) for pair in zip(operand.node.elts, values, strict=False))
        else:
            sizes.append(operand)
    moving = [each for each in sizes if is_runtime(each.value)]
    return _not_constant(refusal, moving, "the shape of a block is fixed when the kernel is compiled")


def _not_constant(refusal: Refusal, moving: list[Operand], why: str) -> Told:
    names = list(dict.fromkeys(name for each in moving for name in _arguments(refusal, each.node)))
    given = written(moving[0].node) if moving else refusal.code
    at: tuple[ast.AST, ...] = () if refusal.node is None else (refusal.node,)
    if names:
        marked = ", ".join(f"`{name}: tl.constexpr`" for name in names)
        declared = [each for each in refusal.kernel.arguments if each.arg in names]
        line = f" (line {refusal.kernel.line(declared[0])})" if declared else ""
        return Told(f"{why}, and `{given}` is not known then", f"Declare {marked} in the kernel's arguments{line}.", at)
    return Told(f"{why}, and `{given}` is not known then", "Take the size from a `tl.constexpr` argument.", at)


def _argument(refusal: Refusal, node: ast.AST) -> bool:
    return bool(_arguments(refusal, node)) and "program_id" not in ast.unparse(node)


def _arguments(refusal: Refusal, node: ast.AST, depth: int = 3) -> list[str]:
    """The arguments of the kernel from which ``node`` is computed and that are no constants."""
    declared = {each.arg for each in refusal.kernel.arguments if "constexpr" not in _annotation(each)}
    found: list[str] = []
    for each in ast.walk(node):
        if not isinstance(each, ast.Name):
            continue
        born = reaching(refusal.kernel.tree.body, each.id, refusal.node or node)
        if born is None and each.id in declared:
            found.append(each.id)
        elif depth and isinstance(born, ast.Assign):
            found.extend(_arguments(refusal, born.value, depth - 1))
    return found


def _annotation(argument: ast.arg) -> str:
    return "" if argument.annotation is None else ast.unparse(argument.annotation)


def range_of_floats(refusal: Refusal, found: re.Match[str]) -> Told:
    """``range(n / BLOCK)``: bounds that are not integers."""
    call = refusal.node.iter if isinstance(refusal.node, ast.For) else None
    given = call.args if isinstance(call, ast.Call) else []
    # Triton names the types of begin, end and step, whether they were written or not.
    types = found[1].split(", ")[1 if len(given) == 1 else 0 :]
    wrong = [(node, kind) for node, kind in zip(given, types, strict=False) if "int" not in kind]
    told = " and ".join(f"`{written(node)}` is {type_told(kind)}" for node, kind in wrong)
    return Told(
        f"`range` counts in whole numbers, and {told or 'its bounds are none'}",
        "Divide with `//` instead of `/` (or with tl.cdiv, which rounds up), and pass whole numbers to the kernel.",
        (wrong[0][0],) if wrong else (),
    )


def block_condition(refusal: Refusal, found: re.Match[str]) -> Told:
    """``if`` with a block as its condition: each lane would need its own branch."""
    test = refusal.node.test if isinstance(refusal.node, (ast.If, ast.IfExp, ast.While)) else None
    what = f"`{written(test)}`" if test is not None else "the condition"
    word = "while" if isinstance(refusal.node, ast.While) else "if"
    shape = ""
    if isinstance(test, ast.Name) and (size := shape_of(refusal.scope.get(test.id))):
        shape = f" of {shape_told(size)}"
    return Told(
        f"`{word}` takes one yes or no, and {what} is a block{shape} with an answer for each lane",
        "Choose by lane with tl.where(condition, a, b), or give tl.load and tl.store a mask; "
        "for one answer of all lanes reduce it, as in tl.max(condition.to(tl.int32), 0) > 0.",
    )


def late_block_condition(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A conditional expression or a ``while`` with a block as its condition, which only MLIR's verifier notices."""
    blocks = _blocks(refusal.kernel.tree)
    for node in ast.walk(refusal.kernel.tree):
        if isinstance(node, (ast.IfExp, ast.While)) and _makes_block(node.test, blocks):
            told = block_condition(replace(refusal, node=node, text=""), found)
            return Told(told.message, told.advice, (node.test,))
    return None


def _blocks(tree: ast.FunctionDef) -> set[str]:
    """The names that are assigned from tl.arange and the like, as far as the text shows."""
    blocks: set[str] = set()
    for _ in range(3):
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
            f"`{refusal.code}` indexes a pointer, which is an address",
            f"Add offsets to it and load: tl.load({written(node.value)} + tl.arange(0, BLOCK)).",
        )
    what = f"`{written(node.value)}`" if isinstance(node, ast.Subscript) else "a block"
    return Told(
        f"`{refusal.code}` picks elements of {what}, and a block's lanes cannot be picked one by one",
        "Load that element from its address, reduce the block (tl.sum(tl.where(i == 0, x, 0), 0)), or use tl.gather; "
        "in [ ] stand only `:` and None.",
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
        f"`{refusal.code}` indexes a pointer, as in C; Triton adds the index to it",
        f"Write tl.load({base} + {inner}).",
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
    if is_pointer(refusal.scope.get(name)):
        how = f"Write tl.store({name} + {written(target.slice)}, {written(node.value)})."
    else:
        how = "Make a new block with tl.where(condition, new, old); to write into memory use tl.store(pointer, value)."
    return Told(f"`{written(target)}` cannot be assigned: a block's lanes do not change one by one", how)


def recursion(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A function that calls itself, directly or through another one."""
    if not isinstance(refusal.node, ast.Call):
        return None
    name, inside = written(refusal.node.func), refusal.kernel.name
    if refusal.kind != "EndlessRecursion" and name not in {inside, *(kernel.name for kernel, _ in refusal.callers)}:
        return None
    return Told(
        f"`{name}` calls itself"
        + ("" if name == inside else f" by way of `{inside}`")
        + (f", {refusal.text}, and no deeper is allowed" if refusal.kind == "EndlessRecursion" else ""),
        "Write a loop. Triton follows each call when it compiles the kernel, and stops only where a constant decides: "
        "`if` of a `tl.constexpr`, with the call under its `else`.",
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
                f"`{name}` returns nothing, and a number or a block is expected",
                f"End `{name}` with `return` and the value.",
                (each,),
            )
    return None


def dot_operands(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``tl.dot`` of operands that are not two matrices of one type."""
    if len(refusal.operands) < 2:
        return None
    told = ", ".join(f"`{written(each.node, 40)}` is {value_told(each.value)}" for each in refusal.operands[:2])
    if "dtype" in refusal.text:
        return Told(f"tl.dot multiplies blocks of one type: {told}", "Turn one into the other's with .to(...).")
    return Told(
        f"tl.dot multiplies a block of M × K with one of K × N: {told}",
        "Turn one with tl.trans if its axes are the other way round; add an axis with [:, None] if one is missing.",
    )
