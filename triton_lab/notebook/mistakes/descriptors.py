"""Tensor descriptors and block pointers: what they take, and how one is written as the other."""

from __future__ import annotations

import ast
import re

from triton_lab.localization import N_, _
from triton_lab.notebook.mistakes.diagnostic import Rule, Told, says
from triton_lab.notebook.mistakes.front_end_error import Refusal, written


def block_pointer(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``tl.make_block_ptr``, which Triton 3.9 no longer has: the same with a descriptor."""
    node = refusal.node
    call = node if isinstance(node, ast.Call) else None
    if call is None:
        return _advanced(refusal)
    names = ("base", "shape", "strides", "offsets", "block_shape", "order")
    given = dict(zip(names, map(ast.unparse, call.args), strict=False))
    given |= {each.arg: ast.unparse(each.value) for each in call.keywords if each.arg}
    base, shape, strides, block = (given.get(name, name) for name in ("base", "shape", "strides", "block_shape"))
    offsets = given.get("offsets", "offsets")
    if written(call.func).endswith("advance"):
        return _advanced(refusal)
    return Told(
        _("Triton 3.9 has no block pointers: descriptors replace them"),
        _(
            "Write d = tl.make_tensor_descriptor({base}, {shape}, {strides}, {block}), then d.load({offsets}) and "
            "d.store({offsets}, value). Elements outside of the shape are 0 when loaded, and not stored: no "
            "boundary_check is needed. The last stride must be 1, and the others multiples of 16 bytes. Where they are "
            "not, use offsets and a mask."
        ).format(base=base, shape=shape, strides=strides, block=block, offsets=offsets),
    )


def _advanced(refusal: Refusal) -> Told:
    return Told(
        _("Triton 3.9 has no block pointers, which `{code}` moves").format(code=refusal.code),
        _("Load from a descriptor at other offsets instead: d.load([row, column])."),
    )


def stride(refusal: Refusal, found: re.Match[str]) -> Told:
    """A stride of a descriptor that is no multiple of 16 bytes."""
    elements, size, total = (int(each) for each in found.groups())
    step = max(1, 16 // size)
    return Told(
        _(
            "`{code}`: a stride of {elements} elements of {size} bytes is {product} bytes. The copy engine of a GPU "
            "(TMA) needs a multiple of 16 bytes"
        ).format(code=refusal.code, elements=elements, size=size, product=total),
        _(
            "Store the tensor with longer rows: a stride of {longer} elements. Or load with pointers and a mask, "
            "which allow any stride."
        ).format(longer=-(-elements // step) * step),
    )


def offsets_first(refusal: Refusal, found: re.Match[str]) -> Told | None:
    """``d.store(value, [0, 0])``: the arguments of a descriptor's store, the wrong way round."""
    if not isinstance(refusal.node, ast.Call) or not isinstance(refusal.node.func, ast.Attribute):
        return None
    return Told(
        _("`{code}`: a list of offsets is needed where a block was passed").format(code=refusal.code),
        _("The offsets come first: d.store([row, column], value)."),
    )


RULES = (
    Rule(r"Block pointers have been removed|module '.*' has no attribute 'advance'", block_pointer),
    Rule(r"strides must be 16-byte aligned, but got a stride of (\d+) \* (\d+) = (\d+) bytes", stride),
    says(
        r"Tensor descriptor last dim must be 1 but got (\S+)",
        N_("`{code}`: the last stride of a descriptor must be 1, not {first}"),
        N_("Exchange the axes, so that the contiguous one is last, or use pointers and strides."),
    ),
    says(
        r"block_shape.* must (?:have|be) at least (\d+) bytes|at least 16 bytes in the last dimension"
        r"|Descriptor block shape must have at least (\d+) bytes",
        N_("`{code}`: the last axis of a descriptor's block must have 16 bytes or more"),
        N_("Use a longer block along the last axis: 4 elements of float32, 8 of float16."),
    ),
    says(
        r"Expected 1 <= ndim <= 5 but got (\d+) dimensions",
        N_("`{code}`: a descriptor has 1 to 5 axes, not {first}"),
        N_("Combine axes into one, or use pointers."),
    ),
    says(
        r"Expected (\d+) strides but got (\d+)|Expected block_shape to have (\d+) dimensions",
        N_("`{code}`: shape, strides and block_shape must have a number for each axis"),
        N_("Write three lists of the same length: [rows, columns], [columns, 1], [BLOCK_M, BLOCK_N]."),
    ),
    says(
        r"expected (\d+) offsets, but got (\d+)",
        N_("`{code}` needs {first} offsets, one for each axis, but got {second}"),
        N_("Write d.load([row, column])."),
    ),
    says(
        r"base must be a pointer type|assert isinstance\(base\.(?:type|dtype), tl\.pointer_type",
        N_("`{code}`: the first argument must be one pointer ({operands})"),
        N_("Pass the argument that got the tensor, without offsets of a block."),
    ),
    says(
        r"expected value shape|assert value\.shape == desc\.block_shape",
        N_("`{code}`: the value must have the shape of the descriptor's block ({operands})"),
        N_("Make the value of that shape: it is the block_shape of the descriptor."),
    ),
    says(
        r"(?:Expected a 32-bit integer|only support 32 bit)",
        N_("`{code}`: offsets of a descriptor are int32, but one is int64 ({operands})"),
        N_("Convert it with .to(tl.int32). Offsets count elements along an axis, not bytes."),
    ),
    says(
        r"get_int32\(\): incompatible function arguments",
        N_("`{code}`: offsets must be integers ({operands})"),
        N_("Use `//` instead of `/`."),
    ),
    says(
        r"Expected a scalar in shape/strides/offsets|Expected an integer scalar type in shape/strides/offsets",
        N_("`{code}`: offsets, sizes and strides are single integers ({operands})"),
        N_("A descriptor makes the block itself: pass where it begins, d.load([row, column])."),
    ),
    says(
        r"'tensor_descriptor(?:_base)?_type' object has no attribute",
        N_("`{code}`: a descriptor is not a pointer"),
        N_("Write d.load([row, column]) and d.store([row, column], value)."),
    ),
    says(
        r"'tensor' object has no attribute '(?:load|store|gather|scatter)'",
        N_("`{code}`: only a descriptor has this, but the value is not a descriptor ({operands})"),
        N_("Make one: tl.make_tensor_descriptor(pointer, shape, strides, block_shape). For pointers, use tl.load."),
    ),
    Rule(r"object of type 'tensor' has no len\(\)", offsets_first),
    says(
        r"Padding option `nan` is not supported for integer blocks",
        N_("`{code}`: integers have no NaN"),
        N_('Use padding_option="zero".'),
    ),
    says(
        r"AssertionError: Unsupported dtype$",
        N_("`{code}`: the atomics of descriptors take int32, uint32 and uint64; `add` takes floats, too"),
        N_("Use tl.atomic_add and the like with pointers, or a tensor of another type."),
    ),
    says(
        r"descriptor (?:gather|scatter|must|block)|[xy] offsets must be",
        N_("`{code}`: tl's gather and scatter of a descriptor take rows of one block row each ({operands})"),
        N_("The descriptor's block has the shape [1, N], the row offsets are a block of 8 or more int32."),
    ),
)
