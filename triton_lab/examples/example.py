"""The parts of an example: a launcher, the torch reference that checks it, and inputs for both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Size = Literal["small", "bench"]
"""`small`: milliseconds, and no size divides a block. `bench`: the sizes that the benchmarks report."""


@dataclass(frozen=True)
class Example:
    """A kernel with everything needed to run, check, time and show it.

    `run(**inputs)` and `reference(**inputs)` return a tensor or a tuple of tensors of equal shapes and dtypes. `run`
    may write to its inputs (some kernels work in place), `reference` never does. `inputs(size, seed, device)` returns
    the keyword arguments of both, equal for equal seeds. `rtol` and `atol` are the distance from the reference that
    rounding explains; each file gives its reasons.
    """

    name: str
    title: str
    run: Callable[..., Any]
    reference: Callable[..., Any]
    inputs: Callable[[Size, int, str], dict[str, Any]]
    rtol: float = 0.0
    atol: float = 0.0

    def check(self, size: Size = "small", seed: int = 0, device: str = "cpu") -> None:
        """Run the example on its own inputs and compare it with torch. Raises AssertionError if they differ."""
        self.check_on(**self.inputs(size, seed, device))

    def check_on(self, **inputs: Any) -> None:
        """Check the example on given inputs. The AssertionError names the first element that differs."""
        import torch  # imported here, so that the list of examples can be read without torch

        expected = self.reference(**inputs)  # first: `run` may write to the inputs
        actual = self.run(**inputs)
        torch.testing.assert_close(actual, expected, rtol=self.rtol, atol=self.atol, msg=lambda m: f"{self.name}: {m}")
