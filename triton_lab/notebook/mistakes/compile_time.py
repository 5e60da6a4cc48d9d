"""What a kernel's text must say at compile time: arguments of functions, conditions, bounds and conversions."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from triton_lab.localization import N_, _
from triton_lab.notebook.mistakes.constant_sizes import not_constant, sizes_of
from triton_lab.notebook.mistakes.diagnostic import Rule, Told, says
from triton_lab.notebook.mistakes.front_end_error import Refusal, written
from triton_lab.notebook.mistakes.operand_words import operands_told
from triton_lab.notebook.mistakes.type_names import constant, is_pointer, is_runtime, shape_of
from triton_lab.notebook.mistakes.unsupported_python import block_condition, chosen, index, index_pointer


def run_time_for_constant(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """A value of run time where a function of Triton's takes a constant: an axis, a grid's axis, a hint."""
    node = refusal.node
    if isinstance(node, ast.Subscript):
        known = [each for each in refusal.operands[:1] if is_runtime(each.value)]
        return index(refusal, found) if known and not is_pointer(known[0].value) else index_pointer(refusal, found)
    if not isinstance(node, ast.Call):
        return None
    moving = [each for each in refusal.operands if is_runtime(each.value) and not shape_of(each.value)]
    name = written(node.func)
    if name == "triton.cdiv":
        return Told(
            _("`{name}` works only outside of kernels, on numbers").format(name=name),
            _("In a kernel, use tl.cdiv."),
        )
    why = _("`{name}` needs a constant here").format(name=name)
    return not_constant(refusal, moving, why) if moving else None


def asserted(refusal: Refusal, found: re.Match[str]) -> Told:
    """A failed ``tl.static_assert``: the user's own, or one in a function of Triton's library."""
    text, called = found[1].strip(), written(refusal.node.func) if isinstance(refusal.node, ast.Call) else ""
    if called.endswith("static_assert"):
        return Told(
            _("tl.static_assert failed: {text}").format(text=text),
            _("It compares constants. Look at the `tl.constexpr` arguments of the launch."),
        )
    operands = operands_told(refusal)
    said = text or _("these arguments are not allowed")
    return Told(
        _("`{code}`: {said} ({operands})").format(code=refusal.code, said=said, operands=operands)
        if operands
        else _("`{code}`: {said}").format(code=refusal.code, said=said)
    )


def undecided(refusal: Refusal, found: re.Match[str]) -> Told:
    """``tl.static_assert(n > 3)`` of a value of run time, or of what is no comparison."""
    node = refusal.node.args[0] if isinstance(refusal.node, ast.Call) and refusal.node.args else refusal.node
    return Told(
        _("tl.static_assert compares constants, but `{code}` is known only at run time, or is not a comparison").format(
            code=written(node) if node is not None else "..."
        ),
        _("Use tl.device_assert(condition, message) for values known at run time. Compare a constant: BLOCK > 0."),
    )


def unrolled_at_run_time(refusal: Refusal, found: re.Match[str]) -> Told:
    """``tl.static_range(n)`` of a number of run time."""
    call = refusal.node.iter if isinstance(refusal.node, ast.For) else None
    # Triton calls the only bound the start.
    which = "end" if isinstance(call, ast.Call) and len(call.args) == 1 else found[1]
    return Told(
        _("tl.static_range is unrolled at compile time, but its {which} is known only at run time").format(which=which),
        _("Use range(...), or pass the number as a `tl.constexpr` argument."),
    )


def negative_size(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``tl.reshape(x, (-1, 2))``: torch finds the size of -1, Triton does not."""
    sizes = [each for each in sizes_of(refusal) if constant(each.value) == -1]
    if not sizes:
        return None
    return Told(
        _("`{code}`: Triton does not compute the size for -1").format(code=refusal.code),
        _("Write the size: the product of all sizes is the number of elements."),
    )


