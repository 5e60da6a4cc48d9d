"""What an example is: a launcher, the torch reference that it is held to, and inputs for both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Size = Literal["small", "bench"]
"""`small`: milliseconds, and no size divides a block. `bench`: the sizes that the benchmarks report."""


@dataclass(frozen=True)
class Example:
    """One kernel with everything needed to run it, check it, time it and show it.

    `run(**inputs)` and `reference(**inputs)` return a tensor or a tuple of tensors of equal shapes and dtypes.
    `run` may write to its inputs (some kernels work in place), `reference` never does.
    `inputs(size, seed, device)` returns the keyword arguments of both, equal for equal seeds.
    `rtol` and `atol` are the distance from the reference that rounding explains; each file argues its own.
    """

    name: str
    title: str
    run: Callable[..., Any]
    reference: Callable[..., Any]
    inputs: Callable[[Size, int, str], dict[str, Any]]
    rtol: float = 0.0
    atol: float = 0.0

    def check(self, size: Size = "small", seed: int = 0, device: str = "cpu") -> None:
        """Run the example on its own inputs and hold it to torch: AssertionError if it strays."""
        self.check_on(**self.inputs(size, seed, device))

    def check_on(self, **inputs: Any) -> None:
        """The same on given inputs. The message of the AssertionError names the first element that strays."""
        import torch  # here, so that the list of examples can be read without it

        expected = self.reference(**inputs)  # first: `run` may write to the inputs
        actual = self.run(**inputs)
        torch.testing.assert_close(actual, expected, rtol=self.rtol, atol=self.atol, msg=lambda m: f"{self.name}: {m}")
