"""The table of the commonest mistakes in kernels, each with its own words.

A rule searches ``Kind: text`` of the error that Triton's front end raised, and gives the words that replace it. Where
both name types or functions of Triton's, they cover all supported versions.
"""

from __future__ import annotations

from triton_lab.notebook.mistakes import type_mismatches, unknown_names, unsupported_python
from triton_lab.notebook.mistakes.diagnostic import Rule, Told, says
from triton_lab.notebook.mistakes.front_end_error import Refusal

_NAMES = (
    Rule(r"NameError: (\w+) is not defined", unknown_names.undefined),
    Rule(r"NameError: Cannot access global variable (\w+)", unknown_names.global_value),
    Rule(r"AttributeError: (module) '.*' has no attribute '(\w+)'", unknown_names.attribute),
    Rule(r"AttributeError: '(tensor|pointer)' object has no attribute '?(\w+)'?", unknown_names.attribute),
    Rule(r"TypeError: must be real number, not tensor", unknown_names.foreign_call),
    Rule(r"TypeError: 'int' object is not callable", unknown_names.called_number),
    Rule(r"TypeError: unhashable type: 'tensor'|TypeError: '\w+' object is not callable", unknown_names.called_value),
    Rule(r"RuntimeError: Unsupported function referenced: (.*)", unknown_names.not_compiled),
)

_TYPES = (
    Rule(
        r"Loop-carried variable (\w+) has initial type (.*) but is re-assigned to (.*) in loop",
        type_mismatches.loop_carried,
    ),
    Rule(r"cannot reassign constexpr (\w+) in the loop", type_mismatches.constant_in_loop),
    Rule(r"Loop carried variable (\w+) is not a triton value", type_mismatches.constant_in_loop),
    Rule(r"Loop carried variable (\w+) changed type, was .*constexpr", type_mismatches.constant_in_loop),
    Rule(r"Mismatched type for (\w+) between then block \((.*)\) and else block \((.*)\)", type_mismatches.branches),
    Rule(
        r"initial value for `(\w+)` is of type (.*), but the (then|else) block redefines it as (.*)",
        type_mismatches.before_and_branch,
    ),
    Rule(r"(?:Return type mismatch|Inconsistent return types): (\S+) and ([^\s.]+)", type_mismatches.returns),
    Rule(r"incompatible dimensions|[Cc]annot broadcast|rank mismatch", type_mismatches.shapes),
    says(
        r"[Cc]annot broadcast, rank mismatch: (\[.*\]), (\[.*\])",
        "`{code}` gives a block another number of axes",
        "Add axes of size 1 first: x[:, None] or x[None, :].",
    ),
    says(
        r"accumulator shape is incompatible",
        "the accumulator of `{code}` has not the shape M × N of the product",
        "Begin with tl.zeros((M, N), tl.float32): M rows, as in the first block, and N columns, as in the second.",
    ),
    says(
        r"'dtype' object is not callable",
        "`{code}` calls a type, which converts nothing",
        "Convert with x.to(tl.float32).",
    ),
    Rule(r"invalid operands of type .*pointer<", type_mismatches.pointer_and),
    Rule(r"invalid operands of type", type_mismatches.operands),
    Rule(r"Unsupported ptr type (.*) in `(tl\.\w+)`", type_mismatches.no_pointer),
    Rule(r"(Value|Mask) argument cannot be block type if pointer argument is not a block", type_mismatches.one_address),
    Rule(r"Both operands must be same dtype", unsupported_python.dot_operands),
    Rule(r"must have equal (?:reduction dimensions|ranks)", unsupported_python.dot_operands),
    says(
        r"Input shapes should have M >= (\d+), N >= (\d+) and K >= (\d+)",
        "the blocks of `{code}` are too small for the matrix units of a GPU: they take M, N and K of at least "
        "{0}, {1} and {2}",
        "Take larger blocks and mask what lies beyond the matrix; for less add products up: "
        "tl.sum(a[:, :, None] * b[None, :, :], 1).",
    ),
    says(
        r"Unsupported (?:lhs|rhs) dtype (u?int\d+)",
        "`{code}` multiplies blocks of floats, or of int8, and one of these is {0}",
        "Turn both into floats first: a.to(tl.float32).",
    ),
    says(
        r"Expected dtype \[.*\] but got (u?int\w+)",
        "`{code}` works on floats, and its argument is {0}",
        "Turn it into floats first: x.to(tl.float32).",
    ),
    says(
        r"Expected dtype \[.*\] but got (\w+)",
        "`{code}` works on float32 and float64, and its argument is {0}",
        "Turn it first: x.to(tl.float32), and back afterwards.",
    ),
)

