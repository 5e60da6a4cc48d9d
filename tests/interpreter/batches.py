"""Running one kernel in batches of different sizes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from triton_lab.backend.plugin import launcher

SIZES = (1, 7, None)


def bit_equal(run: Callable[[], torch.Tensor | tuple[torch.Tensor, ...]]) -> None:
    """Assert that ``run``, which launches kernels on fresh tensors, gives the same bits for every batch size."""
    seen: list[list[bytes]] = []
    for size in SIZES:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(launcher.limits, "batch", size)
            # Left to choose, a kernel that other tests have made hot would be native where no size is asked for.
            patch.setattr(launcher.limits, "engine", "numpy")
            outputs = run()
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        seen.append([o.detach().contiguous().view(torch.uint8).numpy().tobytes() for o in outputs])
    for size, bits in zip(SIZES[1:], seen[1:], strict=True):
        assert bits == seen[0], f"batches of {size} and of 1 differ"
