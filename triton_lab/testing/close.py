"""A comparison with a computed tolerance: from the dtype, and from the number of terms that were added up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from triton_lab import messages
from triton_lab.launch.comparison.argument_difference import DIFFERENT, Compared
from triton_lab.launch.comparison.bounds.bound import Bound
from triton_lab.launch.comparison.number_formats import as_array, is_float, numpy_type, ulp, unit_roundoff, wide
from triton_lab.localization import _

Array = NDArray[Any]
_SHOWN = 3


class NotClose(AssertionError):
    """Two results differ by more than rounding explains."""


def assert_close(
    got: Any,
    expected: Any,
    *,
    terms: int = 1,
    magnitude: Any = None,
    accumulate: Any = None,
    ulps: float = 1.0,
    name: str = "got",
) -> None:
    """Raise NotClose if ``got`` differs from ``expected`` by more than rounding explains.

    Both are tensors or arrays of one shape, or tuples of such. An element may be off by ``ulps`` units in the last
    place of its dtype (of the coarser, if there are two), as a function that rounds once may be; and if it is a sum of
    ``terms`` terms, by what adding them in another order may change:
    ``2 (terms - 1) u magnitude``, with ``u`` the unit roundoff of the dtype that sums are kept in (``accumulate``: a
    dtype or its name; by default float32 for narrower floats, else the dtype itself). ``magnitude`` is the sum of the
    absolute values of the terms, one number or one for each element; without it the largest ``|expected|`` is taken,
    which is too little where large terms of both signs cancel out. Integers are compared exactly, NaN equals NaN.

    >>> a, b = torch.rand(64, 500), torch.rand(500, 32)
    >>> lab.testing.assert_close(a @ b, a.double() @ b.double(), terms=500)
    >>> lab.testing.assert_close(torch.ones(3), torch.tensor([1.0, 1.0, 1.001]))
    Traceback (most recent call last):
        ...
    NotClose: got: different: 1 of 3 elements; by 0.001 at most (8,389 ulp), at got[2]...
    """
    if isinstance(got, (tuple, list)):
        if not isinstance(expected, (tuple, list)) or len(got) != len(expected):
            raise NotClose(
                _("{name}: {results}, but a different number is expected").format(
                    name=name, results=messages.count(len(got), "result")
                )
            )
        for position, (one, other) in enumerate(zip(got, expected, strict=True)):
            assert_close(
                one,
                other,
                terms=terms,
                magnitude=magnitude,
                accumulate=accumulate,
                ulps=ulps,
                name=f"{name}[{position}]",
            )
        return
    if terms < 1:
        raise ValueError(_("terms={terms}: a sum has at least one term").format(terms=terms))
    a, b = as_array(got), as_array(expected)
    if a.shape != b.shape:
        raise NotClose(
            _("{name}: shape {shape}, but {shape2} is expected").format(name=name, shape=a.shape, shape2=b.shape)
        )
    if is_float(a.dtype) != is_float(b.dtype):
        raise NotClose(
            _("{name}: dtype {dtype}, but {dtype2} is expected").format(name=name, dtype=a.dtype, dtype2=b.dtype)
        )
    plain = Compared(name, a, b)
    compared = Compared(name, a, b, bound=Bound.around(_bound(plain, terms, magnitude, accumulate, ulps)))
    if compared.verdict == DIFFERENT:
        raise NotClose(_told(compared))


def _bound(compared: Compared, terms: int, magnitude: Any, accumulate: Any, ulps: float) -> Array:
    """The largest error that is accepted for each element, in float64."""
    expected = wide(compared.b)
    if not is_float(compared.dtype):
        return np.zeros(expected.shape)
    size = np.abs(np.where(np.isfinite(expected), expected, 0.0))
    found = ulps * np.nan_to_num(ulp(expected, compared.dtype), nan=0.0)
    if terms > 1:
        u = unit_roundoff(_kept_in(compared.dtype, accumulate))
        terms_size = size.max(initial=0.0) if magnitude is None else np.abs(wide(as_array(magnitude)))
        steps = (terms - 1) * u
        if steps >= 1.0:
            raise ValueError(
                _("terms={terms}: a sum of this many terms has no correct digit in this dtype").format(terms=terms)
            )
        found = found + 2 * steps / (1 - steps) * terms_size
    return np.broadcast_to(found, expected.shape)


def _kept_in(dtype: np.dtype[Any], accumulate: Any) -> np.dtype[Any]:
    if accumulate is not None:
        return numpy_type(str(accumulate).removeprefix("torch."))
    return np.dtype(np.float32) if dtype.itemsize < 4 else dtype


def _told(compared: Compared) -> str:
    """The verdict, and the first elements whose errors are too large."""
    assert compared.bound is not None
    wrong = np.flatnonzero(~compared.explained)
    lines = [compared.told()]
    for at in wrong[:_SHOWN].tolist():
        index = messages.index(at, compared.a.shape)
        one, other = compared.a[index], compared.b[index]
        allowed = messages.significant(float(compared.bound.size[index]))
        lines.append(
            _("  {element_at} is {one}, expected {other}, within {allowed}").format(
                element_at=messages.element_at(compared.name, index), one=one, other=other, allowed=allowed
            )
        )
    if len(wrong) > _SHOWN:
        lines.append(f"  and {messages.count(len(wrong) - _SHOWN, 'more', 'more')}")
    return "\n".join(lines)
