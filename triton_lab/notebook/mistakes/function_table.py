"""What functions of Triton's language ask of their arguments: types, shapes, and the words that they know.

The patterns are those of Triton's `semantic`, `core` and `standard` modules, and of MLIR's verifier for what these let
pass.
"""

from __future__ import annotations

from triton_lab.localization import N_
from triton_lab.notebook.mistakes import conversion_table
from triton_lab.notebook.mistakes.diagnostic import says

_SHAPES = (
    says(
        r"permute dims must (?:have the same length|be a permutation)",
        N_("`{code}` must name each axis of the block once ({operands})"),
        N_("tl.trans(x) transposes a block of two axes. Add an axis with [:, None]."),
    ),
    says(
        r"tl\.trans invoked with a 0- or 1-dimensional tensor",
        N_("`{code}` exchanges two axes, but the block has one at most ({operands})"),
        N_("Add an axis with [:, None] or [None, :]."),
    ),
    says(
        r"expand_dims received duplicate axes",
        N_("`{code}` names an axis twice"),
        N_("Name each new axis once."),
    ),
    says(
        r"too many indices for tensor of rank (\d+)",
        N_("`{code}` has more indices than the block has axes ({operands})"),
        N_("Write one `:` for each axis of the block, and None for each axis that is added."),
    ),
    says(
        r"expected 1D input for cat|assert len\(lhs\.shape\) == 1",
        N_("`{code}`: tl.cat joins blocks of one axis ({operands})"),
        N_("Use tl.join, which adds a last axis, and tl.reshape."),
    ),
    says(
        r"expected last dimension to be 2 for split, got (\d+)|assert \(?tl\._unwrap_if_constexpr\(a\.shape",
        N_("`{code}`: tl.split takes a block whose last axis has size 2 ({operands})"),
        N_("Bring the block into that shape first: tl.reshape(x, (n // 2, 2))."),
    ),
    says(
        r"(?:gather|scan|reduction) axis (-?\d+) must be < \w+ rank \((\d+)\)",
        N_("`{code}` uses axis {first} of a block that has {second}"),
        N_("Axes count from 0; -1 is the last."),
    ),
    says(
        r"index must be an integer tensor",
        N_("`{code}`: the indices must be integers ({operands})"),
        N_("Convert them: index.to(tl.int32)."),
    ),
    says(
        r"source and index tensors must have the same rank|index dim (\d+) must match the corresponding source dim",
        N_(
            "`{code}`: the block of indices must have the source's axes, and its sizes except along `axis` ({operands})"
        ),
        N_("Add axes with [:, None], or use tl.broadcast_to."),
    ),
    says(
        r"all (?:reduction|scan) inputs must have the same shape",
        N_("`{code}`: the blocks must have one shape ({operands})"),
        N_("Broadcast the smaller one: tl.broadcast_to(x, shape)."),
    ),
    says(
        r"histogram only supports (.*) input",
        N_("`{code}`: tl.histogram counts a block of one axis, of int32 ({operands})"),
        N_("Flatten it with tl.reshape(x, (n,)), and convert it with .to(tl.int32)."),
    ),
    says(
        r"'<=' not supported between instances of 'int' and '(?:tuple|constexpr)'",
        N_("`{code}` works along one axis"),
        N_("For two axes, write it twice: tl.sum(tl.sum(x, 1), 0). For all axes, leave `axis` out."),
    ),
    says(
        r"'<=' not supported between instances of 'int' and 'JITFunction'"
        r"|'function' object has no attribute '(?:arg_names|fn)'",
        N_("`{code}`: the arguments are a block, an axis, and a function with @triton.jit"),
        N_("Write tl.reduce(x, axis, combine). For a sum, a maximum or a minimum, use tl.sum, tl.max or tl.min."),
    ),
    says(
        r"arange must fit in int32",
        N_("`{code}`: the bounds of tl.arange are int32"),
        N_("Use tl.arange(0, BLOCK), and add the start as an int64."),
    ),
    says(
        r"only accepts size-1 tensor|'(?:float|int|str|bool)' object is not iterable",
        N_("`{code}`: the shape must be a tuple, and the value one number"),
        N_("Write tl.full((BLOCK,), value, dtype)."),
    ),
    says(
        r"dtype must be specified when value is not a tensor",
        N_("`{code}` lacks the type of the elements"),
        N_("Write tl.full(shape, value, tl.float32)."),
    ),
    says(
        r"'(?:int|float)' object has no attribute 'shape'",
        N_("`{code}`: a constant number has no shape, and a block is needed"),
        N_("Make a block with tl.full(shape, value, dtype)."),
    ),
    says(
        r"'(?:int|float)' object has no attribute '(?:to|dtype|type)'",
        N_("`{code}`: a constant number stands where a value of the kernel is needed"),
        N_("Make a value with tl.full(shape, value, dtype), or pass a block such as tl.arange(0, BLOCK)."),
    ),
)

