"""The expected values of a result, and which elements of a result are near enough to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, eq=False)
class ExpectedResult:
    """The expected values ``tensor`` of a result. ``exact`` are the same in float64, before they were rounded.

    With ``exact``, an element is right if it is what some number within the tolerance rounds to: it may be the next
    number of a narrow type only where the exact value lies near half-way. Without, a narrow type has its own last
    rounding on top of the tolerance, which is for float32.
    """

    tensor: torch.Tensor
    exact: torch.Tensor | None = None

    def near(self, result: torch.Tensor, tolerance: tuple[float, float]) -> torch.Tensor:
        """Whether each element of ``result``, of the same shape and dtype, is near enough: a tensor of bool.

        >>> import torch
        >>> exact = torch.tensor([1.06, 1.0625]).double()  # of e4m3, 1 and 1.125 are neighbours
        >>> rounded = exact.to(torch.float8_e4m3fn)
        >>> ExpectedResult(rounded, exact).near(torch.tensor([1.125, 1.125]).to(torch.float8_e4m3fn), (1e-6, 0.0))
        tensor([False,  True])
        """
        import torch

        if self.exact is None:
            relative, absolute = _widened(tolerance, self.tensor.dtype)
            return torch.isclose(_wide(result), _wide(self.tensor), rtol=relative, atol=absolute, equal_nan=True)
        slack = tolerance[1] + tolerance[0] * self.exact.abs()
        low, high = ((self.exact + side * slack).to(self.tensor.dtype).double() for side in (-1, 1))
        found = _wide(result)
        return ((low <= found) & (found <= high)) | (found.isnan() & _wide(self.tensor).isnan())


def first_of(near: torch.Tensor) -> tuple[int, ...]:
    """The index of the first element that is not near."""
    return tuple(int(k) for k in (~near).nonzero()[0]) if near.dim() else ()


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.dtype.is_floating_point else tensor


def _widened(tolerance: tuple[float, float], dtype: torch.dtype) -> tuple[float, float]:
    """The tolerance for float32; a narrower type gets its own last rounding on top."""
    import torch

    if not dtype.is_floating_point:
        return 0.0, 0.0
    eps = torch.finfo(dtype).eps
    narrow = eps if dtype.itemsize < 4 else 0.0
    return tolerance[0] + narrow, tolerance[1] + (narrow * 2**-3 if tolerance[1] else 0.0)