_CONSTANTS = (
    Rule(r"^\w+: '(?:int|constexpr)' object is not iterable$", type_mismatches.shape_of_a_number),
    says(
        r"arange's range must be a power of 2",
        "`{code}` makes a block whose size is no power of 2, and Triton has only those",
        "Take the next power of 2 (triton.next_power_of_2) and mask the lanes beyond.",
    ),
    Rule(r"arange's arguments must be of type", unsupported_python.arange_of_variables),
    says(
        r"arange's end argument must be greater than the start argument",
        "`{code}` begins at or after its end",
        "The first number is where it begins, the second where it stops: tl.arange(0, BLOCK).",
    ),
    says(
        r"arange\(\) missing 1 required positional argument: 'end'",
        "tl.arange takes two numbers, where it begins and where it stops",
        "Write tl.arange(0, n).",
    ),
    says(
        r"Shape element (\d+) must be a power of 2",
        "axis {0} of the block that `{code}` makes has a size that is no power of 2, and Triton has only those",
        "Take the next power of 2 (triton.next_power_of_2) and mask what lies beyond.",
    ),
    Rule(r"Shape element (\d+) must have type", unsupported_python.shape_of_variables),
    says(
        r"numel \((\d+)\) exceeds triton maximum tensor numel \((\d+)\)",
        "`{code}` makes a block of {0} elements, and Triton has none of more than {1}",
        "Take smaller blocks and more programs, or go through the data in a loop.",
    ),
    says(
        r"used as tl\.static_range (\w+) value is not a constexpr",
        "tl.static_range is unrolled when the kernel is compiled, and its {0} is known only while it runs",
        "Use range(...), or take the number from a `tl.constexpr` argument.",
    ),
    says(
        r"program_id axis must be 0, 1, or 2 but got (-?\d+)",
        "a grid has the axes 0, 1 and 2, and no axis {0}",
        "Fold several axes into one: tl.program_id(2) // n and % n.",
    ),
    says(
        r"invalid axis (-?\d+)\. Expected (-?\d+) <= axis < (\d+)",
        "`{code}` asks for axis {0} of a block that has {2}",
        "Axes count from 0; -1 is the last.",
    ),
    says(
        r"implementation of `cat` always may reorder elements",
        "tl.cat may change the order of the elements, and wants you to say that this is well",
        "Write tl.cat(a, b, can_reorder=True); where the order matters, use tl.join and reshape.",
    ),
    says(
        r"reshape\(\) cannot change total number of elements",
        "`{code}` would change how many elements the block has",
        "The sizes of the new shape multiply to as many as those of the old one.",
    ),
)

_NONE = r"'NoneType' object has no attribute|cannot convert None of type|unsupported operand .*'NoneType'"

