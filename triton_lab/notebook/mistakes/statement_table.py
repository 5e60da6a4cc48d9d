"""Statements and expressions of Python that kernels do not have, or have in another form, each with its own words."""

from __future__ import annotations

from triton_lab.localization import N_
from triton_lab.notebook.mistakes import call_arguments, unsupported_python
from triton_lab.notebook.mistakes.diagnostic import Rule, says

_NONE = r"'NoneType' object has no attribute|cannot convert None of type|unsupported operand .*'NoneType'"

RULES = (
    Rule(r"Boolean value of Tensor with more than one value is ambiguous", unsupported_python.block_condition),
    Rule(r"VerifierError: ", unsupported_python.late_block_condition),
    Rule(r"unsupported tensor index", unsupported_python.index),
    Rule(r"RecursionError: |EndlessRecursion: |KeyError: '.*\.(\w+)__", unsupported_python.recursion),
    Rule(r"__setitem__ is not supported", unsupported_python.assign_item),
    Rule(
        r"Cannot have `return` statements inside `while` or `for`|We use SCF, so the loop body"
        r"|assert not .*has_terminator|op expects region #\d to have 0 or 1 blocks",
        unsupported_python.return_in_loop,
    ),
    Rule(r"unsupported AST node type: (\w+)", unsupported_python.syntax),
    Rule(r"nested function definitions are not allowed|StopIteration", unsupported_python.nested_function),
    says(
        r"only tuple comprehensions are supported|nested comprehensions are not supported",
        N_("a comprehension in a kernel can only go over a tuple of constants"),
        N_("Write a loop over tl.static_range(n), or load everything at once with a block of offsets."),
    ),
    says(
        r"'tuple' object has no attribute '?(?!dtype)(\w+)'?$|'(\w+)' is not in list",
        N_("`{code}`: a list in a kernel cannot grow or change"),
        N_("Store values in separate variables, in a block (tl.arange, tl.where), or in memory (tl.store)."),
    ),
    says(
        r"'(?:List|Tuple|Name|Constant)' object has no attribute 'func'|Only `range` and `static_range`",
        N_("a `for` loop in a kernel goes over range(...) or tl.static_range(...) only"),
        N_("Write `for i in range(n)`. For constants, write tl.static_range(n)."),
    ),
    Rule(r"For loop bounds and step must all be ints, are \((.*)\)", unsupported_python.range_of_floats),
    says(
        r"For (lower bound|upper bound|step) must be a scalar, got",
        N_("the {first} of `range` must be one number, but it is a block"),
        N_("Reduce the block, tl.max(x, 0), or use the number itself."),
    ),
    says(
        r"AssertionError: .* is not string",
        N_("`{code}` prints values without a text, but a text must come first"),
        N_('Write print("x = ", x), or tl.device_print("x = ", x).'),
    ),
    says(
        r"Cannot evaluate f-string containing non-constexpr",
        N_("an f-string is made at compile time, but its values are known only at run time"),
        N_('Write tl.device_print("x = ", x).'),
    ),
    says(
        r"TypeError: (float|int|len|list|isinstance)?\(?.*(?:not 'tensor'|type 'tensor' has no len)",
        N_("`{code}` needs a Python number, but the value is known only at run time"),
        N_("Convert with x.to(tl.float32) or x.to(tl.int32). The sizes of a block are constants: x.shape[0]."),
    ),
    Rule(r"simultaneous multiple comparison is not supported", unsupported_python.several_comparisons),
    says(
        r"is not an ascii string",
        N_("`{code}`: the text must be ASCII"),
        N_("Write it without accents and without letters of other alphabets."),
    ),
    Rule(r"Simultaneous multiple assignment is not supported", unsupported_python.several_targets),
    says(
        r"starred assignment targets are not supported|assert isinstance\(target, ast\.Name\)",
        N_("`{code}`: a kernel cannot unpack into `*rest`"),
        N_("Name each value, or take them one by one: values[0]."),
    ),
    says(
        r"Attribute assignment is not supported",
        N_("`{code}`: a kernel cannot set attributes of values"),
        N_("Use a variable."),
    ),
    says(
        r"AssertionError: Not implemented|Don't know what to do with else after for",
        N_("a loop in a kernel cannot have `else`"),
        N_("Write what `else` does below the loop."),
    ),
    says(
        r"'Tuple' object has no attribute 'id'",
        N_("`{code}`: a loop in a kernel counts one variable"),
        N_("Write `for i in range(n)`, and compute the others from `i`."),
    ),
    says(
        r"is marked noinline, but was called with non-scalar argument (\w+)",
        N_("`{code}`: a function with noinline=True takes no blocks, and `{first}` is one"),
        N_("Remove noinline=True."),
    ),
    says(
        r"failed to specialize argument of type: tensor",
        N_("`{code}`: a kernel cannot launch a kernel"),
        N_("Call it without the grid, as a function: it then runs in the same program."),
    ),
    says(
        r"IndexError: list index out of range",
        N_("`{code}`: `range` needs bounds, passed by position"),
        N_("Write range(n), range(start, end) or range(start, end, step)."),
    ),
    says(
        r"'float' object cannot be interpreted as an integer",
        N_("`{code}`: the bounds of tl.static_range must be integers"),
        N_("Use `//` instead of `/`."),
    ),
    says(
        r"got multiple values for argument '_semantic'",
        N_("`{code}` passes too many arguments"),
        N_("Remove the last one."),
    ),
    says(
        r"range\.__init__\(\) got an unexpected keyword argument '_semantic'|object does not support the context",
        N_("a kernel cannot have `with` for this"),
        N_("Write the body without `with`."),
    ),
    says(
        r"'str' object has no attribute '(?:dtype|type)'",
        N_("`{code}`: a kernel cannot concatenate texts"),
        N_('Print the text and the values side by side: tl.device_print("n = ", n).'),
    ),
    says(
        r"operator 'MatMult'|'MatMult' object",
        N_("`@` does not multiply blocks in a kernel"),
        N_("Write tl.dot(a, b) for blocks of two axes. For two blocks of one axis, write tl.sum(a * b, 0)."),
    ),
    says(
        r"for \*\*|no attribute '__pow__'",
        N_("`{code}`: kernels have no power operator"),
        N_("Multiply (x * x), or use tl.exp2(y * tl.log2(x))."),
    ),
    says(
        r"'torch\.dtype' object has no attribute",
        N_("`{code}` needs a Triton type, but got a torch type"),
        N_("Write tl.float32 instead of torch.float32. If the type varies, pass it as a `tl.constexpr` argument."),
    ),
    says(
        r"'tuple' object has no attribute dtype|language\.core\.tuple'> to tensor"
        r"|'int' object has no attribute 'values'",
        N_("`{code}`: one side is a tuple, but must be a number or a block ({operands})"),
        N_("If you passed a shape, use one size: pass x.shape[0], or write shape[0] in the kernel."),
    ),
    Rule(_NONE, unsupported_python.nothing_returned),
    says(
        f"(?:{_NONE})",
        N_("`{code}`: one side is None, but must be a number or a block"),
        N_("Pass a number or a tensor, or test first: `if x is not None:`."),
    ),
    says(
        r"cannot convert (.*) of type <class '(\w+)'> to tensor",
        N_("`{code}`: '{first}' is a Python {second}, but must be a number or a block"),
        N_("A kernel computes only with numbers, blocks and pointers."),
    ),
    says(
        r"'str' object is not callable|unhashable type: 'tensor'",
        N_("`{code}` calls an object that is not a function"),
        N_("Only functions of tl and those with @triton.jit are called in a kernel."),
    ),
    Rule(
        r"TypeError: (?!dynamic_func).*missing (?:a|\d+) required (?:[\w-]+ )?arguments?: (.*)",
        call_arguments.lacking,
    ),
    Rule(
        r"TypeError: (?:too many positional arg|\w+\(\) takes \d+ positional arguments? but)", call_arguments.too_many
    ),
    Rule(r"TypeError: .*got an unexpected keyword argument '(\w+)'", call_arguments.keyword),
    says(
        r"cannot unpack non-iterable|'tensor' object has no attribute 'values'",
        N_("`{code}`: one value cannot be unpacked into several names"),
        N_("A block does not unpack into its lanes. Use one name, or tl.split for an axis of size 2."),
    ),
)