def divided_floats(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``x // y`` of floats."""
    if not isinstance(refusal.node, ast.BinOp) or not isinstance(refusal.node.op, ast.FloorDiv):
        return None
    return Told(
        _("`{code}`: `//` divides integers ({operands})").format(code=refusal.code, operands=operands_told(refusal)),
        _("For the quotient, use x / y. For the quotient rounded down, use tl.floor(x / y)."),
    )


def combined(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``tl.reduce`` with a function that takes another number of values than it is given."""
    if not isinstance(refusal.node, ast.Call):
        return None
    name = written(refusal.node.func)
    if name.rsplit(".", 1)[-1] not in ("reduce", "associative_scan") or len(refusal.node.args) < 3:
        return None
    return Told(
        _(
            "{name} calls `{function}` with two values for each block, but the function takes another number of "
            "arguments"
        ).format(name=name, function=written(refusal.node.args[2])),
        _(
            "For one block, write a function of two arguments. For a tuple of two blocks, write one of four: (a, b, "
            "c, d)."
        ),
    )


def starred(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``f(*n)`` of what is no tuple."""
    if not isinstance(refusal.node, ast.Call):
        return None
    given = [each.value for each in refusal.node.args if isinstance(each, ast.Starred)]
    if not given:
        return None
    return Told(
        _("`{code}`: only a tuple is unpacked with `*`, but `{given}` is not a tuple").format(
            code=refusal.code, given=written(given[0])
        ),
        _("Write the arguments one by one."),
    )


def asserted_tuple(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``assert (condition, text)``: a tuple, which Python takes for true."""
    if not isinstance(refusal.node, ast.Assert) or not isinstance(refusal.node.test, ast.Tuple):
        return None
    return Told(
        _("`{code}` asserts a tuple").format(code=refusal.code),
        _("Write it without the parentheses: assert condition, text."),
    )


def choice_of_a_block(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``a if block else b``: one side is chosen for all lanes. If the test is one number, its sides have two types."""
    if not isinstance(refusal.node, ast.IfExp):
        return None
    test, *sides = refusal.operands or (None,)
    if test is not None and shape_of(test.value):
        told = block_condition(refusal, found)
        return Told(told.message, chosen(refusal.node), (refusal.node.test,))
    if len(sides) != 2:
        return None
    return Told(
        _("the two sides of `{code}` have different types: {sides}").format(
            code=refusal.code, sides=operands_told(replace(refusal, operands=tuple(sides)))
        ),
        _("Convert one side with .to(...), and write 0.0 for a float32."),
    )


def condition(refusal: Refusal, found: re.Match[str]) -> Told:
    """``if`` of something that is neither a number nor true or false."""
    test = refusal.node.test if isinstance(refusal.node, (ast.If, ast.IfExp)) else None
    what = f"`{written(test)}`" if test is not None else "the condition"
    return Told(
        _("`if` needs a number, or true or false, but {what} is a {kind}").format(what=what, kind=found[1]),
        _("Compare it with something: `if a == b:`."),
        () if test is None else (test,),
    )


def endless(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``while True``: a loop whose condition is a constant."""
    loop = refusal.node if isinstance(refusal.node, ast.While) else None
    return Told(
        _("the condition of `while {test}` is a constant, so the loop never ends or never runs").format(
            test=written(loop.test) if loop else "..."
        ),
        _("Let the condition depend on a value that the loop changes: `while i < n:`. A kernel has no `break`."),
    )


RULES = (
    Rule(r"`_semantic` argument must be provided outside of JIT functions", run_time_for_constant),
    Rule(r"CompileTimeAssertionFailure: (.*)", asserted),
    Rule(r"Ternary expression with dynamic condition has inconsistent types", choice_of_a_block),
    Rule(r"`if` conditionals can only accept values of type .*, not objects of type (\w+)", condition),
    Rule(r"'constexpr' object has no attribute 'handle'", endless),
    Rule(r"Assertion condition could not be determined at compile-time", undecided),
    Rule(r"used as tl\.static_range (\w+) value is not a constexpr", unrolled_at_run_time),
    Rule(r"Shape element \d+ must be a power of 2", negative_size),
    Rule(r"TypeError: unexpected type ", divided_floats),
    Rule(r"missing a required argument|too many positional arguments", combined),
    Rule(r"assert isinstance\(arg, language\.core\.tuple\)", starred),
    Rule(r"language\.core\.tuple'> to tensor|object has no attribute", asserted_tuple),
    says(
        r"`static_assert` requires one or two positional arguments only",
        N_("`{code}`: tl.static_assert takes a condition and a text, both without names"),
        N_('Write tl.static_assert(condition, "text").'),
    ),
    says(
        r"values element \d+ must have type `constexpr",
        N_("`{code}`: these numbers are promises to the compiler, and must be constant integers"),
        N_("Write a number, or pass a `tl.constexpr` argument."),
    ),
    says(
        r"Shape of input to (\w+) does not match the length of values",
        N_("`{code}`: tl.{first} takes one number for each axis of the block ({operands})"),
        N_("Write as many numbers as the block has axes."),
    ),
    says(
        r"num_programs axis must be 0, 1, or 2 but got (-?\d+)",
        N_("a grid has axes 0, 1 and 2, but no axis {first}"),
        N_("Combine several axes into one: tl.program_id(2) // n and tl.program_id(2) % n."),
    ),
    says(
        r"constexpr cannot be reassigned",
        N_("`{code}` gives a second value to a constant"),
        N_("Use another name for the second value."),
    ),
    says(
        r"create_histogram\(\): incompatible function arguments",
        N_("`{code}`: the number of bins must be a constant"),
        N_("Pass it as a `tl.constexpr` argument."),
    ),
)
