"""The cases on which an answer is tried: shapes, dtypes and strides, made again for each try; their words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from triton_lab.localization import _

if TYPE_CHECKING:
    import torch

Maker = Callable[["torch.Generator"], "torch.Tensor"]
Layout = Literal["close", "inside", "spread", "steps", "turned"]

_AROUND = 12345  # the numbers around a view: no sum of a case's own numbers comes near


@dataclass(frozen=True)
class Case:
    """The arguments of one try: plain numbers, and makers of tensors. Those of ``hard`` cases try the numbers alone.

    ``shared``: if it has many elements, programs must share the work on them.
    """

    arguments: Mapping[str, Any]
    hard: bool = False
    shared: bool = True

    def made(self, seed: int = 0) -> dict[str, Any]:
        """The arguments, with new tensors; equal seeds give equal tensors."""
        import torch

        generator = torch.Generator().manual_seed(seed)
        return {name: value(generator) if callable(value) else value for name, value in self.arguments.items()}


def case(**arguments: Any) -> Case:
    """A case: ``case(x=tensor(100), value=2.5)``."""
    return Case(arguments)


@dataclass(frozen=True)
class Made:
    """A maker of tensors of random numbers; `tensor` explains its fields."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    layout: Layout = "close"
    low: float | None = None
    high: float | None = None
    scale: float = 1.0

    def __call__(self, generator: torch.Generator) -> torch.Tensor:
        import torch

        values = _numbers(self.shape, generator, self.low, self.high, self.scale).to(getattr(torch, self.dtype))
        if self.layout == "spread":
            return values[..., :1].expand(values.shape)
        view = _room(self.shape, self.layout, values.dtype)
        return view.copy_(values)


def tensor(
    *shape: int,
    dtype: str = "float32",
    layout: Layout = "close",
    low: float | None = None,
    high: float | None = None,
    scale: float = 1.0,
) -> Made:
    """A maker of tensors of random numbers: from a normal distribution times ``scale``, or from ``low`` up to ``high``.

    ``layout``: ``"close"`` is contiguous, with nothing beside it, so that an access beyond it leaves the memory. The
    others are views of larger tensors: ``"inside"`` is a block with neighbours on all sides, ``"steps"`` has every
    other element, ``"turned"`` is transposed. ``"spread"`` repeats its first column: it has a stride of 0.
    """
    return Made(shape, dtype, layout, low, high, scale)


def _numbers(
    shape: tuple[int, ...], generator: torch.Generator, low: float | None, high: float | None, scale: float
) -> torch.Tensor:
    import torch

    if low is None or high is None:
        return torch.randn(shape, generator=generator) * scale
    if isinstance(low, int) and isinstance(high, int):
        return torch.randint(low, high, shape, generator=generator)
    return torch.rand(shape, generator=generator) * (high - low) + low


def _room(shape: tuple[int, ...], layout: Layout, dtype: torch.dtype) -> torch.Tensor:
    """A tensor of ``shape`` in memory with this ``layout``."""
    import torch

    around = _AROUND if dtype.is_floating_point and dtype.itemsize > 1 else 1
    if layout == "inside":
        return torch.full([size + 3 for size in shape], around, dtype=dtype)[tuple(slice(1, 1 + n) for n in shape)]
    if layout == "steps":
        return torch.full([*shape[:-1], 2 * shape[-1] + 1], around, dtype=dtype)[..., 1::2][..., : shape[-1]]
    if layout == "turned":
        return torch.full(shape[::-1], around, dtype=dtype).permute(*reversed(range(len(shape))))
    return torch.full(shape, around, dtype=dtype)


def told(arguments: Mapping[str, Any]) -> str:
    """The arguments in words: ``x (3, 5) float32 with strides (1, 3), value = 2.5``."""
    return ", ".join(_one(name, value) for name, value in arguments.items())


def _one(name: str, value: Any) -> str:
    import torch

    if not isinstance(value, torch.Tensor):
        return f"{name} = {value!r}"
    strides = "" if value.is_contiguous() else _(" with strides {strides}").format(strides=value.stride())
    return f"{name} {tuple(value.shape)} {str(value.dtype).removeprefix('torch.')}{strides}"
