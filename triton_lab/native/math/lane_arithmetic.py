"""Values of a function that is being written, with Python's operators: ``x * y + 1.0`` writes a product and a sum.

Nothing is reordered or contracted: each operator is one instruction, rounded once. `fma` must be called by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from triton_lab.native.llvm.builder import FunctionBuilder, Reg, bits_of

_INTEGER_OF = {"half": "i16", "float": "i32", "double": "i64"}
_FLOAT_OF = {"i16": "half", "i32": "float", "i64": "double"}
_INTEGER_OPS = {"fadd": "add", "fsub": "sub", "fmul": "mul"}


@dataclass(frozen=True, slots=True, eq=False)
class LaneArithmetic:
    """A register with the code that it is written in. Comparisons are methods, and give lanes of ``i1``."""

    code: FunctionBuilder
    reg: Reg

    @property
    def kind(self) -> str:
        return self.reg.kind

    def of(self, value: LaneArithmetic | float) -> LaneArithmetic:
        """A number as a literal of this type; lanes are returned unchanged."""
        return (
            value if isinstance(value, LaneArithmetic) else LaneArithmetic(self.code, self.code.like(self.reg, value))
        )

    def _op(self, name: str, *others: LaneArithmetic | float) -> LaneArithmetic:
        if not self.reg.is_float:
            name = _INTEGER_OPS.get(name, name)
        return LaneArithmetic(self.code, self.code.op(name, self.reg, *(self.of(other).reg for other in others)))

    def __add__(self, other: LaneArithmetic | float) -> LaneArithmetic:
        return self._op("fadd", other)

    def __sub__(self, other: LaneArithmetic | float) -> LaneArithmetic:
        return self._op("fsub", other)

    def __rsub__(self, other: float) -> LaneArithmetic:
        return self.of(other) - self

    def __mul__(self, other: LaneArithmetic | float) -> LaneArithmetic:
        return self._op("fmul", other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other: LaneArithmetic | float) -> LaneArithmetic:
        return self._op("fdiv", other)

    def __rtruediv__(self, other: float) -> LaneArithmetic:
        return self.of(other) / self

    def __neg__(self) -> LaneArithmetic:
        return self._op("fneg") if self.reg.is_float else self.of(0) - self

    def __and__(self, other: LaneArithmetic | int) -> LaneArithmetic:
        return self._op("and", other)

    def __or__(self, other: LaneArithmetic | int) -> LaneArithmetic:
        return self._op("or", other)

    def __xor__(self, other: LaneArithmetic | int) -> LaneArithmetic:
        return self._op("xor", other)

    def __invert__(self) -> LaneArithmetic:
        return self ^ -1

    def __lshift__(self, other: LaneArithmetic | int) -> LaneArithmetic:
        return self._op("shl", other)

    def __rshift__(self, other: LaneArithmetic | int) -> LaneArithmetic:
        """Shift right with the sign; `unsigned_shift` shifts without it."""
        return self._op("ashr", other)

    def unsigned_shift(self, other: LaneArithmetic | int) -> LaneArithmetic:
        return self._op("lshr", other)

    def divided_by(self, other: LaneArithmetic | int) -> LaneArithmetic:
        """The quotient of unsigned integers; the divisor must not be zero."""
        return self._op("udiv", other)

    # Comparisons: false if an operand is NaN, except `differs` and `isnan`.

    def _compare(self, of_floats: str, of_integers: str, other: LaneArithmetic | float) -> LaneArithmetic:
        predicate = of_floats if self.reg.is_float else of_integers
        return LaneArithmetic(self.code, self.code.compare(predicate, self.reg, self.of(other).reg))

    def less(self, other: LaneArithmetic | float) -> LaneArithmetic:
        return self._compare("olt", "slt", other)

    def greater(self, other: LaneArithmetic | float) -> LaneArithmetic:
        return self._compare("ogt", "sgt", other)

    def at_least(self, other: LaneArithmetic | float) -> LaneArithmetic:
        return self._compare("oge", "sge", other)

    def equals(self, other: LaneArithmetic | float) -> LaneArithmetic:
        return self._compare("oeq", "eq", other)

    def differs(self, other: LaneArithmetic | float) -> LaneArithmetic:
        return self._compare("une", "ne", other)

    def below(self, other: LaneArithmetic | int) -> LaneArithmetic:
        """Whether one unsigned integer is less than another."""
        return self._compare("olt", "ult", other)

    def isnan(self) -> LaneArithmetic:
        return LaneArithmetic(self.code, self.code.compare("uno", self.reg, self.reg))

    def where(self, yes: LaneArithmetic | float, no: LaneArithmetic | float) -> LaneArithmetic:
        """``yes`` where this ``i1`` is set, else ``no``; at least one of them must be lanes."""
        model = yes if isinstance(yes, LaneArithmetic) else no
        assert isinstance(model, LaneArithmetic)
        return LaneArithmetic(self.code, self.code.select(self.reg, model.of(yes).reg, model.of(no).reg))

    # Other forms of the same lanes.

    def cast(self, name: str, kind: str) -> LaneArithmetic:
        """``sitofp``, ``fpext``, ``trunc``, ...: see `FunctionBuilder.cast`."""
        return LaneArithmetic(self.code, self.code.cast(name, self.reg, kind))

    def resize(self, kind: str, *, signed: bool) -> LaneArithmetic:
        """An integer in another width."""
        if bits_of(kind) <= bits_of(self.kind):
            return self.cast("trunc", kind)
        return self.cast("sext" if signed else "zext", kind)

    def bits(self) -> LaneArithmetic:
        """A float's bits as an integer."""
        return self.cast("bitcast", _INTEGER_OF[self.kind])

    def as_float(self) -> LaneArithmetic:
        """An integer's bits as a float."""
        return self.cast("bitcast", _FLOAT_OF[self.kind])

    def intrinsic(self, name: str, *others: LaneArithmetic | float) -> LaneArithmetic:
        """``llvm.<name>`` of these lanes and ``others`` of the same type."""
        return LaneArithmetic(
            self.code, self.code.intrinsic(f"llvm.{name}", self.reg, *(self.of(o).reg for o in others))
        )

    def __abs__(self) -> LaneArithmetic:
        return self.intrinsic("fabs") if self.reg.is_float else self.less(0).where(-self, self)

    def copysign(self, sign: LaneArithmetic) -> LaneArithmetic:
        return self.intrinsic("copysign", sign)


