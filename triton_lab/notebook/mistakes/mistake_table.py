"""The table of the commonest mistakes in kernels, each with its own words.

A rule searches ``Kind: text`` of the error that Triton's front end raised, and gives the words that replace it. Where
both name types or functions of Triton's, they cover all supported versions.
"""

from __future__ import annotations

from triton_lab.localization import N_
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
        N_("`{code}` combines blocks with different numbers of axes"),
        N_("Add axes of size 1 first: x[:, None] or x[None, :]."),
    ),
    says(
        r"accumulator shape is incompatible",
        N_("the accumulator of `{code}` does not have the product's shape M × N"),
        N_(
            "Begin with tl.zeros((M, N), tl.float32). M is the number of rows of the first block, N of columns "
            "of the second."
        ),
    ),
    says(
        r"'dtype' object is not callable",
        N_("`{code}` calls a type, but a type converts nothing"),
        N_("Convert with x.to(tl.float32)."),
    ),
    Rule(r"invalid operands of type .*pointer<", type_mismatches.pointer_and),
    Rule(r"invalid operands of type", type_mismatches.operands),
    Rule(r"Unsupported ptr type (.*) in `(tl\.\w+)`", type_mismatches.no_pointer),
    Rule(r"(Value|Mask) argument cannot be block type if pointer argument is not a block", type_mismatches.one_address),
    Rule(r"Both operands must be same dtype", unsupported_python.dot_operands),
    Rule(r"must have equal (?:reduction dimensions|ranks)", unsupported_python.dot_operands),
    says(
        r"Input shapes should have M >= (\d+), N >= (\d+) and K >= (\d+)",
        N_(
            "the blocks of `{code}` are too small for a GPU's matrix units. M, N and K must be "
            "at least {first}, {second} and {third}"
        ),
        N_(
            "Use larger blocks and mask the lanes beyond the matrix. For small products, add up: tl.sum(a[:, :, "
            "None] * b[None, :, :], 1)."
        ),
    ),
    says(
        r"Unsupported (?:lhs|rhs) dtype (u?int\d+)",
        N_("`{code}` multiplies blocks of floats or of int8, but one block is {first}"),
        N_("Convert both to floats first: a.to(tl.float32)."),
    ),
    says(
        r"Expected dtype \[.*\] but got (u?int\w+)",
        N_("`{code}` works on floats, but its argument is {first}"),
        N_("Convert it first: x.to(tl.float32)."),
    ),
    says(
        r"Expected dtype \[.*\] but got (\w+)",
        N_("`{code}` works on float32 and float64, but its argument is {first}"),
        N_("Convert it first, x.to(tl.float32), and convert the result back."),
    ),
)

