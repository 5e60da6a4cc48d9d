"""Refuses, before a kernel runs, what Triton's front end accepts and its compiler for sm_90 does not.

On a GPU that is a failed pass (``PassManager::run failed``): sm_90 stores numbers in fp8 and multiplies blocks of them,
but has no other arithmetic on them. tests/backend/test_accepted.py compares this with the compiler itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from triton_lab import messages
from triton_lab.backend.source.kernel_source import KernelSource
from triton_lab.interpreter.kernel_errors import Unsupported
from triton_lab.ir import Function, Op, Plan, Type
from triton_lab.ir.symmetric_clamp import SYMMETRIC
from triton_lab.localization import N_, _

_FP8 = {"f8E4M3FN": "tl.float8e4nv", "f8E5M2": "tl.float8e5"}
_NAMES = {
    **_FP8,
    **{"f16": "tl.float16", "bf16": "tl.bfloat16", "f32": "tl.float32", "f64": "tl.float64"},
}
# Operations that do not exist for fp8, in the user's words.
_ARITHMETIC = {
    "arith.addf": N_("an addition"),
    "arith.subf": N_("a subtraction"),
    "arith.mulf": N_("a multiplication"),
    "arith.divf": N_("a division"),
    "arith.remf": N_("a remainder"),
    "arith.negf": N_("a change of sign"),
    "arith.cmpf": N_("a comparison"),
    "arith.maximumf": N_("a maximum"),
    "arith.minimumf": N_("a minimum"),
    "arith.maxnumf": N_("a maximum"),
    "arith.minnumf": N_("a minimum"),
    "math.fma": N_("a multiplication with addition (tl.fma)"),
    "tt.clampf": N_("tl.clamp"),
    "tt.reduce": N_("a reduction (tl.sum, tl.reduce and the like)"),
    "tt.scan": N_("a scan (tl.cumsum, tl.associative_scan and the like)"),
    "tt.map_elementwise": N_("tl.map_elementwise"),
}
_TOWARDS_ZERO = 0
# The types that float32 can be rounded to towards zero.
_CUT = ("f16", "bf16", "f8E5M2")


class NotCompilable(Unsupported, RuntimeError):
    """A kernel that Triton's front end accepts, and its compiler for sm_90 does not."""


def may_be_refused(text: str) -> bool:
    """Whether a module's text contains anything that `refuse` checks."""
    return any(word in text for word in ("f8E", '"tt.fp_to_fp"', '"tt.dot"', '"tt.histogram"', '"tt.clampf"'))


def refuse(plan: Plan, kernel: str) -> None:
    """Raise NotCompilable for the first operation of ``plan`` that the compiler for sm_90 refuses."""
    for function in plan.functions.values():
        for op in function.walk():
            for rule in _RULES:
                reason = rule(op, function)
                if reason is not None:
                    raise NotCompilable("\n".join([reason[0], *_where(op, plan, kernel), f"  {reason[1]}"]), op)


def _where(op: Op, plan: Plan, kernel: str) -> Iterator[str]:
    """The user's line, and those that call it."""
    written = KernelSource(None, plan)
    for number, place in enumerate(written.places(op.location)):
        where = messages.place(place.file, place.line)
        inside = _("in kernel {kernel}").format(kernel=kernel)
        yield "  " + (_("called from {place}").format(place=where) if number else f"{where}, {inside}")
        yield from written.excerpt(place)


def _arithmetic(op: Op, function: Function) -> tuple[str, str] | None:
    """Refuse arithmetic, reductions and the like on fp8."""
    what = _ARITHMETIC.get(op.name)
    if what is None:
        return None
    for type in _types(op, function):
        if type.element in _FP8:
            return (
                _("{what} in {FP8}, which a GPU of sm_90 does not have ({name})").format(
                    what=what, FP8=_FP8[type.element], name=op.name
                ),
                _(
                    "Convert to a wider type first, x.to(tl.float32). Convert the result back if you need the narrow "
                    "type."
                ),
            )
    return None


def _conversion(op: Op, function: Function) -> tuple[str, str] | None:
    """Refuse conversions between fp8 and types that it has none to, and rounding towards zero to types without it."""
    if op.name != "tt.fp_to_fp":
        return None
    source, target = function.types[op.operands[0]].element, function.types[op.results[0]].element
    names = _("from {get} to {get_2}").format(get=_NAMES.get(source, source), get_2=_NAMES.get(target, target))
    both = {source, target}
    if len(both) == 2 and (both == _FP8.keys() or ("f64" in both and both & _FP8.keys())):
        return (
            _("a conversion {names}, which a GPU of sm_90 does not have ({name})").format(names=names, name=op.name),
            _("Convert through a type in between: x.to(tl.float32).to({get}).").format(get=_NAMES.get(target, target)),
        )
    if op.attributes.get("rounding") == _TOWARDS_ZERO and (source != "f32" or target not in _CUT):
        return (
            _("a conversion {names} towards zero, which a GPU of sm_90 does not have ({name})").format(
                names=names, name=op.name
            ),
            _(
                "Leave out fp_downcast_rounding='rtz', or convert through tl.float32: from there, it works for "
                "tl.float16, tl.bfloat16 and tl.float8e5."
            ),
        )
    return None


def _product(op: Op, function: Function) -> tuple[str, str] | None:
    """Refuse a product of floats that is accumulated in integers."""
    if op.name != "tt.dot":
        return None
    operand, result = function.types[op.operands[0]], function.types[op.results[0]]
    if operand.is_float and result.is_integer:
        return (
            _("tl.dot of {get} with a sum of integers, which a GPU of sm_90 does not have ({name})").format(
                get=_NAMES.get(operand.element, operand.element), name=op.name
            ),
            _("Sum up in tl.float32: acc=tl.zeros(shape, tl.float32), or no acc at all."),
        )
    return None


def _limits(op: Op, function: Function) -> tuple[str, str] | None:
    """Refuse a clamp of float64 to a number and its negative, for which Triton uses an instruction of float32."""
    if not op.attributes.get(SYMMETRIC) or function.types[op.results[0]].element != "f64":
        return None
    return (
        f"tl.clamp of tl.float64 to a limit and its negative, which Triton does not compile for sm_90 ({op.name})",
        "Write tl.minimum(tl.maximum(x, low), high).",
    )


def _counts(op: Op, function: Function) -> tuple[str, str] | None:
    """Refuse a histogram of integers other than 32-bit ones, which Triton 3.6 cannot count."""
    if op.name != "tt.histogram" or not _version().startswith("3.6."):
        return None
    operand = function.types[op.operands[0]]
    if operand.bits == 32:
        return None
    return (
        _("tl.histogram of integers of {bits} bits, which Triton {version} does not compile for sm_90").format(
            bits=operand.bits, version=_version()
        ),
        _("Convert to 32 bits first, x.to(tl.int32), or install a newer Triton."),
    )


def _version() -> str:
    from triton import __version__

    return str(__version__)


def _types(op: Op, function: Function) -> Iterator[Type]:
    for value in (*op.operands, *op.results):
        yield function.types[value]


_RULES: tuple[Callable[[Op, Function], tuple[str, str] | None], ...] = (
    _arithmetic,
    _conversion,
    _product,
    _limits,
    _counts,
)