_MEMORY = (
    says(
        r"'constexpr_type' object has no attribute '(?:scalar|is_ptr)'",
        N_("`{code}`: the address is a constant ({operands})"),
        N_("Pass a tensor for this argument. An argument that may be None is tested first: `if x is not None:`."),
    ),
    says(
        r"`other` cannot be provided without `mask`",
        N_("`{code}`: `other` is the value of masked-off lanes, but there is no mask"),
        N_("Add mask=..., or leave `other` out."),
    ),
    says(
        r"Other argument cannot be block type if pointer argument is not a block",
        N_("`{code}`: the pointer is one address, but `other` is a block"),
        N_("Pass a number as `other`, or give each lane its own address (pointer + tl.arange(0, BLOCK))."),
    ),
    says(
        r"Mask must have boolean scalar type|'tt\.(?:load|store)' op operand #\d must be 1-bit signless integer",
        N_("`{code}`: the mask must be true or false in each lane ({operands})"),
        N_("Compare: mask=offsets < n."),
    ),
    says(
        r"Cannot store to a constant pointer",
        N_("`{code}` stores to memory that the kernel may only read"),
        N_("The argument is declared as a pointer to constant memory. Remove that, or store elsewhere."),
    ),
    says(
        r"(?:Unsupported cache modifier '?|Cache modifier )(\S+?)'?(?: not supported)?$",
        N_("`{code}`: there is no cache modifier {first}"),
        N_('There is ".ca", ".cg", ".cv" for loads, and ".wb", ".cg", ".cs", ".wt" for stores. Most need none.'),
    ),
    says(
        r"(?:Unsupported eviction policy '?|Eviction policy )(\S+?)'?(?: not supported)?$",
        N_("`{code}`: there is no eviction policy {first}"),
        N_('There is "evict_first" and "evict_last". Most accesses need none.'),
    ),
    says(
        r"Padding option (\S+) not supported",
        N_("`{code}`: there is no padding {first}"),
        N_('There is "zero" and "nan".'),
    ),
    says(
        r"cache_modifier must be a string|eviction_policy must be a string",
        N_("`{code}`: this argument must be a string"),
        N_("Write it in quotation marks, or leave it out."),
    ),
    says(
        r"Memory semantic (\S+) not supported",
        N_("`{code}`: there is no such memory order or scope: {first}"),
        N_('sem= is "relaxed", "acquire", "release" or "acq_rel"; scope= is "cta", "gpu" or "sys".'),
    ),
    says(
        r"Pointer argument of store instruction is (.*)",
        N_("`{code}`: the first argument must be an address ({operands})"),
        N_("Start with a pointer, which is an argument that got a tensor."),
    ),
    says(
        r"atomic_(\w+) does not support (\w+)|atomic_(\w+) only supports|atomic_(?:max|min) not supported for dtype",
        N_("`{code}`: a GPU has no such atomic operation for this type ({operands})"),
        N_("Use a tensor of int32 or float32: all atomics take int32, and atomic_add takes float32 too."),
    ),
    says(
        r"atomic_\w+ only supports \w+ and \w+ semantics",
        N_("`{code}`: this memory order is not allowed here"),
        N_('A load may be "acquire" or "relaxed", a store "release" or "relaxed".'),
    ),
    says(
        r"`padding_option` or `boundary_check` argument is not supported",
        N_("`{code}`: boundary_check and padding_option are for block pointers"),
        N_("For pointers, use mask= and other=."),
    ),
    says(
        r"'tt\.atomic_\w+' op failed to verify",
        N_("`{code}`: the pointers, the values and the mask must have one shape"),
        N_("Give each lane its own address (pointer + tl.arange(0, BLOCK)), or pass one value."),
    ),
)