_CONSTANTS = (
    Rule(r"^\w+: '(?:int|constexpr)' object is not iterable$", type_mismatches.shape_of_a_number),
    says(
        r"arange's range must be a power of 2",
        N_("`{code}` makes a block whose size is not a power of 2. Triton needs a power of 2"),
        N_("Use the next power of 2, triton.next_power_of_2(n), and mask the lanes beyond n."),
    ),
    Rule(r"arange's arguments must be of type", unsupported_python.arange_of_variables),
    says(
        r"arange's end argument must be greater than the start argument",
        N_("`{code}` ends before or where it starts"),
        N_("The first number is the start, the second the end: tl.arange(0, BLOCK)."),
    ),
    says(
        r"arange\(\) missing 1 required positional argument: 'end'",
        N_("tl.arange takes two numbers, the start and the end"),
        N_("Write tl.arange(0, n)."),
    ),
    says(
        r"Shape element (\d+) must be a power of 2",
        N_("`{code}` makes a block whose axis {first} has a size that is not a power of 2. Triton needs a power of 2"),
        N_("Use the next power of 2, triton.next_power_of_2(n), and mask the lanes beyond n."),
    ),
    Rule(r"Shape element (\d+) must have type", unsupported_python.shape_of_variables),
    says(
        r"numel \((\d+)\) exceeds triton maximum tensor numel \((\d+)\)",
        N_("`{code}` makes a block of {first} elements. Triton allows at most {second}"),
        N_("Use smaller blocks and more programs, or loop over the data."),
    ),
    says(
        r"used as tl\.static_range (\w+) value is not a constexpr",
        N_("tl.static_range is unrolled at compile time, but its {first} is known only at run time"),
        N_("Use range(...), or pass the number as a `tl.constexpr` argument."),
    ),
    says(
        r"program_id axis must be 0, 1, or 2 but got (-?\d+)",
        N_("a grid has axes 0, 1 and 2, but no axis {first}"),
        N_("Combine several axes into one: tl.program_id(2) // n and tl.program_id(2) % n."),
    ),
    says(
        r"invalid axis (-?\d+)\. Expected (-?\d+) <= axis < (\d+)",
        N_("`{code}` uses axis {first} of a block that has {third}"),
        N_("Axes count from 0; -1 is the last."),
    ),
    says(
        r"implementation of `cat` always may reorder elements",
        N_("tl.cat may change the order of the elements. Triton asks you to allow this"),
        N_("Write tl.cat(a, b, can_reorder=True). If the order matters, use tl.join and reshape."),
    ),
    says(
        r"reshape\(\) cannot change total number of elements",
        N_("`{code}` would change the number of elements of the block"),
        N_("The product of the sizes must stay the same."),
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
        N_("a `for` loop in a kernel goes over range(...) or tl.static_range(...), nothing else"),
        N_("Write `for i in range(n)`. For constants, write tl.static_range(n)."),
    ),
    Rule(r"For loop bounds and step must all be ints, are \((.*)\)", unsupported_python.range_of_floats),
    says(
        r"For (lower bound|upper bound|step) must be a scalar, got",
        N_("the {first} of `range` must be one number, but it is a block"),
        N_("Reduce the block, tl.max(x, 0), or use the number itself."),
    ),
    says(
        r"\] is not string|CompilationError: .*tensor.* is not string",
        N_("`{code}` prints values without a text, and a text must come first"),
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
        r"operator 'MatMult'|'MatMult' object",
        N_("`@` does not multiply blocks in a kernel"),
        N_("Write tl.dot(a, b)."),
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
        r"'tuple' object has no attribute dtype|language\.core\.tuple'> to tensor",
        N_("`{code}`: one side is a tuple, but must be a number or a block"),
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
        r"TypeError: (?!dynamic_func).*missing (?:a|\d+) required (?:[\w-]+ )?arguments?: (.*)",
        N_("`{code}` lacks the argument {first}"),
        N_("Pass it."),
    ),
    Rule(r"TypeError: (?:too many positional arg|\w+\(\) takes \d+ positional arguments? but)", unknown_names.too_many),
    Rule(r"TypeError: .*got an unexpected keyword argument '(\w+)'", unknown_names.keyword),
    says(
        r"CompileTimeAssertionFailure: (.*)",
        N_("tl.static_assert failed: {first}"),
        N_("It compares constants. Look at the `tl.constexpr` arguments of the launch."),
    ),
    says(
        r"cannot unpack non-iterable|'tensor' object has no attribute 'values'",
        N_("`{code}`: one value cannot be unpacked into several names"),
        N_("A block does not unpack into its lanes. Use one name, or tl.split for an axis of size 2."),
    ),
    says(
        r"AssertionError: $",
        N_("`{code}`: Triton expected a number or a block here, but there is no value"),
        N_("Calls without a result, such as tl.store, return no value."),
    ),
)

RULES = (*_NAMES, *_TYPES, *_CONSTANTS, *_FORMS)


def explained(refusal: Refusal) -> Told | None:
    """The mistake and its remedy in the user's words; None if no rule matches."""
    return next((told for rule in RULES if (told := rule(refusal)) is not None), None)
