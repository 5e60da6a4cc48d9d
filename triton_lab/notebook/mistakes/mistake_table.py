"""The table of the commonest mistakes in kernels, each with its own words.

A rule searches ``Kind: text`` of the error that Triton's front end raised, and gives the words that replace it. Where
both name types or functions of Triton's, they cover all supported versions.
"""

from __future__ import annotations

from triton_lab.localization import N_, _
from triton_lab.notebook.mistakes import (
    call_arguments,
    compile_time,
    constant_sizes,
    containers,
    descriptors,
    function_table,
    members,
    statement_table,
    type_mismatches,
    unknown_names,
    unsupported_python,
)
from triton_lab.notebook.mistakes.diagnostic import Rule, Told, says
from triton_lab.notebook.mistakes.front_end_error import Refusal
from triton_lab.notebook.mistakes.operand_words import operands_told, usage

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
        N_("`{code}` calls a type, but a type does not convert values"),
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
        r"Expected dtype \[.*\] but got pointer",
        N_("`{code}` works on numbers, but its argument is an address ({operands})"),
        N_("Load the numbers first: tl.load(pointer + offsets)."),
    ),
    says(
        r"Expected dtype \['u?int.*\] but got (\w+)",
        N_("`{code}` works on integers, but its argument is {first}"),
        N_("Convert it first: x.to(tl.int32)."),
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
    Rule(r"arange's arguments must be of type", constant_sizes.arange_of_variables),
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
    Rule(r"Shape element (\d+) must have type", constant_sizes.shape_of_variables),
    says(
        r"numel \((\d+)\) exceeds triton maximum tensor numel \((\d+)\)",
        N_("`{code}` makes a block of {first} elements. Triton allows at most {second}"),
        N_("Use smaller blocks and more programs, or loop over the data."),
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

# The particular first: a rule may decline, and the next one is asked.
RULES = (
    Rule(
        r"create_(?:reduce|scan)\(\): incompatible function arguments|`_semantic` argument must be provided",
        call_arguments.axis_of_a_value,
    ),
    *members.RULES,
    *containers.RULES,
    *compile_time.RULES,
    *descriptors.RULES,
    *_NAMES,
    *_TYPES,
    *_CONSTANTS,
    *statement_table.RULES,
    *function_table.RULES,
)


def unexplained(refusal: Refusal) -> Told:
    """The words for a refusal that no rule matches: Triton's, what the operands are, and how the function is called."""
    said = " ".join(refusal.text.split())
    if not said or said.startswith("assert "):
        said = _("Triton does not accept `{code}`").format(code=refusal.code)
    operands = operands_told(refusal)
    values = _("Here {operands}.").format(operands=operands) if operands else ""
    return Told(said, " ".join(part for part in (values, usage(refusal)) if part))


def explained(refusal: Refusal) -> Told | None:
    """The mistake and its remedy in the user's words; None if no rule matches."""
    return next((told for rule in RULES if (told := rule(refusal)) is not None), None)