def fma(a: LaneArithmetic, b: LaneArithmetic | float, c: LaneArithmetic | float) -> LaneArithmetic:
    """``a * b + c`` rounded once."""
    return a.intrinsic("fma", b, c)


def polynomial(x: LaneArithmetic, coefficients: Sequence[float]) -> LaneArithmetic:
    """``c[0] + c[1] x + c[2] x**2 + ...`` by Horner's rule, fused."""
    total = x.of(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = fma(total, x, coefficient)
    return total


def power_of_two(n: LaneArithmetic) -> LaneArithmetic:
    """``2.0 ** n`` as a float of the integers' width, for ``n`` among the exponents of normal numbers."""
    fraction, bias = (23, 127) if n.kind == "i32" else (52, 1023)
    return ((n + bias) << fraction).as_float()


def scaled(x: LaneArithmetic, n: LaneArithmetic) -> LaneArithmetic:
    """``x * 2**n`` for ``n`` up to twice the exponents of normal numbers; a subnormal result is rounded once."""
    half = n >> 1
    return x * power_of_two(half) * power_of_two(n - half)


def rounded_with_magic(x: LaneArithmetic, factor: float) -> tuple[LaneArithmetic, LaneArithmetic]:
    """The whole number nearest to ``x * factor``, as float and as integer. Its size must be below 2**22 (2**51).

    A number is added to 1.5 times the power of two whose last place is one: its whole part is then in the lowest bits.
    """
    magic = 1.5 * 2.0 ** (23 if x.kind == "float" else 52)
    shifted = fma(x, factor, magic)
    return shifted - magic, shifted.bits() - x.of(magic).bits()
