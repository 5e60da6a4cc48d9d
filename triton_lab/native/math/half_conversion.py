"""float16 to float32 and back by their bits, for processors without an instruction for it.

The result equals that of F16C and arm64 to the bit: NaN keeps its sign and its highest digits, and becomes quiet. It is
the same on a thread that reads subnormal floats as zero.
"""

from __future__ import annotations

from triton_lab.native.math.lane_arithmetic import LaneArithmetic

_INFINITY, _QUIET = 0x7C00, 0x200  # of float16
_BIASES = (127 - 15) << 10  # the difference of the biases, above ten fraction bits
# The last place of 0.5 is 2**-24, the least float16. So adding a number to 0.5 puts it into the lowest bits, in
# multiples of the least float16.
_HALF, _HALF_BITS = 0.5, 0x3F000000


def widen(x: LaneArithmetic) -> LaneArithmetic:
    """The bits of float16, ``i16``, as an exact ``float``."""
    bits = x.resize("i32", signed=False)
    size = bits & 0x7FFF
    subnormal = ((size | _HALF_BITS).as_float() - _HALF).bits()
    endless = (size.greater(_INFINITY).where(size | _QUIET, size) << 13) | 0x7F800000
    normal = size.less(_INFINITY).where((size + _BIASES) << 13, endless)
    found = size.less(0x400).where(subnormal, normal)
    return (found | ((bits & 0x8000) << 16)).as_float()


def narrow(x: LaneArithmetic) -> LaneArithmetic:
    """``float`` rounded to nearest even, as the bits of float16, ``i16``; infinite from 65520 on."""
    bits = x.bits()
    size = bits & 0x7FFFFFFF
    normal = (size + ((size.unsigned_shift(13) & 1) + 0xFFF)).unsigned_shift(13) - _BIASES
    subnormal = (size.as_float() + _HALF).bits() - _HALF_BITS
    found = size.less(0x38800000).where(subnormal, normal)  # 2**-14
    nan = (size.unsigned_shift(13) & 0x3FF) | (_INFINITY | _QUIET)
    endless = size.greater(0x7F800000).where(nan, _INFINITY)
    found = size.less(0x47800000).where(found, endless)  # 2**16
    return (found | (bits.unsigned_shift(16) & 0x8000)).cast("trunc", "i16")