_FORMS = (
    Rule(r"Boolean value of Tensor with more than one value is ambiguous", unsupported_python.block_condition),
    Rule(r"RuntimeError: error encountered during parsing", unsupported_python.late_block_condition),
    Rule(r"unsupported tensor index", unsupported_python.index),
    Rule(r"`_semantic` argument must be provided outside of JIT functions", unsupported_python.index_pointer),
    Rule(r"RecursionError: |EndlessRecursion: |KeyError: '.*\.(\w+)__", unsupported_python.recursion),
    Rule(r"__setitem__ is not supported", unsupported_python.assign_item),
    Rule(r"Cannot have `return` statements inside `while` or `for`", unsupported_python.return_in_loop),
    Rule(r"unsupported AST node type: (\w+)", unsupported_python.syntax),
    Rule(r"nested function definitions are not allowed|StopIteration", unsupported_python.nested_function),
    says(
        r"only tuple comprehensions are supported|nested comprehensions are not supported",
        "a comprehension in a kernel goes over a tuple of constants, and over nothing else",
        "Write a loop over tl.static_range(n), or load all at once with a block of offsets.",
    ),
    says(
        r"'tuple' object has no attribute '?(?!dtype)(\w+)'?$|'(\w+)' is not in list",
        "`{code}`: a list in a kernel cannot grow or change",
        "Keep values in variables of their own, in a block (tl.arange, tl.where), or in memory (tl.store).",
    ),
    says(
        r"'(?:List|Tuple|Name|Constant)' object has no attribute 'func'|Only `range` and `static_range`",
        "a kernel's `for` goes over range(...) or tl.static_range(...) alone",
        "Count with `for i in range(n)`; for constants write tl.static_range(n).",
    ),
    Rule(r"For loop bounds and step must all be ints, are \((.*)\)", unsupported_python.range_of_floats),
    says(
        r"For (lower bound|upper bound|step) must be a scalar, got",
        "the {0} of `range` is one number, and here it is a block",
        "Reduce the block (tl.max(x, 0)), or use the number itself.",
    ),
    says(
        r"\] is not string|CompilationError: .*tensor.* is not string",
        "`{code}` prints a text before the values, and there is none",
        'Write print("x = ", x), or tl.device_print("x = ", x).',
    ),
    says(
        r"Cannot evaluate f-string containing non-constexpr",
        "an f-string is made when the kernel is compiled, and the values in it are known only while it runs",
        'Write tl.device_print("x = ", x).',
    ),
    says(
        r"TypeError: (float|int|len|list|isinstance)?\(?.*(?:not 'tensor'|type 'tensor' has no len)",
        "`{code}` asks for a number of Python's, and the value is known only while the kernel runs",
        "Cast with x.to(tl.float32) or x.to(tl.int32); sizes of blocks are constants (x.shape[0]).",
    ),
    Rule(r"simultaneous multiple comparison is not supported", unsupported_python.several_comparisons),
    says(
        r"operator 'MatMult'|'MatMult' object",
        "`@` does not multiply blocks in a kernel",
        "Write tl.dot(a, b).",
    ),
    says(
        r"for \*\*|no attribute '__pow__'",
        "`{code}`: a kernel has no powers",
        "Multiply (x * x), or use tl.exp2(y * tl.log2(x)).",
    ),
    says(
        r"'torch\.dtype' object has no attribute",
        "`{code}` takes one of Triton's types, and got one of torch's",
        "Write tl.float32 instead of torch.float32; pass it as a `tl.constexpr` argument where it varies.",
    ),
    says(
        r"'tuple' object has no attribute dtype|language\.core\.tuple'> to tensor",
        "`{code}`: one side is a tuple, and a number or a block is expected",
        "Where a shape was passed, take its sizes one by one: pass x.shape[0], or write shape[0] in the kernel.",
    ),
    Rule(_NONE, unsupported_python.nothing_returned),
    says(
        f"(?:{_NONE})",
        "`{code}`: one side is None, and a number or a block is expected",
        "Pass a number or a tensor, or ask first: `if x is not None:`.",
    ),
    says(
        r"cannot convert (.*) of type <class '(\w+)'> to tensor",
        "`{code}`: {0!r} is a {1} of Python's, and a number or a block is expected",
        "A kernel computes with numbers, blocks and pointers alone.",
    ),
    says(
        r"TypeError: (?!dynamic_func).*missing (?:a|\d+) required (?:[\w-]+ )?arguments?: (.*)",
        "`{code}` does not give {0}",
        "Pass it too.",
    ),
    Rule(r"TypeError: (?:too many positional arg|\w+\(\) takes \d+ positional arguments? but)", unknown_names.too_many),
    Rule(r"TypeError: .*got an unexpected keyword argument '(\w+)'", unknown_names.keyword),
    says(
        r"CompileTimeAssertionFailure: (.*)",
        "tl.static_assert does not hold: {0}",
        "It compares constants: look at the `tl.constexpr` arguments of the launch.",
    ),
    says(
        r"cannot unpack non-iterable|'tensor' object has no attribute 'values'",
        "`{code}`: one value cannot be spread over several names",
        "A block does not unpack into its lanes: use one name, or tl.split for an axis of 2.",
    ),
    says(
        r"AssertionError: $",
        "`{code}`: Triton expected a number or a block here, and there is none",
        "What tl.store and other calls without a result give back is no value.",
    ),
)

RULES = (*_NAMES, *_TYPES, *_CONSTANTS, *_FORMS)


def explained(refusal: Refusal) -> Told | None:
    """The mistake and its remedy in the user's words; None if no rule matches."""
    return next((told for rule in RULES if (told := rule(refusal)) is not None), None)