_MATRICES = (
    says(
        r"input_precision must be one of \((.*)\)\. Got (\S+)",
        N_("`{code}`: there is no input precision {second}"),
        N_("There is {first}."),
    ),
    says(
        r"Only one of input_precision and allow_tf32 can be specified",
        N_("`{code}`: input_precision and allow_tf32 mean the same"),
        N_('Keep one: input_precision="ieee" is allow_tf32=False.'),
    ),
    says(
        r"out_dtype=(\w+) is unsupported",
        N_("`{code}`: a product of blocks is added up in float32 or float16, not in {first}"),
        N_("Leave out_dtype out, and convert the result: tl.dot(a, b).to(tl.{first})."),
    ),
    says(
        r"(?:input and other must have equal batch shapes|Both inputs must be either 2D or 3D)",
        N_("`{code}`: both blocks must have the same number of products ({operands})"),
        N_("tl.dot multiplies M × K with K × N, or B × M × K with B × K × N."),
    ),
    says(
        r"accumulator (?:type|dtype)|assert acc\.type\.(?:scalar|element_ty)|acc\.type\.element_ty|Expected acc",
        N_("`{code}`: the accumulator and the product have different types ({operands})"),
        N_("Begin with tl.zeros((M, N), tl.float32)."),
    ),
    says(
        r"max_num_imprecise_acc \((\d+)\) must be <= K \((\d+)\)",
        N_("`{code}`: max_num_imprecise_acc is {first}, more than K, which is {second}"),
        N_("Leave it out, or use at most K."),
    ),
    says(
        r"Invalid float format: (\w+)|NYI: [lr]hs_format (\w+)",
        N_("`{code}`: tl.dot_scaled knows the formats e2m1, e4m3, e5m2, bf16 and fp16"),
        N_("Name the format of each side as one of these."),
    ),
    says(
        r"Unexpected dtype for (\w+)\. Got (\w+)|e2m1 format must be packed as uint8",
        N_("`{code}`: the bits of a small float are passed as uint8, two e2m1 in each ({operands})"),
        N_("Pass the tensor as x.view(torch.uint8)."),
    ),
)

_VERIFIED = (
    says(
        r"'tt\.(?:join|cat)' op requires all operands to have the same type",
        N_("`{code}` joins blocks of the same shape and type, but these differ ({operands})"),
        N_("Load what a pointer points to, tl.load(pointer + offsets), or convert one side with .to(...)."),
    ),
    says(
        r"'math\.(\w+)' op operand #\d must be floating-point-like, but got '(\w+)'",
        N_("`{code}` works on floats, but its argument is an integer"),
        N_("Write 2.0 instead of 2, or convert with x.to(tl.float32)."),
    ),
    says(
        r"'tt\.(\w+)' op type mismatch on combine operation|region return does not match",
        N_("the function that `{code}` applies returns another type or shape than it takes"),
        N_("It must return values of the same types as its arguments. Remove conversions from it."),
    ),
    says(
        r"'scf\.\w+' op different number of region iter_args and yielded values",
        N_("`{code}` changes the number of members of a tuple"),
        N_("A variable keeps its type in a loop: assign a tuple with the same number of members."),
    ),
    says(
        r"'llvm\.intr\.assume' op operand",
        N_("`{code}`: tl.assume takes one condition, true or false ({operands})"),
        N_("Compare numbers: tl.assume(n > 0)."),
    ),
)

RULES = (*_SHAPES, *_MATRICES, *conversion_table.RULES, *_MEMORY, *_VERIFIED)
