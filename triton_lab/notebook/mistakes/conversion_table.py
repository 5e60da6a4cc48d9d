"""Types that operators and conversions of kernels do not take, each with its own words."""

from __future__ import annotations

from triton_lab.localization import N_
from triton_lab.notebook.mistakes.diagnostic import says

RULES = (
    says(
        r"Cannot bitcast data-type of size (\d+) to data-type of size (\d+)",
        N_("`{code}` reads {first} bits as a type of {second} bits"),
        N_("Use a type of the same size, or convert the value: x.to(dtype) without bitcast."),
    ),
    says(
        r"Invalid rounding mode: (\w+)",
        N_("`{code}`: the rounding mode must be 'rtne' or 'rtz', not {first}"),
        N_('Write x.to(dtype, fp_downcast_rounding="rtz"). A type is converted once: x.to(dtype).'),
    ),
    says(
        r"fp_downcast_rounding should be set only for truncating",
        N_("`{code}` names a rounding mode, but nothing is rounded: the new type is not smaller"),
        N_("Leave fp_downcast_rounding out."),
    ),
    says(
        r"cannot cast void\[\] to",
        N_("`{code}`: one value is the result of a call that returns nothing, such as tl.store ({operands})"),
        N_("Store first, and use the value that was stored."),
    ),
    says(
        r"cannot cast (?:const )?pointer<.*\] to |Unexpected dtype pointer<",
        N_("`{code}`: a pointer is an address, not a number ({operands})"),
        N_(
            "To get the number at this address, use tl.load(pointer). The type of what a pointer points to is "
            "pointer.dtype.element_ty."
        ),
    ),
    says(
        r"cannot cast .* to pointer<",
        N_("`{code}`: a number of this type is not an address ({operands})"),
        N_("Only an int64 is converted to a pointer. Begin with an argument that is a tensor."),
    ),
    says(
        r"'(?:builder|ir_builder)' object has no attribute 'get_pointer<|RuntimeError: Not implemented$",
        N_("`{code}` is the type of a pointer, but the type of the elements is needed"),
        N_("Write x_ptr.dtype.element_ty."),
    ),
    says(
        r"'dtype' object has no attribute 'element_ty'",
        N_("`{code}`: only the type of a pointer has an element_ty"),
        N_("The type of a block's elements is x.dtype."),
    ),
    says(
        r"(?:type object )?'(?:str|float|int|bool|type)'(?: object)? has no attribute '(?:scalar|dtype|is_int|to_ir)'",
        N_("`{code}`: a type of Triton's or a number is needed, not a Python type or a text"),
        N_("Write tl.float32, tl.int32, ... for a type. A text is only printed."),
    ),
    says(
        r"Nonrepresentable integer (-?\d+)",
        N_("`{code}`: {first} does not fit into 64 bits"),
        N_("Use a float, or smaller numbers."),
    ),
    says(
        r"Cannot perform a binary operation between an unsigned tensor and a negative scalar",
        N_("`{code}` combines an unsigned value with a negative number ({operands})"),
        N_("Convert the value to a signed type first: x.to(tl.int64)."),
    ),
    says(
        r"Scalar (-?[\d.]+) is out of range for type (\w+)",
        N_("`{code}`: {first} does not fit into {second} ({operands})"),
        N_("Convert the block to a larger type first: x.to(tl.int32)."),
    ),
    says(
        r"Cannot use /, #, or % with (\w+) and (\w+)",
        N_("`{code}` divides a signed by an unsigned integer ({operands})"),
        N_("Convert one side: x.to(tl.int32)."),
    ),
    says(
        r"wrong type argument to unary (?:minus|invert) \((.*)\)",
        N_("`{code}` does not work on this type ({operands})"),
        N_("`~` takes integers and masks, `-` takes numbers. A pointer is neither."),
    ),
    says(
        r"AST unary operator '(\w+)' is not \(currently\) implemented|has no attribute '__(?:pos|neg|invert)__'",
        N_("`{code}`: Triton has no such operator"),
        N_("Leave a `+` out; write `x == 0` for `not x` of a block."),
    ),
    says(
        r"AST comparison operator '(?:In|NotIn)'|'(?:In|NotIn)' object has no attribute",
        N_("`{code}`: kernels have no `in`"),
        N_("Compare with each value: (x == 1) | (x == 2). Compute constant conditions outside of the kernel."),
    ),
    says(
        r"cannot add pointers together",
        N_("`{code}` adds two addresses ({operands})"),
        N_("Load what you want to add: tl.load(x_ptr + offsets) + tl.load(y_ptr + offsets)."),
    ),
    says(
        r"'tt\.elementwise_inline_asm' op (.*)",
        N_("`{code}`: {first}"),
        N_("`pack` is how many elements one instruction works on: 1 or more."),
    ),
    says(
        r"unexpected type |[Uu]nexpected dtype|Expecting input to be integer type|only floating point clamp",
        N_("`{code}` does not work on these types ({operands})"),
        N_("Convert with x.to(tl.float32) or x.to(tl.int32)."),
    ),
    says(
        r"fdiv requires floating-point|fdiv must have floating",
        N_("`{code}` divides floats ({operands})"),
        N_("Use `/`, which makes floats of integers, or `//` for a quotient without remainder."),
    ),
    says(
        r"min requires at least 2 values|max requires at least 2 values",
        N_("`{code}`: `min` and `max` take two or more values, and no list"),
        N_("Write max(a, b, c). For the largest element of a block, use tl.max(x, axis)."),
    ),
)
